/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schema/comments.h"

#include <errno.h>

#include "base/file.h"
#include "message_fixture.h"

#define SET "google.protobuf.FileDescriptorSet"

static int open_fixture(void **state)
{
	return fixture_open(state, "XDSPUB_SCHEMA");
}

static struct comments *read_bytes(struct fixture *fixture, struct slice bytes, int expected)
{
	struct comments *comments = comments_new();

	diag_list_clear(fixture->diags);
	assert_int_equal(comments_add(comments, bytes, "set", fixture->diags), expected);
	return comments;
}

/* A set written as text format. */
static struct comments *read_text(struct fixture *fixture, const char *text)
{
	struct buf bytes = BUF_INIT;
	struct comments *comments;

	wire_write(fixture_message(fixture, SET, text), &bytes);
	comments = read_bytes(fixture, buf_slice(&bytes), 0);
	buf_fini(&bytes);
	return comments;
}

static void check(
	const struct comments *comments, const char *name, const char *member, const char *expected)
{
	struct slice found = comments_find(comments, name, member);

	if (!(found.data ? expected && slice_is(found, expected) : !expected))
		fail_msg("%s %s: \"%.*s\", not \"%s\"", name, member ? member : "",
			SLICE_ARG(found), expected ? expected : "");
}

#define OUTER "xdspub.test.doc.Outer"

static void test_places(void **state)
{
	struct fixture *fixture = *state;
	struct buf bytes = BUF_INIT;
	struct comments *comments;

	assert_int_equal(file_read(getenv("XDSPUB_TEST_DOCUMENTED"), 1 << 24, &bytes), 0);
	comments = read_bytes(fixture, buf_slice(&bytes), 0);
	check(comments, OUTER, NULL,
		" The outer one.\n\n Its second paragraph. [#next-free-field: 9]\n");
	check(comments, OUTER ".Inner", NULL, " What is inside.\n");
	check(comments, OUTER ".Inner", "count", " How many.\n");
	check(comments, OUTER ".Kind", NULL, " Kinds of it.\n");
	check(comments, OUTER ".Kind", "NONE", " Nothing yet.\n");
	check(comments, OUTER ".Kind", "SOME", " behind the value\n");
	check(comments, OUTER, "kind", " behind the field\n");
	check(comments, OUTER, "choice", " One of these.\n");
	check(comments, OUTER, "left", " The left one.\n");
	check(comments, OUTER, "right", NULL);
	check(comments, OUTER, "reserved", NULL);
	check(comments, "xdspub.test.doc.ShortPlugPerRoute", NULL, " Overrides a plug.\n");
	assert_non_null(memmem(comments_of_file(comments, "documented.proto").data, 60,
		"[#protodoc-title: A plug]", 25));
	assert_null(comments_of_file(comments, "other.proto").data);
	/* The same again changes nothing. */
	size_t count = comments_count(comments);
	assert_int_equal(comments_add(comments, buf_slice(&bytes), "again", fixture->diags), 0);
	assert_int_equal(comments_count(comments), count);
	comments_free(comments);
	buf_fini(&bytes);
}

#define FILE_TEXT                                                                                  \
	"file { name: 'a' package: 'p' message_type { name: 'M' field { name: 'f' } "              \
	"enum_type { name: 'E' value { name: 'V' } } extension { name: 'x' } } "                   \
	"enum_type { name: 'F' } service { name: 'S' method { name: 'm' } } "                      \
	"extension { name: 'y' } source_code_info { "

static void test_paths(void **state)
{
	static const struct {
		const char *path, *name, *member;
	} places[] = {
		{"path: [4, 0]", "p.M", NULL},
		{"path: [4, 0, 2, 0]", "p.M", "f"},
		{"path: [4, 0, 4, 0]", "p.M.E", NULL},
		{"path: [4, 0, 4, 0, 2, 0]", "p.M.E", "V"},
		{"path: [4, 0, 6, 0]", "p.M.x", NULL},
		{"path: [5, 0]", "p.F", NULL},
		{"path: [6, 0]", "p.S", NULL},
		{"path: [6, 0, 2, 0]", "p.S", "m"},
		{"path: [7, 0]", "p.y", NULL},
	};
	char text[1024];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(text, sizeof(text), FILE_TEXT "location { %s leading_comments: 'C' } } }",
			places[i].path);
		struct comments *comments = read_text(*state, text);
		check(comments, places[i].name, places[i].member, "C");
		assert_int_equal(comments_count(comments), 1);
		comments_free(comments);
	}
}

/* Paths to nowhere are passed over. */
static void test_bad_paths(void **state)
{
	static const char *const paths[] = {"", "path: [4]", "path: [4, 1]", "path: [4, -1]",
		"path: [4, 2147483647]", "path: [4, 0, 2]", "path: [4, 0, 2, 1]",
		"path: [4, 0, 2, 0, 2, 0]", "path: [4, 0, 3, 0]", "path: [9, 0]", "path: [-4, 0]",
		"path: [5, 0, 2, 0]", "path: [1]", "path: [0, 0]", "path: [4, 0, 4, 0, 2, 1]"};
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		buf_reset(&text);
		buf_printf(&text, FILE_TEXT "location { %s leading_comments: 'C' } } }", paths[i]);
		struct comments *comments = read_text(*state, buf_cstr(&text));
		if (comments_count(comments) != 0)
			fail_msg("%s found a place", paths[i]);
		comments_free(comments);
	}
	/* Longer than any. */
	buf_reset(&text);
	buf_puts(&text, FILE_TEXT "location { path: [4");
	for (int i = 0; i < 1000; i++)
		buf_puts(&text, ", 0");
	buf_puts(&text, "] leading_comments: 'C' } } }");
	struct comments *comments = read_text(*state, buf_cstr(&text));
	assert_int_equal(comments_count(comments), 0);
	comments_free(comments);
	buf_fini(&text);
}

/* Nested as deep as types may be, and deeper than schema_load takes. */
static void test_depth(void **state)
{
	for (int depth = 98; depth < 140; depth += 20) {
		struct buf bytes = BUF_INIT, name = BUF_INIT;

		/* From the inside out; text format has a limit of its own. */
		buf_puts(&bytes, "\n\1M");
		for (int i = 0; i < depth; i++) {
			struct buf outer = BUF_INIT;
			size_t length = bytes.length;

			buf_puts(&outer, "\n\1M\x1a");
			buf_putc(&outer, (char)(length | 0x80));
			buf_putc(&outer, (char)(length >> 7));
			buf_append_slice(&outer, buf_slice(&bytes));
			buf_fini(&bytes);
			bytes = outer;
		}
		struct buf set = BUF_INIT, file = BUF_INIT;

		buf_puts(&file, "\x22");
		buf_putc(&file, (char)(bytes.length | 0x80));
		buf_putc(&file, (char)(bytes.length >> 7));
		buf_append_slice(&file, buf_slice(&bytes));
		/* A comment for each level: path of 2 * (i + 1) bytes. */
		struct buf info = BUF_INIT;
		for (int i = 0; i <= depth; i++) {
			struct buf path = BUF_INIT;
			size_t length;

			buf_append(&path, "\4\0", 2);
			for (int k = 0; k < i; k++)
				buf_append(&path, "\3\0", 2);
			length = path.length;
			buf_puts(&info, "\n");
			buf_putc(&info, (char)((length + 3 + 3) | 0x80));
			buf_putc(&info, (char)((length + 3 + 3) >> 7));
			buf_puts(&info, "\n");
			buf_putc(&info, (char)(length | 0x80));
			buf_putc(&info, (char)(length >> 7));
			buf_append_slice(&info, buf_slice(&path));
			buf_puts(&info, "\x1a\1C");
			buf_fini(&path);
		}
		buf_puts(&file, "\x4a");
		buf_putc(&file, (char)(info.length | 0x80));
		buf_putc(&file, (char)((info.length >> 7) | 0x80));
		buf_putc(&file, (char)(info.length >> 14));
		buf_append_slice(&file, buf_slice(&info));
		buf_puts(&set, "\n");
		buf_putc(&set, (char)(file.length | 0x80));
		buf_putc(&set, (char)((file.length >> 7) | 0x80));
		buf_putc(&set, (char)(file.length >> 14));
		buf_append_slice(&set, buf_slice(&file));
		struct comments *comments = read_bytes(*state, buf_slice(&set), 0);
		assert_int_equal(comments_count(comments), depth + 1 < 100 ? depth + 1 : 100);
		comments_free(comments);
		buf_fini(&bytes);
		buf_fini(&name);
		buf_fini(&set);
		buf_fini(&file);
		buf_fini(&info);
	}
}

static void test_damaged(void **state)
{
	struct fixture *fixture = *state;
	struct buf bytes = BUF_INIT;

	assert_int_equal(file_read(getenv("XDSPUB_TEST_DOCUMENTED"), 1 << 24, &bytes), 0);
	for (size_t length = bytes.length - 2000; length < bytes.length; length += 7) {
		struct comments *comments = comments_new();

		(void)comments_add(
			comments, (struct slice){bytes.data, length}, "cut", fixture->diags);
		comments_free(comments);
	}
	comments_free(read_bytes(fixture, SLICE("\n\xff"), -EINVAL));
	assert_non_null(strstr(diag_list_get(fixture->diags, 0)->text, "cut short"));
	comments_free(read_bytes(fixture, SLICE(""), 0));
	buf_fini(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_bad_paths),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, open_fixture, fixture_close);
}
