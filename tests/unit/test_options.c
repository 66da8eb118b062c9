/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/options.h"

static const struct option_row *by_key(const char *key)
{
	size_t count;
	const struct option_row *rows = option_rows(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].key, key) == 0)
			return &rows[i];
	fail_msg("no row %s", key);
	return NULL;
}

/* Every preset is accepted, and prints as it was written. */
static void test_presets(void **state)
{
	size_t count;
	const struct option_row *rows = option_rows(&count);
	struct options options;
	struct buf text = BUF_INIT;
	const struct limits limits = LIMITS_DEFAULT;

	(void)state;
	options_init(&options);
	for (size_t i = 0; i < count; i++) {
		buf_reset(&text);
		options_format(&options, &rows[i], &text);
		if (rows[i].type == OPTION_SIZE)
			continue;
		if (strcmp(rows[i].key, "settle.rescan") != 0) /* 60s prints as 1m */
			assert_string_equal(buf_cstr(&text), rows[i].preset ? rows[i].preset : "");
	}
	assert_memory_equal(&options.limits, &limits, sizeof(limits));
	assert_int_equal(options.rescan_ms, 60000);
	assert_int_equal(options.file_mode, 0644);
	options_fini(&options);
	buf_fini(&text);
}

static void test_values(void **state)
{
	static const struct {
		const char *key, *text, *want; /* want: what it reads back as, or the problem */
		int error;
	} rows[] = {
		{"settle.quiet", "0", "0", 0},
		{"settle.quiet", "1500ms", "1500ms", 0},
		{"settle.quiet", "soon", "\"soon\" is not a time such as 50ms, 5s or 1m", -EINVAL},
		{"settle.rescan", "1ms", "must be from 100ms to 1d", -EINVAL},
		{"publish.mode", "0600", "0600", 0},
		{"publish.mode", "999", "\"999\" is not an octal mode such as 0644", -EINVAL},
		{"log.level", "debug", "debug", 0},
		{"log.level", "debgu",
			"\"debgu\" is none of: error warning info debug, did you mean \"debug\"?",
			-EINVAL},
		{"state", "", "is empty", -EINVAL},
		{"state", "s", "/etc/xdspub/s", 0},
		{"state", "/s", "/s", 0},
		{"rest.listen", "127.0.0.1:1", "127.0.0.1:1", 0},
		{"rest.listen", "unix:r.sock", "unix:/etc/xdspub/r.sock", 0},
		{"rest.listen", "unix:/r.sock", "unix:/r.sock", 0},
		{"limits.resources", "0", "must be from 1 to 100000000", -EINVAL},
		{"limits.rest_body", "1MiB", "1048576", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct option_row *row = by_key(rows[i].key);
		struct options options;
		struct buf text = BUF_INIT;
		int error;

		options_init(&options);
		error = options_set(&options, row, slice_of(rows[i].text), "/etc/xdspub", &text);
		assert_int_equal(error, rows[i].error);
		if (error == 0)
			options_format(&options, row, &text);
		assert_string_equal(buf_cstr(&text), rows[i].want);
		options_fini(&options);
		buf_fini(&text);
	}
}

static void test_lists_and_copies(void **state)
{
	const struct option_row *formats = by_key("publish.formats");
	struct options a, b;
	struct buf text = BUF_INIT;

	(void)state;
	options_init(&a);
	options_clear(&a, formats);
	assert_int_equal(options_set(&a, formats, SLICE("pb"), NULL, &text), 0);
	assert_int_equal(options_set(&a, formats, SLICE("json"), NULL, &text), 0);
	options_copy(&b, &a);
	assert_true(options_equal(&a, &b, formats));
	assert_int_equal(options_set(&b, formats, SLICE("yaml"), NULL, &text), 0);
	assert_false(options_equal(&a, &b, formats));
	options_fini(&a);
	options_format(&b, formats, &text);
	assert_string_equal(buf_cstr(&text), "pb, json, yaml");
	options_fini(&b);
	buf_fini(&text);
}

static void test_schema(void **state)
{
	struct options options;
	struct buf text = BUF_INIT;

	(void)state;
	options_init(&options);
	unsetenv("XDSPUB_SCHEMA");
	assert_string_equal(options_schema(&options), XDSPUB_DATADIR "/envoy.pb");
	setenv("XDSPUB_SCHEMA", "/e.pb", 1);
	assert_string_equal(options_schema(&options), "/e.pb");
	assert_int_equal(
		options_set(&options, by_key("schema.base"), SLICE("x.pb"), NULL, &text), 0);
	assert_string_equal(options_schema(&options), "x.pb");
	options_fini(&options);
	buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_presets),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_lists_and_copies),
		cmocka_unit_test(test_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
