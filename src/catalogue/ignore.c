/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "catalogue/ignore.h"

#include <string.h>

static void skip_blanks(struct slice *text)
{
	while (text->length && (text->data[0] == ' ' || text->data[0] == '\t')) {
		text->data++;
		text->length--;
	}
}

static bool take_text(struct slice *text, const char *expected)
{
	size_t length = strlen(expected);

	if (text->length < length || memcmp(text->data, expected, length) != 0)
		return false;
	text->data += length;
	text->length -= length;
	return true;
}

static bool is_end(char c)
{
	return c == ' ' || c == '\t' || c == ',' || c == '\r';
}

static struct slice take_word(struct slice *text)
{
	struct slice word = {text->data, 0};

	while (word.length < text->length && !is_end(text->data[word.length]))
		word.length++;
	text->data += word.length;
	text->length -= word.length;
	return word;
}

static void fail(struct ignore_comment *comment, const char *problem)
{
	comment->kind = IGNORE_BAD;
	comment->problem = problem;
}

static void take_ids(struct slice text, struct ignore_comment *comment)
{
	bool is_more = true;

	while (is_more) {
		struct slice id;

		skip_blanks(&text);
		id = take_word(&text);
		if (id.length == 0) {
			fail(comment, comment->ids_count ? "a rule is missing after the comma"
							 : "it names no rule");
			return;
		}
		if (comment->ids_count == IGNORE_IDS) {
			fail(comment, "it names more than 32 rules");
			return;
		}
		comment->ids[comment->ids_count++] = id;
		skip_blanks(&text);
		is_more = take_text(&text, ",");
	}
}

void ignore_parse(struct slice text, struct ignore_comment *ret_comment)
{
	struct slice verb;

	ret_comment->kind = IGNORE_NONE;
	ret_comment->ids_count = 0;
	ret_comment->problem = NULL;
	while (take_text(&text, "#"))
		;
	skip_blanks(&text);
	if (!take_text(&text, IGNORE_MARK))
		return;
	skip_blanks(&text);
	verb = take_word(&text);
	if (slice_is(verb, "ignore"))
		ret_comment->kind = IGNORE_LINE;
	else if (slice_is(verb, "ignore-file"))
		ret_comment->kind = IGNORE_FILE;
	else if (verb.length >= 3 && memcmp(verb.data, "ign", 3) == 0)
		fail(ret_comment, "write \"ignore\" or \"ignore-file\", then the rules");
	if (ret_comment->kind == IGNORE_LINE || ret_comment->kind == IGNORE_FILE)
		take_ids(text, ret_comment);
}
