/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/config.h"

struct fixture {
	char path[64];
	struct options options;
	struct diag_list *diags;
	struct buf text;
};

static int setup(void **state)
{
	static struct fixture fixture;

	strcpy(fixture.path, "/tmp/test_config.XXXXXX");
	close(mkstemp(fixture.path));
	options_init(&fixture.options);
	fixture.diags = diag_list_new(0);
	fixture.text = BUF_INIT;
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	unlink(fixture->path);
	options_fini(&fixture->options);
	diag_list_free(fixture->diags);
	buf_fini(&fixture->text);
	return 0;
}

static int read_config(struct fixture *fixture, const char *text)
{
	FILE *file = fopen(fixture->path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	diag_list_clear(fixture->diags);
	options_fini(&fixture->options);
	options_init(&fixture->options);
	return config_read(fixture->path, &fixture->options, fixture->diags);
}

static void test_all_of_it(void **state)
{
	struct fixture *fixture = *state;
	const struct options *options = &fixture->options;

	assert_int_equal(
		read_config(fixture,
			"# where and how this host serves\n"
			"source: {path: tree}\n"
			"groups: [edge, mesh]\n"
			"schema: {base: /usr/envoy.pb, add: [a.pb, /b.pb]}\n"
			"state: /var/state\n"
			"publish: {path: out, formats: [pb, json], mode: 0600, group: envoy}\n"
			"rest: {listen: [\"127.0.0.1:18001\", \"unix:rest.sock\"]}\n"
			"admin: {listen: \"unix:/run/admin.sock\"}\n"
			"settle: {quiet: 20ms, limit: 1s, rescan: 10s}\n"
			"watch: off\n"
			"grace: 5s\n"
			"log: {level: debug}\n"
			"limits: {source_file: 1MiB, hold: 1m}\n"),
		0);
	assert_string_equal(options->source, "/tmp/tree");
	assert_int_equal(options->groups.count, 2);
	assert_string_equal(options->groups.items[1], "mesh");
	assert_string_equal(options->schema, "/usr/envoy.pb");
	assert_string_equal(options->add_schemas.items[0], "/tmp/a.pb");
	assert_string_equal(options->add_schemas.items[1], "/b.pb");
	assert_string_equal(options->publish, "/tmp/out");
	assert_int_equal(options->formats.count, 2);
	assert_int_equal(options->file_mode, 0600);
	assert_int_equal(options->secret_mode, 0640);
	assert_string_equal(options->file_group, "envoy");
	assert_string_equal(options->rest.items[1], "unix:/tmp/rest.sock");
	assert_int_equal(options->admin.count, 1);
	assert_int_equal(options->quiet_ms, 20);
	assert_int_equal(options->rescan_ms, 10000);
	assert_string_equal(options->watch, "off");
	assert_int_equal(options->limits.source_file_bytes, 1 << 20);
	assert_int_equal(options->limits.hold_ms, 60000);
}

static void test_empty_sections(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(read_config(fixture, ""), 0);
	assert_int_equal(read_config(fixture, "publish:\ngroups:\nrest: {listen: []}\n"), 0);
	assert_int_equal(fixture->options.formats.count, 1);
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"sorce: {path: x}", ":1:1: error: unknown setting \"sorce\", did you mean "
				     "\"source\"? [unknown-setting]"},
		{"settle:\n  quite: 1s", ":2:3: error: unknown setting \"settle.quite\", did you "
					 "mean \"quiet\"? [unknown-setting]"},
		{"grace: soon", ":1:8: error: grace: \"soon\" is not a time such as 50ms, 5s or 1m "
				"[bad-setting]"},
		{"grace: [1s]", ":1:8: error: grace: must be a single value [bad-setting]"},
		{"grace:", ":1:7: error: grace: has no value [bad-setting]"},
		{"settle: 1s", ":1:9: error: settle: must be a mapping of settings [bad-setting]"},
		{"settle.quiet: 1s",
			":1:1: error: unknown setting \"settle.quiet\" [unknown-setting]"},
		{"publish: {formats: [yaml, ymal]}",
			":1:27: error: publish.formats: \"ymal\" is none of: yaml json pb pb_text, "
			"did you mean \"yaml\"? [bad-setting]"},
		{"- a", ":1:1: error: configuration: must be a mapping of settings [bad-setting]"},
		{"a: 1", ":1:1: error: unknown setting \"a\" [unknown-setting]"},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(read_config(fixture, rows[i].text), -EBADMSG);
		assert_int_equal(diag_list_count(fixture->diags), 1);
		buf_reset(&fixture->text);
		diag_format(diag_list_get(fixture->diags, 0), &fixture->text);
		assert_string_equal(buf_cstr(&fixture->text) + strlen(fixture->path), rows[i].want);
	}
	/* All at once. */
	assert_int_equal(read_config(fixture, "gracee: 1s\nstate: {}\nwatch: maybe\n"), -EBADMSG);
	assert_int_equal(diag_list_count(fixture->diags), 3);
	assert_int_equal(read_config(fixture, "grace: 1s\ngrace: 2s\n"), -EBADMSG);
	assert_int_equal(read_config(fixture, "grace: 1s\n---\ngrace: 2s\n"), -EBADMSG);
	assert_int_equal(read_config(fixture, "grace: [\n"), -EBADMSG);
}

static void test_missing_file(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(
		config_read("/nowhere/x.yaml", &fixture->options, fixture->diags), -ENOENT);
	assert_int_equal(diag_list_count(fixture->diags), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_of_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty_sections, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mistakes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing_file, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
