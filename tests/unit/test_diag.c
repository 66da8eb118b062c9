/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const struct position nowhere = {0, 0};

static struct position at(uint32_t line, uint32_t column)
{
	return (struct position){line, column};
}

static void assert_line(const struct diag_list *list, size_t index, const char *want)
{
	struct buf line = BUF_INIT;

	diag_format(diag_list_get(list, index), &line);
	assert_string_equal(buf_cstr(&line), want);
	buf_fini(&line);
}

static void lines_for_people(void **state)
{
	struct diag_list *list = diag_list_new(0);
	char path[] = "prod/a.yaml";

	(void)state;
	diag_error(list, path, at(3, 7), "unknown-field", "unknown field \"%s\"", "nam");
	diag_warning(list, path, at(4, 0), "unused", "not used");
	path[0] = 'X';
	diag_note(list, "b.yaml", nowhere, "empty-file", "nothing in it");
	diag_error(list, "", nowhere, "", "no path");
	diag_error(list, NULL, at(1, 1), NULL, "no path either");
	diag_error(list, "a\nb\x1b[2J.yaml", at(1, 1), "x", "say \"hi\"\x07\xff");
	assert_int_equal(diag_list_count(list), 6);
	assert_line(list, 0, "prod/a.yaml:3:7: error: unknown field \"nam\" [unknown-field]");
	assert_line(list, 1, "prod/a.yaml:4: warning: not used [unused]");
	assert_line(list, 2, "b.yaml: note: nothing in it [empty-file]");
	assert_line(list, 3, "error: no path");
	assert_line(list, 4, "error: no path either");
	assert_line(list, 5, "a\\nb\\x1b[2J.yaml:1:1: error: say \"hi\"\\x07\\xff [x]");
	diag_list_free(list);
	diag_list_free(NULL);
}

static void keeps_the_worst(void **state)
{
	struct diag_list *list = diag_list_new(4);

	(void)state;
	for (uint32_t i = 1; i <= 6; i++)
		diag_note(list, "n", at(i, 1), "r", "note");
	diag_warning(list, "w", at(1, 1), "r", "warning");
	diag_error(list, "e", at(1, 1), "r", "error");
	diag_note(list, "n", at(9, 1), "r", "note");
	assert_int_equal(diag_list_count(list), 4);
	assert_int_equal(diag_list_level_count(list, DIAG_NOTE), 7);
	assert_int_equal(diag_list_level_count(list, DIAG_WARNING), 1);
	/* The last notes gave way. */
	assert_line(list, 0, "n:1:1: note: note [r]");
	assert_line(list, 1, "n:2:1: note: note [r]");
	assert_line(list, 2, "w:1:1: warning: warning [r]");
	assert_line(list, 3, "e:1:1: error: error [r]");
	for (uint32_t i = 2; i <= 50; i++)
		diag_error(list, "e", at(i, 1), "r", "error");
	assert_int_equal(diag_list_count(list), 4);
	assert_int_equal(diag_list_level_count(list, DIAG_ERROR), 50);
	assert_int_equal(diag_list_level_count(list, DIAG_WARNING), 1);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(diag_list_get(list, i)->level, DIAG_ERROR);
		assert_int_equal(diag_list_get(list, i)->at.line, i + 1);
	}
	diag_list_clear(list);
	assert_int_equal(diag_list_count(list), 0);
	assert_int_equal(diag_list_level_count(list, DIAG_ERROR), 0);
	diag_note(list, "n", at(1, 1), "r", "note");
	assert_line(list, 0, "n:1:1: note: note [r]");
	diag_list_free(list);
}

static void sorted_and_once(void **state)
{
	struct diag_list *list = diag_list_new(0);

	(void)state;
	diag_error(list, "b", at(1, 1), "r", "x");
	diag_error(list, "a", at(10, 1), "r", "x");
	diag_error(list, "a", at(9, 2), "r", "y");
	diag_note(list, "a", at(9, 1), "r", "a");
	diag_error(list, "a", at(9, 1), "r", "z");
	diag_warning(list, "a", at(9, 1), "r", "b");
	diag_error(list, "a", at(9, 1), "r", "z");
	diag_error(list, "a", at(9, 1), "q", "z");
	diag_list_sort(list);
	assert_int_equal(diag_list_count(list), 7);
	assert_int_equal(diag_list_level_count(list, DIAG_ERROR), 5);
	assert_line(list, 0, "a:9:1: error: z [q]");
	assert_line(list, 1, "a:9:1: error: z [r]");
	assert_line(list, 2, "a:9:1: warning: b [r]");
	assert_line(list, 3, "a:9:1: note: a [r]");
	assert_line(list, 4, "a:9:2: error: y [r]");
	assert_line(list, 5, "a:10:1: error: x [r]");
	assert_line(list, 6, "b:1:1: error: x [r]");
	diag_list_free(list);
}

static void append_copies(void **state)
{
	struct diag_list *all = diag_list_new(3);
	struct diag_list *part = diag_list_new(2);

	(void)state;
	for (uint32_t i = 1; i <= 5; i++)
		diag_error(part, "p", at(i, 1), "r", "text %u", i);
	diag_warning(all, "w", at(1, 1), "r", "text");
	diag_list_append(all, part);
	diag_list_append(all, part);
	diag_list_free(part);
	assert_int_equal(diag_list_count(all), 3);
	assert_int_equal(diag_list_level_count(all, DIAG_ERROR), 10);
	assert_int_equal(diag_list_level_count(all, DIAG_WARNING), 1);
	assert_line(all, 0, "p:1:1: error: text 1 [r]");
	assert_line(all, 1, "p:2:1: error: text 2 [r]");
	assert_line(all, 2, "p:1:1: error: text 1 [r]");
	diag_list_append(all, NULL);
	diag_list_append(NULL, all);
	diag_error(NULL, "p", nowhere, "r", "nobody listens");
	diag_list_free(all);
}

static void long_text_is_cut_at_a_character(void **state)
{
	struct diag_list *list = diag_list_new(0);

	(void)state;
	for (int i = 0; i < 4; i++) {
		const char *text;
		char source[9001];

		for (int j = 0; j < 9000; j += 3)
			memcpy(source + j, "\xe2\x82\xac", 3);
		source[9000] = '\0';
		diag_error(list, "p", nowhere, "r", "%.*s%s", i, "....", source);
		text = diag_list_get(list, (size_t)i)->text;
		assert_true(strlen(text) < 4096);
		assert_true(strlen(text) > 4085);
		assert_string_equal(text + strlen(text) - 6, "\xe2\x82\xac...");
	}
	diag_list_free(list);
}

/* A list that replaces its entries for ever keeps its paths and texts apart. */
static void many_paths(void **state)
{
	struct diag_list *list = diag_list_new(50);

	(void)state;
	for (int level = DIAG_NOTE; level <= DIAG_ERROR; level++) {
		for (int i = 0; i < 200; i++) {
			char path[16];

			snprintf(path, sizeof(path), "f%d", i / 3);
			diag_add(list, (enum diag_level)level, path, nowhere, "r", "t%d", i);
		}
	}
	for (size_t i = 0; i < diag_list_count(list); i++) {
		const struct diag *diag = diag_list_get(list, i);
		char want[32];

		snprintf(want, sizeof(want), "f%zu", i / 3);
		assert_string_equal(diag->path, want);
		snprintf(want, sizeof(want), "t%zu", i);
		assert_string_equal(diag->text, want);
		assert_int_equal(diag->level, DIAG_ERROR);
	}
	diag_list_free(list);
}

static void included_files(void **state)
{
	struct diag_list *list = diag_list_new(0), *all = diag_list_new(0);
	char place[256];
	uint32_t one, two, line;

	(void)state;
	one = diag_list_include(list, "one.yaml", 10, "root.yaml", at(7, 3));
	two = diag_list_include(list, "two.yaml", 1, "root.yaml", at(one + 10, 5));
	assert_true(one >= DIAG_INCLUDED_LINE && two > one + 10);
	diag_error(list, "root.yaml", at(1, 1), "r", "own");
	diag_error(list, "root.yaml", at(one + 1, 1), "r", "first");
	diag_error(list, "root.yaml", at(one, 0), "r", "whole");
	diag_error(list, "root.yaml", at(two + 1, 2), "r", "second");
	assert_line(list, 0, "root.yaml:1:1: error: own [r]");
	assert_line(list, 1, "one.yaml:1:1: error: first (included by root.yaml:7:3) [r]");
	assert_line(list, 2, "one.yaml: error: whole (included by root.yaml:7:3) [r]");
	assert_line(list, 3,
		"two.yaml:1:2: error: second (included by one.yaml:10:5, root.yaml:7:3) [r]");
	assert_string_equal(diag_list_place(list, at(two + 1, 2), place), "two.yaml:1:2");
	assert_string_equal(diag_list_place(list, at(3, 2), place), "3:2");
	assert_string_equal(diag_list_file(list, "root.yaml", at(one + 4, 1), &line), "one.yaml");
	assert_int_equal(line, 4);
	assert_int_equal(diag_list_outermost(list, at(two + 1, 2)).line, 7);
	assert_int_equal(diag_list_outermost(list, at(5, 2)).line, 5);
	/* The same problem, met by another file. */
	diag_list_append(all, list);
	diag_list_clear(list);
	one = diag_list_include(list, "one.yaml", 10, "other.yaml", at(1, 1));
	diag_error(list, "other.yaml", at(one + 1, 1), "r", "first");
	diag_list_append(all, list);
	assert_int_equal(diag_list_level_count(all, DIAG_ERROR), 5);
	diag_list_sort(all);
	assert_int_equal(diag_list_level_count(all, DIAG_ERROR), 4);
	assert_line(all, 1,
		"one.yaml:1:1: error: first (included by other.yaml:1:1 and 1 other place) [r]");
	/* Numbers run out. */
	assert_int_equal(diag_list_include(list, "x", UINT32_MAX - 20, "y", at(1, 1)), 0);
	diag_list_free(list);
	diag_list_free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(included_files),
		cmocka_unit_test(lines_for_people),
		cmocka_unit_test(keeps_the_worst),
		cmocka_unit_test(sorted_and_once),
		cmocka_unit_test(append_copies),
		cmocka_unit_test(long_text_is_cut_at_a_character),
		cmocka_unit_test(many_paths),
	};

	return cmocka_run_group_tests_name("diag", tests, NULL, NULL);
}
