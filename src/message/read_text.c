/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/read_text.h"

#include "base/text.h"

struct position read_text_position(struct slice text, size_t offset)
{
	struct position at = {1, 1};

	for (size_t i = 0; i < offset && i < text.length; i++) {
		at.column++;
		if (text.data[i] == '\n')
			at = (struct position){at.line + 1, 1};
	}
	return at;
}

static size_t find_not_ascii(struct slice text)
{
	size_t i = 0;

	for (uint64_t word; i + sizeof(word) <= text.length; i += sizeof(word)) {
		memcpy(&word, text.data + i, sizeof(word));
		if (word & 0x8080808080808080u)
			break;
	}
	while (i < text.length && !((unsigned char)text.data[i] & 0x80))
		i++;
	return i;
}

/* The first byte that is no UTF-8, by halving the text at starts of characters. */
static size_t find_bad_utf8(struct slice text)
{
	size_t start = 0, length = text.length;

	while (length > 4) {
		size_t half = length / 2;

		while (half > 1 && ((unsigned char)text.data[start + half] & 0xc0) == 0x80)
			half--;
		if (text_is_utf8((struct slice){text.data + start, half})) {
			start += half;
			length -= half;
		} else if (half == length) {
			break;
		} else {
			length = half;
		}
		if (half == 0)
			break;
	}
	for (size_t i = 1; i <= length; i++) {
		if (text_is_utf8((struct slice){text.data + start, i})) {
			start += i;
			length -= i;
			i = 0;
		}
	}
	return start;
}

bool read_text_check(struct node_build *build, struct slice *text, bool *ret_is_ascii)
{
	const char *nul;

	*ret_is_ascii = true;
	if (text->length >= 2 && (memcmp(text->data, "\xff\xfe", 2) == 0 ||
					 memcmp(text->data, "\xfe\xff", 2) == 0)) {
		node_build_fail(build, (struct position){0}, "not-text",
			"the file is UTF-16 or UTF-32: save it as UTF-8");
		return false;
	}
	if (text->length >= 3 && memcmp(text->data, "\xef\xbb\xbf", 3) == 0)
		*text = (struct slice){text->data + 3, text->length - 3};
	if (text->length == 0)
		return true;
	nul = memchr(text->data, 0, text->length);
	if (nul) {
		node_build_fail(build, read_text_position(*text, (size_t)(nul - text->data)),
			"not-text", "a NUL byte: this is no text file");
		return false;
	}
	*ret_is_ascii = find_not_ascii(*text) == text->length;
	if (!*ret_is_ascii && !text_is_utf8(*text)) {
		size_t offset = find_bad_utf8(*text);

		node_build_fail(build, read_text_position(*text, offset), "not-text",
			"byte 0x%02x is not valid UTF-8: this is no text file, or one in another "
			"encoding",
			(unsigned char)text->data[offset]);
		return false;
	}
	return true;
}
