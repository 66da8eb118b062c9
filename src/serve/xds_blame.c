/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_blame.h"

/* Ends a word wherever it stands: white space, quotes, brackets, list separators. */
static bool is_between(char c)
{
	return (unsigned char)c <= ' ' || strchr("\"'`,;()[]{}<>=", c) != NULL;
}

/* Belongs to a sentence when it ends a word, to a name when it is inside. */
static bool is_punctuation(char c)
{
	return c == '.' || c == ':' || c == '!' || c == '?';
}

/* The longest name that the word is, or is but for punctuation behind it. */
static struct resource *find_word(const struct resource_set *set, struct slice word)
{
	while (word.length) {
		struct resource *resource = resource_set_find(set, word);

		if (resource)
			return resource;
		if (!is_punctuation(word.data[word.length - 1]))
			return NULL;
		word.length--;
	}
	return NULL;
}

static bool is_known(struct resource *const *found, size_t count, const struct resource *resource)
{
	for (size_t i = 0; i < count; i++)
		if (found[i] == resource)
			return true;
	return false;
}

size_t xds_blame_find(
	const struct resource_set *set, struct slice text, struct resource **found, size_t limit)
{
	size_t count = 0, at = 0;

	while (at < text.length && count < limit) {
		struct slice word = {text.data + at, 0};
		struct resource *resource;

		while (at + word.length < text.length && !is_between(word.data[word.length]))
			word.length++;
		at += word.length + 1;
		resource = word.length ? find_word(set, word) : NULL;
		if (resource && !is_known(found, count, resource))
			found[count++] = resource;
	}
	return count;
}
