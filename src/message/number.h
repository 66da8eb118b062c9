/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers as JSON and YAML 1.2 write them, read exactly. Pure. Threads: any. */
#ifndef XDSPUB_MESSAGE_NUMBER_H
#define XDSPUB_MESSAGE_NUMBER_H

#include "base/slice.h"
#include "schema/schema.h"

enum number_form {
	NUMBER_NONE,	/* no number */
	NUMBER_DIGITS,	/* -?digits without leading zeros */
	NUMBER_DECIMAL, /* JSON, with fraction or exponent */
	/* Only YAML 1.2: */
	NUMBER_LEADING_ZERO, /* 0644: octal for some readers, decimal for others */
	NUMBER_HEX,	     /* 0x1f */
	NUMBER_OCTAL,	     /* 0o17 */
	NUMBER_SIGNED,	     /* +5 */
	NUMBER_LOOSE,	     /* .5, 5., +0.5 */
	NUMBER_INFINITY,     /* .inf, -.inf, +.inf */
	NUMBER_NAN,	     /* .nan */
};

enum number_form number_form(struct slice text);

/* The whole number that the text stands for: 15, 1.5e1, 0xf. The text has one of the forms up to
 * NUMBER_LOOSE. -EDOM: a fraction is left. -ERANGE: beyond 64 bits. */
int number_to_integer(
	enum number_form form, struct slice text, bool *ret_is_negative, uint64_t *ret_magnitude);
/* -ERANGE: too large for a double. */
int number_to_double(enum number_form form, struct slice text, double *ret_value);

/* What a value of the type must be, for messages: "a whole number (int32)". */
const char *number_type_words(enum schema_type type);

#endif
