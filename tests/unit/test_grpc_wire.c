/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_wire.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/buf.h"
#include "grpc/health/v1/health.pb-c.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "xdspub/client_status.pb-c.h"
#include "xdspub/discovery_request.pb-c.h"

/* Fields */

static void test_next(void **state)
{
	struct slice rest = SLICE("\x08\x96\x01"		  /* 1: 150 */
				  "\x11\x08\7\6\5\4\3\2\1"	  /* 2: 64 bit */
				  "\x1a\3abc"			  /* 3: bytes */
				  "\x23\x08\1\x2b\x2c\x22\1x\x24" /* 4: group with a group in it */
				  "\x2d\1\2\3\x80"		  /* 5: 32 bit */
				  "\xf8\xff\xff\xff\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\1");
	struct grpc_wire_field field;

	(void)state;
	assert_int_equal(grpc_wire_next(&rest, &field), 1);
	assert_int_equal(field.number, 1);
	assert_int_equal(field.type, GRPC_WIRE_VARINT);
	assert_int_equal(field.value, 150);
	assert_int_equal(grpc_wire_next(&rest, &field), 1);
	assert_int_equal(field.type, GRPC_WIRE_64BIT);
	assert_int_equal(field.value, 0x0102030405060708);
	assert_int_equal(grpc_wire_next(&rest, &field), 1);
	assert_int_equal(field.number, 3);
	assert_true(slice_is(field.bytes, "abc"));
	assert_int_equal(grpc_wire_next(&rest, &field), 1);
	assert_int_equal(field.number, 4);
	assert_int_equal(field.type, GRPC_WIRE_GROUP);
	assert_int_equal(field.bytes.length, 8);
	assert_int_equal(grpc_wire_next(&rest, &field), 1);
	assert_int_equal(field.type, GRPC_WIRE_32BIT);
	assert_int_equal(field.value, 0x80030201);
	assert_int_equal(grpc_wire_next(&rest, &field), 1);
	assert_int_equal(field.number, (1u << 29) - 1);
	assert_int_equal(field.value, UINT64_MAX);
	assert_int_equal(grpc_wire_next(&rest, &field), 0);
}

static void test_next_damaged(void **state)
{
	static const struct slice damaged[] = {
		SLICE("\x00\x01"),					 /* field 0 */
		SLICE("\x08"),						 /* no value */
		SLICE("\x08\x80"),					 /* a varint that goes on */
		SLICE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"), /* 11 bytes */
		SLICE("\x88\x80\x80\x80\x80\x00\1"),			 /* a tag of 6 bytes */
		SLICE("\x80\x80\x80\x80\x10\1"),			 /* field number 2^29 */
		SLICE("\x11\1\2\3\4\5\6\7"),				 /* 7 of 8 bytes */
		SLICE("\x15\1\2\3"),					 /* 3 of 4 bytes */
		SLICE("\x0a\2a"),					 /* 1 of 2 bytes */
		SLICE("\x0a\xff\xff\xff\xff\x0f"),			 /* 4 GiB */
		SLICE("\x0a\xff\xff\xff\xff\xff\x01"),			 /* a length of 6 bytes */
		SLICE("\x0b"),	       /* a group without an end */
		SLICE("\x0b\x14"),     /* another group's end */
		SLICE("\x0b\x0c\x0c"), /* an end too many */
		SLICE("\x0c"),	       /* an end */
		SLICE("\x0e\1"),       /* wire type 6 */
		SLICE("\x0f\1"),       /* wire type 7 */
		SLICE("\x0b\x08\x0c"), /* damaged within a group */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		struct slice rest = damaged[i];
		struct grpc_wire_field field;
		int rc;

		while ((rc = grpc_wire_next(&rest, &field)) > 0)
			;
		assert_int_equal(rc, -EINVAL);
	}
}

static void test_deep_groups(void **state)
{
	struct buf bytes = BUF_INIT;
	struct grpc_wire_field field;
	struct slice rest;

	(void)state;
	for (size_t depth = LIMIT_DEPTH; depth <= 4u << 20; depth = depth * 2 + 1) {
		buf_reset(&bytes);
		buf_fill(&bytes, 0x0b, depth);
		buf_fill(&bytes, 0x0c, depth);
		rest = buf_slice(&bytes);
		assert_int_equal(grpc_wire_next(&rest, &field), depth <= LIMIT_DEPTH ? 1 : -EINVAL);
	}
	buf_fini(&bytes);
}

/* Unpacking */

struct unpacked {
	struct arena *arena;
	int error;
	char problem[200];
	union {
		ProtobufCMessage *base;
		Xds__DiscoveryRequest *sotw;
		Xds__DeltaDiscoveryRequest *delta;
	};
};

static struct unpacked unpack(const ProtobufCMessageDescriptor *type, struct slice bytes)
{
	const struct limits limits = LIMITS_DEFAULT;
	struct unpacked result = {.arena = arena_new(0)};

	result.error = grpc_wire_unpack(type, bytes, &limits, result.arena, &result.base,
		result.problem, sizeof(result.problem));
	return result;
}

static void expect(
	const ProtobufCMessageDescriptor *type, struct slice bytes, int error, const char *problem)
{
	struct unpacked result = unpack(type, bytes);

	assert_string_equal(result.problem, problem);
	assert_int_equal(result.error, error);
	arena_free(result.arena);
}

#define SOTW  (&xds__discovery_request__descriptor)
#define DELTA (&xds__delta_discovery_request__descriptor)

static void test_problems(void **state)
{
	(void)state;
	expect(SOTW, SLICE(""), 0, "");
	expect(SOTW, SLICE("\x0a"), -EINVAL, "DiscoveryRequest: not a protobuf message");
	expect(SOTW, SLICE("\x08\1"), -EINVAL,
		"DiscoveryRequest.version_info: another wire type than its own");
	expect(SOTW, SLICE("\x1a\2a\0"), -EINVAL,
		"DiscoveryRequest.resource_names: text with a NUL");
	expect(SOTW, SLICE("\x22\1\xff"), -EINVAL, "DiscoveryRequest.type_url: text is not UTF-8");
	expect(SOTW, SLICE("\x22\3\xed\xa0\x80"), -EINVAL,
		"DiscoveryRequest.type_url: text is not UTF-8");
	expect(SOTW, SLICE("\x32\1\x0a"), -EINVAL, "Status: not a protobuf message");
	expect(SOTW, SLICE("\x32\2\x0a\0"), -EINVAL, "Status.code: another wire type than its own");
	expect(DELTA, SLICE("\x2a\3\x0a\1\xff"), -EINVAL,
		"InitialResourceVersion.key: text is not UTF-8");
	expect(&grpc__health__v1__health_check_request__descriptor, SLICE("\x0a\1\xc0"), -EINVAL,
		"HealthCheckRequest.service: text is not UTF-8");
	expect(&grpc__reflection__v1__server_reflection_request__descriptor,
		SLICE("\x2a\3\x0a\1\xff"), -EINVAL,
		"ExtensionRequest.containing_type: text is not UTF-8");
	expect(&xds__client_status_request__descriptor, SLICE("\x0a\4\xff\0\xff\0"), 0, "");
}

static void put_head(struct buf *out, char tag, size_t length)
{
	buf_putc(out, tag);
	for (; length >= 0x80; length >>= 7)
		buf_putc(out, (char)(length | 0x80));
	buf_putc(out, (char)length);
}

static void put_text(struct buf *out, char tag, size_t length)
{
	put_head(out, tag, length);
	buf_fill(out, 'x', length);
}

static void test_lengths(void **state)
{
	struct buf bytes = BUF_INIT, entry = BUF_INIT;

	(void)state;
	put_text(&bytes, 0x1a, 1024);
	expect(SOTW, buf_slice(&bytes), 0, "");
	put_text(&bytes, 0x1a, 1025);
	expect(SOTW, buf_slice(&bytes), -E2BIG,
		"DiscoveryRequest.resource_names: text is longer than the limit in bytes, 1024");
	buf_reset(&bytes);
	put_text(&bytes, 0x0a, 4096);
	expect(SOTW, buf_slice(&bytes), 0, "");
	put_text(&bytes, 0x0a, 4097);
	expect(SOTW, buf_slice(&bytes), -E2BIG,
		"DiscoveryRequest.version_info: text is longer than the limit in bytes, 4096");
	buf_reset(&bytes);
	put_text(&entry, 0x12, 1025);
	put_head(&bytes, 0x2a, entry.length);
	buf_append_slice(&bytes, buf_slice(&entry));
	expect(DELTA, buf_slice(&bytes), -E2BIG,
		"InitialResourceVersion.value: text is longer than the limit in bytes, 1024");
	buf_reset(&bytes);
	/* The node is limited by the message alone. */
	put_text(&bytes, 0x12, (4u << 20) - 5);
	expect(SOTW, buf_slice(&bytes), 0, "");
	buf_putc(&bytes, 0);
	expect(SOTW, buf_slice(&bytes), -E2BIG, "DiscoveryRequest: longer than 4194304 bytes");
	buf_fini(&bytes);
	buf_fini(&entry);
}

static void test_counts(void **state)
{
	struct buf bytes = BUF_INIT;
	struct unpacked result;

	(void)state;
	for (size_t i = 0; i < 100000; i++)
		buf_append(&bytes, "\x1a\1a\x22\1b\x2a\2\x0a\0", 10);
	result = unpack(DELTA, buf_slice(&bytes));
	assert_int_equal(result.error, 0);
	assert_int_equal(result.delta->n_resource_names_subscribe, 100000);
	assert_int_equal(result.delta->n_resource_names_unsubscribe, 100000);
	assert_int_equal(result.delta->n_initial_resource_versions, 100000);
	assert_string_equal(result.delta->initial_resource_versions[99999]->key, "");
	arena_free(result.arena);
	buf_append(&bytes, "\x22\0", 2);
	expect(DELTA, buf_slice(&bytes), -E2BIG,
		"DeltaDiscoveryRequest.resource_names_unsubscribe: more than 100000");

	/* Unknown fields, wherever they are, and singular ones that come again. */
	buf_reset(&bytes);
	for (size_t i = 0; i < 333; i++)
		buf_append(&bytes, "\x2a\3\x82\1\0\x7a\0\x12\0", 9);
	buf_append(&bytes, "\x12\0\x12\0\x12\0", 6);
	expect(DELTA, buf_slice(&bytes), -E2BIG, "DeltaDiscoveryRequest.type_url: more than 1000");
	expect(DELTA, (struct slice){bytes.data, bytes.length - 2}, 0, "");
	buf_reset(&bytes);
	for (size_t i = 0; i < 1001; i++)
		buf_append(&bytes, "\x38\0", 2);
	expect(SOTW, buf_slice(&bytes), -E2BIG,
		"DiscoveryRequest: unknown or repeated fields, more than 1000");
	buf_fini(&bytes);
}

/* A group that no one declares is an unknown field; protobuf-c itself takes none. */
static void test_groups(void **state)
{
	static const size_t lengths[] = {0, 1, 100, 126, 127, 128, 129, 130, 131, 16384, 16385,
		16386, 16387, 16388, 16389, 3000000};
	struct buf bytes = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct unpacked result;

		buf_reset(&bytes);
		buf_append(&bytes, "\x0a\1v\x9b\6", 5); /* group 99 */
		if (lengths[i])
			put_text(&bytes, 0x12, lengths[i]);
		buf_append(&bytes, "\x9c\6\x22\1t\x32\6\x08\5\x1b\x1c\x12\0", 13);
		result = unpack(SOTW, buf_slice(&bytes));
		assert_string_equal(result.problem, "");
		assert_int_equal(result.error, 0);
		assert_string_equal(result.sotw->version_info, "v");
		assert_string_equal(result.sotw->type_url, "t");
		assert_int_equal(result.sotw->error_detail->code, 5);
		assert_int_equal(result.base->n_unknown_fields, 1);
		assert_int_equal(result.base->unknown_fields->tag, 99);
		arena_free(result.arena);
	}
	expect(SOTW, SLICE("\x0b\x0c"), -EINVAL,
		"DiscoveryRequest.version_info: another wire type than its own");
	buf_fini(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_next_damaged),
		cmocka_unit_test(test_deep_groups),
		cmocka_unit_test(test_problems),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_groups),
	};

	return cmocka_run_group_tests_name("grpc_wire", tests, NULL, NULL);
}
