/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a whole-set file, put together from items. Unchanged items are taken over from the
 * former file, so that one changed resource among 10,000 is encoded alone. Threads: build.
 */
#ifndef XDSPUB_PUBLISH_SET_TEXT_H
#define XDSPUB_PUBLISH_SET_TEXT_H

#include "publish/file_body.h"

/* Where the items of a file are; for the file of `set` in one format. Immutable, counted: groups
 * that share a set share it. */
struct set_text {
	unsigned references;
	struct resource_set *set;    /* a reference */
	struct resource **resources; /* by name; borrowed from the set */
	uint32_t *lengths;	     /* of their items */
	size_t begin_length;	     /* in front of the items */
	size_t length;		     /* of the file */
};

struct set_text *set_text_ref(struct set_text *text);
void set_text_unref(struct set_text *text); /* NULL is fine */

/* Appends the file of `set`, in the format of `body`. `former` describes the open file to take
 * items from; fd -1 or NULL: none. *ret_text is a new reference. 0 or negative errno. */
int set_text_compose(const struct publish_encoder *encoder, struct file_body *body,
	struct resource_set *set, struct slice source, const struct set_text *former, int former_fd,
	struct buf *out, struct set_text **ret_text);

#endif
