/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/source_cut.h"

#include <sys/types.h>

#include "base/limits.h"

#define OUTPUT_BYTES (64u << 20)
#define NO_DASH	     SIZE_MAX

struct cutter {
	const struct source_cut *cut;
	const struct outline *outline;
	struct buf *out;
	size_t start, end; /* of the piece: aliases to what is in there can stay */
	const char *problem;
	unsigned depth; /* aliases inside of each other */
	size_t edits_done;
};

/* --- lines ------------------------------------------------------------------------------- */

static size_t line_start(struct slice text, size_t offset)
{
	while (offset > 0 && text.data[offset - 1] != '\n')
		offset--;
	return offset;
}

/* Behind the line feed. */
static size_t line_end(struct slice text, size_t offset)
{
	while (offset < text.length && text.data[offset] != '\n')
		offset++;
	return offset < text.length ? offset + 1 : offset;
}

static size_t skip_spaces(struct slice text, size_t offset)
{
	while (offset < text.length && (text.data[offset] == ' ' || text.data[offset] == '\t' ||
					       text.data[offset] == '\r'))
		offset++;
	return offset;
}

static bool ends_here(struct slice text, size_t offset)
{
	return offset >= text.length || text.data[offset] == '\n';
}

/* Nothing but spaces and a comment from here to the end of the line. */
static bool is_rest_free(struct slice text, size_t offset)
{
	offset = skip_spaces(text, offset);
	return ends_here(text, offset) || text.data[offset] == '#';
}

static bool is_comment_line(struct slice text, size_t start)
{
	start = skip_spaces(text, start);
	return start < text.length && text.data[start] == '#';
}

static bool is_blank_line(struct slice text, size_t start)
{
	return ends_here(text, skip_spaces(text, start));
}

/* --- what belongs to a piece ------------------------------------------------------------- */

static const struct outline_node *node_at(const struct outline *outline, uint32_t index)
{
	return &outline->nodes[index];
}

/* Comments below a piece that are indented at least as far as its keys are part of it. */
static size_t find_tail(struct slice text, size_t end, size_t column)
{
	size_t tail = line_end(text, end);

	for (size_t at = tail; at < text.length; at = line_end(text, at)) {
		if (is_blank_line(text, at))
			continue;
		if (!is_comment_line(text, at) || skip_spaces(text, at) - at < column)
			break;
		tail = line_end(text, at);
	}
	return tail;
}

/* The comments right above a line belong to what begins there, back to `limit`. */
static size_t find_head(struct slice text, size_t start, size_t limit)
{
	size_t head = start;

	while (start > limit) {
		size_t above = line_start(text, start - 1);

		if (above < limit)
			break;
		if (is_comment_line(text, above))
			head = above;
		else if (!is_blank_line(text, above))
			break;
		start = above;
	}
	return head;
}

/* Of the first key: an anchor before it can stand anywhere. */
static const struct outline_node *first_key(const struct outline *outline, uint32_t map)
{
	return map + 1 < node_at(outline, map)->next ? node_at(outline, map + 1) : NULL;
}

/* Where comments above a node cannot belong to anything before it. */
static size_t find_limit(const struct outline *outline, uint32_t index)
{
	struct slice text = outline->text;
	uint32_t previous = node_at(outline, index)->previous;
	const struct outline_node *before;

	if (previous == OUTLINE_NONE) { /* the first of a list: below the list's key */
		uint32_t parent = node_at(outline, index)->parent;

		previous = parent == OUTLINE_NONE ? parent : node_at(outline, parent)->previous;
	}
	if (previous == OUTLINE_NONE)
		return 0;
	before = node_at(outline, previous);
	if (!before->is_key && before->kind == OUTLINE_MAP && !before->is_flow) {
		const struct outline_node *key = first_key(outline, previous);

		if (key)
			return find_tail(
				text, before->end, key->start - line_start(text, key->start));
	}
	return line_end(text, before->end);
}

static bool span_of(const struct outline *outline, uint32_t map, struct source_span *span)
{
	struct slice text = outline->text;
	const struct outline_node *node = node_at(outline, map), *key = first_key(outline, map);
	size_t before;

	if (node->kind != OUTLINE_MAP)
		return false;
	if (node->is_flow || !key)
		key = node;
	*span = (struct source_span){.start = key->start,
		.end = node->end,
		.column = key->start - line_start(text, key->start),
		.dash = NO_DASH};
	before = node->start;
	while (before > 0 && text.data[before - 1] == ' ')
		before--;
	if (before > 0 && text.data[before - 1] == '-') {
		before--;
		span->dash = before - line_start(text, before);
	} else {
		before = key->start;
	}
	before = line_start(text, before);
	span->owns_lines = skip_spaces(text, before) - before ==
				   (span->dash != NO_DASH ? span->dash : span->column) &&
			   is_rest_free(text, span->end);
	span->lines_start =
		span->owns_lines ? find_head(text, before, find_limit(outline, map)) : span->start;
	span->lines_end = span->owns_lines ? find_tail(text, span->end, span->column) : span->end;
	return true;
}

bool source_cut_span(
	const struct outline *outline, struct position at, struct source_span *ret_span)
{
	uint32_t map = yaml_outline_find(outline, at, false);

	return map != OUTLINE_NONE && span_of(outline, map, ret_span);
}

bool source_cut_key_span(
	const struct outline *outline, struct position key, struct source_span *ret_span)
{
	struct slice text = outline->text;
	uint32_t index = yaml_outline_find(outline, key, true);
	const struct outline_node *node, *value;
	size_t start;

	if (index == OUTLINE_NONE)
		return false;
	node = node_at(outline, index);
	value = node_at(outline, node->next);
	start = line_start(text, node->start);
	*ret_span = (struct source_span){.start = node->start,
		.end = value->end,
		.lines_start = node->start,
		.lines_end = value->end,
		.column = node->start - start,
		.dash = NO_DASH};
	ret_span->owns_lines = !node->is_flow && skip_spaces(text, start) == node->start &&
			       is_rest_free(text, value->end);
	if (ret_span->owns_lines) {
		ret_span->lines_start = find_head(text, start, find_limit(outline, index));
		ret_span->lines_end = find_tail(text, value->end, ret_span->column + 1);
	}
	return true;
}

/* --- writing ----------------------------------------------------------------------------- */

static void put_indented(struct buf *out, const char *lines, size_t column, bool skip_first)
{
	while (*lines) {
		size_t length = strcspn(lines, "\n");

		if (!skip_first && length)
			buf_fill(out, ' ', column);
		skip_first = false;
		buf_append(out, lines, length);
		lines += length;
		if (*lines == '\n') {
			buf_putc(out, '\n');
			lines++;
		}
	}
}

/* The bytes from..to; lines that begin in there move by `shift` columns. */
static void put_text(struct cutter *cutter, size_t from, size_t to, ssize_t shift)
{
	struct slice text = cutter->outline->text;

	while (from < to) {
		size_t end = line_end(text, from), stop = end < to ? end : to;

		buf_append(cutter->out, text.data + from, stop - from);
		from = stop;
		if (from >= to || text.data[from - 1] != '\n')
			continue;
		size_t spaces = 0;

		while (from + spaces < to && text.data[from + spaces] == ' ')
			spaces++;
		if (from + spaces < text.length && text.data[from + spaces] != '\n') {
			ssize_t column = (ssize_t)spaces + shift;

			buf_fill(cutter->out, ' ', column > 0 ? (size_t)column : 0);
		}
		from += spaces;
	}
}

static void put_node(struct cutter *cutter, uint32_t index, ssize_t shift);

static void fail(struct cutter *cutter, const char *problem)
{
	if (!cutter->problem)
		cutter->problem = problem;
}

static struct slice key_text(const struct outline *outline, uint32_t key)
{
	const struct outline_node *node = node_at(outline, key);

	return (struct slice){outline->text.data + node->start, node->end - node->start};
}

static bool has_key(const struct outline *outline, uint32_t map, struct slice key)
{
	const struct outline_node *node = node_at(outline, map);

	for (uint32_t i = map + 1; i < node->next;
		i = node_at(outline, node_at(outline, i)->next)->next)
		if (slice_equal(key_text(outline, i), key))
			return true;
	return false;
}

/* Of a key that is moved: without its anchor, which may stand between the key and a block. */
static void put_value(struct cutter *cutter, uint32_t value, ssize_t shift)
{
	const struct outline *outline = cutter->outline;
	const struct outline_node *node = node_at(outline, value);
	const struct outline_node *first =
		node_at(outline, value + 1 < node->next ? value + 1 : value);

	if (!node->is_flow && node->kind != OUTLINE_SCALAR && node->has_anchor) {
		size_t column = first->start - line_start(outline->text, first->start);

		if (node->kind == OUTLINE_LIST)
			fail(cutter, "\"<<\" merges a list that has an anchor");
		buf_putc(cutter->out, '\n');
		buf_fill(cutter->out, ' ',
			(ssize_t)column + shift > 0 ? (size_t)((ssize_t)column + shift) : 0);
	}
	put_node(cutter, value, shift);
}

/* The keys of a merged mapping that `maps` don't have, a line each, at `column`. */
static void put_merged(
	struct cutter *cutter, uint32_t source, const uint32_t *maps, size_t count, size_t column)
{
	const struct outline *outline = cutter->outline;
	const struct outline_node *node = node_at(outline, source);
	uint32_t all[LIMIT_DEPTH];
	uint32_t next;

	if (node->kind != OUTLINE_MAP || node->is_flow || count == LIMIT_DEPTH) {
		fail(cutter, "\"<<\" merges something that is not written as a block");
		return;
	}
	memcpy(all, maps, count * sizeof(*all));
	all[count] = source;
	for (uint32_t i = source + 1; i < node->next; i = next) {
		uint32_t value = node_at(outline, i)->next;
		struct slice key = key_text(outline, i);
		bool is_known = false;

		next = node_at(outline, value)->next;
		if (slice_is(key, "<<")) {
			if (node_at(outline, value)->kind == OUTLINE_ALIAS)
				put_merged(cutter, node_at(outline, value)->target, all, count + 1,
					column);
			else
				fail(cutter, "\"<<\" merges a list");
			continue;
		}
		for (size_t k = 0; k < count; k++)
			is_known |= has_key(outline, maps[k], key);
		if (is_known)
			continue;
		buf_putc(cutter->out, '\n');
		buf_fill(cutter->out, ' ', column);
		size_t from = node_at(outline, i)->start;
		ssize_t shift = (ssize_t)column - (ssize_t)(from - line_start(outline->text, from));

		put_text(cutter, from, node_at(outline, value)->start, shift);
		put_value(cutter, value, shift);
	}
}

/* Nothing in it has a meaning in [] and {}. */
static bool is_flow_text(const struct outline *outline, const struct outline_node *scalar)
{
	char last = outline->text.data[scalar->end - 1];

	if (last == '"' || last == '\'')
		return true;
	for (size_t i = scalar->start; i < scalar->end; i++)
		if (strchr(",[]{}#:", outline->text.data[i]))
			return false;
	return true;
}

/* What an alias names, in its place. */
static void put_target(struct cutter *cutter, const struct outline_node *alias, ssize_t shift)
{
	const struct outline *outline = cutter->outline;
	const struct outline_node *target = node_at(outline, alias->target);
	size_t column = alias->start - line_start(outline->text, alias->start);
	const struct outline_node *parent =
		alias->parent == OUTLINE_NONE ? NULL : node_at(outline, alias->parent);

	if (++cutter->depth > LIMIT_DEPTH) {
		fail(cutter, "aliases are nested too deep");
	} else if (target->kind == OUTLINE_SCALAR || target->is_flow) {
		if (target->is_literal ||
			(target->end > target->start && memchr(outline->text.data + target->start,
								'\n', target->end - target->start)))
			fail(cutter, "an alias names a text of several lines");
		else if (alias->is_flow && !target->is_flow && !is_flow_text(outline, target))
			fail(cutter, "an alias in [] or {} names plain text");
		else
			put_node(cutter, alias->target, 0);
	} else if (alias->is_flow || !parent) {
		fail(cutter, "an alias in [] or {} names a block");
	} else {
		/* Below its key, or beside its dash. */
		ssize_t wanted = (ssize_t)column + shift;
		size_t from;

		if (parent->kind == OUTLINE_MAP) {
			wanted = (ssize_t)(first_key(outline, alias->parent)->start -
					   line_start(outline->text,
						   first_key(outline, alias->parent)->start)) +
				 shift + 2;
			buf_putc(cutter->out, '\n');
			buf_fill(cutter->out, ' ', wanted > 0 ? (size_t)wanted : 0);
		}
		from = node_at(outline, alias->target + 1)->start;
		if (target->kind == OUTLINE_LIST) {
			while (from > 0 && outline->text.data[from] != '-')
				from--;
		}
		if (wanted < 0)
			fail(cutter, "an alias stands left of the piece");
		else
			put_node(cutter, alias->target,
				wanted - (ssize_t)(from - line_start(outline->text, from)));
	}
	cutter->depth--;
}

/* `<<: *name` in a block: the line gives way to what it names. */
static bool put_merge(struct cutter *cutter, uint32_t key, ssize_t shift)
{
	const struct outline *outline = cutter->outline;
	uint32_t value = node_at(outline, key)->next;
	uint32_t parent = node_at(outline, key)->parent;
	size_t before = cutter->out->length;
	size_t column = node_at(outline, key)->start -
			line_start(outline->text, node_at(outline, key)->start);

	if (!slice_is(key_text(outline, key), "<<") ||
		node_at(outline, value)->kind != OUTLINE_ALIAS || node_at(outline, key)->is_flow ||
		node_at(outline, node_at(outline, value)->target)->is_flow)
		return false;
	if (node_at(outline, node_at(outline, value)->target)->start >= cutter->start &&
		node_at(outline, node_at(outline, value)->target)->end <= cutter->end)
		return false; /* it comes along */
	if (++cutter->depth > LIMIT_DEPTH || (ssize_t)column + shift < 0)
		fail(cutter, "\"<<\" is nested too deep");
	else
		put_merged(cutter, node_at(outline, value)->target, &parent, 1,
			(size_t)((ssize_t)column + shift));
	cutter->depth--;
	/* The first one takes the line that is there. */
	if (cutter->out->length > before && !buf_error(cutter->out)) {
		size_t skipped = 1 + (size_t)((ssize_t)column + shift);

		memmove(cutter->out->data + before, cutter->out->data + before + skipped,
			cutter->out->length - before - skipped);
		cutter->out->length -= skipped;
	} else {
		fail(cutter, "\"<<\" adds nothing");
	}
	return true;
}

static const struct source_edit *find_edit(const struct cutter *cutter, uint32_t index)
{
	const struct outline_node *node = node_at(cutter->outline, index);

	for (size_t i = 0; node->is_key && i < cutter->cut->edits_count; i++) {
		const struct source_edit *edit = &cutter->cut->edits[i];

		if (edit->at.line == node->at.line && edit->at.column == node->at.column)
			return edit;
	}
	return NULL;
}

/* Behind a value that goes, with the comments in it; before the line feed. */
static size_t value_end(const struct outline *outline, uint32_t value)
{
	struct slice text = outline->text;
	const struct outline_node *node = node_at(outline, value);
	size_t end;

	if (node->kind != OUTLINE_MAP && node->kind != OUTLINE_LIST)
		return node->end;
	if (node->is_flow)
		return node->end;
	end = find_tail(text, node->end,
		node_at(outline, value + 1)->start -
			line_start(text, node_at(outline, value + 1)->start));
	return end > node->end && text.data[end - 1] == '\n' ? end - 1 : end;
}

/* Returns where reading goes on. */
static size_t put_edit(struct cutter *cutter, uint32_t key, const struct source_edit *edit,
	size_t from, ssize_t shift)
{
	struct slice text = cutter->outline->text;
	const struct outline_node *node = node_at(cutter->outline, key);
	const struct outline_node *value = node_at(cutter->outline, node->next);
	size_t start = line_start(text, node->start);
	ssize_t column = (ssize_t)(node->start - start) + shift;

	cutter->edits_done++;
	if (node->is_flow || column < 0 || !is_rest_free(text, value->end)) {
		fail(cutter, "what is to be replaced stands in {}");
		return value->end;
	}
	if (edit->lines[0]) {
		struct buf *out = cutter->out;

		put_text(cutter, from, node->start, shift);
		put_indented(out, edit->lines, (size_t)column, true);
		if (out->length && !buf_error(out))
			out->length--; /* the line feed is there already */
		return value_end(cutter->outline, node->next);
	}
	if (skip_spaces(text, start) == node->start) {
		put_text(cutter, from, from > start ? from : start, shift);
		/* Indentation of the next line belongs to the copying of this one. */
		size_t next = line_end(text, value_end(cutter->outline, node->next)), spaces = 0;

		while (next + spaces < text.length && text.data[next + spaces] == ' ')
			spaces++;
		if (next + spaces < text.length && text.data[next + spaces] != '\n' &&
			next < cutter->end && (ssize_t)spaces + shift > 0)
			buf_fill(cutter->out, ' ', (size_t)((ssize_t)spaces + shift));
		return next + spaces;
	}
	/* The first key, beside its dash. */
	uint32_t next = value->next;

	put_text(cutter, from, node->start, shift);
	if (next < cutter->outline->count && node_at(cutter->outline, next)->parent == node->parent)
		return node_at(cutter->outline, next)->start;
	fail(cutter, "what is to be taken out is all there is");
	return value->end;
}

static void put_node(struct cutter *cutter, uint32_t index, ssize_t shift)
{
	const struct outline *outline = cutter->outline;
	const struct outline_node *node = node_at(outline, index);
	size_t from = node->start;
	uint32_t i = index;

	if (node->kind != OUTLINE_ALIAS && index + 1 < node->next && !node->is_flow) {
		from = node_at(outline, index + 1)->start;
		while (node->kind == OUTLINE_LIST && from > node->start &&
			outline->text.data[from] != '-')
			from--;
	} else if (node->has_anchor && cutter->depth) {
		while (from < node->end && outline->text.data[from] != ' ')
			from++;
		from = skip_spaces(outline->text, from);
	}
	while (i < node->next && !cutter->problem && !buf_error(cutter->out)) {
		const struct outline_node *one = node_at(outline, i);
		const struct source_edit *edit = find_edit(cutter, i);

		if (edit) {
			from = put_edit(cutter, i, edit, from, shift);
			i = node_at(outline, one->next)->next;
		} else if (one->is_key && slice_is(key_text(outline, i), "<<") &&
			   node_at(outline, one->next)->kind == OUTLINE_ALIAS) {
			put_text(cutter, from, one->start, shift);
			from = one->start;
			if (put_merge(cutter, i, shift)) {
				from = node_at(outline, one->next)->end;
				i = node_at(outline, one->next)->next;
			} else {
				i++;
			}
		} else if (one->kind == OUTLINE_ALIAS) {
			const struct outline_node *target = node_at(outline, one->target);

			i++;
			if (target->start >= cutter->start && target->end <= cutter->end)
				continue;
			put_text(cutter, from, one->start, shift);
			/* A block goes below its key: no space before the line feed. */
			if (!target->is_flow && target->kind != OUTLINE_SCALAR && !one->is_flow &&
				node_at(outline, one->parent)->kind == OUTLINE_MAP)
				while (cutter->out->length &&
					cutter->out->data[cutter->out->length - 1] == ' ')
					cutter->out->length--;
			put_target(cutter, one, shift);
			from = one->end;
		} else {
			i++;
		}
	}
	if (from < node->end)
		put_text(cutter, from, node->end, shift);
}

/* Comment lines without what is before the "#". */
static void put_comments(struct cutter *cutter, size_t from, size_t to)
{
	struct slice text = cutter->outline->text;
	bool is_begun = false;

	for (size_t at = from; at < to; at = line_end(text, at)) {
		size_t start = skip_spaces(text, at), end = line_end(text, at);

		if (is_comment_line(text, at)) {
			buf_append(cutter->out, text.data + start, end - start);
			is_begun = true;
		} else if (is_begun && is_blank_line(text, at) && end < to) {
			buf_putc(cutter->out, '\n');
		}
	}
}

const char *source_cut_map(const struct source_cut *cut, struct position at, struct buf *out)
{
	const struct outline *outline = cut->outline;
	struct cutter cutter = {.cut = cut, .outline = outline, .out = out};
	struct slice text = outline->text;
	uint32_t map = yaml_outline_find(outline, at, false);
	size_t before = out->length;
	struct source_span span;

	if (map == OUTLINE_NONE || !span_of(outline, map, &span) || node_at(outline, map)->is_flow)
		return "it is not written as a block";
	if (!out->limit_bytes)
		out->limit_bytes = OUTPUT_BYTES;
	cutter.start = span.start;
	cutter.end = span.end;
	if (span.owns_lines)
		put_comments(
			&cutter, span.lines_start, line_start(text, node_at(outline, map)->start));
	if (node_at(outline, map)->start < span.start)
		put_comments(&cutter, line_end(text, node_at(outline, map)->start),
			line_start(text, span.start));
	if (cut->prefix)
		buf_puts(out, cut->prefix);
	put_node(&cutter, map, -(ssize_t)span.column);
	if (!span.owns_lines && is_rest_free(text, span.end)) /* a value: its last line's comment */
		span.lines_end = line_end(text, span.end);
	if (span.lines_end > span.end)
		put_text(&cutter, span.end, span.lines_end, -(ssize_t)span.column);
	while (out->length > before &&
		(out->data[out->length - 1] == '\n' || out->data[out->length - 1] == ' '))
		out->length--;
	buf_putc(out, '\n');
	if (cutter.edits_done != cut->edits_count)
		fail(&cutter, "an alias names a part of it that changes");
	if (buf_error(out))
		fail(&cutter, "it is too large");
	if (cutter.problem) {
		out->length = before;
		out->error = 0;
	}
	return cutter.problem;
}
