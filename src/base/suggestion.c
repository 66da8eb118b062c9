/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/suggestion.h"

#include "base/text.h"

#define DISTANCE_BYTES 255 /* longest text the distance is worked out for */
#define WORD_DISTANCE  3   /* what counts as near for a long word */

static char lower(char byte)
{
	return byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A')) : byte;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t suggestion_distance(struct slice a, struct slice b, size_t limit)
{
	size_t rows[3][DISTANCE_BYTES + 1];
	size_t *before = rows[0];
	size_t *above = rows[1];
	size_t *row = rows[2];

	while (a.length && b.length && lower(a.data[0]) == lower(b.data[0])) {
		a = (struct slice){a.data + 1, a.length - 1};
		b = (struct slice){b.data + 1, b.length - 1};
	}
	while (a.length && b.length && lower(a.data[a.length - 1]) == lower(b.data[b.length - 1])) {
		a.length--;
		b.length--;
	}
	if ((a.length > b.length ? a.length - b.length : b.length - a.length) > limit ||
		a.length > DISTANCE_BYTES || b.length > DISTANCE_BYTES)
		return limit + 1;
	for (size_t j = 0; j <= b.length; j++)
		above[j] = j;
	for (size_t i = 1; i <= a.length; i++) {
		size_t best = i;
		size_t *spare = before;

		row[0] = i;
		for (size_t j = 1; j <= b.length; j++) {
			char x = lower(a.data[i - 1]);
			char y = lower(b.data[j - 1]);
			size_t cost = least(above[j], row[j - 1]) + 1;

			cost = least(cost, above[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == lower(b.data[j - 2]) &&
				y == lower(a.data[i - 2]))
				cost = least(cost, before[j - 2] + 1);
			row[j] = cost;
			best = least(best, cost);
		}
		if (best > limit)
			return limit + 1;
		before = above;
		above = row;
		row = spare;
	}
	return least(above[b.length], limit + 1);
}

void suggestion_init(struct suggestion *suggestion, struct slice word)
{
	size_t near = least(word.length / 3 + (word.length == 2), WORD_DISTANCE);

	*suggestion = (struct suggestion){.word = word, .distance = near + 1};
}

void suggestion_offer(struct suggestion *suggestion, const char *candidate)
{
	struct slice text = slice_of(candidate);
	size_t distance;

	if (slice_equal(text, suggestion->word))
		return;
	distance = suggestion_distance(suggestion->word, text, suggestion->distance);
	if (distance < suggestion->distance ||
		(distance == suggestion->distance && suggestion->best.data &&
			slice_compare(text, suggestion->best) < 0)) {
		suggestion->best = text;
		suggestion->distance = distance;
	}
}

const char *suggestion_phrase(const struct suggestion *suggestion, char out[static 256])
{
	char quoted[201];
	struct buf text = {.data = quoted, .capacity = sizeof(quoted) - 1};
	static const char before[] = ", did you mean \"";

	out[0] = '\0';
	if (!suggestion->best.data)
		return out;
	/* A fixed buffer: the limit keeps it from growing. */
	text.limit_bytes = text.capacity;
	text_quote(&text, suggestion->best, text.capacity);
	memcpy(out, before, sizeof(before) - 1);
	memcpy(out + sizeof(before) - 1, text.data, text.length);
	memcpy(out + sizeof(before) - 1 + text.length, "\"?", 3);
	return out;
}
