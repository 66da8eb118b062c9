/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/match_cover.h"

#include <strings.h>

static bool texts_equal(const char *a, const char *b, size_t length, bool ignore_case)
{
	return ignore_case ? strncasecmp(a, b, length) == 0 : memcmp(a, b, length) == 0;
}

/* Comparisons of texts. */
static bool text_covers(const struct match *wide, const struct match *narrow)
{
	struct slice w = wide->text, n = narrow->text;
	bool ignore_case = wide->ignore_case;

	if ((narrow->ignore_case && !ignore_case) || n.length < w.length)
		return false;
	switch (wide->kind) {
	case MATCH_EXACT:
		return narrow->kind == MATCH_EXACT && n.length == w.length &&
		       texts_equal(w.data, n.data, w.length, ignore_case);
	case MATCH_PREFIX:
		return (narrow->kind == MATCH_EXACT || narrow->kind == MATCH_PREFIX) &&
		       texts_equal(w.data, n.data, w.length, ignore_case);
	case MATCH_SUFFIX:
		return (narrow->kind == MATCH_EXACT || narrow->kind == MATCH_SUFFIX) &&
		       texts_equal(w.data, n.data + n.length - w.length, w.length, ignore_case);
	case MATCH_CONTAINS:
		for (size_t i = 0; i + w.length <= n.length; i++) {
			if (texts_equal(w.data, n.data + i, w.length, ignore_case))
				return true;
		}
		return false;
	case MATCH_ALL:
	case MATCH_ANY:
	case MATCH_FIELD:
	case MATCH_NUMBER:
	case MATCH_BOOL:
		return false;
	}
	return false;
}

static bool is_text(const struct match *match)
{
	return match->kind == MATCH_EXACT || match->kind == MATCH_PREFIX ||
	       match->kind == MATCH_SUFFIX || match->kind == MATCH_CONTAINS;
}

/* One level of either side is taken off in each step, so the depth is that of both. */
bool match_covers(const struct match *wide, const struct match *narrow)
{
	if (!wide || !narrow)
		return !wide;
	if (narrow->kind == MATCH_ANY) {
		for (size_t i = 0; i < narrow->children_count; i++) {
			if (!match_covers(wide, &narrow->children[i]))
				return false;
		}
		return true;
	}
	if (wide->kind == MATCH_ALL) {
		for (size_t i = 0; i < wide->children_count; i++) {
			if (!match_covers(&wide->children[i], narrow))
				return false;
		}
		return true;
	}
	if (wide->kind == MATCH_ANY) {
		for (size_t i = 0; i < wide->children_count; i++) {
			if (match_covers(&wide->children[i], narrow))
				return true;
		}
		return false;
	}
	if (narrow->kind == MATCH_ALL) {
		for (size_t i = 0; i < narrow->children_count; i++) {
			if (match_covers(wide, &narrow->children[i]))
				return true;
		}
		return false;
	}
	if (is_text(wide) && is_text(narrow))
		return text_covers(wide, narrow);
	if (wide->kind != narrow->kind)
		return false;
	if (wide->kind == MATCH_FIELD)
		return slice_equal(wide->text, narrow->text) &&
		       match_covers(wide->children, narrow->children);
	if (wide->kind == MATCH_NUMBER)
		return !(wide->number < narrow->number) && !(wide->number > narrow->number);
	return wide->kind == MATCH_BOOL && wide->boolean == narrow->boolean;
}

void match_write(const struct match *match, struct buf *out)
{
	if (!match)
		return;
	buf_printf(out, "%d%d%d %a %zu:", match->kind, match->ignore_case, match->boolean,
		match->kind == MATCH_NUMBER ? match->number : 0, match->text.length);
	buf_append(out, match->text.data, match->text.length);
	buf_printf(out, "(%zu", match->children_count);
	for (size_t i = 0; i < match->children_count; i++)
		match_write(&match->children[i], out);
	buf_putc(out, ')');
}
