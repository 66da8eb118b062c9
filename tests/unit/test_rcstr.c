/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/rcstr.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void holds_a_copy(void **state)
{
	char source[] = "path/to";
	struct rcstr *string = rcstr_new(source, 4);

	(void)state;
	source[0] = 'X';
	assert_string_equal(string->text, "path");
	assert_int_equal(string->length, 4);
	assert_ptr_equal(rcstr_ref(string), string);
	rcstr_unref(string);
	assert_string_equal(string->text, "path");
	rcstr_unref(string);
	string = rcstr_new(NULL, 0);
	assert_string_equal(string->text, "");
	rcstr_unref(string);
	assert_null(rcstr_ref(NULL));
	rcstr_unref(NULL);
}

static void *use(void *ctx)
{
	struct rcstr *string = ctx;

	for (int i = 0; i < 20000; i++)
		rcstr_unref(rcstr_ref(string));
	rcstr_unref(string);
	return NULL;
}

static void shared_between_threads(void **state)
{
	struct rcstr *string = rcstr_new("shared", 6);
	pthread_t threads[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use, rcstr_ref(string)), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&string->references), 1);
	rcstr_unref(string);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_a_copy),
		cmocka_unit_test(shared_between_threads),
	};

	return cmocka_run_group_tests_name("rcstr", tests, NULL, NULL);
}
