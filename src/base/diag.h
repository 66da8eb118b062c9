/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Diagnostics: everything that is wrong with input, collected, sorted and shown to people as
 * `path:line:col: error: text [rule-id]`. A list owns copies of all text it holds; an empty one
 * costs its struct. Adding to a NULL list does nothing.
 * Threads: one at a time. Limit: a list keeps `limit` entries (0: 1,000) and counts the rest;
 * errors are kept before warnings and warnings before notes. A text is cut at 4 KiB.
 */
#ifndef XDSPUB_BASE_DIAG_H
#define XDSPUB_BASE_DIAG_H

#include <stdarg.h>

#include "base/buf.h"
#include "base/slice.h"

enum diag_level {
	DIAG_NOTE,
	DIAG_WARNING,
	DIAG_ERROR
};

struct position {
	uint32_t line;	 /* from 1; 0: the file as a whole */
	uint32_t column; /* from 1, in bytes */
};

struct diag {
	enum diag_level level;
	struct position at;
	const char *path; /* relative to the tree, or as the user gave it; "" when there is none */
	const char *rule; /* a short id such as "unknown-field"; a literal */
	const char *text;
	const char *via; /* places that included the file, "a.yaml:3:5, b.yaml:1:1"; "" for none */
	uint32_t vias;	 /* other ways of inclusion that have the same problem */
};

struct diag_list;

struct diag_list *diag_list_new(size_t limit);
void diag_list_free(struct diag_list *list); /* NULL is fine */
void diag_list_clear(struct diag_list *list);

void diag_add(struct diag_list *list, enum diag_level level, const char *path, struct position at,
	const char *rule, const char *format, ...) __attribute__((format(printf, 6, 7)));
void diag_vadd(struct diag_list *list, enum diag_level level, const char *path, struct position at,
	const char *rule, const char *format, va_list arguments)
	__attribute__((format(printf, 6, 0)));
#define diag_error(list, path, at, rule, ...)                                                      \
	diag_add(list, DIAG_ERROR, path, at, rule, __VA_ARGS__)
#define diag_warning(list, path, at, rule, ...)                                                    \
	diag_add(list, DIAG_WARNING, path, at, rule, __VA_ARGS__)
#define diag_note(list, path, at, rule, ...) diag_add(list, DIAG_NOTE, path, at, rule, __VA_ARGS__)
/* The same entry in another list. */
void diag_list_copy(struct diag_list *list, const struct diag *diag);
/* Copies the entries and counts of `from` to the end of `list`. */
void diag_list_append(struct diag_list *list, const struct diag_list *from);
/* Counts that many more, whose entries nobody has. */
void diag_list_count_more(struct diag_list *list, enum diag_level level, size_t count);
/* Takes out the entries for which `keep` says false, also out of the counts. */
void diag_list_filter(
	struct diag_list *list, bool (*keep)(void *ctx, const struct diag *diag), void *ctx);
/* By path, line, column, then level (errors first) and text; equal entries become one, in the
 * counts too, and so do those that differ only in the place of inclusion. */
void diag_list_sort(struct diag_list *list);

size_t diag_list_count(const struct diag_list *list); /* entries kept */
const struct diag *diag_list_get(const struct diag_list *list, size_t index);
/* How many were added at this level, kept or not. */
size_t diag_list_level_count(const struct diag_list *list, enum diag_level level);
const char *diag_level_name(enum diag_level level); /* "error" */
/* One line without the newline: `path:line:col: error: text (included by ...) [rule]`; control
 * bytes are escaped. */
void diag_format(const struct diag *diag, struct buf *out);
/* "a.yaml:3:5 and 2 other places", as it is; nothing without inclusion. */
void diag_format_via(const struct diag *diag, struct buf *out);

/*
 * Included files. A reader that puts one file's content into another gives the lines of the former
 * numbers of their own, from DIAG_INCLUDED_LINE on; diagnostics at such positions name the included
 * file and the place that includes it. diag_list_clear forgets the files.
 */
#define DIAG_INCLUDED_LINE ((uint32_t)1 << 28)

/* Line n of `path` gets the number base + n (base: the file as a whole); the base is returned, 0
 * when numbers have run out. `at` is the place that includes it; `from` its file when that is not
 * an included one itself. */
uint32_t diag_list_include(struct diag_list *list, const char *path, size_t lines, const char *from,
	struct position at);
/* The file of a position: `path` for those that are in no included one. Borrowed from the list. */
const char *diag_list_file(
	const struct diag_list *list, const char *path, struct position at, uint32_t *ret_line);
/* The included file that the file of a position was read for, NULL: for the outermost one, or the
 * position is in that itself. */
const char *diag_list_includer(const struct diag_list *list, struct position at);
/* Where a position is in the file that includes everything else. */
struct position diag_list_outermost(const struct diag_list *list, struct position at);
/* The places that include the file of a position, as in struct diag; nothing without inclusion. */
void diag_list_via(const struct diag_list *list, struct position at, struct buf *out);
/* "3:5", with the path before it when that is an included file. */
const char *diag_list_place(const struct diag_list *list, struct position at, char out[static 256]);

#endif
