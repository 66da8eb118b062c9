/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the parts of a YAML text stand, to the byte: for cutting a piece out of it with its
 * comments, which nodes don't have. The text must be one that yaml_read took (it has the checks for
 * depth, UTF-8 and NUL bytes); a JSON text will do, too. Threads: any.
 */
#ifndef XDSPUB_MESSAGE_YAML_OUTLINE_H
#define XDSPUB_MESSAGE_YAML_OUTLINE_H

#include "base/diag.h"
#include "base/slice.h"

enum outline_kind {
	OUTLINE_SCALAR,
	OUTLINE_LIST,
	OUTLINE_MAP,
	OUTLINE_ALIAS
};

#define OUTLINE_NONE UINT32_MAX

struct outline_node {
	enum outline_kind kind : 8;
	bool is_flow;	    /* [] or {}, and what is in there */
	bool is_key;	    /* of a mapping; its value is the node at `next` */
	bool has_anchor;    /* `start` is where the anchor (or its tag) begins */
	bool is_literal;    /* a block scalar: | or > */
	struct position at; /* as in struct node */
	uint32_t parent;    /* OUTLINE_NONE: a document's root */
	uint32_t previous;  /* the one before it below the same parent, or OUTLINE_NONE */
	uint32_t next;	    /* the first node that is not below this one; may be `count` */
	uint32_t target;    /* of an alias: what it stands for */
	size_t start, end;  /* of what is to be read; comments and line feeds behind it are not */
};

struct outline {
	struct slice text;	    /* without a byte order mark; borrowed */
	struct outline_node *nodes; /* each before what is below it, in the order of the text */
	size_t count;
};

/* 0, -EBADMSG (not a text for yaml_read), -ENOMEM. */
int yaml_outline_read(struct slice text, struct outline *ret_outline);
void yaml_outline_fini(struct outline *outline);

/* The mapping (or list) that begins there, or the key: OUTLINE_NONE when there is none. */
uint32_t yaml_outline_find(const struct outline *outline, struct position at, bool is_key);

#endif
