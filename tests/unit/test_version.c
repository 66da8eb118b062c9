/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/version.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "snapshot/resource_set.h"

static json_t *load_cases(void)
{
	char path[4096];
	json_t *cases;

	snprintf(path, sizeof(path), "%s/versions.json", getenv("XDSPUB_TEST_DATA"));
	cases = json_load_file(path, 0, NULL);
	assert_true(json_is_array(cases));
	return cases;
}

static size_t read_hex(const char *hex, char *out)
{
	size_t length = strlen(hex) / 2;

	for (size_t i = 0; i < length; i++) {
		char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		out[i] = (char)strtol(digits, NULL, 16);
	}
	return length;
}

/* Place i leads to type i, so that each can have sources of its own. */
static void make_open(const json_t *places, struct resource_spec *spec)
{
	static char bytes[16][SOURCE_TRANSPORTS][64];
	struct open_builder builder = {0};
	source_table table;

	config_sources_preset(table);
	for (size_t i = 0; i < json_array_size(places); i++) {
		for (size_t k = 0; k < SOURCE_TRANSPORTS; k++) {
			const char *hex =
				json_string_value(json_array_get(json_array_get(places, i), k));

			table[k][i] = (struct slice){bytes[i][k], read_hex(hex, bytes[i][k])};
		}
		open_builder_place(&builder, (struct open_place){(uint8_t)i, SLICE("x")});
	}
	spec->open = open_builder_finish(&builder);
	spec->sources = config_sources_new(table);
}

static struct resource *make(enum xds_type type, const json_t *r, unsigned number)
{
	const char *text = json_string_value(json_object_get(r, "name"));
	const char *hole = strstr(text, "%d");
	const char *hex = json_string_value(json_object_get(r, "body"));
	const json_t *ttl = json_object_get(r, "ttl_ms");
	const json_t *aliases = json_object_get(r, "aliases");
	struct resource_spec spec = {.type = type, .ttl_ms = -1};
	const json_t *sources = json_object_get(r, "sources");
	struct resource *resource;
	struct slice list[8];
	AUTO_FREE char *name = NULL;
	AUTO_FREE char *body = xmalloc(strlen(hex) / 2 + 1);

	name = hole ? xasprintf("%.*s%u%s", (int)(hole - text), text, number, hole + 2)
		    : xstrdup(text);
	spec.name = slice_of(name);
	spec.body = (struct slice){body, read_hex(hex, body)};
	if (sources)
		make_open(sources, &spec);
	if (ttl)
		spec.ttl_ms = json_integer_value(ttl);
	for (size_t i = 0; i < json_array_size(aliases); i++)
		list[spec.aliases_count++] =
			slice_of(json_string_value(json_array_get(aliases, i)));
	spec.aliases = list;
	resource = resource_new(&spec);
	open_body_unref(spec.open);
	config_sources_unref(spec.sources);
	return resource;
}

static void check_case(const json_t *one)
{
	const char *want = json_string_value(json_object_get(one, "version"));
	const json_t *list = json_object_get(one, "resources");
	enum xds_type type =
		xds_type_by_name(slice_of(json_string_value(json_object_get(one, "type"))))->type;
	struct resource_set *empty = resource_set_empty(type), *set;
	struct resource_set_builder *builder = resource_set_edit(empty);
	struct resource *all[4096];
	struct version version;
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *r = json_array_get(list, i), *repeat = json_object_get(r, "repeat");
		unsigned times = repeat ? (unsigned)json_integer_value(repeat) : 1;

		for (unsigned k = 0; k < times; k++) {
			all[count] = make(type, r, k);
			resource_set_put(builder, all[count++]);
		}
	}
	set = resource_set_finish(builder);
	assert_string_equal(resource_set_version(set)->text, want);
	version = version_of(type, all, count);
	assert_string_equal(version.text, want);
	for (size_t i = 0; i < json_array_size(json_object_get(one, "digests")); i++) {
		char hex[2 * DIGEST_LENGTH + 1];

		digest_hex(&all[i]->digest, hex);
		assert_string_equal(
			hex, json_string_value(json_array_get(json_object_get(one, "digests"), i)));
	}
	for (size_t i = 0; i < count; i++)
		resource_unref(all[i]);
	resource_set_unref(set);
	resource_set_unref(empty);
}

static void test_vectors(void **state)
{
	json_t *cases = load_cases();

	(void)state;
	for (size_t i = 0; i < json_array_size(cases); i++)
		check_case(json_array_get(cases, i));
	json_decref(cases);
}

/* S.49: at most a few hundred bytes and printable. */
static void test_text_is_short_and_printable(void **state)
{
	struct digest digest;
	struct version version;

	(void)state;
	memset(&digest, 0xff, sizeof(digest));
	version = version_text(&digest);
	assert_string_equal(version.text, "affffffffffffffffffffffffffffffff");
	assert_int_equal(strlen(version.text), VERSION_TEXT_LENGTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_text_is_short_and_printable),
	};

	return cmocka_run_group_tests_name("version", tests, NULL, NULL);
}
