/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/yaml_comments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/mem.h"

/* A scalar, in characters, as libyaml counts. */
struct stretch {
	size_t start, end;
	bool is_block; /* its first line may end with a comment */
};

struct scanner {
	struct slice text;
	struct stretch *scalars;
	size_t count, capacity;
	/* how far it has come */
	size_t byte, character, next_scalar;
	size_t line_start;
	uint32_t line;
};

/* libyaml counts characters. */
static size_t find_offset(struct slice text, size_t characters)
{
	size_t at = 0;

	for (; at < text.length; at++) {
		if (((unsigned char)text.data[at] & 0xc0) == 0x80)
			continue;
		if (characters-- == 0)
			break;
	}
	return at;
}

static int find_scalars(struct scanner *scanner)
{
	yaml_parser_t parser;
	yaml_token_t token;
	bool is_end = false;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
		&parser, (const unsigned char *)scanner->text.data, scanner->text.length);
	while (!is_end && yaml_parser_scan(&parser, &token)) {
		is_end = token.type == YAML_STREAM_END_TOKEN;
		if (token.type == YAML_SCALAR_TOKEN) {
			yaml_scalar_style_t style = token.data.scalar.style;

			array_reserve(scanner->scalars, scanner->capacity, scanner->count + 1);
			scanner->scalars[scanner->count++] =
				(struct stretch){token.start_mark.index, token.end_mark.index,
					style == YAML_LITERAL_SCALAR_STYLE ||
						style == YAML_FOLDED_SCALAR_STYLE};
		}
		yaml_token_delete(&token);
	}
	if (!is_end) /* no YAML from here on */
		scanner->text.length = find_offset(scanner->text, parser.problem_mark.index);
	yaml_parser_delete(&parser);
	return 0;
}

static bool is_break(char c)
{
	return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* One character on. */
static void step(struct scanner *scanner)
{
	const char *data = scanner->text.data;

	if (data[scanner->byte] == '\n') {
		scanner->line++;
		scanner->line_start = scanner->byte + 1;
	}
	scanner->byte++;
	while (scanner->byte < scanner->text.length &&
		((unsigned char)data[scanner->byte] & 0xc0) == 0x80)
		scanner->byte++;
	scanner->character++;
}

/* Whether the scanner stands in a scalar. */
static bool is_inside(struct scanner *scanner)
{
	while (scanner->next_scalar < scanner->count &&
		scanner->scalars[scanner->next_scalar].end <= scanner->character)
		scanner->next_scalar++;
	return scanner->next_scalar < scanner->count &&
	       scanner->scalars[scanner->next_scalar].start <= scanner->character;
}

/* The first line after this place that says something; `line` is that of the place. */
static uint32_t next_line(struct slice text, size_t at, uint32_t line)
{
	while (at < text.length) {
		while (at < text.length && text.data[at] != '\n')
			at++;
		at++;
		line++;
		while (at < text.length && (is_blank(text.data[at]) || text.data[at] == '\r'))
			at++;
		if (at < text.length && text.data[at] != '\n' && text.data[at] != '#')
			return line;
	}
	return 0;
}

static void take_comment(struct scanner *scanner,
	void (*tell)(void *ctx, const struct yaml_comment *comment), void *ctx)
{
	const char *data = scanner->text.data;
	size_t start = scanner->byte, first = scanner->line_start;
	struct yaml_comment comment = {.at = {scanner->line, (uint32_t)(start - first) + 1}};

	while (first < start && is_blank(data[first]))
		first++;
	while (scanner->byte < scanner->text.length && !is_break(data[scanner->byte]))
		step(scanner);
	comment.text = (struct slice){data + start, scanner->byte - start};
	comment.line = first < start ? scanner->line
				     : next_line(scanner->text, scanner->byte, scanner->line);
	tell(ctx, &comment);
}

int yaml_comments(
	struct slice text, void (*tell)(void *ctx, const struct yaml_comment *comment), void *ctx)
{
	struct scanner scanner = {.text = text, .line = 1};
	int error;

	if (text.length >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
		scanner.text = (struct slice){text.data + 3, text.length - 3};
	error = find_scalars(&scanner);
	while (!error && scanner.byte < scanner.text.length) {
		char c = scanner.text.data[scanner.byte];
		char before = scanner.byte ? scanner.text.data[scanner.byte - 1] : '\n';

		if (is_inside(&scanner)) {
			struct stretch *scalar = &scanner.scalars[scanner.next_scalar];

			/* After the header of a block scalar everything is its content. */
			if (!scalar->is_block || c == '\n')
				scalar->is_block = false;
			else if (c == '#' && is_blank(before)) {
				take_comment(&scanner, tell, ctx);
				continue;
			}
		} else if (c == '#' && (is_blank(before) || is_break(before))) {
			take_comment(&scanner, tell, ctx);
			continue;
		}
		step(&scanner);
	}
	free(scanner.scalars);
	return error;
}
