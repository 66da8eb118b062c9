/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the authors of .proto files wrote about their types: the comments in descriptor sets with
 * source information (protoc --include_source_info), by name. Read only by the commands that show
 * them; schema.h forgets them. Names: messages, services and enums in full, fields, oneofs and
 * values below the name of their message or enum ("a.Enum.VALUE").
 * Owns copies of all it keeps. Threads: one at a time while adding, then any. Errors: diagnostics;
 * source information that fits no declaration is passed over. Limits: eight times the set's size
 * of memory, names of 4 KiB, LIMIT_DEPTH levels of types.
 */
#ifndef XDSPUB_SCHEMA_COMMENTS_H
#define XDSPUB_SCHEMA_COMMENTS_H

#include "base/diag.h"

struct comments;

struct comments *comments_new(void);
void comments_free(struct comments *comments); /* NULL is fine */
/* Adds what a serialized set says; what is there already stays. 0 or -EINVAL (see diags). */
int comments_add(
	struct comments *comments, struct slice set, const char *name, struct diag_list *diags);
/* As written, in reStructuredText for Envoy's API; data NULL: there is none. `names` are joined
 * by dots; NULL: only the first. */
struct slice comments_find(
	const struct comments *comments, const char *full_name, const char *member);
/* What stands before the first declaration of a file: its title and what it says of all of it. */
struct slice comments_of_file(const struct comments *comments, const char *file_name);
size_t comments_count(const struct comments *comments);

#endif
