/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/json_read.h"

#include <errno.h>

#include "base/text.h"
#include "message/node_build.h"
#include "message/number.h"
#include "message/read_text.h"

struct reader {
	struct node_build build;
	const char *begin, *end, *next;
	const char *line_start;
	uint32_t line;
};

static inline struct position here(const struct reader *reader, const char *at)
{
	return (struct position){reader->line, (uint32_t)(at - reader->line_start) + 1};
}

static inline bool is_letter(char c)
{
	return (unsigned char)((c | 32) - 'a') < 26;
}

static void skip_space(struct reader *reader)
{
	for (; reader->next < reader->end; reader->next++) {
		char c = *reader->next;

		if (c == '\n') {
			reader->line++;
			reader->line_start = reader->next + 1;
		} else if (c != ' ' && c != '\t' && c != '\r') {
			return;
		}
	}
}

static const char *explain_unexpected(char found)
{
	if (found == '/' || found == '#')
		return " (JSON has no comments)";
	if (found == '\'')
		return " (JSON wants double quotes)";
	if (found == '}' || found == ']')
		return " (is there a comma too much before it?)";
	return "";
}

/* `expected` begins with what should be there instead, e.g. `"," or "}"`. */
static void fail_unexpected(struct reader *reader, const char *expected)
{
	struct buf found = BUF_INIT;
	size_t length = 0;

	if (reader->next == reader->end) {
		node_build_fail(&reader->build, here(reader, reader->next), "json-syntax",
			"the text ends where %s is expected", expected);
		return;
	}
	while (reader->next + length < reader->end && length < 20 &&
		(length == 0 || is_letter(reader->next[length])))
		length++;
	while (reader->next + length < reader->end &&
		((unsigned char)reader->next[length] & 0xc0) == 0x80)
		length++;
	text_quote(&found, (struct slice){reader->next, length}, 40);
	node_build_fail(&reader->build, here(reader, reader->next), "json-syntax",
		"expected %s, found \"%s\"%s", expected, buf_cstr(&found),
		explain_unexpected(*reader->next));
	buf_fini(&found);
}

static int read_hex4(const char *digits, const char *end, uint32_t *ret_value)
{
	uint32_t value = 0;

	if (end - digits < 4)
		return -EINVAL;
	for (int i = 0; i < 4; i++) {
		char c = digits[i], low = (char)(c | 32);

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint32_t)(c - '0');
		else if (low >= 'a' && low <= 'f')
			value = value << 4 | (uint32_t)(low - 'a' + 10);
		else
			return -EINVAL;
	}
	*ret_value = value;
	return 0;
}

static char *put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		*out++ = (char)c;
		return out;
	}
	if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*out++ = (char)(0xe0 | c >> 12);
		} else {
			*out++ = (char)(0xf0 | c >> 18);
			*out++ = (char)(0x80 | (c >> 12 & 63));
		}
		*out++ = (char)(0x80 | (c >> 6 & 63));
	}
	*out++ = (char)(0x80 | (c & 63));
	return out;
}

/* The character of an escape; `*at` is behind the backslash and moves past it. */
static int read_escape(struct reader *reader, const char **at, uint32_t *ret_character)
{
	static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	const char *start = *at - 1, *found;
	uint32_t c, low;

	if (*at < reader->end && **at && **at != 'u' && (found = strchr(letters, **at))) {
		*ret_character = (unsigned char)meanings[found - letters];
		++*at;
		return 0;
	}
	if (*at == reader->end || **at != 'u' || read_hex4(*at + 1, reader->end, &c)) {
		node_build_fail(&reader->build, here(reader, start), "json-syntax",
			"not an escape of JSON: write \\\\ for a backslash");
		return -EBADMSG;
	}
	*at += 5;
	if (c == 0) {
		node_build_fail(&reader->build, here(reader, start), "bad-value",
			"a text with a NUL character");
		return -EBADMSG;
	}
	if (c >= 0xd800 && c < 0xdc00 && reader->end - *at >= 6 && (*at)[0] == '\\' &&
		(*at)[1] == 'u' && read_hex4(*at + 2, reader->end, &low) == 0 && low >= 0xdc00 &&
		low < 0xe000) {
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		*at += 6;
	}
	if (c >= 0xd800 && c < 0xe000) {
		node_build_fail(&reader->build, here(reader, start), "json-syntax",
			"half of a surrogate pair");
		return -EBADMSG;
	}
	*ret_character = c;
	return 0;
}

/* From the opening quote on; data NULL on error. */
static struct slice read_string(struct reader *reader)
{
	const char *start = reader->next + 1, *at = start, *close;
	struct slice none = {NULL, 0};
	bool has_escape = false;
	char *copy, *out;

	for (;; at++) {
		if (at == reader->end || *at == '\n') {
			node_build_fail(&reader->build, here(reader, reader->next), "json-syntax",
				"the text that starts here is never closed");
			return none;
		}
		if ((unsigned char)*at < 0x20) {
			node_build_fail(&reader->build, here(reader, at), "json-syntax",
				"control character U+%04X in a text: write \\u%04x",
				(unsigned char)*at, (unsigned char)*at);
			return none;
		}
		if (*at == '"')
			break;
		if (*at == '\\') {
			has_escape = true;
			if (++at == reader->end)
				at--;
		}
	}
	close = at;
	reader->next = close + 1;
	if (!has_escape)
		return (struct slice){start, (size_t)(close - start)};
	copy = out = arena_alloc(reader->build.arena, (size_t)(close - start));
	if (!copy) {
		reader->build.error = -ENOMEM;
		return none;
	}
	for (at = start; at < close;) {
		uint32_t c;

		if (*at != '\\') {
			*out++ = *at++;
			continue;
		}
		at++;
		if (read_escape(reader, &at, &c))
			return none;
		out = put_utf8(out, c);
	}
	return (struct slice){copy, (size_t)(out - copy)};
}

static struct node *new_node(struct reader *reader, enum node_kind kind)
{
	struct node *node = arena_alloc(reader->build.arena, sizeof(*node));

	if (!node) {
		reader->build.error = -ENOMEM;
		return NULL;
	}
	*node = (struct node){.kind = kind, .is_json = true, .at = here(reader, reader->next)};
	node_build_count(&reader->build, 1, node->at);
	return node;
}

/* A number, true, false, null. */
static struct slice read_word(struct reader *reader)
{
	const char *at = reader->next;
	struct slice word;
	enum number_form form;

	while (at < reader->end && (is_letter(*at) || *at == '-' || *at == '+' || *at == '.' ||
					   (*at >= '0' && *at <= '9')))
		at++;
	word = (struct slice){reader->next, (size_t)(at - reader->next)};
	if (slice_is(word, "true") || slice_is(word, "false") || slice_is(word, "null")) {
		reader->next = at;
		return word;
	}
	form = number_form(word);
	if (form == NUMBER_DIGITS || form == NUMBER_DECIMAL) {
		reader->next = at;
		return word;
	}
	if (word.length && (form != NUMBER_NONE || *word.data == '-' || *word.data == '+' ||
				   (*word.data >= '0' && *word.data <= '9')))
		node_build_fail(&reader->build, here(reader, reader->next), "json-syntax",
			"\"%.*s\" is not a number of JSON",
			(int)(word.length < 40 ? word.length : 40), word.data);
	else
		fail_unexpected(reader, "a value");
	return (struct slice){NULL, 0};
}

static void read_value(struct reader *reader)
{
	struct node *node;
	char c;

	if (reader->next == reader->end) {
		fail_unexpected(reader, "a value");
		return;
	}
	c = *reader->next;
	if (c == '{' || c == '[') {
		node = new_node(reader, c == '{' ? NODE_MAP : NODE_LIST);
		if (node)
			node_build_open(&reader->build, node);
		reader->next++;
		return;
	}
	node = new_node(reader, NODE_SCALAR);
	if (!node)
		return;
	node->is_plain = c != '"';
	node->text = c == '"' ? read_string(reader) : read_word(reader);
	if (node->text.data && !reader->build.error)
		node_build_add(&reader->build, node, 0);
}

static void read_key(struct reader *reader)
{
	struct position at = here(reader, reader->next);
	struct slice key;

	if (reader->next == reader->end || *reader->next != '"') {
		fail_unexpected(reader, "a name in double quotes");
		return;
	}
	key = read_string(reader);
	if (!key.data)
		return;
	node_build_count(&reader->build, 1, at);
	skip_space(reader);
	if (reader->next == reader->end || *reader->next != ':') {
		fail_unexpected(reader, "\":\"");
		return;
	}
	reader->next++;
	skip_space(reader);
	node_build_key(&reader->build, key, at, false);
}

/* Behind "{", "[", or an element: closes containers or leads to the next element. */
static void read_between(struct reader *reader, bool is_first)
{
	struct node_build *build = &reader->build;
	bool is_map = node_build_top(build)->node->kind == NODE_MAP;
	bool has_next = reader->next < reader->end;
	char c = has_next ? *reader->next : 0;

	if (has_next && c == (is_map ? '}' : ']')) {
		reader->next++;
		node_build_close(build);
		return;
	}
	if (!is_first) {
		if (!has_next || c != ',') {
			fail_unexpected(reader, is_map ? "\",\" or \"}\"" : "\",\" or \"]\"");
			return;
		}
		reader->next++;
		skip_space(reader);
	}
	if (is_map)
		read_key(reader);
	if (!build->error)
		read_value(reader);
}

static void read_text(struct reader *reader)
{
	struct node_build *build = &reader->build;

	skip_space(reader);
	read_value(reader);
	while (!build->error && build->depth) {
		bool is_first = reader->next[-1] == '{' || reader->next[-1] == '[';

		skip_space(reader);
		read_between(reader, is_first);
	}
	if (build->error)
		return;
	skip_space(reader);
	if (reader->next != reader->end)
		node_build_fail(build, here(reader, reader->next), "json-syntax",
			"text after the end of the value");
}

int json_read(const struct read_options *options, struct slice text, struct arena *arena,
	struct diag_list *diags, struct node **ret_root)
{
	struct reader reader; /* large: only what must be is initialised */
	bool is_ascii;
	int rc;

	*ret_root = NULL;
	if (!text.data)
		text = SLICE("");
	node_build_init(&reader.build, arena, diags, options->path, options->nodes_limit,
		options->line_base);
	if (read_text_check(&reader.build, &text, &is_ascii)) {
		reader.begin = reader.next = reader.line_start = text.data;
		reader.end = text.data + text.length;
		reader.line = options->line_base + 1;
		read_text(&reader);
	}
	rc = reader.build.error;
	if (!rc) {
		*ret_root = reader.build.root;
		rc = reader.build.is_bad ? -EBADMSG : 0;
	}
	node_build_fini(&reader.build);
	return rc;
}
