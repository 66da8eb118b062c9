/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sub-command is: one row here, one file src/cli/<name>.c, one line in the table of main.c.
 * Its --help is made from this.
 */
#ifndef XDSPUB_CLI_COMMAND_H
#define XDSPUB_CLI_COMMAND_H

#include "cli/args.h"

/* What the shell offers for operands. */
enum command_operands {
	OPERANDS_FILES,
	OPERANDS_NAMES, /* whatever explain explains */
	OPERANDS_TYPES,
	OPERANDS_WORDS, /* those in the synopsis: "bash|zsh|fish" */
};

/* Exit statuses of every command. */
enum {
	EXIT_FINE = 0,
	EXIT_FINDINGS = 1, /* errors in what was looked at, or the work failed */
	EXIT_USAGE = 2,
	EXIT_UNREACHABLE = 3 /* the daemon cannot be asked */
};

struct command {
	const char *name;
	const char *synopsis; /* what follows the name: "TREE -o OUT [OPTION]..." */
	const char *summary;  /* one line, no full stop */
	const char *details;  /* paragraphs for --help, lines of at most 79 columns; may be NULL */
	const struct args_option *options; /* ends with a NULL name; --help is added; may be NULL */
	unsigned settings; /* OPTIONS_* mask: rows of daemon/options that are flags of it too */
	size_t operands_min, operands_max;
	enum command_operands operands;
	int (*run)(const struct args *args); /* returns the exit status */
};

extern const struct command command_bootstrap;
extern const struct command command_build;
extern const struct command command_check;
extern const struct command command_completion;
extern const struct command command_convert;
extern const struct command command_explain;
extern const struct command command_import;
extern const struct command command_schema;
extern const struct command command_serve;
extern const struct command command_status;
extern const struct command command_why;

#endif
