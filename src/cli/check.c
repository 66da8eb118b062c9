/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/given.h"
#include "cli/progress.h"
#include "compile/compile.h"
#include "daemon/output.h"

/* What --json and --all can show; beyond it there are only counts. */
#define DIAGS_LIMIT 1000000

struct findings {
	struct diag_list *tree;	  /* paths relative to the tree */
	struct diag_list *others; /* as they are: the schema, the tree as a whole */
};

static void compile(const struct options *options, const struct schema *schema, bool is_verbose,
	const struct findings *findings)
{
	struct compile_options compile_options = output_compile_options(options, schema);
	struct compiler *compiler;
	const struct build *build;
	int error;

	compile_options.verbose = is_verbose;
	compile_options.is_thorough = true;
	compiler = compiler_new(&compile_options);
	error = compiler_run(compiler, NULL, 0, clock_wall_ms(), NULL, &build);
	if (error)
		diag_error(findings->others, options->source, (struct position){0}, "unreadable",
			"the tree cannot be read: %s", strerror(-error));
	else
		diag_list_append(findings->tree, build->diags);
	compiler_free(compiler);
}

static int print(
	const struct args *args, const struct options *options, const struct findings *findings)
{
	const bool is_verbose = args_has(args, "verbose");
	const struct given_print about_tree = {
		.prefix = options->source, .all = args_has(args, "all"), .notes = is_verbose};
	const struct given_print about_others = {.all = true, .notes = true};
	size_t errors = diag_list_level_count(findings->tree, DIAG_ERROR) +
			diag_list_level_count(findings->others, DIAG_ERROR);
	size_t warnings = diag_list_level_count(findings->tree, DIAG_WARNING) +
			  diag_list_level_count(findings->others, DIAG_WARNING);

	if (args_has(args, "json")) {
		json_t *list = given_diags_json(findings->others, NULL);
		json_t *more = given_diags_json(findings->tree, options->source);

		json_array_extend(list, more);
		json_decref(more);
		given_print_json(json_pack("{sI sI so}", "errors", (json_int_t)errors, "warnings",
			(json_int_t)warnings, "diagnostics", list));
	} else {
		given_print_diags(stdout, findings->others, &about_others);
		given_print_diags(stdout, findings->tree, &about_tree);
	}
	return errors ? EXIT_FINDINGS : EXIT_FINE;
}

static int run(const struct args *args)
{
	struct options options;
	const struct findings findings = {diag_list_new(DIAGS_LIMIT), diag_list_new(0)};
	struct progress *progress;
	struct schema *schema = NULL;
	int status = EXIT_USAGE;

	options_init(&options);
	if (given_options(args, &options, findings.others) < 0) {
		given_print_diags(stderr, findings.others, &(struct given_print){0});
	} else {
		free(options.source);
		options.source = xstrdup(args->operands[0]);
		progress = progress_start("checking", options.source);
		if (output_load_schema(&options, findings.others, &schema) == 0)
			compile(&options, schema, args_has(args, "verbose"), &findings);
		progress_stop(progress);
		status = print(args, &options, &findings);
		schema_free(schema);
	}
	options_fini(&options);
	diag_list_free(findings.tree);
	diag_list_free(findings.others);
	return status;
}

static const struct args_option check_options[] = {
	{"verbose", 'v', NULL, false, "notes too: what layers replace and delete"},
	{"all", 'a', NULL, false, "print everything, however long"},
	{"json", 'j', NULL, false, "print JSON"},
	{0},
};

const struct command command_check = {
	.name = "check",
	.synopsis = "TREE [OPTION]...",
	.summary = "Say what is wrong with a tree, and nothing when all is well",
	.details = "Each problem is a line: path:line:column: level: text [rule].\n"
		   "Exit status 1 when there are errors; warnings alone are 0.",
	.options = check_options,
	.settings = OPTIONS_CHECK,
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
