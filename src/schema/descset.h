/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FileDescriptorSets from bytes: taken apart, checked for nesting before protobuf-c (which recurses
 * without a limit) sees them, stripped of source information, unpacked and merged by file name.
 * Owns its files until descset_free, but not the bytes of the sets. Threads: one at a time. Errors:
 * diagnostics. Limits: nesting of message types LIMIT_DEPTH; unpacked form 32 times the input.
 */
#ifndef XDSPUB_SCHEMA_DESCSET_H
#define XDSPUB_SCHEMA_DESCSET_H

#include "base/arena.h"
#include "base/diag.h"
#include "google/protobuf/descriptor.pb-c.h"

struct descset_file {
	const Google__Protobuf__FileDescriptorProto *proto;
	struct slice bytes;   /* serialized, without source information */
	bool is_borrowed;     /* bytes are part of the set's; else they go with the descset */
	const char *set_name; /* the set it came from, for diagnostics */
};

struct descset;

struct descset *descset_new(void);
void descset_free(struct descset *set);
/* Adds one serialized set; `name` and `bytes` are borrowed and must outlive the descset.
 * 0 or -EINVAL (see diags). A file equal to one that is already there changes nothing. */
int descset_add(struct descset *set, struct slice bytes, const char *name, struct diag_list *diags);
const struct descset_file *descset_files(const struct descset *set, size_t *ret_count);
const struct descset_file *descset_find(const struct descset *set, const char *file_name);

#endif
