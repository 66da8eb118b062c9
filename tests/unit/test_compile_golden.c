/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Golden folders: tests/data/compile/<case>/tree is compiled, and what comes out must be
 * tests/data/compile/<case>/want.
 * UPDATE=1 writes `want` anew: read the difference before committing it.
 */
#include "compile_dump.h"
#include "schema_label.h"

#include <dirent.h>

#include "base/file.h"

struct golden {
	struct schema *schema;
	char data[4096];
};

/* Where other modules choose the words: places and rules only. */
static void dump_rules(const struct build *build, struct buf *out)
{
	for (size_t i = 0; i < diag_list_count(build->diags); i++) {
		const struct diag *diag = diag_list_get(build->diags, i);

		buf_printf(out, "%s:%u:%u: %s [%s]\n", diag->path, diag->at.line, diag->at.column,
			diag_level_name(diag->level), diag->rule);
	}
}

static void compile_case(const struct schema *schema, const char *folder, struct buf *out)
{
	char root[4200];
	struct compile_options options = {.root = root, .schema = schema, .threads = 2};
	struct compiler *compiler;
	const struct build *build;

	snprintf(root, sizeof(root), "%s/tree", folder);
	options.verbose = strstr(folder, "verbose") != NULL;
	/* References have cases of their own, see test_lint_golden.c. */
	options.is_thorough = strstr(folder, "/silence") != NULL;
	compiler = compiler_new(&options);
	assert_int_equal(compiler_run(compiler, NULL, 0, 0, NULL, &build), 0);
	if (strstr(folder, "bad_files")) {
		dump_rules(build, out);
	} else {
		dump_diags(build, out);
		dump_groups(build, true, out);
	}
	compiler_free(compiler);
	schema_label_hide(out, schema);
}

static void check_case(const struct golden *golden, const char *name)
{
	char folder[4120], want_path[4200];
	struct buf got = BUF_INIT, want = BUF_INIT;

	snprintf(folder, sizeof(folder), "%s/%s", golden->data, name);
	snprintf(want_path, sizeof(want_path), "%s/want", folder);
	compile_case(golden->schema, folder, &got);
	if (getenv("UPDATE")) {
		int fd = open(want_path, O_CREAT | O_WRONLY | O_TRUNC, 0644);

		assert_true(fd >= 0);
		assert_int_equal(file_write_all(fd, got.data, got.length), 0);
		close(fd);
	}
	assert_int_equal(file_read(want_path, 1 << 20, &want), 0);
	if (strcmp(buf_cstr(&got), buf_cstr(&want)) != 0) {
		fprintf(stderr, "--- want\n%s--- got\n%s", buf_cstr(&want), buf_cstr(&got));
		fail_msg("case %s", name);
	}
	buf_fini(&got);
	buf_fini(&want);
}

static void test_all_cases(void **state)
{
	struct golden *golden = *state;
	struct dirent **names;
	int count = scandir(golden->data, &names, NULL, alphasort);
	int cases = 0;

	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		if (names[i]->d_name[0] != '.') {
			check_case(golden, names[i]->d_name);
			cases++;
		}
		free(names[i]);
	}
	free(names);
	assert_true(cases > 0);
}

/* Adds what is said but that a part of Envoy is unfinished, which an example may use. */
static void dump_complaints(const struct build *build, struct buf *out)
{
	for (size_t i = 0; i < diag_list_count(build->diags); i++) {
		const struct diag *diag = diag_list_get(build->diags, i);

		if (strcmp(diag->rule, "work-in-progress") == 0)
			continue;
		diag_format(diag, out);
		buf_putc(out, '\n');
	}
}

/* Every example compiles without a complaint. */
static void test_examples(void **state)
{
	struct golden *golden = *state;
	char examples[4096], path[4400];
	struct dirent **names;
	int count;

	snprintf(examples, sizeof(examples), "%s/examples", getenv("top_srcdir"));
	count = scandir(examples, &names, NULL, alphasort);
	assert_true(count > 20);
	for (int i = 0; i < count; i++) {
		struct compile_options options = {
			.root = path, .schema = golden->schema, .is_thorough = true};
		struct compiler *compiler;
		const struct build *build;
		struct buf text = BUF_INIT;
		struct stat status;

		snprintf(path, sizeof(path), "%s/%s", examples, names[i]->d_name);
		if (names[i]->d_name[0] != '.' && stat(path, &status) == 0 &&
			S_ISDIR(status.st_mode)) {
			compiler = compiler_new(&options);
			assert_int_equal(compiler_run(compiler, NULL, 0, 0, NULL, &build), 0);
			dump_complaints(build, &text);
			if (text.length) {
				fprintf(stderr, "%s", buf_cstr(&text));
				fail_msg("examples/%s", names[i]->d_name);
			}
			assert_true(build->groups_count > 0 && build->resources > 0);
			for (size_t k = 0; k < build->groups_count; k++)
				assert_false(build->groups[k].is_held);
			compiler_free(compiler);
			buf_fini(&text);
		}
		free(names[i]);
	}
	free(names);
}

static int setup(void **state)
{
	struct golden *golden = calloc(1, sizeof(*golden));

	golden->schema = dump_load_schema();
	snprintf(golden->data, sizeof(golden->data), "%s/compile", getenv("XDSPUB_TEST_DATA"));
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
		cmocka_unit_test(test_all_cases),
		cmocka_unit_test(test_examples),
	};

	return cmocka_run_group_tests_name("compile_golden", tests, setup, teardown);
}
