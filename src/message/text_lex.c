/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/text_lex.h"

#include <errno.h>

#include "base/text.h"

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_word(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
	       is_digit(byte);
}

static void skip_space(struct text_lex *lex)
{
	for (; lex->at < lex->end; lex->at++) {
		switch (*lex->at) {
		case '\n':
			lex->line++;
			lex->line_start = lex->at + 1;
			break;
		case ' ':
		case '\t':
		case '\r':
		case '\v':
		case '\f':
			break;
		case '#': {
			const char *newline = memchr(lex->at, '\n', (size_t)(lex->end - lex->at));

			/* The loop goes one further, so stop before the line's end. */
			lex->at = (newline ? newline : lex->end) - 1;
			break;
		}
		default:
			return;
		}
	}
}

static void set_bad(struct text_lex *lex, const char *problem)
{
	lex->kind = TEXT_BAD;
	lex->problem = problem;
}

static const char *end_of_number(const char *at, const char *end)
{
	bool is_hex = end - at >= 2 && at[0] == '0' && (at[1] | 0x20) == 'x';

	for (; at < end && (is_word(*at) || *at == '.'); at++)
		if (!is_hex && (*at | 0x20) == 'e' && end - at >= 2 &&
			(at[1] == '+' || at[1] == '-'))
			at++;
	return at;
}

static const char *end_of_string(struct text_lex *lex, const char *at)
{
	char quote = *at++;

	for (; at < lex->end && *at != quote; at++) {
		if (*at == '\\' && lex->end - at >= 2)
			at++;
		if (*at == '\n') {
			set_bad(lex, "a string does not end in its line");
			return at;
		}
	}
	if (at == lex->end) {
		set_bad(lex, "a string does not end");
		return at;
	}
	return at + 1;
}

void text_lex_next(struct text_lex *lex)
{
	const char *start;

	skip_space(lex);
	start = lex->at;
	lex->position = (struct position){lex->line, (uint32_t)(lex->at - lex->line_start) + 1};
	if (start == lex->end) {
		lex->kind = TEXT_END;
	} else if (is_digit(*start) ||
		   (*start == '.' && lex->end - start >= 2 && is_digit(start[1]))) {
		lex->kind = TEXT_NUMBER;
		lex->at = end_of_number(start, lex->end);
	} else if (is_word(*start)) {
		lex->kind = TEXT_NAME;
		while (lex->at < lex->end && is_word(*lex->at))
			lex->at++;
	} else if (*start == '"' || *start == '\'') {
		lex->kind = TEXT_STRING;
		lex->at = end_of_string(lex, start);
	} else if (*start > ' ' && *start < 0x7f) {
		lex->kind = TEXT_MARK;
		lex->at++;
	} else {
		set_bad(lex, "a byte that belongs in no text format file");
	}
	lex->token = (struct slice){start, (size_t)(lex->at - start)};
}

void text_lex_init(struct text_lex *lex, struct slice text)
{
	const char *start = text.data ? text.data : "";

	*lex = (struct text_lex){
		.at = start, .end = start + text.length, .line_start = start, .line = 1};
	text_lex_next(lex);
}

static int hex_value(char byte)
{
	if (is_digit(byte))
		return byte - '0';
	byte = (char)(byte | 0x20);
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static void put_utf8(struct buf *out, uint32_t code)
{
	if (code < 0x80) {
		buf_putc(out, (char)code);
	} else if (code < 0x800) {
		buf_putc(out, (char)(0xc0 | code >> 6));
		buf_putc(out, (char)(0x80 | (code & 0x3f)));
	} else if (code < 0x10000) {
		buf_putc(out, (char)(0xe0 | code >> 12));
		buf_putc(out, (char)(0x80 | (code >> 6 & 0x3f)));
		buf_putc(out, (char)(0x80 | (code & 0x3f)));
	} else {
		buf_putc(out, (char)(0xf0 | code >> 18));
		buf_putc(out, (char)(0x80 | (code >> 12 & 0x3f)));
		buf_putc(out, (char)(0x80 | (code >> 6 & 0x3f)));
		buf_putc(out, (char)(0x80 | (code & 0x3f)));
	}
}

/* Exactly `digits` hexadecimal digits. */
static bool read_code(const char **at, const char *end, unsigned digits, uint32_t *ret_code)
{
	uint32_t code = 0;

	if ((size_t)(end - *at) < digits)
		return false;
	for (unsigned i = 0; i < digits; i++) {
		int value = hex_value(*(*at)++);

		if (value < 0)
			return false;
		code = code << 4 | (uint32_t)value;
	}
	*ret_code = code;
	return true;
}

/* \uXXXX, of which two may be a pair of surrogates, or \UXXXXXXXX. */
static const char *put_unicode(const char **at, const char *end, unsigned digits, struct buf *out)
{
	uint32_t code, low;

	if (!read_code(at, end, digits, &code))
		return digits == 4 ? "\\u wants four hexadecimal digits"
				   : "\\U wants eight hexadecimal digits";
	if (code >= 0xd800 && code < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' &&
		(*at)[1] == 'u') {
		*at += 2;
		if (!read_code(at, end, 4, &low) || low < 0xdc00 || low > 0xdfff)
			return "half of a surrogate pair is missing";
		code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
	}
	if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return "an escape that is no Unicode character";
	put_utf8(out, code);
	return NULL;
}

/* After the backslash. */
static const char *put_escape(const char **at, const char *end, struct buf *out)
{
	static const char pairs[] = "a\ab\bf\fn\nr\rt\tv\v??\\\\''\"\"";
	char kind = *(*at)++;
	unsigned value = 0, digits = 0;

	for (size_t i = 0; i + 1 < sizeof(pairs); i += 2) {
		if (pairs[i] == kind) {
			buf_putc(out, pairs[i + 1]);
			return NULL;
		}
	}
	if (kind >= '0' && kind <= '7') {
		value = (unsigned)(kind - '0');
		while (++digits < 3 && *at < end && **at >= '0' && **at <= '7')
			value = value * 8 + (unsigned)(*(*at)++ - '0');
	} else if (kind == 'x' || kind == 'X') {
		while (digits < 2 && *at < end && hex_value(**at) >= 0) {
			value = value * 16 + (unsigned)hex_value(*(*at)++);
			digits++;
		}
		if (digits == 0)
			return "\\x wants hexadecimal digits";
	} else if (kind == 'u' || kind == 'U') {
		return put_unicode(at, end, kind == 'u' ? 4 : 8, out);
	} else {
		return "an escape that does not exist";
	}
	if (value > 0xff)
		return "an octal escape beyond \\377";
	buf_putc(out, (char)value);
	return NULL;
}

const char *text_lex_unquote(struct slice token, struct buf *out)
{
	const char *at = token.data + 1, *end = token.data + token.length - 1;

	while (at < end) {
		const char *backslash = memchr(at, '\\', (size_t)(end - at));
		const char *problem;

		buf_append(out, at, (size_t)((backslash ? backslash : end) - at));
		if (!backslash)
			break;
		at = backslash + 1;
		problem = put_escape(&at, end, out);
		if (problem)
			return problem;
	}
	return NULL;
}

int text_lex_integer(struct slice token, uint64_t *ret_value)
{
	unsigned base = 10;
	uint64_t value = 0;
	size_t i = 0;

	if (token.length > 1 && token.data[0] == '0') {
		bool is_hex = (token.data[1] | 0x20) == 'x';

		base = is_hex ? 16 : 8;
		i = is_hex ? 2 : 1;
		if (i == token.length)
			return -EINVAL;
	}
	for (; i < token.length; i++) {
		int digit = hex_value(token.data[i]);

		if (digit < 0 || (unsigned)digit >= base)
			return -EINVAL;
		if (value > (UINT64_MAX - (unsigned)digit) / base)
			return -ERANGE;
		value = value * base + (unsigned)digit;
	}
	*ret_value = value;
	return 0;
}

int text_lex_float(struct slice token, double *ret_value)
{
	if (token.length > 1 && token.data[0] == '0' && token.data[1] != '.' &&
		(token.data[1] | 0x20) != 'e' && (token.data[1] | 0x20) != 'f')
		return -EINVAL;
	if (token.length > 1 && (token.data[token.length - 1] | 0x20) == 'f')
		token.length--;
	return text_parse_double(token, ret_value);
}
