/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filling bodies, beside a second way to the same bytes: random trees of messages are encoded with
 * `self` in their open places and once more with what belongs there.
 */
#include "snapshot/open_body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

#define ROUNDS 3000

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(seed >> 8) * below >> 24);
}

static void put_varint(struct buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_putc(out, (char)(value | 0x80));
	buf_putc(out, (char)value);
}

static void put_field(struct buf *out, unsigned number, struct slice bytes)
{
	put_varint(out, number << 3 | 2);
	put_varint(out, bytes.length);
	buf_append_slice(out, bytes);
}

/* What is wanted in a place: the literal's `api` field, else the path; the timeout stays. */
static void put_wanted(struct buf *out, struct slice literal, struct slice path, bool has_timeout)
{
	struct buf inner = BUF_INIT;
	bool is_self = literal.length && literal.data[0] == 0x2a; /* field 5 */

	if (literal.length && !is_self)
		buf_append(out, literal.data, literal.length - 2);
	if (has_timeout)
		put_field(out, 4, SLICE("\x08\x05"));
	if (is_self)
		buf_append(out, literal.data, literal.length - 2);
	buf_puts(out, "\x30\x02");
	if (!literal.length) {
		put_field(&inner, 1, path);
		put_field(out, 8, buf_slice(&inner));
	}
	buf_fini(&inner);
}

static void put_path(void *ctx, enum xds_type type, struct slice name, struct buf *out)
{
	(void)ctx;
	buf_printf(out, "/%s/%.*s", xds_type_row(type)->stem, SLICE_ARG(name));
}

struct tree {
	const struct config_sources *sources;
	enum source_transport transport;
	struct open_builder builder;
	size_t count;
};

/* Their names are borrowed until the outermost one is finished. */
static struct open_body *inner_bodies[4096];
static size_t inner_count;

/* Writes one message twice; true when there is a place in it. Marks have offsets in `open`. */
static bool put_message(struct tree *tree, struct buf *open, struct buf *filled, unsigned depth);

static bool put_place(struct tree *tree, struct buf *open, struct buf *filled)
{
	static const char name[] = "some-name-of-a-resource";
	struct open_place place = {(uint8_t)draw(XDS_VHDS), {name, 1 + draw(sizeof(name) - 2)}};
	bool has_timeout = draw(2);
	struct open_mark mark = {.outer = -1, .place = (int32_t)tree->count};
	struct buf former = BUF_INIT, wanted = BUF_INIT, path = BUF_INIT;

	if (has_timeout)
		put_field(&former, 4, SLICE("\x08\x05"));
	buf_append_slice(&former, SLICE("\x2a\x00\x30\x02"));
	put_path(NULL, (enum xds_type)place.type, place.name, &path);
	put_wanted(&wanted, tree->sources->table[tree->transport][place.type], buf_slice(&path),
		has_timeout);
	put_varint(open, 3 << 3 | 2);
	mark.at = (uint32_t)open->length;
	put_varint(open, former.length);
	mark.start = (uint32_t)open->length;
	buf_append_slice(open, buf_slice(&former));
	mark.end = (uint32_t)open->length;
	put_field(filled, 3, buf_slice(&wanted));
	open_builder_place(&tree->builder, place);
	open_builder_mark(&tree->builder, mark);
	tree->count++;
	buf_fini(&former);
	buf_fini(&wanted);
	buf_fini(&path);
	return true;
}

static void put_filler(struct buf *open, struct buf *filled)
{
	char bytes[300];
	struct slice filler = {bytes, draw(4) ? draw(20) : draw(sizeof(bytes))};

	memset(bytes, 'x', sizeof(bytes));
	put_field(open, 1, filler);
	put_field(filled, 1, filler);
}

/* A field with a message in it. The lengths in front are known when it is written, so it is
 * written apart, and its marks are moved to where it goes. */
static bool put_nested(struct tree *tree, struct buf *open, struct buf *filled, unsigned depth)
{
	struct tree inner = {.sources = tree->sources, .transport = tree->transport};
	struct buf one = BUF_INIT, two = BUF_INIT;
	bool has_place = put_message(&inner, &one, &two, depth + 1);
	struct open_body *body = open_builder_finish(&inner.builder);
	struct open_mark mark = {.outer = -1, .place = -1};

	put_varint(open, 2 << 3 | 2);
	mark.at = (uint32_t)open->length;
	put_varint(open, one.length);
	mark.start = (uint32_t)open->length;
	mark.end = (uint32_t)(open->length + one.length);
	if (has_place) {
		open_builder_mark(&tree->builder, mark);
		open_builder_take(&tree->builder, body, 0, one.length, (int64_t)open->length,
			(int32_t)tree->builder.marks_count - 1);
		tree->count += body->places_count;
	}
	buf_append_slice(open, buf_slice(&one));
	put_field(filled, 2, buf_slice(&two));
	assert_true(inner_count < sizeof(inner_bodies) / sizeof(*inner_bodies));
	inner_bodies[inner_count++] = body;
	buf_fini(&one);
	buf_fini(&two);
	return has_place;
}

static bool put_message(struct tree *tree, struct buf *open, struct buf *filled, unsigned depth)
{
	unsigned fields = draw(5);
	bool has_place = false;

	for (unsigned i = 0; i < fields; i++) {
		unsigned kind = draw(3);

		if (kind == 0)
			put_filler(open, filled);
		else if (kind == 1 && depth < 6)
			has_place |= put_nested(tree, open, filled, depth);
		else if (tree->count < 30)
			has_place |= put_place(tree, open, filled);
	}
	return has_place;
}

static struct config_sources *make_sources(void)
{
	static char literal[300];
	struct buf long_one = BUF_INIT;
	struct config_sources *sources;
	source_table table;

	memset(literal, 'y', sizeof(literal));
	put_field(&long_one, 2, (struct slice){literal, sizeof(literal)});
	buf_puts(&long_one, "\x30\x02");
	config_sources_preset(table);
	for (int type = 0; type < SOURCE_TYPES; type++)
		table[SOURCE_REST][type] = buf_slice(&long_one);
	table[SOURCE_FILES][XDS_SDS] = table[SOURCE_ADS][XDS_SDS];
	sources = config_sources_new(table);
	buf_fini(&long_one);
	return sources;
}

static void test_random_trees(void **state)
{
	struct config_sources *sources = make_sources();
	size_t with_places = 0;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct tree tree = {.sources = sources, .transport = draw(SOURCE_TRANSPORTS)};
		struct buf open = BUF_INIT, want = BUF_INIT, got = BUF_INIT;
		bool has_place = put_message(&tree, &open, &want, 0);
		struct open_body *body = open_builder_finish(&tree.builder);

		assert_int_equal(has_place, body != NULL);
		if (body) {
			with_places++;
			assert_true(open_body_fits(body, open.length));
			assert_false(open_body_fits(body, body->marks[0].end - 1));
			open_body_fill(body, buf_slice(&open), sources, tree.transport, put_path,
				NULL, &got);
			assert_int_equal(got.length, want.length);
			assert_memory_equal(got.data, want.data, want.length);
			body->marks[body->marks_count - 1].end++;
			assert_false(
				open_body_fits(body, body->marks[body->marks_count - 1].end - 1));
		}
		open_body_unref(body);
		while (inner_count)
			open_body_unref(inner_bodies[--inner_count]);
		buf_fini(&open);
		buf_fini(&want);
		buf_fini(&got);
	}
	assert_true(with_places > ROUNDS / 4);
	config_sources_unref(sources);
}

/* What has no name has no file, and stays `self`; what the literal says besides is taken over. */
static void test_without_a_name(void **state)
{
	static const char before[] = "\x0a\x04\x2a\x00\x30\x02";
	struct slice body = {before, 6};
	struct config_sources *sources;
	struct open_builder builder = {0};
	struct open_body *open;
	struct buf out = BUF_INIT;
	source_table table;

	(void)state;
	config_sources_preset(table);
	table[SOURCE_REST][XDS_RDS] = SLICE("\x1a\x00\x22\x02\x08\x07\x30\x01");
	sources = config_sources_new(table);
	open_builder_place(&builder, (struct open_place){XDS_RDS, SLICE("")});
	open_builder_mark(&builder, (struct open_mark){1, 2, 6, -1, 0});
	open = open_builder_finish(&builder);
	assert_false(open_body_has_path(open, sources));
	open_body_fill(open, body, sources, SOURCE_FILES, put_path, NULL, &out);
	assert_int_equal(out.length, 6);
	assert_memory_equal(out.data, before, 6);
	buf_reset(&out);
	open_body_fill(open, body, sources, SOURCE_REST, NULL, NULL, &out);
	assert_int_equal(out.length, 10);
	assert_memory_equal(out.data, "\x0a\x08\x1a\x00\x22\x02\x08\x07\x30\x02", 10);
	buf_fini(&out);
	open_body_unref(open);
	config_sources_unref(sources);
}

static bool fits(struct open_mark one, struct open_mark two, size_t length)
{
	struct open_builder builder = {0};
	struct open_body *open;
	bool is_good;

	open_builder_place(&builder, (struct open_place){XDS_EDS, SLICE("x")});
	open_builder_mark(&builder, one);
	open_builder_mark(&builder, two);
	open = open_builder_finish(&builder);
	is_good = open_body_fits(open, length);
	open_body_unref(open);
	return is_good;
}

/* Marks from a damaged state folder never lead out of the body. */
static void test_marks_that_make_no_sense(void **state)
{
	struct open_mark outer = {1, 2, 10, -1, -1}, inner = {3, 4, 8, 0, 0};

	(void)state;
	assert_true(fits(outer, inner, 10));
	assert_false(fits(outer, inner, 9));
	inner.end = 11;
	assert_false(fits(outer, inner, 20));
	inner = (struct open_mark){3, 4, 8, 1, 0};
	assert_false(fits(outer, inner, 10));
	inner = (struct open_mark){3, 4, 8, -1, 0};
	assert_false(fits(outer, inner, 10)); /* in the other, but not said so */
	inner = (struct open_mark){3, 3, 8, 0, 0};
	assert_false(fits(outer, inner, 10)); /* no length in front */
	inner = (struct open_mark){3, 4, 8, 0, 1};
	assert_false(fits(outer, inner, 10)); /* no such place */
	inner = (struct open_mark){3, 4, 8, 0, -1};
	assert_false(fits(outer, inner, 10)); /* a place without a mark */
	inner = (struct open_mark){0, 1, 1, -1, 0};
	assert_false(fits(outer, inner, 10)); /* not in order */
	outer.place = 0;
	inner = (struct open_mark){3, 4, 8, 0, -1};
	assert_false(fits(outer, inner, 10)); /* in an open source */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_trees),
		cmocka_unit_test(test_without_a_name),
		cmocka_unit_test(test_marks_that_make_no_sense),
	};

	return cmocka_run_group_tests_name("open_body", tests, NULL, NULL);
}
