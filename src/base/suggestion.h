/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Did you mean": the candidate nearest to a misspelt word. All pure. Threads: any. */
#ifndef XDSPUB_BASE_SUGGESTION_H
#define XDSPUB_BASE_SUGGESTION_H

#include "base/slice.h"

/* Collects the nearest candidate to a misspelt word: init, offer each, read. Borrows all texts;
 * the order of the offers makes no difference. */
struct suggestion {
	struct slice word;
	struct slice best; /* data NULL: nothing near */
	size_t distance;
};
void suggestion_init(struct suggestion *suggestion, struct slice word);
void suggestion_offer(struct suggestion *suggestion, const char *candidate);
/* `, did you mean "x"?` or nothing */
const char *suggestion_phrase(const struct suggestion *suggestion, char out[static 256]);

/* Edit distance with transpositions, ASCII case ignored; beyond limit: limit + 1. Texts that differ
 * over more than 255 bytes count as beyond any limit. */
size_t suggestion_distance(struct slice a, struct slice b, size_t limit);

#endif
