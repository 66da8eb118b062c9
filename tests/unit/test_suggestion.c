/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/suggestion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void distances(void **state)
{
	static char a[400];
	static char b[400];

	(void)state;
	assert_int_equal(suggestion_distance(SLICE("name"), SLICE("name"), 3), 0);
	assert_int_equal(suggestion_distance(SLICE("Name"), SLICE("nAME"), 3), 0);
	assert_int_equal(suggestion_distance(SLICE("nmae"), SLICE("name"), 3), 1);
	assert_int_equal(suggestion_distance(SLICE("name"), SLICE("nam"), 3), 1);
	assert_int_equal(suggestion_distance(SLICE("nam"), SLICE("name"), 3), 1);
	assert_int_equal(suggestion_distance(SLICE("kitten"), SLICE("sitting"), 3), 3);
	assert_int_equal(suggestion_distance(SLICE("kitten"), SLICE("sitting"), 2), 3);
	assert_int_equal(suggestion_distance(SLICE("kitten"), SLICE("sitting"), 0), 1);
	assert_int_equal(suggestion_distance(SLICE(""), SLICE("abc"), 5), 3);
	assert_int_equal(suggestion_distance(SLICE(""), SLICE(""), 0), 0);
	assert_int_equal(suggestion_distance(SLICE("abcdef"), SLICE("badcfe"), 9), 3);
	assert_int_equal(suggestion_distance(SLICE("ca"), SLICE("ab"), 9), 2);
	assert_int_equal(suggestion_distance(SLICE("ab"), SLICE("ca"), 9), 2);
	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	assert_int_equal(
		suggestion_distance((struct slice){a, 400}, (struct slice){b, 400}, 1000), 1001);
	assert_int_equal(suggestion_distance((struct slice){a, 400}, (struct slice){a, 399}, 9), 1);
	assert_int_equal(
		suggestion_distance((struct slice){a, 255}, (struct slice){b, 255}, 1000), 255);
}

static void assert_suggestion(const char *word, const char *const *offers, const char *want)
{
	for (int backwards = 0; backwards < 2; backwards++) {
		struct suggestion suggestion;
		size_t count = 0;
		char out[256];

		while (offers[count])
			count++;
		suggestion_init(&suggestion, slice_of(word));
		for (size_t i = 0; i < count; i++)
			suggestion_offer(&suggestion, offers[backwards ? count - 1 - i : i]);
		assert_string_equal(suggestion_phrase(&suggestion, out), want);
	}
}

static void suggestions(void **state)
{
	static const char *const fields[] = {
		"name", "type", "lb_policy", "connect_timeout", "eds_cluster_config", NULL};
	static const char *const ties[] = {"cab", "bab", "dab", NULL};
	static const char *const same[] = {"name", NULL};
	static const char *const strange[] = {"a\nbcdefg", NULL};
	char longest[300];
	const char *const offers[] = {longest, NULL};
	struct suggestion suggestion;
	char out[256];

	(void)state;
	assert_suggestion("lb_polcy", fields, ", did you mean \"lb_policy\"?");
	assert_suggestion("lbPolicy", fields, ", did you mean \"lb_policy\"?");
	assert_suggestion("tpye", fields, ", did you mean \"type\"?");
	assert_suggestion("connectTimout", fields, ", did you mean \"connect_timeout\"?");
	assert_suggestion("NAME", fields, ", did you mean \"name\"?");
	assert_suggestion("hosts", fields, "");
	assert_suggestion("x", fields, "");
	assert_suggestion("", fields, "");
	assert_suggestion("aab", ties, ", did you mean \"bab\"?");
	assert_suggestion("name", same, "");
	assert_suggestion("abcdefg", strange, ", did you mean \"a\\nbcdefg\"?");
	memset(longest, 'x', 299);
	longest[299] = '\0';
	suggestion_init(&suggestion, (struct slice){longest, 298});
	suggestion_offer(&suggestion, offers[0]);
	assert_non_null(strstr(suggestion_phrase(&suggestion, out), "xxx...\"?"));
	assert_true(strlen(out) < 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(suggestions),
	};

	return cmocka_run_group_tests_name("suggestion", tests, NULL, NULL);
}
