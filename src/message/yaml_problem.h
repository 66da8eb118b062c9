/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libyaml says about a syntax error, in words for the people who wrote the YAML. */
#ifndef XDSPUB_MESSAGE_YAML_PROBLEM_H
#define XDSPUB_MESSAGE_YAML_PROBLEM_H

#include <yaml.h>

#include "base/buf.h"
#include "base/diag.h"

/* Appends the sentence. `at` is the character that the parser stopped at ("" at the end of the
 * text), `context` the place where the construct began (line 0: none). Returns true when the
 * problem is better shown at `context`. */
bool yaml_problem_describe(
	const yaml_parser_t *parser, struct slice at, struct position context, struct buf *out);

#endif
