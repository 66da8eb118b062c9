/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/match_text.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

#define SHOWN_BYTES 100

static void put_quoted(struct buf *out, struct slice text)
{
	buf_putc(out, '"');
	text_quote(out, text, SHOWN_BYTES);
	buf_putc(out, '"');
}

/* What `match` says about the field at `path`; readers bound the depth of conditions. */
static void describe(const struct match *match, struct slice path, bool is_inside, struct buf *out)
{
	static const char *const words[] = {[MATCH_EXACT] = " is ",
		[MATCH_PREFIX] = " starts with ",
		[MATCH_SUFFIX] = " ends with ",
		[MATCH_CONTAINS] = " contains "};
	bool has_many = match->children_count > 1;

	switch (match->kind) {
	case MATCH_ALL:
	case MATCH_ANY:
		if (has_many && is_inside)
			buf_putc(out, '(');
		for (size_t i = 0; i < match->children_count; i++) {
			if (i)
				buf_puts(out, match->kind == MATCH_ALL ? " and " : " or ");
			describe(&match->children[i], path, has_many || is_inside, out);
		}
		if (has_many && is_inside)
			buf_putc(out, ')');
		return;
	case MATCH_FIELD: {
		struct buf longer = BUF_INIT;

		buf_append_slice(&longer, path);
		if (path.length)
			buf_putc(&longer, '.');
		text_quote(&longer, match->text, SHOWN_BYTES);
		if (match->children_count)
			describe(match->children, buf_slice(&longer), is_inside, out);
		buf_fini(&longer);
		return;
	}
	case MATCH_NUMBER:
		buf_append_slice(out, path);
		buf_puts(out, " is ");
		text_format_double(out, match->number);
		return;
	case MATCH_BOOL:
		buf_append_slice(out, path);
		buf_puts(out, match->boolean ? " is true" : " is false");
		return;
	case MATCH_EXACT:
	case MATCH_PREFIX:
	case MATCH_SUFFIX:
	case MATCH_CONTAINS:
		break;
	}
	buf_append_slice(out, path);
	buf_puts(out, words[match->kind]);
	put_quoted(out, match->text);
	if (match->ignore_case)
		buf_puts(out, " (in any case)");
}

void match_describe(const struct match *match, struct buf *out)
{
	if (match)
		describe(match, SLICE(""), false, out);
	else
		buf_puts(out, "every node");
}

static void add_condition(const struct match *match, const json_t *value, struct slice path,
	bool is_free_form, json_t *list)
{
	bool fits = value && match_holds(match, value, is_free_form);
	struct buf text = BUF_INIT;
	json_t *condition;

	describe(match, path, false, &text);
	condition = json_pack(
		"{s:s#,s:b}", "text", text.data ? text.data : "", text.length, "fits", (int)fits);
	if (value)
		json_object_set(condition, "has", (json_t *)value);
	json_array_append_new(list, condition);
	buf_fini(&text);
}

/* Down to what stands alone: one entry for each condition that all must hold. */
static void explain(const struct match *match, const json_t *value, struct slice path,
	bool is_free_form, json_t *list)
{
	struct buf longer = BUF_INIT;

	if (match->kind == MATCH_ALL && !json_is_array(value)) {
		for (size_t i = 0; i < match->children_count; i++)
			explain(&match->children[i], value, path, is_free_form, list);
		return;
	}
	if (match->kind != MATCH_FIELD || match->children_count != 1 || json_is_array(value)) {
		add_condition(match, value, path, is_free_form, list);
		return;
	}
	buf_append_slice(&longer, path);
	if (path.length)
		buf_putc(&longer, '.');
	text_quote(&longer, match->text, SHOWN_BYTES);
	explain(match->children,
		json_is_object(value) ? match_field(value, match->text, is_free_form) : NULL,
		buf_slice(&longer), is_free_form || slice_is(match->text, "metadata"), list);
	buf_fini(&longer);
}

json_t *match_explain(const struct match *match, const json_t *node)
{
	json_t *list = json_array();

	if (match)
		explain(match, node, SLICE(""), false, list);
	return list;
}
