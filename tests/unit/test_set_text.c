/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "publish/set_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Items are [name=body]; counts how many were asked for. */
struct encoder_state {
	unsigned items;
	const char *separator;
};

static int begin(void *ctx, enum file_format format, enum xds_type type,
	const struct version *version, size_t count, struct buf *out)
{
	(void)ctx;
	(void)format;
	buf_printf(out, "%s %s %zu\n", xds_type_row(type)->stem, version->text, count);
	return 0;
}

static struct file_body json = {.seen_as = "/x", .format = FILE_FORMAT_JSON};

static int item(void *ctx, enum file_format format, const struct resource *resource,
	struct slice body, struct buf *out)
{
	struct encoder_state *state = ctx;

	(void)format;
	if (slice_is(body, "fail"))
		return -ENOENT;
	state->items++;
	buf_printf(out, "[%.*s=%.*s]", SLICE_ARG(resource->name), SLICE_ARG(body));
	return 0;
}

static int end(void *ctx, enum file_format format, enum xds_type type, size_t count,
	struct slice source, struct buf *out)
{
	(void)ctx;
	(void)format;
	(void)type;
	buf_printf(out, "\nend %zu %.*s\n", count, SLICE_ARG(source));
	return 0;
}

static struct slice separator(void *ctx, enum file_format format)
{
	(void)format;
	return slice_of(((struct encoder_state *)ctx)->separator);
}

/* Random changes; each file must be what encoding everything anew gives. */
static void play(const char *between)
{
	struct encoder_state counts = {0, between}, again = {0, between};
	struct publish_encoder encoder = {&counts, begin, item, end, separator};
	struct publish_encoder plain = {&again, begin, item, end, separator};
	struct resource_set *set = resource_set_empty(XDS_CDS);
	struct set_text *former = NULL;
	char path[] = "/tmp/xdspub-set-text-XXXXXX";
	int fd = mkstemp(path);
	unsigned random = 7;

	assert_true(fd >= 0);
	unlink(path);
	for (unsigned round = 0; round < 300; round++) {
		struct resource_set_builder *builder = resource_set_edit(set);
		struct buf got = BUF_INIT, want = BUF_INIT;
		struct set_text *text = NULL, *other = NULL;
		unsigned changes = random % 4, before = counts.items;

		for (unsigned i = 0; i < changes; i++) {
			struct resource_spec spec = {.type = XDS_CDS, .ttl_ms = -1};
			struct resource *resource;
			char name[16], body[16];

			random = random * 1103515245 + 12345;
			snprintf(name, sizeof(name), "c%u", (random >> 16) % 40);
			snprintf(body, sizeof(body), "%u", (random >> 8) % 1000);
			spec.name = slice_of(name);
			spec.body = slice_of(body);
			resource = resource_new(&spec);
			if (random >> 30)
				resource_set_put(builder, resource);
			else
				resource_set_remove(builder, spec.name);
			resource_unref(resource);
		}
		random = random * 1103515245 + 12345;
		resource_set_unref(set);
		set = resource_set_finish(builder);
		buf_puts(&got, "");
		assert_int_equal(set_text_compose(&encoder, &json, set, SLICE("src"), former,
					 round ? fd : -1, &got, &text),
			0);
		assert_true(counts.items - before <= changes);
		assert_int_equal(
			set_text_compose(&plain, &json, set, SLICE("src"), NULL, -1, &want, &other),
			0);
		assert_string_equal(buf_cstr(&got), buf_cstr(&want));
		assert_int_equal(text->length, got.length);
		assert_int_equal(pwrite(fd, got.data, got.length, 0), got.length);
		assert_int_equal(ftruncate(fd, (off_t)got.length), 0);
		set_text_unref(former);
		set_text_unref(other);
		former = text;
		buf_fini(&got);
		buf_fini(&want);
	}
	assert_true(again.items > 10 * counts.items);
	set_text_unref(former);
	resource_set_unref(set);
	close(fd);
}

static void test_random_changes(void **state)
{
	(void)state;
	play(", ");
	play("");
}

static void test_failures(void **state)
{
	struct encoder_state counts = {0, ","};
	struct publish_encoder encoder = {&counts, begin, item, end, separator};
	struct resource_set *empty = resource_set_empty(XDS_CDS), *good, *bad;
	struct resource_set_builder *builder = resource_set_edit(empty);
	struct resource_spec spec = {
		.type = XDS_CDS, .ttl_ms = -1, .name = SLICE("a"), .body = SLICE("x")};
	struct resource *resource = resource_new(&spec);
	struct set_text *former = NULL, *text = NULL;
	struct buf out = BUF_INIT;
	int fd = open("/dev/null", O_RDONLY);

	(void)state;
	resource_set_put(builder, resource);
	resource_unref(resource);
	good = resource_set_finish(builder);
	spec.body = SLICE("fail");
	spec.name = SLICE("b");
	resource = resource_new(&spec);
	builder = resource_set_edit(good);
	resource_set_put(builder, resource);
	resource_unref(resource);
	bad = resource_set_finish(builder);
	assert_int_equal(
		set_text_compose(&encoder, &json, good, SLICE(""), NULL, -1, &out, &former), 0);
	/* the encoder fails */
	assert_int_equal(
		set_text_compose(&encoder, &json, bad, SLICE(""), NULL, -1, &out, &text), -ENOENT);
	assert_null(text);
	/* the former file is shorter than it was */
	assert_int_equal(
		set_text_compose(&encoder, &json, good, SLICE(""), former, fd, &out, &text), -EIO);
	assert_null(text);
	set_text_unref(former);
	buf_fini(&out);
	resource_set_unref(good);
	resource_set_unref(bad);
	resource_set_unref(empty);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_changes),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests_name("set_text", tests, NULL, NULL);
}
