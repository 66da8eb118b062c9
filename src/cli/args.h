/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines: `--name value`, `--name=value`, `-n value`, `-nvalue`, `--` and operands anywhere.
 * A misspelt option is refused with the nearest one. Option names are matched exactly.
 */
#ifndef XDSPUB_CLI_ARGS_H
#define XDSPUB_CLI_ARGS_H

#include "base/buf.h"

struct args_option {
	const char *name;  /* without the dashes */
	char letter;	   /* 0: none */
	const char *value; /* what --help calls the value: "FILE"; NULL: a switch without one */
	bool is_repeated;  /* may be given several times; otherwise the last one counts */
	const char *text;  /* for --help, one line, no full stop */
};

struct args_given {
	const struct args_option *option;
	const char *value; /* "" for a switch */
};

/* Borrowed from argv and the option tables. */
struct args {
	const struct args_option *const *options;
	size_t options_count;
	struct args_given *given; /* in the order of the command line */
	size_t given_count;
	const char **operands;
	size_t operands_count;
};

/* 0, or -EINVAL with a sentence for people in `problem`. argv starts after the command's name. */
int args_parse(struct args *args, const struct args_option *const *options, size_t options_count,
	int argc, char **argv, struct buf *problem);
void args_fini(struct args *args);

bool args_has(const struct args *args, const char *name);
const char *args_get(const struct args *args, const char *name); /* the last one, or NULL */
/* The value given after `*cursor` (start with 0), NULL when there are no more. */
const char *args_next(const struct args *args, const char *name, size_t *cursor);

#endif
