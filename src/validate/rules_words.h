/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of a field in words, before anything breaks them. Pure. Threads: any. */
#ifndef XDSPUB_VALIDATE_RULES_WORDS_H
#define XDSPUB_VALIDATE_RULES_WORDS_H

#include "validate/rules.h"

/* Called for each rule: "string.min_len", "must have at least 1 character"; of items, keys and
 * values with "each item " and so on before it. */
typedef void (*rules_words_cb)(void *ctx, const char *id, const char *text);

void rules_words(const struct field_rules *rules, rules_words_cb tell, void *ctx);

#endif
