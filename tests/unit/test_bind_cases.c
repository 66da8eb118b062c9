/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Golden cases: tests/data/bind/{valid,invalid}/<case>/ with `type` (the message's full name, then
 * perhaps "lenient", "partial" or "files"), input.yaml or input.json, and what must come of it:
 * want.json (valid; documents one after the other) and want.diag (absent: no diagnostics).
 * UPDATE=1 writes the want files anew: read the difference before you commit it.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "schema_label.h"

#include "base/file.h"
#include "message/bind.h"
#include "message/json_read.h"
#include "message/json_write.h"

struct schemas {
	struct schema *test, *envoy;
};

struct golden {
	char folder[512];
	bool is_valid;
	const struct schemas *schemas;
	const struct schema *schema;
	const struct schema_message *type;
	bool is_lenient, is_partial, has_files;
	struct buf input, json, diag_text;
	bool is_json;
	int rc;
};

static struct schema *load(const char *variable)
{
	const char *path = getenv(variable);
	struct diag_list *diags = diag_list_new(0);
	struct schema *schema = NULL;

	assert_non_null(path);
	assert_int_equal(schema_load(&path, 1, diags, &schema), 0);
	diag_list_free(diags);
	return schema;
}

static bool read_text(const struct golden *golden, const char *name, struct buf *out)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s", golden->folder, name);
	return file_read(path, UINT64_MAX, out) == 0;
}

static int read_file(void *ctx, struct slice name, struct position at, struct arena *arena,
	struct diag_list *diags, struct slice *ret_bytes)
{
	const struct golden *golden = ctx;
	struct buf bytes = BUF_INIT;
	char path[256];
	int rc = -ENOENT;

	snprintf(path, sizeof(path), "%.*s", SLICE_ARG(name));
	if (read_text(golden, path, &bytes)) {
		*ret_bytes = arena_copy(arena, bytes.data, bytes.length);
		rc = 0;
	} else {
		diag_error(diags, "input", at, "no-file", "cannot read \"%s\"", path);
	}
	buf_fini(&bytes);
	return rc;
}

static void read_type(struct golden *golden)
{
	struct buf text = BUF_INIT;
	char name[256] = "", flags[128] = "";

	assert_true(read_text(golden, "type", &text));
	assert_true(sscanf(buf_cstr(&text), "%255s %127[^\n]", name, flags) >= 1);
	golden->is_lenient = strstr(flags, "lenient");
	golden->is_partial = strstr(flags, "partial");
	golden->has_files = strstr(flags, "files");
	golden->schema = strncmp(name, "xdspub.test.", 12) == 0 ? golden->schemas->test
								: golden->schemas->envoy;
	golden->type = schema_find_message(golden->schema, slice_of(name));
	if (!golden->type)
		fail_msg("%s: no type %s", golden->folder, name);
	buf_fini(&text);
}

static void bind_one(struct golden *golden, const struct node *root, struct arena *arena,
	struct diag_list *diags)
{
	struct bind_options options = {.schema = golden->schema,
		.path = "input",
		.lenient = golden->is_lenient,
		.allow_partial = golden->is_partial,
		.read_file = golden->has_files ? read_file : NULL,
		.read_file_ctx = golden};
	struct json_write_options json = {
		.schema = golden->schema, .original_names = true, .pretty = true};
	struct message *message;
	const char *problem;
	int rc = bind_message(&options, golden->type, root, arena, diags, &message);

	if (rc) {
		assert_int_equal(rc, -EBADMSG);
		golden->rc = rc;
		return;
	}
	assert_int_equal(json_write(&json, message, &golden->json, &problem), 0);
	buf_putc(&golden->json, '\n');
}

static void run(struct golden *golden)
{
	struct read_options options = {.path = "input"};
	struct arena *arena = arena_new(0);
	struct diag_list *diags = diag_list_new(0);
	struct documents documents = {0};
	struct node *root = NULL;

	golden->is_json = read_text(golden, "input.json", &golden->input);
	if (golden->is_json) {
		golden->rc = json_read(&options, buf_slice(&golden->input), arena, diags, &root);
		if (root)
			documents = (struct documents){.roots = &root, .count = 1};
	} else {
		assert_true(read_text(golden, "input.yaml", &golden->input));
		golden->rc =
			yaml_read(&options, buf_slice(&golden->input), arena, diags, &documents);
	}
	for (size_t i = 0; i < documents.count; i++)
		bind_one(golden, documents.roots[i], arena, diags);
	diag_list_sort(diags);
	for (size_t i = 0; i < diag_list_count(diags); i++) {
		diag_format(diag_list_get(diags, i), &golden->diag_text);
		buf_putc(&golden->diag_text, '\n');
	}
	assert_true((golden->rc == 0) == (diag_list_level_count(diags, DIAG_ERROR) == 0));
	diag_list_free(diags);
	arena_free(arena);
}

/* Compares with the file, or writes it with UPDATE=1; an empty text wants no file. */
static bool settle(const struct golden *golden, const char *name, struct buf *got)
{
	struct buf want = BUF_INIT;
	char path[1024];
	bool is_same;

	snprintf(path, sizeof(path), "%s/%s", golden->folder, name);
	if (getenv("UPDATE")) {
		unlink(path);
		if (got->length) {
			FILE *file = fopen(path, "w");

			assert_non_null(file);
			assert_int_equal(fwrite(got->data, 1, got->length, file), got->length);
			assert_int_equal(fclose(file), 0);
		}
		return true;
	}
	read_text(golden, name, &want);
	is_same = slice_equal(buf_slice(&want), buf_slice(got));
	if (!is_same)
		print_error("%s: want:\n%s\ngot:\n%s\n", path, buf_cstr(&want), buf_cstr(got));
	buf_fini(&want);
	return is_same;
}

static bool run_case(const struct schemas *schemas, const char *kind, const char *name)
{
	struct golden golden = {.schemas = schemas, .is_valid = strcmp(kind, "valid") == 0};
	bool is_good;

	snprintf(golden.folder, sizeof(golden.folder), "%s/bind/%s/%s", getenv("XDSPUB_TEST_DATA"),
		kind, name);
	read_type(&golden);
	run(&golden);
	schema_label_hide(&golden.diag_text, golden.schema);
	if (golden.rc)
		buf_reset(&golden.json);
	is_good = (golden.rc == 0) == golden.is_valid;
	if (!is_good)
		print_error("%s is %svalid: %s\n", golden.folder, golden.rc ? "in" : "",
			buf_cstr(&golden.diag_text));
	is_good &= settle(&golden, "want.diag", &golden.diag_text);
	is_good &= settle(&golden, "want.json", &golden.json);
	buf_fini(&golden.input);
	buf_fini(&golden.json);
	buf_fini(&golden.diag_text);
	return is_good;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void run_folder(const struct schemas *schemas, const char *kind)
{
	struct dirent **entries;
	char path[512];
	bool is_good = true;
	int count;

	snprintf(path, sizeof(path), "%s/bind/%s", getenv("XDSPUB_TEST_DATA"), kind);
	count = scandir(path, &entries, is_visible, alphasort);
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		is_good &= run_case(schemas, kind, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	assert_true(is_good);
}

static void valid_cases(void **state)
{
	run_folder(*state, "valid");
}

static void invalid_cases(void **state)
{
	run_folder(*state, "invalid");
}

int main(void)
{
	struct schemas schemas = {load("XDSPUB_TEST_SCHEMA"), load("XDSPUB_SCHEMA")};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(valid_cases, &schemas),
		cmocka_unit_test_prestate(invalid_cases, &schemas),
	};
	int failed = cmocka_run_group_tests_name("bind_cases", tests, NULL, NULL);

	schema_free(schemas.test);
	schema_free(schemas.envoy);
	return failed;
}
