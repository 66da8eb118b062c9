/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/open_body.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

/* Fields of envoy.config.core.v3.ConfigSource. */
enum {
	SOURCE_PATH = 1, /* 1 to 3, 5 and 8 say where it leads: one of them is set */
	SOURCE_API = 2,
	SOURCE_AGGREGATED = 3,
	SOURCE_SELF = 5,
	SOURCE_PATH_CONFIG = 8,
	SOURCE_FIELDS = 9
};

/* --- life ---------------------------------------------------------------------------------- */

struct open_body *open_body_ref(struct open_body *open)
{
	if (open)
		atomic_fetch_add_explicit(&open->references, 1, memory_order_relaxed);
	return open;
}

void open_body_unref(struct open_body *open)
{
	if (open && atomic_fetch_sub_explicit(&open->references, 1, memory_order_acq_rel) == 1)
		free(open);
}

void open_builder_place(struct open_builder *builder, struct open_place place)
{
	array_reserve(builder->places, builder->places_capacity, builder->places_count + 1);
	builder->places[builder->places_count++] = place;
}

void open_builder_mark(struct open_builder *builder, struct open_mark mark)
{
	array_reserve(builder->marks, builder->marks_capacity, builder->marks_count + 1);
	builder->marks[builder->marks_count++] = mark;
}

static uint32_t moved(uint32_t offset, int64_t shift)
{
	assert((int64_t)offset + shift >= 0);
	return (uint32_t)((int64_t)offset + shift);
}

void open_builder_take(struct open_builder *builder, const struct open_body *open, size_t begin,
	size_t end, int64_t shift, int32_t outer)
{
	uint32_t first = 0;
	int32_t base;

	if (!open)
		return;
	while (first < open->marks_count && open->marks[first].at < begin)
		first++;
	base = (int32_t)builder->marks_count - (int32_t)first;
	for (uint32_t i = first; i < open->marks_count && open->marks[i].at < end; i++) {
		struct open_mark mark = open->marks[i];

		mark.at = moved(mark.at, shift);
		mark.start = moved(mark.start, shift);
		mark.end = moved(mark.end, shift);
		mark.outer = mark.outer < 0 ? outer : mark.outer + base;
		if (mark.place >= 0) {
			open_builder_place(builder, open->places[mark.place]);
			mark.place = (int32_t)builder->places_count - 1;
		}
		open_builder_mark(builder, mark);
	}
}

struct open_body *open_builder_finish(struct open_builder *builder)
{
	size_t size = sizeof(struct open_body) + builder->places_count * sizeof(struct open_place) +
		      builder->marks_count * sizeof(struct open_mark);
	struct open_body *open = NULL;
	char *names;

	if (builder->places_count) {
		for (size_t i = 0; i < builder->places_count; i++)
			size += builder->places[i].name.length;
		open = xmalloc(size);
		atomic_init(&open->references, 1);
		open->places_count = (uint32_t)builder->places_count;
		open->marks_count = (uint32_t)builder->marks_count;
		open->places = (struct open_place *)(open + 1);
		open->marks = (struct open_mark *)(open->places + open->places_count);
		names = (char *)(open->marks + open->marks_count);
		if (open->marks_count)
			memcpy(open->marks, builder->marks,
				open->marks_count * sizeof(struct open_mark));
		for (uint32_t i = 0; i < open->places_count; i++) {
			struct slice name = builder->places[i].name;

			if (name.length)
				memcpy(names, name.data, name.length);
			open->places[i] =
				(struct open_place){builder->places[i].type, {names, name.length}};
			names += name.length;
		}
	}
	free(builder->places);
	free(builder->marks);
	*builder = (struct open_builder){0};
	return open;
}

bool open_body_fits(const struct open_body *open, size_t length)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < open->marks_count; i++) {
		const struct open_mark *mark = &open->marks[i];
		const struct open_mark *outer = mark->outer < 0 ? NULL : &open->marks[mark->outer];

		if (mark->outer < -1 || mark->outer >= (int32_t)i || mark->at >= mark->start ||
			mark->start - mark->at > 5 || mark->start > mark->end ||
			mark->end > length || (i && mark->at < open->marks[i - 1].start))
			return false;
		if (outer &&
			(outer->place >= 0 || mark->at < outer->start || mark->end > outer->end))
			return false;
		/* Behind another one it must be out of it. */
		for (int32_t k = (int32_t)i - 1; k > mark->outer; k = open->marks[k].outer)
			if (open->marks[k].end > mark->at)
				return false;
		if (mark->place >= 0 && (uint32_t)mark->place != next++)
			return false;
	}
	return next == open->places_count;
}

/* --- on disk ------------------------------------------------------------------------------- */

void open_body_write(const struct open_body *open, struct buf *record)
{
	record_put_number(record, open->places_count, 4);
	for (uint32_t i = 0; i < open->places_count; i++) {
		record_put_number(record, open->places[i].type, 1);
		record_put_text(record, open->places[i].name);
	}
	record_put_number(record, open->marks_count, 4);
	for (uint32_t i = 0; i < open->marks_count; i++) {
		const struct open_mark *mark = &open->marks[i];

		record_put_number(record, mark->at, 4);
		record_put_number(record, mark->start, 4);
		record_put_number(record, mark->end, 4);
		record_put_number(record, (uint32_t)mark->outer + 1u, 4);
		record_put_number(record, (uint32_t)mark->place + 1u, 4);
	}
}

struct open_body *open_body_read(struct record_reader *record, size_t body_length)
{
	struct open_builder builder = {0};
	struct open_body *open;
	bool is_good = true;
	uint64_t count = record_number(record, 4);

	for (uint64_t i = 0; i < count && !record->failed; i++) {
		uint8_t type = (uint8_t)record_number(record, 1);

		is_good = is_good && type < SOURCE_TYPES;
		open_builder_place(&builder, (struct open_place){type, record_text(record)});
	}
	count = record_number(record, 4);
	for (uint64_t i = 0; i < count && !record->failed; i++) {
		struct open_mark mark;

		mark.at = (uint32_t)record_number(record, 4);
		mark.start = (uint32_t)record_number(record, 4);
		mark.end = (uint32_t)record_number(record, 4);
		mark.outer = (int32_t)((uint32_t)record_number(record, 4) - 1);
		mark.place = (int32_t)((uint32_t)record_number(record, 4) - 1);
		open_builder_mark(&builder, mark);
	}
	open = open_builder_finish(&builder);
	if (open && (!is_good || record->failed || !open_body_fits(open, body_length))) {
		open_body_unref(open);
		open = NULL;
	}
	return open;
}

/* --- protobuf ------------------------------------------------------------------------------ */

static size_t varint_size(uint64_t value)
{
	size_t size = 1;

	for (; value >= 0x80; value >>= 7)
		size++;
	return size;
}

static void put_varint(struct buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_putc(out, (char)(value | 0x80));
	buf_putc(out, (char)value);
}

static bool take_varint(struct slice *rest, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && rest->length; shift += 7) {
		unsigned char byte = (unsigned char)*rest->data;

		*rest = (struct slice){rest->data + 1, rest->length - 1};
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

/* The fields of a ConfigSource with their tags; of repeated ones all in one piece, as they are
 * written. False at the end, and at what is no field of it. */
static bool next_field(struct slice *rest, uint64_t *ret_number, struct slice *ret_whole)
{
	const char *begin = rest->data;
	uint64_t tag, value;

	if (!take_varint(rest, &tag))
		return false;
	*ret_number = tag >> 3;
	switch (tag & 7) {
	case 0:
		if (!take_varint(rest, &value))
			return false;
		break;
	case 2:
		if (!take_varint(rest, &value) || value > rest->length)
			return false;
		*rest = (struct slice){rest->data + value, rest->length - (size_t)value};
		break;
	default:
		return false;
	}
	*ret_whole = (struct slice){begin, (size_t)(rest->data - begin)};
	return true;
}

/* --- filling ------------------------------------------------------------------------------- */

static bool leads(uint64_t number)
{
	return number == SOURCE_PATH || number == SOURCE_API || number == SOURCE_AGGREGATED ||
	       number == SOURCE_SELF || number == SOURCE_PATH_CONFIG;
}

/* By number; a field that is there keeps what it is unless `replace`. */
static void collect(struct slice source, bool is_literal, struct slice fields[SOURCE_FIELDS])
{
	bool is_mine[SOURCE_FIELDS] = {false};
	struct slice whole;
	uint64_t number;

	while (next_field(&source, &number, &whole)) {
		if (number >= SOURCE_FIELDS || leads(number) != is_literal)
			continue;
		if (is_mine[number]) /* repeated: one behind the other */
			fields[number].length =
				(size_t)(whole.data + whole.length - fields[number].data);
		else
			fields[number] = whole;
		is_mine[number] = true;
	}
}

/* What is not where it leads comes from the literal only where the place says nothing. */
static void collect_missing(struct slice literal, struct slice fields[SOURCE_FIELDS])
{
	struct slice others[SOURCE_FIELDS] = {{NULL, 0}};

	collect(literal, false, others);
	for (int i = 0; i < SOURCE_FIELDS; i++)
		if (fields[i].length == 0 && others[i].length)
			fields[i] = others[i];
}

static bool has_path(const struct open_place *place)
{
	const struct xds_type_row *row;

	if (place->type == SOURCE_NO_TYPE)
		return false;
	row = xds_type_row((enum xds_type)place->type);
	return row->files == XDS_FILE_SET || (row->files == XDS_FILE_EACH && place->name.length);
}

struct filling {
	const struct open_body *open;
	struct slice body;
	const struct config_sources *sources;
	enum source_transport transport;
	open_path_cb path;
	void *ctx;
};

static void put_path(
	const struct filling *filling, const struct open_place *place, struct buf *scratch)
{
	struct buf path = BUF_INIT;

	filling->path(filling->ctx, (enum xds_type)place->type, place->name, &path);
	put_varint(scratch, SOURCE_PATH_CONFIG << 3 | 2);
	put_varint(scratch, 1 + varint_size(path.length) + path.length);
	put_varint(scratch, 1 << 3 | 2);
	put_varint(scratch, path.length);
	buf_append_slice(scratch, buf_slice(&path));
	if (buf_error(&path))
		buf_fail(scratch, buf_error(&path));
	buf_fini(&path);
}

/* The source that goes to a mark's place. */
static void put_source(const struct filling *filling, const struct open_mark *mark, struct buf *out)
{
	const struct open_place *place = &filling->open->places[mark->place];
	struct slice former = {filling->body.data + mark->start, mark->end - mark->start};
	struct slice literal = filling->sources->table[filling->transport][place->type];
	struct slice fields[SOURCE_FIELDS] = {{NULL, 0}};
	bool is_path = literal.length == 0 && has_path(place) && filling->path;
	struct buf path = BUF_INIT;

	collect(former, false, fields);
	if (is_path) {
		put_path(filling, place, &path);
		fields[SOURCE_PATH_CONFIG] = buf_slice(&path);
	} else {
		/* There is no such file: it stays as it is. */
		collect(literal.length ? literal : former, true, fields);
		collect_missing(literal, fields);
	}
	for (int i = 0; i < SOURCE_FIELDS; i++)
		buf_append_slice(out, fields[i]);
	if (buf_error(&path))
		buf_fail(out, buf_error(&path));
	buf_fini(&path);
}

struct mark_size {
	uint32_t source_at; /* in the buffer of new sources */
	uint64_t length;    /* of the new message */
	int64_t growth;	    /* of what is in it; with its length in the end */
};

/* From the innermost outwards: how long everything becomes. */
static void measure(const struct filling *filling, struct mark_size *sizes)
{
	const struct open_body *open = filling->open;

	for (uint32_t i = open->marks_count; i-- > 0;) {
		const struct open_mark *mark = &open->marks[i];
		uint64_t before = mark->end - mark->start;

		if (mark->place < 0)
			sizes[i].length = (uint64_t)((int64_t)before + sizes[i].growth);
		sizes[i].growth = (int64_t)(sizes[i].length + varint_size(sizes[i].length)) -
				  (int64_t)(mark->end - mark->at);
		if (mark->outer >= 0)
			sizes[mark->outer].growth += sizes[i].growth;
	}
}

void open_body_fill(const struct open_body *open, struct slice body,
	const struct config_sources *sources, enum source_transport transport, open_path_cb path,
	void *ctx, struct buf *out)
{
	const struct filling filling = {open, body, sources, transport, path, ctx};
	struct mark_size *sizes = xcalloc(open->marks_count, sizeof(*sizes));
	struct buf made = BUF_INIT;
	size_t cursor = 0;

	for (uint32_t i = 0; i < open->marks_count; i++) {
		sizes[i].source_at = (uint32_t)made.length;
		if (open->marks[i].place < 0)
			continue;
		put_source(&filling, &open->marks[i], &made);
		sizes[i].length = made.length - sizes[i].source_at;
	}
	measure(&filling, sizes);
	for (uint32_t i = 0; i < open->marks_count; i++) {
		const struct open_mark *mark = &open->marks[i];

		buf_append(out, body.data + cursor, mark->at - cursor);
		put_varint(out, sizes[i].length);
		cursor = mark->start;
		if (mark->place < 0)
			continue;
		buf_append(out, made.data + sizes[i].source_at, (size_t)sizes[i].length);
		cursor = mark->end;
	}
	buf_append(out, body.data + cursor, body.length - cursor);
	if (buf_error(&made))
		buf_fail(out, buf_error(&made));
	buf_fini(&made);
	free(sizes);
}

bool open_body_has_path(const struct open_body *open, const struct config_sources *sources)
{
	for (uint32_t i = 0; i < open->places_count; i++)
		if (has_path(&open->places[i]) &&
			sources->table[SOURCE_FILES][open->places[i].type].length == 0)
			return true;
	return false;
}
