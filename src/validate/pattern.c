/* SPDX-License-Identifier: GPL-2.0-or-later */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "validate/pattern.h"

#include <errno.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define PATTERN_BYTES_MAX 65536
#define MATCH_LIMIT	  200000
#define DEPTH_LIMIT	  10000
#define NESTING_LIMIT	  200

struct pattern {
	pcre2_code *code;
};

static int refuse(char *problem, size_t size, const char *text)
{
	snprintf(problem, size, "%s", text);
	return -EINVAL;
}

/* The last byte of "[:alpha:]". */
static const char *end_of_class_name(const char *at, const char *end)
{
	const char *stop = memmem(at, (size_t)(end - at), ":]", 2);

	return stop ? stop + 1 : end - 1;
}

/* Past a character class that begins at `at`; `end` when it does not end. */
static const char *skip_class(const char *at, const char *end)
{
	at++;
	if (at < end && *at == '^')
		at++;
	if (at < end && *at == ']')
		at++;
	while (at < end && *at != ']') {
		if (*at == '\\')
			at++;
		else if (*at == '[' && at + 1 < end && at[1] == ':')
			at = end_of_class_name(at, end);
		at++;
	}
	return at;
}

/* NULL, or what begins at `at` ("(?...", "\x") and RE2 does not have. */
static const char *check_escape(char letter)
{
	if (letter >= '1' && letter <= '9')
		return "back references are not possible in RE2";
	if (strchr("gkGKRXNHhVeZc", letter))
		return "this escape is not known to RE2";
	return letter == 'C' ? "\\C is not supported here" : NULL;
}

static const char *check_group(const char *at, const char *end)
{
	static const char flags[] = "imsU-";

	if (at < end && *at == '*')
		return "verbs such as (*...) are not possible in RE2";
	if (at >= end || *at != '?')
		return NULL;
	at++;
	if (at < end && (*at == '=' || *at == '!'))
		return "look-ahead is not possible in RE2";
	if (at + 1 < end && *at == '<' && (at[1] == '=' || at[1] == '!'))
		return "look-behind is not possible in RE2";
	if (at < end && *at == 'P')
		return at + 1 < end && at[1] == '<' ? NULL
						    : "only (?P<name>...) is possible in RE2";
	if (at < end && (*at == ':' || *at == '<'))
		return NULL;
	while (at < end && strchr(flags, *at))
		at++;
	return at < end && (*at == ':' || *at == ')') ? NULL
						      : "this kind of group is not possible in RE2";
}

/* NULL, or what PCRE2 would accept and RE2 would not. */
static const char *check_syntax(struct slice text)
{
	const char *end = text.data + text.length;
	const char *problem = NULL;
	bool after_repeat = false;

	for (const char *at = text.data; at < end && !problem; at++) {
		bool is_repeat = false;

		switch (*at) {
		case '\\':
			if (at + 1 < end && at[1] == 'Q') {
				const char *stop = memmem(at, (size_t)(end - at), "\\E", 2);

				at = stop ? stop + 1 : end;
				break;
			}
			at++;
			problem = at < end ? check_escape(*at) : NULL;
			break;
		case '[':
			at = skip_class(at, end);
			break;
		case '(':
			problem = check_group(at + 1, end);
			break;
		case '*':
		case '+':
		case '?':
			is_repeat = at > text.data && at[-1] != '(';
			if (after_repeat && *at == '+')
				problem = "possessive repeats are not possible in RE2";
			break;
		default:
			break;
		}
		after_repeat = is_repeat || *at == '}';
		if (at >= end)
			break;
	}
	return problem;
}

int pattern_new(struct slice text, bool is_bytes, struct pattern **ret_pattern, char *problem,
	size_t problem_size)
{
	uint32_t options = PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
	const char *foreign;
	pcre2_compile_context *context;
	pcre2_code *code;
	int error;
	size_t offset;

	if (text.length > PATTERN_BYTES_MAX)
		return refuse(problem, problem_size, "the pattern is too long");
	foreign = text.length ? check_syntax(text) : NULL;
	if (foreign)
		return refuse(problem, problem_size, foreign);
	if (!is_bytes)
		options |= PCRE2_UTF;
	context = pcre2_compile_context_create(NULL);
	if (!context)
		return -ENOMEM;
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	pcre2_set_parens_nest_limit(context, NESTING_LIMIT);
	code = pcre2_compile((PCRE2_SPTR)(text.length ? text.data : ""), text.length, options,
		&error, &offset, context);
	pcre2_compile_context_free(context);
	if (!code) {
		PCRE2_UCHAR reason[120] = "";

		pcre2_get_error_message(error, reason, sizeof(reason));
		snprintf(problem, problem_size, "%s at byte %zu", (const char *)reason, offset + 1);
		return -EINVAL;
	}
	*ret_pattern = xmalloc(sizeof(**ret_pattern));
	(*ret_pattern)->code = code;
	return 0;
}

void pattern_free(struct pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_code_free(pattern->code);
	free(pattern);
}

int pattern_match(const struct pattern *pattern, struct slice text)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	pcre2_match_context *context = pcre2_match_context_create(NULL);
	int found = PCRE2_ERROR_NOMEMORY;

	if (data && context) {
		pcre2_set_match_limit(context, MATCH_LIMIT);
		pcre2_set_depth_limit(context, DEPTH_LIMIT);
		found = pcre2_match(pattern->code, (PCRE2_SPTR)(text.length ? text.data : ""),
			text.length, 0, PCRE2_ANCHORED | PCRE2_ENDANCHORED, data, context);
	}
	pcre2_match_data_free(data);
	pcre2_match_context_free(context);
	if (found >= 0)
		return 1;
	return found == PCRE2_ERROR_NOMATCH ? 0 : -EAGAIN;
}
