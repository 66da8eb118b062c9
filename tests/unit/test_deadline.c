/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/deadline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void nearest_first(void **state)
{
	struct deadline_heap heap = {0};
	struct deadline a = {0}, b = {0}, c = {0};

	(void)state;
	assert_int_equal(deadline_next_ms(&heap), -1);
	assert_null(deadline_pop(&heap, INT64_MAX));
	deadline_set(&heap, &a, 30);
	deadline_set(&heap, &b, 10);
	deadline_set(&heap, &c, 20);
	assert_int_equal(deadline_next_ms(&heap), 10);
	assert_null(deadline_pop(&heap, 9));
	assert_ptr_equal(deadline_pop(&heap, 10), &b);
	assert_int_equal(b.place, 0);
	deadline_set(&heap, &a, 15); /* moved */
	assert_ptr_equal(deadline_pop(&heap, 100), &a);
	deadline_clear(&heap, &a); /* not armed */
	assert_ptr_equal(deadline_pop(&heap, 100), &c);
	assert_null(deadline_pop(&heap, 100));
	deadline_heap_fini(&heap);
}

/* Against a plain array, with a fixed seed. */
static void random_operations(void **state)
{
	enum {
		COUNT = 300
	};
	static struct deadline deadlines[COUNT];
	int64_t model[COUNT]; /* -1: not armed */
	struct deadline_heap heap = {0};
	unsigned seed = 42;

	(void)state;
	memset(model, -1, sizeof(model));
	for (int round = 0; round < 50000; round++) {
		int i = rand_r(&seed) % COUNT;

		if (rand_r(&seed) % 3) {
			model[i] = rand_r(&seed) % 1000;
			deadline_set(&heap, &deadlines[i], model[i]);
		} else {
			model[i] = -1;
			deadline_clear(&heap, &deadlines[i]);
		}
		if (round % 100 == 0) {
			int64_t now_ms = rand_r(&seed) % 200;
			struct deadline *due;

			while ((due = deadline_pop(&heap, now_ms))) {
				int index = (int)(due - deadlines);

				for (int j = 0; j < COUNT; j++)
					assert_true(model[j] < 0 || model[j] >= model[index]);
				assert_true(model[index] >= 0 && model[index] <= now_ms);
				model[index] = -1;
			}
			for (int j = 0; j < COUNT; j++)
				assert_true(model[j] < 0 || model[j] > now_ms);
		}
	}
	deadline_heap_fini(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearest_first),
		cmocka_unit_test(random_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
