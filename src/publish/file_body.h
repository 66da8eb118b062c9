/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The message that a file holds for a resource: with the paths of the group's other files in its
 * open config sources. Threads: build.
 */
#ifndef XDSPUB_PUBLISH_FILE_BODY_H
#define XDSPUB_PUBLISH_FILE_BODY_H

#include "publish/publisher.h"

struct file_body {
	const char *seen_as; /* the output folder as Envoy sees it */
	struct slice group;
	enum file_format format;
	struct buf scratch; /* made empty by the caller, who frees it */
};

/* Valid until the next call. 0 or negative errno. */
int file_body_make(
	struct file_body *body, const struct resource *resource, struct slice *ret_bytes);
/* What tells whether a file is as it should be: the version of what is in it, and where the paths
 * in it lead, if there are any. */
struct version file_body_stamp(const struct version *version, bool has_path, const char *seen_as);

#endif
