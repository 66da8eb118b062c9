/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/given.h"
#include "cli/progress.h"
#include "compile/compile.h"
#include "daemon/output.h"

static const struct position nowhere = {0};

struct run {
	struct options options;
	struct diag_list *diags; /* about the tree: paths relative to it */
	struct diag_list *others;
	struct schema *schema;
	struct encoder *encoder;
	struct publisher *publisher;
	struct compiler *compiler;
	json_t *groups;
	bool has_failed;
};

static int open_all(struct run *run)
{
	int error = output_load_schema(&run->options, run->others, &run->schema);

	if (error)
		return error;
	error = encoder_new(run->schema, &run->encoder);
	if (error) {
		diag_error(run->others, options_schema(&run->options), nowhere, "schema",
			"lacks google.protobuf.Any or envoy.service.discovery.v3.Resource");
		return error;
	}
	return output_open_publisher(
		&run->options, run->encoder, NULL, run->others, &run->publisher);
}

static void note_published(
	struct run *run, const char *name, const struct publish_result *result, int error)
{
	json_array_append_new(run->groups,
		json_pack("{s:s,s:I,s:I,s:I}", "name", name, "written", (json_int_t)result->written,
			"removed", (json_int_t)result->removed, "unchanged",
			(json_int_t)result->unchanged));
	if (!error)
		return;
	diag_error(run->others, run->options.publish, nowhere, "publish-failed",
		"group %s cannot be published: %s", name, strerror(-error));
	run->has_failed = true;
}

static void publish_groups(struct run *run, const struct build *build)
{
	struct snapshot **snapshots = xcalloc(build->groups_count + 1, sizeof(*snapshots));
	struct publish_result *results = xcalloc(build->groups_count + 1, sizeof(*results));
	int *errors = xcalloc(build->groups_count + 1, sizeof(*errors));
	size_t count = 0, next = 0;

	for (size_t i = 0; i < build->groups_count; i++)
		if (build->groups[i].target)
			snapshots[count++] = build->groups[i].target;
	publisher_publish_many(run->publisher, snapshots, count, results, errors);
	for (size_t i = 0; i < build->groups_count; i++) {
		const struct build_group *group = &build->groups[i];

		if (group->target) {
			note_published(run, group->name->text, &results[next], errors[next]);
			next++;
			continue;
		}
		json_array_append_new(
			run->groups, json_pack("{s:s,s:s}", "name", group->name->text, "held",
					     group->held_reason ? group->held_reason : "errors"));
		run->has_failed = true;
	}
	free(snapshots);
	free(results);
	free(errors);
}

static void build_all(struct run *run)
{
	struct compile_options compile_options = output_compile_options(&run->options, run->schema);
	const struct build *build;
	int error;

	compile_options.is_thorough = true;
	run->compiler = compiler_new(&compile_options);
	free((void *)compile_options.mounts);
	error = compiler_run(run->compiler, NULL, 0, clock_wall_ms(), NULL, &build);
	if (error) {
		diag_error(run->others, run->options.source, nowhere, "unreadable",
			"the tree cannot be read: %s", strerror(-error));
		return;
	}
	given_append(run->diags, build->diags, &run->options);
	if (!build->groups_are_good)
		run->has_failed = true;
	if (build->groups_are_good)
		publish_groups(run, build);
}

static int print(const struct run *run, const struct args *args)
{
	const struct given_print about_tree = {
		.prefix = run->options.source, .all = args_has(args, "all")};
	const struct given_print about_others = {.all = true};
	size_t errors = diag_list_level_count(run->diags, DIAG_ERROR) +
			diag_list_level_count(run->others, DIAG_ERROR);

	if (args_has(args, "json")) {
		json_t *list = given_diags_json(run->diags, run->options.source);
		json_t *more = given_diags_json(run->others, NULL);

		json_array_extend(list, more);
		json_decref(more);
		given_print_json(json_pack("{sI sO so}", "errors", (json_int_t)errors, "groups",
			run->groups, "diagnostics", list));
	} else {
		given_print_diags(stderr, run->diags, &about_tree);
		given_print_diags(stderr, run->others, &about_others);
	}
	return errors || run->has_failed ? EXIT_FINDINGS : EXIT_FINE;
}

static void close_all(struct run *run)
{
	if (run->compiler)
		compiler_free(run->compiler);
	if (run->publisher)
		publisher_close(run->publisher);
	encoder_free(run->encoder);
	schema_free(run->schema);
	options_fini(&run->options);
	diag_list_free(run->diags);
	diag_list_free(run->others);
	json_decref(run->groups);
}

static int run_build(const struct args *args)
{
	struct run run = {.diags = diag_list_new(0), .others = diag_list_new(0)};
	const char *output = args_get(args, "output");
	struct progress *progress;
	int status = EXIT_USAGE;

	run.groups = json_array();
	options_init(&run.options);
	if (!output || !output[0])
		diag_error(run.others, "", nowhere, "no-output", "say where to: -o OUT");
	if (given_tree(args, &run.options, run.others) < 0 || !output || !output[0]) {
		given_print_diags(stderr, run.others, &(struct given_print){0});
	} else {
		free(run.options.publish);
		run.options.publish = xstrdup(output);
		progress = progress_start("building", run.options.source);
		if (open_all(&run) == 0)
			build_all(&run);
		progress_stop(progress);
		status = print(&run, args);
	}
	close_all(&run);
	return status;
}

static const struct args_option build_options[] = {
	{"output", 'o', "OUT", false, "publish below this folder"},
	{"all", 'a', NULL, false, "print every problem, however many"},
	{"json", 'j', NULL, false, "print JSON"},
	GIVEN_TREE_OPTIONS,
	{0},
};

const struct command command_build = {
	.name = "build",
	.synopsis = "[TREE] [--config FILE] -o OUT [OPTION]...",
	.summary = "Publish a tree as files, once",
	.details =
		"Groups with errors are left as they are; the others are published.\n"
		"Exit status 1 when there are errors. Removes at once what has gone, without the\n"
		"grace period of `xdspub serve`.",
	.options = build_options,
	.settings = OPTIONS_BUILD,
	.operands_min = 0,
	.operands_max = 1,
	.run = run_build,
};
