/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_metadata.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void reads_timeouts(void **state)
{
	static const struct {
		const char *text;
		int64_t ms; /* -1: malformed */
	} cases[] = {
		{"1H", 3600000},
		{"2M", 120000},
		{"3S", 3000},
		{"40m", 40},
		{"1u", 1},
		{"1000u", 1},
		{"1001u", 2},
		{"99999999n", 100},
		{"0m", 0},
		{"99999999H", INT64_C(366) * 86400000},
		{"", -1},
		{"1", -1},
		{"m", -1},
		{"123456789m", -1},
		{"-1m", -1},
		{"1h", -1},
		{"1 m", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t ms = -1;
		bool is_fine = grpc_metadata_timeout(slice_of(cases[i].text), &ms);

		assert_int_equal(is_fine, cases[i].ms >= 0);
		if (is_fine)
			assert_int_equal(ms, cases[i].ms);
	}
}

static void encodes_text(void **state)
{
	struct buf out = BUF_INIT;
	struct buf text = BUF_INIT;

	(void)state;
	grpc_metadata_encode(&out, SLICE("a b~%\x7f\n\xc3\xb6"));
	assert_string_equal(buf_cstr(&out), "a b~%25%7F%0A%C3%B6");
	buf_reset(&out);
	buf_fill(&text, '%', 5000);
	grpc_metadata_encode(&out, buf_slice(&text));
	assert_int_equal(out.length, 3 * 1024);
	buf_fini(&text);
	buf_fini(&out);
}

static void add(struct grpc_metadata *metadata, const char *name, const char *value)
{
	grpc_metadata_add(metadata, slice_of(name), slice_of(value));
}

static void request(struct grpc_metadata *metadata)
{
	grpc_metadata_init(metadata);
	add(metadata, ":method", "POST");
	add(metadata, ":path", "/a/b");
	add(metadata, "content-type", "application/grpc");
}

static int status_of(const struct grpc_metadata *metadata, enum grpc_http *ret_http)
{
	enum grpc_status status;
	const char *text;

	if (grpc_metadata_check(metadata, ret_http, &status, &text))
		return GRPC_OK;
	assert_true(strlen(text) > 10);
	return (int)status;
}

static void checks_requests(void **state)
{
	struct grpc_metadata metadata;
	enum grpc_http http;

	(void)state;
	request(&metadata);
	add(&metadata, "grpc-timeout", "5S");
	assert_int_equal(status_of(&metadata, &http), GRPC_OK);
	assert_int_equal(metadata.timeout_ms, 5000);
	assert_true(slice_is(grpc_metadata_path(&metadata), "/a/b"));
	assert_false(metadata.is_encoded);
	add(&metadata, "grpc-encoding", "identity");
	assert_false(metadata.is_encoded);
	add(&metadata, "grpc-encoding", "gzip");
	assert_true(metadata.is_encoded);

	request(&metadata);
	add(&metadata, ":method", "GET");
	assert_int_equal(status_of(&metadata, &http), GRPC_UNIMPLEMENTED);
	assert_int_equal(http, GRPC_HTTP_BAD_METHOD);
	request(&metadata);
	add(&metadata, "content-type", "application/grpcx");
	assert_int_equal(status_of(&metadata, &http), GRPC_UNKNOWN);
	assert_int_equal(http, GRPC_HTTP_BAD_TYPE);
	request(&metadata);
	add(&metadata, "content-type", "Application/gRPC+proto; x=y");
	assert_int_equal(status_of(&metadata, &http), GRPC_OK);
}

static void limits_requests(void **state)
{
	struct grpc_metadata metadata;
	struct buf large = BUF_INIT;
	enum grpc_http http;

	(void)state;
	request(&metadata);
	for (int i = 3; i < GRPC_METADATA_HEADERS; i++)
		add(&metadata, "x", "y");
	assert_int_equal(status_of(&metadata, &http), GRPC_OK);
	add(&metadata, "x", "y");
	assert_int_equal(status_of(&metadata, &http), GRPC_RESOURCE_EXHAUSTED);

	request(&metadata);
	buf_fill(&large, 'x', GRPC_METADATA_BYTES - metadata.bytes - 33);
	add(&metadata, "x", buf_cstr(&large));
	assert_int_equal(metadata.bytes, GRPC_METADATA_BYTES);
	assert_int_equal(status_of(&metadata, &http), GRPC_OK);
	add(&metadata, "", "");
	assert_int_equal(status_of(&metadata, &http), GRPC_RESOURCE_EXHAUSTED);

	/* A path that is too long names nothing. */
	request(&metadata);
	add(&metadata, ":path", buf_cstr(&large));
	assert_int_equal(grpc_metadata_path(&metadata).length, 0);
	buf_fini(&large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_timeouts),
		cmocka_unit_test(encodes_text),
		cmocka_unit_test(checks_requests),
		cmocka_unit_test(limits_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
