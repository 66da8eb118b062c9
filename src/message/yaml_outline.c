/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/yaml_outline.h"

#include <errno.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"

#define STEP 256 /* characters between two marks of the ruler */

/* libyaml counts characters, we count bytes: where every 256th character is. */
struct ruler {
	struct ruler_mark {
		size_t offset, line_start;
		uint32_t line; /* from 1 */
	} * marks;
	size_t count, capacity;
	bool is_ascii;
};

struct outliner {
	struct outline outline;
	size_t capacity;
	struct ruler ruler;
	struct hash anchors; /* value: index + 1 of the node */
	struct slice *names; /* of the anchors, malloc'ed each */
	size_t names_count, names_capacity;
	uint32_t open[LIMIT_DEPTH + 1];
	uint32_t last[LIMIT_DEPTH + 1]; /* below it */
	bool wants_key[LIMIT_DEPTH + 1];
	unsigned depth;
};

static void ruler_init(struct ruler *ruler, struct slice text)
{
	size_t characters = 0, line_start = 0;
	uint32_t line = 1;

	*ruler = (struct ruler){.is_ascii = true};
	for (size_t i = 0; i < text.length; i++)
		ruler->is_ascii &= (text.data[i] & 0x80) == 0;
	for (size_t i = 0; i < text.length && !ruler->is_ascii; i++) {
		if ((text.data[i] & 0xc0) != 0x80 && characters++ % STEP == 0) {
			array_reserve(ruler->marks, ruler->capacity, ruler->count + 1);
			ruler->marks[ruler->count++] = (struct ruler_mark){i, line_start, line};
		}
		if (text.data[i] == '\n') {
			line_start = i + 1;
			line++;
		}
	}
}

static size_t find_offset(
	const struct outliner *outliner, const yaml_mark_t *mark, struct position *ret_at)
{
	struct slice text = outliner->outline.text;
	const struct ruler *ruler = &outliner->ruler;
	struct ruler_mark from;
	size_t left;

	if (ruler->is_ascii || ruler->count == 0) {
		*ret_at = (struct position){(uint32_t)mark->line + 1, (uint32_t)mark->column + 1};
		return mark->index < text.length ? mark->index : text.length;
	}
	left = mark->index / STEP < ruler->count ? mark->index / STEP : ruler->count - 1;
	from = ruler->marks[left];
	left = mark->index - left * STEP;
	while (left > 0 && from.offset < text.length) {
		if (text.data[from.offset] == '\n') {
			from.line++;
			from.line_start = from.offset + 1;
		}
		from.offset++;
		while (from.offset < text.length && (text.data[from.offset] & 0xc0) == 0x80)
			from.offset++;
		left--;
	}
	*ret_at = (struct position){from.line, (uint32_t)(from.offset - from.line_start) + 1};
	return from.offset;
}

/* A new node in its place; what is open becomes its parent. */
static struct outline_node *add(
	struct outliner *outliner, enum outline_kind kind, const yaml_event_t *event)
{
	struct outline *outline = &outliner->outline;
	unsigned depth = outliner->depth;
	struct outline_node *node;
	struct position end;

	array_reserve(outline->nodes, outliner->capacity, outline->count + 1);
	node = &outline->nodes[outline->count++];
	*node = (struct outline_node){.kind = kind,
		.parent = depth ? outliner->open[depth] : OUTLINE_NONE,
		.previous = depth ? outliner->last[depth] : OUTLINE_NONE,
		.next = (uint32_t)outline->count,
		.target = OUTLINE_NONE};
	node->start = find_offset(outliner, &event->start_mark, &node->at);
	node->end = find_offset(outliner, &event->end_mark, &end);
	if (node->parent != OUTLINE_NONE) {
		const struct outline_node *parent = &outline->nodes[node->parent];

		node->is_flow = parent->is_flow;
		node->is_key = parent->kind == OUTLINE_MAP && outliner->wants_key[depth];
		outliner->wants_key[depth] = !outliner->wants_key[depth];
		outliner->last[depth] = (uint32_t)outline->count - 1;
	}
	return node;
}

/* Behind a block scalar libyaml is past the line feeds that follow it. */
static void trim(const struct outline *outline, struct outline_node *node)
{
	while (node->end > node->start && (outline->text.data[node->end - 1] == '\n' ||
						  outline->text.data[node->end - 1] == '\r' ||
						  outline->text.data[node->end - 1] == ' '))
		node->end--;
}

static void set_anchor(
	struct outliner *outliner, struct outline_node *node, const yaml_char_t *anchor)
{
	size_t index = (size_t)(node - outliner->outline.nodes);
	struct slice name;

	if (!anchor)
		return;
	node->has_anchor = true;
	name = slice_of(xstrdup((const char *)anchor));
	array_reserve(outliner->names, outliner->names_capacity, outliner->names_count + 1);
	outliner->names[outliner->names_count++] = name;
	hash_put(&outliner->anchors, name, (void *)(uintptr_t)(index + 1));
}

static void forget_anchors(struct outliner *outliner)
{
	for (size_t i = 0; i < outliner->names_count; i++)
		free((char *)outliner->names[i].data);
	outliner->names_count = 0;
	hash_fini(&outliner->anchors);
	hash_init(&outliner->anchors);
}

static int open_node(struct outliner *outliner, struct outline_node *node, bool is_flow)
{
	if (outliner->depth == LIMIT_DEPTH)
		return -EBADMSG;
	node->is_flow |= is_flow;
	outliner->open[++outliner->depth] = (uint32_t)(node - outliner->outline.nodes);
	outliner->wants_key[outliner->depth] = true;
	outliner->last[outliner->depth] = OUTLINE_NONE;
	return 0;
}

/* A block reaches to the end of the last thing in it. */
static void extend_parent(struct outline *outline, const struct outline_node *node)
{
	if (node->parent != OUTLINE_NONE && node->end > outline->nodes[node->parent].end)
		outline->nodes[node->parent].end = node->end;
}

static void close_node(struct outliner *outliner, const yaml_event_t *event)
{
	struct outline *outline = &outliner->outline;
	struct outline_node *node = &outline->nodes[outliner->open[outliner->depth--]];
	struct position end;

	node->next = (uint32_t)outline->count;
	/* The end of a block is only noticed at what follows it. */
	if (node->is_flow)
		node->end = find_offset(outliner, &event->end_mark, &end);
	extend_parent(outline, node);
}

static int take(struct outliner *outliner, const yaml_event_t *event)
{
	struct outline_node *node;

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		node = add(outliner, OUTLINE_SCALAR, event);
		set_anchor(outliner, node, event->data.scalar.anchor);
		node->is_literal = event->data.scalar.style == YAML_LITERAL_SCALAR_STYLE ||
				   event->data.scalar.style == YAML_FOLDED_SCALAR_STYLE;
		if (node->is_literal)
			trim(&outliner->outline, node);
		extend_parent(&outliner->outline, node);
		return 0;
	case YAML_ALIAS_EVENT:
		node = add(outliner, OUTLINE_ALIAS, event);
		node->target =
			(uint32_t)((uintptr_t)hash_get(&outliner->anchors,
					   slice_of((const char *)event->data.alias.anchor)) -
				   1);
		extend_parent(&outliner->outline, node);
		return node->target == OUTLINE_NONE ? -EBADMSG : 0;
	case YAML_MAPPING_START_EVENT:
		node = add(outliner, OUTLINE_MAP, event);
		set_anchor(outliner, node, event->data.mapping_start.anchor);
		return open_node(
			outliner, node, event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
	case YAML_SEQUENCE_START_EVENT:
		node = add(outliner, OUTLINE_LIST, event);
		set_anchor(outliner, node, event->data.sequence_start.anchor);
		return open_node(outliner, node,
			event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		close_node(outliner, event);
		return 0;
	case YAML_DOCUMENT_END_EVENT:
		forget_anchors(outliner);
		return 0;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_START_EVENT:
		return 0;
	}
	return 0;
}

static int read_events(struct outliner *outliner)
{
	struct slice text = outliner->outline.text;
	yaml_parser_t parser;
	bool is_end = false;
	int rc = 0;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.data, text.length);
	while (!is_end && !rc) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			rc = parser.error == YAML_MEMORY_ERROR ? -ENOMEM : -EBADMSG;
			break;
		}
		is_end = event.type == YAML_STREAM_END_EVENT;
		rc = take(outliner, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return rc;
}

int yaml_outline_read(struct slice text, struct outline *ret_outline)
{
	struct outliner outliner = {0};
	int rc;

	if (!text.data)
		text = SLICE("");
	outliner.outline.text = text;
	if (text.length >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
		outliner.outline.text = (struct slice){text.data + 3, text.length - 3};
	hash_init(&outliner.anchors);
	ruler_init(&outliner.ruler, outliner.outline.text);
	rc = read_events(&outliner);
	forget_anchors(&outliner);
	hash_fini(&outliner.anchors);
	free(outliner.names);
	free(outliner.ruler.marks);
	if (rc)
		yaml_outline_fini(&outliner.outline);
	*ret_outline = outliner.outline;
	return rc;
}

void yaml_outline_fini(struct outline *outline)
{
	free(outline->nodes);
	*outline = (struct outline){0};
}

static bool is_before(struct position a, struct position b)
{
	return a.line != b.line ? a.line < b.line : a.column < b.column;
}

uint32_t yaml_outline_find(const struct outline *outline, struct position at, bool is_key)
{
	size_t low = 0, high = outline->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_before(outline->nodes[middle].at, at))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < outline->count; low++) {
		const struct outline_node *node = &outline->nodes[low];

		if (is_before(at, node->at))
			break;
		if (is_key ? node->is_key : node->kind <= OUTLINE_MAP && node->kind >= OUTLINE_LIST)
			return (uint32_t)low;
	}
	return OUTLINE_NONE;
}
