/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of text_read and its scalars: numbers, strings, enums, and how problems are reported
 * and skipped. Private to text_read.c and text_value.c.
 */
#ifndef XDSPUB_MESSAGE_TEXT_VALUE_H
#define XDSPUB_MESSAGE_TEXT_VALUE_H

#include "message/text_lex.h"
#include "message/text_read.h"

#define TEXT_VALUE_SHOWN 60 /* bytes of what was found, in messages */

struct text_reader {
	const struct text_read_options *options;
	struct arena *arena;
	struct diag_list *diags;
	struct text_lex lex;
	struct buf scratch;
	bool is_bad;  /* an error was reported */
	bool is_over; /* no way to go on: broken syntax or no memory */
};

void text_value_error(struct text_reader *reader, struct position at, const char *rule,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Broken syntax at the current token; reading ends. */
void text_value_syntax(struct text_reader *reader, const char *expected);
void text_value_too_deep(struct text_reader *reader);
/* What stands there is no value of the field's type: says so and goes past it. */
void text_value_wrong_type(struct text_reader *reader, const struct schema_field *field);
/* Past the value of a field that cannot be read. */
void text_value_skip(struct text_reader *reader);
/* A value of any type but messages. False: reported. */
bool text_value_read(
	struct text_reader *reader, const struct schema_field *field, union message_value *value);

static inline bool text_value_skip_mark(struct text_reader *reader, char mark)
{
	if (!text_lex_is(&reader->lex, mark))
		return false;
	text_lex_next(&reader->lex);
	return true;
}

static inline bool text_value_no_memory(struct text_reader *reader, const void *memory)
{
	reader->is_over = reader->is_over || !memory;
	return !memory;
}

static inline char text_value_closer(char mark)
{
	return mark == '{' ? '}' : mark == '<' ? '>' : mark == '[' ? ']' : '\0';
}

/* Names may be as long as the text. */
static inline struct slice text_value_shorten(struct slice name)
{
	return (struct slice){
		name.data, name.length < TEXT_VALUE_SHOWN ? name.length : TEXT_VALUE_SHOWN};
}

#endif
