/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tests/data/lint/<rule>: every lint has a folder. What is said about the tree `invalid` in it must
 * be the file `want`, with that rule; nothing may be said about the tree `valid`.
 * UPDATE=1 writes `want` anew: read the difference before committing it.
 */
#include "compile_dump.h"
#include "schema_label.h"

#include "base/file.h"
#include "catalogue/catalogue.h"
#include "lint/lint.h"

struct golden {
	struct schema *schema;
	char data[4096];
};

static void check_tree(const struct golden *golden, const char *root, const struct lint *lint,
	bool verbose, struct buf *out)
{
	struct compile_options options = {.root = root,
		.schema = golden->schema,
		.threads = 2,
		.verbose = verbose,
		.is_thorough = true,
		.profile = lint->profile};
	struct compiler *compiler = compiler_new(&options);
	const struct build *build;

	assert_int_equal(compiler_run(compiler, NULL, 0, 0, NULL, &build), 0);
	for (size_t i = 0; i < diag_list_count(build->diags); i++) {
		const struct diag *diag = diag_list_get(build->diags, i);

		/* The other notes are those of layers. */
		if (diag->level == DIAG_NOTE && strcmp(diag->rule, lint->rule) != 0)
			continue;
		diag_format(diag, out);
		buf_putc(out, '\n');
	}
	for (size_t i = 0; i < build->groups_count; i++) {
		const struct build_group *group = &build->groups[i];

		if (group->is_held)
			buf_printf(out, "%s is held: %s\n", group->name->text, group->held_reason);
	}
	schema_label_hide(out, golden->schema);
	compiler_free(compiler);
}

static void check_rule(const struct golden *golden, const struct lint *lint)
{
	char root[4400], want_path[4400], id[200];
	struct buf got = BUF_INIT, want = BUF_INIT;

	snprintf(root, sizeof(root), "%s/%s/valid", golden->data, lint->rule);
	check_tree(golden, root, lint, false, &got);
	if (got.length) {
		fprintf(stderr, "%s", buf_cstr(&got));
		fail_msg("%s: what is valid is complained about", lint->rule);
	}
	buf_reset(&got);

	snprintf(root, sizeof(root), "%s/%s/invalid", golden->data, lint->rule);
	snprintf(want_path, sizeof(want_path), "%s/%s/want", golden->data, lint->rule);
	check_tree(golden, root, lint, lint->level == DIAG_NOTE, &got);
	if (getenv("UPDATE")) {
		int fd = open(want_path, O_CREAT | O_WRONLY | O_TRUNC, 0644);

		assert_true(fd >= 0);
		assert_int_equal(file_write_all(fd, got.data, got.length), 0);
		close(fd);
	}
	assert_int_equal(file_read(want_path, 1 << 20, &want), 0);
	if (strcmp(buf_cstr(&got), buf_cstr(&want)) != 0) {
		fprintf(stderr, "--- want\n%s--- got\n%s", buf_cstr(&want), buf_cstr(&got));
		fail_msg("%s", lint->rule);
	}
	snprintf(id, sizeof(id), "[%s]\n", lint->rule);
	if (!strstr(buf_cstr(&got), id))
		fail_msg("%s: not in its own folder", lint->rule);
	buf_fini(&got);
	buf_fini(&want);
}

static void test_every_lint(void **state)
{
	size_t count = 0;

	for (const struct lint *const *table = lint_tables; *table; table++) {
		for (const struct lint *lint = *table; lint->rule; lint++, count++)
			check_rule(*state, lint);
	}
	assert_true(count >= 12);
}

/* The catalogue says the same level. */
static void test_catalogue(void **state)
{
	(void)state;
	for (const struct lint *const *table = lint_tables; *table; table++) {
		for (const struct lint *lint = *table; lint->rule; lint++) {
			const struct catalogue_entry *entry = catalogue_find(slice_of(lint->rule));

			if (!entry)
				fail_msg("%s is not in the catalogue", lint->rule);
			assert_int_equal(entry->level, lint->level);
		}
	}
}

/* Types that a lint wants to be shown exist, unless the schema has none of that file. */
static void test_types(void **state)
{
	const struct golden *golden = *state;

	for (const struct lint *const *table = lint_tables; *table; table++) {
		for (const struct lint *lint = *table; lint->rule; lint++) {
			size_t found = 0;

			assert_true(!lint->types == !lint->look);
			for (const char *const *type = lint->types; type && *type; type++)
				found += schema_find_message(golden->schema, slice_of(*type)) !=
					 NULL;
			if (lint->types && !found)
				fail_msg("%s: the schema has none of its types", lint->rule);
		}
	}
}

static int setup(void **state)
{
	struct golden *golden = calloc(1, sizeof(*golden));

	golden->schema = dump_load_schema();
	snprintf(golden->data, sizeof(golden->data), "%s/lint", getenv("XDSPUB_TEST_DATA"));
	*state = golden;
	return 0;
}

static int teardown(void **state)
{
	struct golden *golden = *state;

	schema_free(golden->schema);
	free(golden);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_lint),
		cmocka_unit_test(test_catalogue),
		cmocka_unit_test(test_types),
	};

	return cmocka_run_group_tests_name("lint_golden", tests, setup, teardown);
}
