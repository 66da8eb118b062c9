/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regular expressions as Envoy reads them (RE2 syntax), matched by PCRE2. What RE2 does not have
 * (look-around, back references, possessive and atomic groups, recursion, callouts) is refused.
 * Known differences: RE2's \pN names of scripts follow another Unicode version; \C is refused;
 * matching is bounded by work (a pattern that takes too long counts as undecided).
 * Threads: a pattern may be matched by many at the same time.
 */
#ifndef XDSPUB_VALIDATE_PATTERN_H
#define XDSPUB_VALIDATE_PATTERN_H

#include <stdbool.h>

#include "base/slice.h"

struct pattern;

/* `is_bytes`: the subject is no UTF-8. 0, -EINVAL with a text for people in `problem`, -ENOMEM. */
int pattern_new(struct slice text, bool is_bytes, struct pattern **ret_pattern, char *problem,
	size_t problem_size);
void pattern_free(struct pattern *pattern); /* NULL is fine */
/* Whether the pattern matches the text from its first to its last byte. 1: yes; 0: no;
 * -EAGAIN: too much work to say. */
int pattern_match(const struct pattern *pattern, struct slice text);

#endif
