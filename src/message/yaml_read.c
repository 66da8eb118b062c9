/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/yaml_read.h"

#include <errno.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "message/node_build.h"
#include "message/read_text.h"
#include "message/yaml_problem.h"

#define CORE_TAG	 "tag:yaml.org,2002:"
#define DIRECTIVES_LIMIT 64 /* libyaml compares every %TAG line with every other */

struct anchor {
	struct slice name;
	struct node *node; /* NULL while it is open */
	unsigned height;
	uint64_t count; /* nodes below and with it, aliases expanded */
};

struct reader {
	struct node_build build;
	const struct read_options *options;
	struct slice text;
	bool is_ascii; /* characters are bytes, so libyaml's marks are ours */
	bool has_merge_keys;
	yaml_parser_t parser;

	struct anchor *anchors;
	size_t anchors_count, anchors_capacity;
	struct hash anchors_by_name; /* value: index + 1 */

	struct documents documents;
	size_t documents_capacity;
	struct position start;

	struct { /* how far characters were counted, for texts that are not ASCII */
		size_t characters, bytes, line_start;
		uint32_t line;
	} cursor;
};

/* libyaml counts characters from 0, we count bytes from 1. Marks come in ascending order but for
 * a few in errors. */
static size_t find_offset(struct reader *reader, const yaml_mark_t *mark)
{
	const char *data = reader->text.data;
	size_t bytes, length = reader->text.length;

	if (reader->is_ascii)
		return mark->index < length ? mark->index : length;
	if (mark->index < reader->cursor.characters) {
		memset(&reader->cursor, 0, sizeof(reader->cursor));
	}
	bytes = reader->cursor.bytes;
	while (reader->cursor.characters < mark->index && bytes < length) {
		if (data[bytes] == '\n') {
			reader->cursor.line++;
			reader->cursor.line_start = bytes + 1;
		}
		bytes++;
		while (bytes < length && ((unsigned char)data[bytes] & 0xc0) == 0x80)
			bytes++;
		reader->cursor.characters++;
	}
	reader->cursor.bytes = bytes;
	return bytes;
}

/* In this text. */
static inline struct position local_position_of(struct reader *reader, const yaml_mark_t *mark)
{
	/* At the end libyaml counts a line that is not there. */
	if (reader->is_ascii && mark->index >= reader->text.length)
		return read_text_position(reader->text, reader->text.length);
	if (reader->is_ascii)
		return (struct position){(uint32_t)mark->line + 1, (uint32_t)mark->column + 1};
	find_offset(reader, mark);
	return (struct position){reader->cursor.line + 1,
		(uint32_t)(reader->cursor.bytes - reader->cursor.line_start) + 1};
}

/* As nodes and diagnostics carry it. */
static inline struct position position_of(struct reader *reader, const yaml_mark_t *mark)
{
	struct position at = local_position_of(reader, mark);

	at.line += reader->build.line_base;
	return at;
}

/* The scalar's value: out of the text where it stands there unchanged, else a copy. */
static inline struct slice take_value(struct reader *reader, const yaml_event_t *event)
{
	size_t length = event->data.scalar.length;
	size_t start = event->start_mark.index;

	if (reader->is_ascii && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		event->end_mark.index - start == length &&
		event->start_mark.line == event->end_mark.line)
		return (struct slice){reader->text.data + start, length};
	return arena_copy(reader->build.arena, event->data.scalar.value, length);
}

static void complain_tag(struct reader *reader, const char *tag, struct position at)
{
	static const char *const known[] = {"!ignore", "!file", "!include", "!delete", "!!str",
		"!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq", "!!binary"};
	struct suggestion suggestion;
	struct buf quoted = BUF_INIT, full = BUF_INIT;
	char phrase[256];

	if (strncmp(tag, CORE_TAG, strlen(CORE_TAG)) == 0) {
		buf_puts(&full, "!!");
		tag += strlen(CORE_TAG);
	}
	buf_puts(&full, tag);
	suggestion_init(&suggestion, slice_of(buf_cstr(&full)));
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		suggestion_offer(&suggestion, known[i]);
	text_quote(&quoted, buf_slice(&full), 60);
	node_build_complain(&reader->build, at, "unknown-tag", "unknown tag \"%s\"%s",
		buf_cstr(&quoted), suggestion_phrase(&suggestion, phrase));
	buf_fini(&quoted);
	buf_fini(&full);
}

/* Gives `node` the tag, or complains. */
static void apply_tag(struct reader *reader, struct node *node, const char *tag)
{
	static const struct {
		const char *name;
		enum node_kind kind;
		bool is_plain;
		unsigned fits; /* bits: 1 << enum node_scalar */
	} core[] = {{"int", NODE_SCALAR, true, 1u << NODE_INTEGER},
		{"float", NODE_SCALAR, true, 1u << NODE_FLOAT | 1u << NODE_INTEGER},
		{"bool", NODE_SCALAR, true, 1u << NODE_BOOL},
		{"null", NODE_SCALAR, true, 1u << NODE_NULL}, {"binary", NODE_SCALAR, false, 0},
		{"map", NODE_MAP, false, 0}, {"seq", NODE_LIST, false, 0}};
	const char *core_name = tag + strlen(CORE_TAG);

	if (strcmp(tag, "!") == 0) {
		node->tag = node->kind == NODE_SCALAR ? NODE_TAG_STRING : NODE_TAG_NONE;
		node->is_plain = false;
		return;
	}
	if (strcmp(tag, "!delete") == 0) {
		node->tag = NODE_TAG_DELETE;
		return;
	}
	if (strcmp(tag, "!file") == 0) {
		node->tag = NODE_TAG_FILE;
		if (node->kind != NODE_SCALAR)
			node_build_complain(&reader->build, node->at, "bad-value",
				"\"!file\" wants the name of a file, not a %s",
				node->kind == NODE_LIST ? "list" : "mapping");
		return;
	}
	if (strcmp(tag, "!include") == 0) {
		node->tag = NODE_TAG_INCLUDE;
		if (node->kind != NODE_SCALAR)
			node_build_complain(&reader->build, node->at, "bad-value",
				"\"!include\" wants the name of a file, not a %s",
				node->kind == NODE_LIST ? "list" : "mapping");
		return;
	}
	if (strcmp(tag, "!ignore") == 0) {
		node_build_complain(&reader->build, node->at, "unknown-tag",
			"\"!ignore\" belongs before a key, not before its value");
		return;
	}
	if (strncmp(tag, CORE_TAG, strlen(CORE_TAG)) != 0) {
		complain_tag(reader, tag, node->at);
		return;
	}
	if (strcmp(core_name, "str") == 0 && node->kind == NODE_SCALAR) {
		node->tag = NODE_TAG_STRING;
		node->is_plain = false;
		return;
	}
	for (size_t i = 0; i < sizeof(core) / sizeof(*core); i++) {
		if (strcmp(core_name, core[i].name) != 0 || core[i].kind != node->kind)
			continue;
		node->tag = NODE_TAG_OTHER;
		node->is_plain = core[i].is_plain;
		if (node->is_plain && !(core[i].fits & 1u << node_resolve(node).kind))
			node_build_complain(&reader->build, node->at, "bad-value",
				"this is no value for \"!!%s\"", core_name);
		return;
	}
	for (size_t i = 0; i < sizeof(core) / sizeof(*core); i++) {
		if (strcmp(core_name, core[i].name) == 0 || strcmp(core_name, "str") == 0) {
			node_build_complain(&reader->build, node->at, "bad-value",
				"this is no value for \"!!%s\"", core_name);
			return;
		}
	}
	complain_tag(reader, tag, node->at);
}

static uint32_t add_anchor(struct reader *reader, const yaml_char_t *name)
{
	struct slice key = arena_copy(reader->build.arena, name, strlen((const char *)name));

	if (!key.data) {
		reader->build.error = -ENOMEM;
		return 0;
	}
	array_reserve(reader->anchors, reader->anchors_capacity, reader->anchors_count + 1);
	reader->anchors[reader->anchors_count++] = (struct anchor){.name = key};
	hash_put(&reader->anchors_by_name, key, (void *)(uintptr_t)reader->anchors_count);
	return (uint32_t)reader->anchors_count;
}

static void end_anchor(
	struct reader *reader, uint32_t anchor, struct node *node, unsigned height, uint64_t before)
{
	reader->anchors[anchor - 1].node = node;
	reader->anchors[anchor - 1].height = height;
	reader->anchors[anchor - 1].count = reader->build.count - before;
}

static void read_key(struct reader *reader, const yaml_event_t *event)
{
	struct node_build *build = &reader->build;
	struct position at = position_of(reader, &event->start_mark);
	struct slice key = take_value(reader, event);
	const char *tag = (const char *)event->data.scalar.tag;
	bool is_dropped = false;

	if (!key.data) {
		build->error = -ENOMEM;
		return;
	}
	if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !tag) {
		if (key.length == 2 && memcmp(key.data, "<<", 2) == 0) {
			key = (struct slice){node_build_merge_key, 2};
			reader->has_merge_keys = true;
		} else if (key.length == 0) {
			node_build_complain(build, at, "bad-key", "a key is missing before \":\"");
			is_dropped = true;
		}
	} else if (memchr(key.data, 0, key.length)) {
		node_build_complain(build, at, "bad-key", "a key with a NUL character");
		is_dropped = true;
	}
	if (tag) {
		if (strcmp(tag, "!ignore") == 0)
			is_dropped = true;
		else if (strcmp(tag, "!include") == 0)
			node_build_complain(build, at, "bad-include",
				"\"!include\" belongs before a value, for example <<: !include "
				"FILE");
		else if (strncmp(tag, CORE_TAG, strlen(CORE_TAG)) != 0 && strcmp(tag, "!") != 0)
			complain_tag(reader, tag, at);
	}
	if (event->data.scalar.anchor) {
		struct node *node = arena_zalloc(build->arena, sizeof(*node));
		uint32_t anchor = add_anchor(reader, event->data.scalar.anchor);

		if (!node || !anchor) {
			build->error = -ENOMEM;
			return;
		}
		*node = (struct node){.kind = NODE_SCALAR,
			.is_plain = !tag && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE,
			.at = at,
			.text = key};
		end_anchor(reader, anchor, node, 0, build->count - 1);
	}
	node_build_key(build, key, at, is_dropped);
}

/* What `!include` names, in the place of `node`; an empty mapping when that cannot be had. */
static void include(struct reader *reader, struct node *node, struct read_included *included)
{
	struct node_build *build = &reader->build;
	int error = -EBADMSG;

	*included = (struct read_included){.count = 1};
	if (!reader->options->include)
		node_build_complain(build, node->at, "bad-include",
			"\"!include\" works in the resources of a tree, not here");
	else
		error = reader->options->include(reader->options->include_ctx, node->text, node->at,
			build->limit - build->count + 1, included);
	if (error == -EBADMSG) {
		build->is_bad = true;
		*node = (struct node){.kind = NODE_MAP, .at = node->at};
		included->root = node;
	} else if (error) {
		build->error = error;
	} else if (build->depth + included->height > LIMIT_DEPTH) {
		node_build_fail(build, node->at, "too-deep",
			"with this \"!include\" lists and mappings are nested more than %d levels "
			"deep",
			LIMIT_DEPTH);
	} else {
		node_build_count(build, included->count - 1, node->at);
	}
}

static void read_scalar(struct reader *reader, const yaml_event_t *event)
{
	struct node_build *build = &reader->build;
	struct read_included included = {0};
	struct node *node;
	uint64_t before = build->count;

	node_build_count(build, 1, (struct position){(uint32_t)event->start_mark.line + 1, 1});
	if (node_build_wants_key(build)) {
		read_key(reader, event);
		return;
	}
	node = arena_alloc(build->arena, sizeof(*node));
	if (!node) {
		build->error = -ENOMEM;
		return;
	}
	node->kind = NODE_SCALAR;
	node->tag = NODE_TAG_NONE;
	node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	node->is_json = false;
	node->origin = 0;
	node->at = position_of(reader, &event->start_mark);
	node->text = take_value(reader, event);
	if (!node->text.data) {
		build->error = -ENOMEM;
		return;
	}
	if (event->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE &&
		memchr(node->text.data, 0, node->text.length))
		node_build_complain(build, node->at, "bad-value", "a text with a NUL character");
	if (event->data.scalar.tag)
		apply_tag(reader, node, (const char *)event->data.scalar.tag);
	if (node->tag == NODE_TAG_INCLUDE) {
		include(reader, node, &included);
		if (build->error)
			return;
		node = included.root;
	}
	if (event->data.scalar.anchor) {
		uint32_t anchor = add_anchor(reader, event->data.scalar.anchor);

		if (!anchor)
			return;
		end_anchor(reader, anchor, node, included.height, before);
	}
	node_build_add(build, node, included.height);
}

static void read_open(struct reader *reader, const yaml_event_t *event, enum node_kind kind,
	const yaml_char_t *anchor, const yaml_char_t *tag)
{
	struct node_build *build = &reader->build;
	struct node *node = arena_alloc(build->arena, sizeof(*node));

	if (!node) {
		build->error = -ENOMEM;
		return;
	}
	node->kind = kind;
	node->tag = NODE_TAG_NONE;
	node->is_plain = false;
	node->is_json = false;
	node->origin = 0;
	node->at = position_of(reader, &event->start_mark);
	if (tag)
		apply_tag(reader, node, (const char *)tag);
	node_build_open(build, node);
	if (build->error)
		return;
	node_build_count(build, 1, node->at);
	if (anchor)
		node_build_top(build)->anchor = add_anchor(reader, anchor);
}

static void read_close(struct reader *reader)
{
	struct node_build *build = &reader->build;
	struct node_build_frame top = *node_build_top(build);

	node_build_close(build);
	if (top.anchor && !build->error)
		end_anchor(reader, top.anchor, top.node, top.height, top.count);
}

static void read_alias(struct reader *reader, const yaml_event_t *event)
{
	struct node_build *build = &reader->build;
	struct position at = position_of(reader, &event->start_mark);
	struct slice name = slice_of((const char *)event->data.alias.anchor);
	size_t index = (uintptr_t)hash_get(&reader->anchors_by_name, name);
	const struct anchor *anchor = index ? &reader->anchors[index - 1] : NULL;
	struct node *node = anchor ? anchor->node : NULL;
	unsigned height = node ? anchor->height : 0;
	bool is_good = node != NULL;

	if (!node) { /* go on with a null */
		node = arena_alloc(build->arena, sizeof(*node));
		if (!node) {
			build->error = -ENOMEM;
			return;
		}
		*node = (struct node){.is_plain = true, .at = at, .text = SLICE("")};
	}
	if (!anchor) {
		struct suggestion suggestion;
		char phrase[256];

		suggestion_init(&suggestion, name);
		for (size_t i = 0; i < reader->anchors_count; i++)
			suggestion_offer(&suggestion, reader->anchors[i].name.data);
		node_build_complain(build, at, "unknown-alias",
			"no anchor \"&%s\" before this alias%s", name.data,
			suggestion_phrase(&suggestion, phrase));
	} else if (!is_good) {
		node_build_complain(build, at, "recursive-alias",
			"alias \"*%s\" stands inside of what it names", name.data);
	}
	node_build_count(build, is_good ? anchor->count : 1, at);
	if (build->depth + height > LIMIT_DEPTH) {
		node_build_fail(build, at, "too-deep",
			"with alias \"*%s\" lists and mappings are nested more than %d levels deep",
			name.data, LIMIT_DEPTH);
		return;
	}
	if (!node_build_wants_key(build)) {
		node_build_add(build, node, height);
	} else if (node->kind == NODE_SCALAR) {
		node_build_key(build, node->text, at, !is_good);
	} else {
		node_build_complain(build, at, "bad-key", "a key must be text, not a %s",
			node->kind == NODE_LIST ? "list" : "mapping");
		node_build_key(build, SLICE(""), at, true);
	}
}

static void end_document(struct reader *reader)
{
	struct node *root = reader->build.root;
	struct documents *documents = &reader->documents;

	reader->build.root = NULL;
	reader->anchors_count = 0;
	hash_fini(&reader->anchors_by_name);
	hash_init(&reader->anchors_by_name);
	if (!root || (root->kind == NODE_SCALAR && root->is_plain && root->text.length == 0 &&
			     root->tag == NODE_TAG_NONE))
		return;
	if (documents->count == reader->documents_capacity) {
		size_t old = reader->documents_capacity, more = old ? old * 2 : 4;
		struct arena *arena = reader->build.arena;

		documents->roots = arena_grow(arena, documents->roots,
			old * sizeof(*documents->roots), more * sizeof(*documents->roots));
		documents->starts = arena_grow(arena, documents->starts,
			old * sizeof(*documents->starts), more * sizeof(*documents->starts));
		if (!documents->roots || !documents->starts) {
			reader->build.error = -ENOMEM;
			return;
		}
		reader->documents_capacity = more;
	}
	documents->roots[documents->count] = root;
	documents->starts[documents->count++] = reader->start;
}

static void handle_event(struct reader *reader, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		read_scalar(reader, event);
		break;
	case YAML_MAPPING_START_EVENT:
		read_open(reader, event, NODE_MAP, event->data.mapping_start.anchor,
			event->data.mapping_start.tag);
		break;
	case YAML_SEQUENCE_START_EVENT:
		read_open(reader, event, NODE_LIST, event->data.sequence_start.anchor,
			event->data.sequence_start.tag);
		break;
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		read_close(reader);
		break;
	case YAML_ALIAS_EVENT:
		read_alias(reader, event);
		break;
	case YAML_DOCUMENT_START_EVENT:
		reader->start = position_of(reader, &event->start_mark);
		reader->build.frames[0] = (struct node_build_frame){0};
		break;
	case YAML_DOCUMENT_END_EVENT:
		end_document(reader);
		break;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
		break;
	}
}

static void report_syntax(struct reader *reader)
{
	yaml_parser_t *parser = &reader->parser;
	struct node_build *build = &reader->build;
	struct position at, context = {0};
	struct buf text = BUF_INIT;
	size_t offset;

	if (parser->error == YAML_MEMORY_ERROR) {
		build->error = -ENOMEM;
		return;
	}
	if (parser->error == YAML_READER_ERROR) {
		at = read_text_position(reader->text, parser->problem_offset);
		if (parser->problem_value >= 0 &&
			strcmp(parser->problem, "control characters are not allowed") == 0)
			node_build_fail(build, at, "yaml-syntax",
				"character U+%04X is not allowed in YAML",
				(unsigned)parser->problem_value);
		else
			node_build_fail(build, at, "yaml-syntax", "not YAML: %s", parser->problem);
		return;
	}
	if (parser->context)
		context = local_position_of(reader, &parser->context_mark);
	at = local_position_of(reader, &parser->problem_mark);
	offset = find_offset(reader, &parser->problem_mark);
	struct slice rest = {reader->text.data + offset, reader->text.length - offset};

	if (rest.length) { /* the one character there */
		size_t end = 1;

		while (end < rest.length && ((unsigned char)rest.data[end] & 0xc0) == 0x80)
			end++;
		rest.length = end;
	}
	if (yaml_problem_describe(parser, rest, context, &text))
		at = context;
	node_build_fail(build, at, "yaml-syntax", "%s", buf_cstr(&text));
	buf_fini(&text);
}

/* Also sets is_ascii and takes a byte order mark off. */
static bool check_text(struct reader *reader)
{
	struct slice *text = &reader->text;
	const char *percent = text->data;
	size_t directives = 0;

	if (!read_text_check(&reader->build, text, &reader->is_ascii))
		return false;
	for (percent = text->data;
		text->length &&
		(percent = memchr(percent, '%', (size_t)(text->data + text->length - percent)));
		percent++) {
		if ((percent == text->data || percent[-1] == '\n' || percent[-1] == '\r') &&
			++directives > DIRECTIVES_LIMIT) {
			size_t offset = (size_t)(percent - text->data);

			node_build_fail(&reader->build, read_text_position(*text, offset),
				"yaml-syntax", "more than %d lines begin with \"%%\"",
				DIRECTIVES_LIMIT);
			return false;
		}
	}
	return true;
}

static void read_events(struct reader *reader)
{
	yaml_event_t event;
	bool is_end = false;

	if (!yaml_parser_initialize(&reader->parser)) {
		reader->build.error = -ENOMEM;
		return;
	}
	yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
		&reader->parser, (const unsigned char *)reader->text.data, reader->text.length);
	while (!is_end && !reader->build.error) {
		if (!yaml_parser_parse(&reader->parser, &event)) {
			report_syntax(reader);
			break;
		}
		is_end = event.type == YAML_STREAM_END_EVENT;
		handle_event(reader, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&reader->parser);
}

int yaml_read(const struct read_options *options, struct slice text, struct arena *arena,
	struct diag_list *diags, struct documents *ret_documents)
{
	struct reader reader; /* large: only what must be is initialised */
	int rc;

	reader.text = text.data ? text : SLICE("");
	reader.is_ascii = true;
	reader.has_merge_keys = false;
	reader.anchors = NULL;
	reader.anchors_count = reader.anchors_capacity = 0;
	reader.documents = (struct documents){0};
	reader.documents_capacity = 0;
	reader.start = (struct position){1, 1};
	memset(&reader.cursor, 0, sizeof(reader.cursor));
	hash_init(&reader.anchors_by_name);
	reader.options = options;
	node_build_init(&reader.build, arena, diags, options->path, options->nodes_limit,
		options->line_base);

	if (check_text(&reader))
		read_events(&reader);

	rc = reader.build.error;
	if (rc) {
		*ret_documents = (struct documents){0};
	} else {
		*ret_documents = reader.documents;
		ret_documents->has_merge_keys = reader.has_merge_keys;
		ret_documents->height = reader.build.height;
		ret_documents->nodes = reader.build.count;
		rc = reader.build.is_bad ? -EBADMSG : 0;
	}
	hash_fini(&reader.anchors_by_name);
	free(reader.anchors);
	node_build_fini(&reader.build);
	return rc;
}
