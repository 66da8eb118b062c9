/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/rest/json_scan.h"

struct scanner {
	const char *at, *end;
	size_t depth;
	bool wants_key;	   /* at depth 1: the next string is a key */
	bool wants_value;  /* the member's colon was passed */
	const char *value; /* where the member's value began, NULL outside of it */
	size_t found;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Behind the closing quote; at the end of the text when there is none. */
static const char *skip_string(const char *at, const char *end)
{
	const char *start = at + 1;

	for (at = start; (at = memchr(at, '"', (size_t)(end - at))); at++) {
		const char *slash = at;

		while (slash > start && slash[-1] == '\\')
			slash--;
		/* An odd number of backslashes escapes the quote. */
		if ((at - slash) % 2 == 0)
			return at + 1;
	}
	return end;
}

static void end_value(struct scanner *scanner, struct json_scan *scan)
{
	const char *end = scanner->at;

	if (!scanner->value)
		return;
	while (end > scanner->value && is_space(end[-1]))
		end--;
	scan->member = (struct slice){scanner->value, (size_t)(end - scanner->value)};
	scanner->value = NULL;
}

static void on_string(struct scanner *scanner, const char *member)
{
	const char *start = scanner->at + 1;
	const char *after = skip_string(scanner->at, scanner->end);

	if (scanner->depth == 1 && scanner->wants_key && after > start) {
		struct slice key = {start, (size_t)(after - start) - 1};

		scanner->wants_key = false;
		if (slice_is(key, member)) {
			scanner->found++;
			scanner->wants_value = true;
		}
	}
	scanner->at = after;
}

struct json_scan json_scan_text(
	struct slice text, const char *member, size_t depth_limit, size_t values_limit)
{
	struct json_scan scan = {.values = 1};
	struct scanner scanner = {.at = text.data, .end = text.data + text.length};

	while (scanner.at < scanner.end && scan.depth <= depth_limit &&
		scan.values <= values_limit) {
		char c = *scanner.at;

		if (scanner.wants_value && scanner.depth == 1 && !is_space(c) && c != ':') {
			scanner.wants_value = false;
			scanner.value = scanner.at;
		}
		switch (c) {
		case '"':
			on_string(&scanner, member);
			continue;
		case '{':
		case '[':
			scan.values++;
			if (++scanner.depth > scan.depth)
				scan.depth = scanner.depth;
			scanner.wants_key = scanner.depth == 1 && c == '{';
			break;
		case ',':
			scan.values++;
			if (scanner.depth == 1) {
				end_value(&scanner, &scan);
				scanner.wants_key = true;
			}
			break;
		case '}':
		case ']':
			if (scanner.depth == 1)
				end_value(&scanner, &scan);
			scanner.depth -= scanner.depth > 0;
			break;
		default:
			break;
		}
		scanner.at++;
	}
	if (scanner.found != 1)
		scan.member = (struct slice){NULL, 0};
	return scan;
}
