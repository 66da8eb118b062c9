/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks a message as proto3 JSON sees it and reports objects, lists, keys and scalars, so that
 * JSON and YAML text differ in syntax only. All well-known types, Any, maps, enums, extensions.
 * Any contents that came undecoded are decoded on the way. Threads: any.
 */
#ifndef XDSPUB_MESSAGE_JSON_WALK_H
#define XDSPUB_MESSAGE_JSON_WALK_H

#include "message/message.h"

enum json_literal {
	JSON_WORD,    /* true, false, null */
	JSON_INTEGER, /* at most 32 bits */
	JSON_NUMBER,  /* any finite double, as number_format.h writes it */
};

struct json_walk_ops {
	void (*begin)(void *ctx, bool is_list);
	void (*end)(void *ctx, bool is_list);
	/* Names of fields need no escaping; keys of maps may be anything. */
	void (*key)(void *ctx, struct slice name, bool is_name);
	void (*string)(void *ctx, struct slice text);
	void (*literal)(void *ctx, struct slice text, enum json_literal kind);
};

struct json_walk_options {
	const struct schema *schema;
	bool original_names;
};

/* Objects and lists are never nested deeper than this. */
#define JSON_WALK_DEPTH (4 * LIMIT_DEPTH)

/* 0, or -EBADMSG with a literal in *ret_problem: something has no JSON form. */
int json_walk(const struct json_walk_options *options, const struct json_walk_ops *ops, void *ctx,
	const struct message *message, const char **ret_problem);

#endif
