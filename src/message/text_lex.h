/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens of the protobuf text format with their positions: names, numbers, strings, marks. White
 * space and # comments are skipped. Borrows the text. Threads: one at a time.
 */
#ifndef XDSPUB_MESSAGE_TEXT_LEX_H
#define XDSPUB_MESSAGE_TEXT_LEX_H

#include "base/arena.h"
#include "base/diag.h"

enum text_token {
	TEXT_END,
	TEXT_NAME,   /* letters, digits and '_' */
	TEXT_NUMBER, /* as it stands, not checked: 1, 0x1f, 1.5e3f */
	TEXT_STRING, /* with its quotes, escapes not yet looked at */
	TEXT_MARK,   /* one byte */
	TEXT_BAD,    /* see problem */
};

struct text_lex {
	const char *at, *end, *line_start;
	uint32_t line;
	/* The current token: */
	enum text_token kind;
	struct slice token;
	struct position position;
	const char *problem; /* a literal */
};

/* Reads the first token too. */
void text_lex_init(struct text_lex *lex, struct slice text);
void text_lex_next(struct text_lex *lex);

static inline bool text_lex_is(const struct text_lex *lex, char mark)
{
	return lex->kind == TEXT_MARK && *lex->token.data == mark;
}

/* What a TEXT_STRING stands for, appended to `out`. NULL, or what is wrong with an escape. */
const char *text_lex_unquote(struct slice token, struct buf *out);

/* A TEXT_NUMBER as a whole number: decimal, 0x hexadecimal or 0 octal. -EINVAL, -ERANGE. */
int text_lex_integer(struct slice token, uint64_t *ret_value);
/* A TEXT_NUMBER as decimal floating point, with or without a final f. -EINVAL, -ERANGE. */
int text_lex_float(struct slice token, double *ret_value);

#endif
