/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A borrowed run of bytes: not NUL-terminated, never freed through this. Threads: any. */
#ifndef XDSPUB_BASE_SLICE_H
#define XDSPUB_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
	const char *data;
	size_t length;
};

#define SLICE(literal) ((struct slice){(literal), sizeof(literal) - 1})
#define SLICE_ARG(s)   (int)(s).length, (s).data /* for "%.*s" */

static inline struct slice slice_of(const char *text)
{
	return (struct slice){text, strlen(text)};
}

static inline bool slice_equal(struct slice a, struct slice b)
{
	return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static inline bool slice_is(struct slice a, const char *text)
{
	return slice_equal(a, slice_of(text));
}

/* Byte order, then length: the order of names in sets and files. */
static inline int slice_compare(struct slice a, struct slice b)
{
	size_t shorter = a.length < b.length ? a.length : b.length;
	int order = shorter ? memcmp(a.data, b.data, shorter) : 0;

	return order ? order : (a.length > b.length) - (a.length < b.length);
}

#endif
