/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/config_sources.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

static struct config_sources *make(const char *rest, const char *eds_files)
{
	source_table table;

	config_sources_preset(table);
	for (int type = 0; rest && type < SOURCE_TYPES; type++)
		table[SOURCE_REST][type] = slice_of(rest);
	if (eds_files)
		table[SOURCE_FILES][XDS_EDS] = slice_of(eds_files);
	return config_sources_new(table);
}

/* S.125, S.129: what stands there where nobody says anything. */
static void test_preset(void **state)
{
	static const char self[] = {0x2a, 0, 0x30, 2}, ads[] = {0x1a, 0, 0x30, 2};
	struct config_sources *sources = make(NULL, NULL);

	(void)state;
	for (int type = 0; type < SOURCE_TYPES; type++) {
		bool has_file = type < XDS_TYPE_COUNT && type != XDS_VHDS;

		assert_memory_equal(sources->table[SOURCE_ADS][type].data, ads, 4);
		assert_memory_equal(sources->table[SOURCE_REST][type].data, self, 4);
		assert_memory_equal(sources->table[SOURCE_GRPC][type].data, self, 4);
		assert_memory_equal(sources->table[SOURCE_DELTA_GRPC][type].data, self, 4);
		assert_int_equal(sources->table[SOURCE_FILES][type].length, has_file ? 0 : 4);
	}
	config_sources_unref(sources);
}

static void test_text(void **state)
{
	struct config_sources *one = make("rest", "files"), *two = make("rest", "files");
	struct config_sources *other = make("rest", NULL), *read;

	(void)state;
	assert_true(digest_equal(&one->digest, &two->digest));
	assert_false(digest_equal(&one->digest, &other->digest));
	assert_int_equal(config_sources_parse(one->text, &read), 0);
	assert_true(digest_equal(&one->digest, &read->digest));
	for (int transport = 0; transport < SOURCE_TRANSPORTS; transport++)
		for (int type = 0; type < SOURCE_TYPES; type++)
			assert_true(slice_equal(
				one->table[transport][type], read->table[transport][type]));
	config_sources_unref(read);
	config_sources_unref(config_sources_ref(one));
	config_sources_unref(one);
	config_sources_unref(two);
	config_sources_unref(other);
	config_sources_unref(NULL);
}

/* A damaged state folder. */
static void test_damage(void **state)
{
	struct config_sources *sources = make("rest", "files"), *read;
	size_t length = sources->text.length, refused = 0;
	char *copy = xmalloc(length + 1);

	(void)state;
	for (size_t cut = 0; cut < length; cut++) {
		memcpy(copy, sources->text.data, cut);
		assert_int_equal(config_sources_parse((struct slice){copy, cut}, &read), -EBADMSG);
	}
	for (size_t i = 0; i < length * 8; i++) {
		memcpy(copy, sources->text.data, length);
		copy[i / 8] = (char)(copy[i / 8] ^ 1 << i % 8);
		if (config_sources_parse((struct slice){copy, length}, &read))
			refused++;
		else
			config_sources_unref(read);
	}
	assert_true(refused > length);
	memcpy(copy, sources->text.data, length);
	copy[length] = 0;
	assert_int_equal(config_sources_parse((struct slice){copy, length + 1}, &read), -EBADMSG);
	free(copy);
	config_sources_unref(sources);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preset),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests_name("config_sources", tests, NULL, NULL);
}
