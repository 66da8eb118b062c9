/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may stand where the cursor is: commands, options, their values, and names that explain
 * explains. Reads the schema and groups.yaml when they are asked for; says nothing of problems.
 */
#ifndef XDSPUB_CLI_COMPLETE_H
#define XDSPUB_CLI_COMPLETE_H

#include <stdio.h>

#include "cli/command.h"

/* `line` is the command line up to the cursor. Prints a whole word on each line, or ":files",
 * ":folders" (the shell's own), ":nospace" (more may follow the word). */
void complete_line(const struct command *const *commands, const char *line, FILE *to);

#endif
