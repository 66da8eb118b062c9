/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `check` costs beyond a plain compile: all rules of the API, all lints, and references across
 * the tree. Processor time of one thread; the linker puts the functions below between the compiler
 * and what it asks, so that the plain compile asks nothing.
 * usage: bench_check SCHEMA DIR CLUSTERS FILES (writes the tree to DIR if it is not there).
 * With XDSPUB_BENCH_ONCE=plain or =all one compile of that kind, for counting instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench_tree.h"
#include "compile/compile.h"
#include "lint/lint.h"
#include "validate/validate.h"

#define ROUNDS 7

static bool is_plain;

size_t __real_validator_check(struct validator *validator, const struct message *message,
	const char *path, struct diag_list *diags);
size_t __wrap_validator_check(struct validator *validator, const struct message *message,
	const char *path, struct diag_list *diags);
void __real_lint_resource(const struct lint_plans *plans, const struct message *resource,
	const struct xds_type_row *row, const char *path, struct diag_list *diags,
	struct facts_draft *facts);
void __wrap_lint_resource(const struct lint_plans *plans, const struct message *resource,
	const struct xds_type_row *row, const char *path, struct diag_list *diags,
	struct facts_draft *facts);

size_t __wrap_validator_check(struct validator *validator, const struct message *message,
	const char *path, struct diag_list *diags)
{
	return is_plain ? 0 : __real_validator_check(validator, message, path, diags);
}

void __wrap_lint_resource(const struct lint_plans *plans, const struct message *resource,
	const struct xds_type_row *row, const char *path, struct diag_list *diags,
	struct facts_draft *facts)
{
	if (!is_plain)
		__real_lint_resource(plans, resource, row, path, diags, facts);
}

static double processor_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double compile_ms(const struct schema *schema, const char *root, bool plain)
{
	struct limits limits = LIMITS_DEFAULT;
	struct compile_options options = {.root = root,
		.schema = schema,
		.limits = &limits,
		.threads = 1,
		.is_thorough = !plain};
	const struct build *build;
	double start = processor_ms(), end;
	struct compiler *compiler;

	is_plain = plain;
	compiler = compiler_new(&options);
	if (compiler_run(compiler, NULL, 0, 0, NULL, &build) ||
		diag_list_level_count(build->diags, DIAG_ERROR) > 0)
		abort();
	end = processor_ms();
	compiler_free(compiler);
	return end - start;
}

static void keep_least(double *least, double value)
{
	if (*least == 0 || value < *least)
		*least = value;
}

int main(int argc, char **argv)
{
	const char *once = getenv("XDSPUB_BENCH_ONCE");
	struct diag_list *diags = diag_list_new(0);
	double plain_ms = 0, all_ms = 0;
	struct schema *schema;

	if (argc != 5) {
		fprintf(stderr, "usage: bench_check SCHEMA DIR CLUSTERS FILES\n");
		return 2;
	}
	if (schema_load((const char *const *)&argv[1], 1, diags, &schema))
		abort();
	if (access(argv[2], F_OK) != 0 &&
		bench_write_tree(argv[2], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4])))
		abort();
	if (once) {
		compile_ms(schema, argv[2], strcmp(once, "plain") == 0);
	} else {
		for (int round = 0; round < ROUNDS; round++) {
			keep_least(&plain_ms, compile_ms(schema, argv[2], true));
			keep_least(&all_ms, compile_ms(schema, argv[2], false));
		}
		printf("{\"figure\": \"check with all rules, lints and references, against a plain "
		       "compile\", \"ratio\": %.3f, \"target\": 1.25, \"plain_ms\": %.1f, "
		       "\"ms\": %.1f}\n",
			all_ms / plain_ms, plain_ms, all_ms);
	}
	schema_free(schema);
	diag_list_free(diags);
	return 0;
}
