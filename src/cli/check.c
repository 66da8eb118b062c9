/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "author/findings_ci.h"
#include "author/findings_sarif.h"
#include "author/findings_text.h"
#include "author/input_kind.h"
#include "author/loose_file.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "catalogue/catalogue.h"
#include "cli/command.h"
#include "cli/given.h"
#include "cli/progress.h"
#include "cli/second_opinion.h"
#include "compile/compile.h"
#include "compile/workers.h"
#include "daemon/output.h"

/* What --all and the formats for programs can show; beyond it there are only counts. */
#define DIAGS_LIMIT	 1000000
#define THREADS_MAX	 8
#define ENVOY_TIMEOUT_MS 60000

#define WHOLE		 ((struct position){0, 0})

enum check_format {
	CHECK_TEXT,
	CHECK_JSON,
	CHECK_SARIF,
	CHECK_GITHUB,
	CHECK_JUNIT
};
static const char *const format_names[] = {"text", "json", "sarif", "github", "junit"};

/* --as */
static const struct {
	const char *name;
	enum input_kind input;
	enum loose_kind kind; /* of a file */
} kinds[] = {
	{"tree", INPUT_TREE, LOOSE_ANY},
	{"published", INPUT_PUBLISHED, LOOSE_RESOURCES},
	{"resources", INPUT_FILE, LOOSE_RESOURCES},
	{"bootstrap", INPUT_FILE, LOOSE_BOOTSTRAP},
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

struct check {
	const struct args *args;
	struct options options;
	struct schema *schema;
	struct diag_list *findings; /* paths as they can be opened from here */
	enum check_format format;
	size_t as; /* in kinds; KINDS: look what it is */
	const char *profile;
	bool is_verbose, is_strict;
	struct second_opinion opinion; /* program NULL: Envoy is not asked */
};

/* --- trees --------------------------------------------------------------------------------- */

/* The same with paths that can be opened from here. */
static void take_findings(struct check *check, const struct diag_list *diags)
{
	size_t seen[3] = {0};

	for (size_t i = 0; i < diag_list_count(diags); i++) {
		struct diag diag = *diag_list_get(diags, i);
		AUTO_FREE char *path = given_path(&check->options, diag.path);

		diag.path = path;
		seen[diag.level]++;
		diag_list_copy(check->findings, &diag);
	}
	for (int level = DIAG_NOTE; level <= DIAG_ERROR; level++)
		diag_list_count_more(check->findings, (enum diag_level)level,
			diag_list_level_count(diags, (enum diag_level)level) - seen[level]);
}

/* Groups that are held have been told of. */
static void ask_envoy(struct check *check, const struct build *build)
{
	struct diag_list *diags = diag_list_new(0);

	check->opinion.schema = check->schema;
	for (size_t i = 0; check->opinion.program && i < build->groups_count; i++) {
		const struct build_group *group = &build->groups[i];

		if (group->target && !group->is_held &&
			!second_opinion_group(&check->opinion, group->target, diags))
			check->opinion.program = NULL;
	}
	take_findings(check, diags);
	diag_list_free(diags);
}

/* The source of the settings. */
static void check_tree(struct check *check)
{
	struct compile_options options;
	struct compiler *compiler;
	const struct build *build;
	int error;

	options = output_compile_options(&check->options, check->schema);
	options.verbose = check->is_verbose;
	options.is_thorough = true;
	options.profile = check->profile;
	compiler = compiler_new(&options);
	free((void *)options.mounts);
	error = compiler_run(compiler, NULL, 0, clock_wall_ms(), NULL, &build);
	if (error)
		diag_error(check->findings, check->options.source, WHOLE, "unreadable",
			"the tree cannot be read: %s", strerror(-error));
	else
		take_findings(check, build->diags);
	if (!error)
		ask_envoy(check, build);
	compiler_free(compiler);
}

/* --- files --------------------------------------------------------------------------------- */

struct file_job {
	struct check *check;
	char *const *paths;
	enum loose_kind kind;
	struct lint_plans *lints;
	struct loose_reader **readers; /* one per thread, each made when first needed */
	struct diag_list **diags;      /* one per file; NULL: nothing to say */
	enum loose_kind *found;	       /* what each is */
};

static void check_file(void *ctx, unsigned worker, size_t item)
{
	struct file_job *job = ctx;
	struct diag_list *diags = diag_list_new(0);

	if (!job->readers[worker])
		job->readers[worker] = loose_reader_new(
			job->check->schema, job->lints, &job->check->options.limits);
	job->found[item] = loose_check(job->readers[worker], job->paths[item], job->kind, diags);
	if (diag_list_level_count(diags, DIAG_ERROR) + diag_list_level_count(diags, DIAG_WARNING) +
		diag_list_level_count(diags, DIAG_NOTE))
		job->diags[item] = TAKE(diags);
	diag_list_free(diags);
}

static void check_files(struct check *check, char *const *paths, size_t count, enum loose_kind kind)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned threads = check->options.threads ? (unsigned)check->options.threads
						  : (unsigned)(processors > 0 ? processors : 1);
	struct file_job job = {.check = check, .paths = paths, .kind = kind};

	if (!check->options.threads && threads > THREADS_MAX)
		threads = THREADS_MAX;
	threads = threads < WORKERS_MAX ? threads : WORKERS_MAX;
	job.lints = lint_plans_new(check->schema, check->profile);
	job.readers = xcalloc(threads, sizeof(struct loose_reader *));
	job.found = xcalloc(count + 1, sizeof(*job.found));
	job.diags = xcalloc(count + 1, sizeof(struct diag_list *));
	workers_run(threads, count, check_file, &job);
	for (size_t i = 0; i < count; i++) {
		size_t errors = job.diags[i] ? diag_list_level_count(job.diags[i], DIAG_ERROR) : 0;

		diag_list_append(check->findings, job.diags[i]);
		diag_list_free(job.diags[i]);
		if (check->opinion.program && !errors && job.found[i] == LOOSE_BOOTSTRAP &&
			!second_opinion_bootstrap(&check->opinion, paths[i], check->findings))
			check->opinion.program = NULL;
	}
	for (unsigned i = 0; i < threads; i++)
		loose_reader_free(job.readers[i]);
	lint_plans_free(job.lints);
	free(job.readers);
	free(job.diags);
	free(job.found);
}

static void check_published(struct check *check, const char *path)
{
	struct input_files files;
	int error = input_files_find(path, &files);

	if (error)
		diag_error(check->findings, path, WHOLE, "unreadable", "cannot be read: %s",
			error == -EFBIG ? "it has too many files, or folders in folders"
					: strerror(-error));
	else if (files.count == 0)
		diag_error(check->findings, path, WHOLE, "empty-tree",
			"there is no published file in this folder");
	check_files(check, files.paths, files.count, LOOSE_RESOURCES);
	input_files_fini(&files);
}

static void check_operand(struct check *check, const char *path)
{
	enum input_kind input = INPUT_FILE;
	enum loose_kind kind = LOOSE_ANY;
	int error = input_kind_of(path, &input);
	char *paths[1] = {(char *)path};

	if (error) {
		diag_error(check->findings, path, WHOLE, "unreadable", "cannot be read: %s",
			strerror(-error));
		return;
	}
	if (check->as < KINDS) {
		kind = kinds[check->as].kind;
		if (input != INPUT_FILE || kinds[check->as].input == INPUT_TREE)
			input = kinds[check->as].input;
	}
	if (input == INPUT_TREE) {
		free(check->options.source);
		check->options.source = xstrdup(path);
		check_tree(check);
	} else if (input == INPUT_PUBLISHED) {
		check_published(check, path);
	} else {
		check_files(check, paths, 1, kind);
	}
}

/* --- what is shown ------------------------------------------------------------------------- */

static bool matches_given(const struct check *check, const char *option, const char *rule)
{
	const char *pattern;
	size_t cursor = 0;

	while ((pattern = args_next(check->args, option, &cursor))) {
		if (catalogue_matches(slice_of(pattern), slice_of(rule)))
			return true;
	}
	return false;
}

static bool is_wanted(void *ctx, const struct diag *diag)
{
	const struct check *check = ctx;
	const struct catalogue_entry *entry = catalogue_find(slice_of(diag->rule));

	if (catalogue_may_silence(slice_of(diag->rule), diag->level) &&
		matches_given(check, "ignore", diag->rule))
		return false;
	if (!args_has(check->args, "select") || matches_given(check, "select", diag->rule))
		return true;
	/* What cannot be read hides what was asked for. */
	return diag->level == DIAG_ERROR &&
	       (!entry || entry->area == CATALOGUE_READ || entry->area == CATALOGUE_PROGRAM);
}

static void print_text(const struct check *check)
{
	const struct given_print options = {
		.all = args_has(check->args, "all"), .notes = check->is_verbose, .source = true};

	given_print_diags(stdout, check->findings, &options);
}

static void print_github(const struct check *check)
{
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < diag_list_count(check->findings); i++) {
		const struct diag *diag = diag_list_get(check->findings, i);

		if (diag->level != DIAG_NOTE || check->is_verbose)
			findings_ci_github(diag, &out);
	}
	fwrite(buf_cstr(&out), 1, out.length, stdout);
	buf_fini(&out);
}

static void print_junit(const struct check *check)
{
	const struct findings_junit options = {.checked = check->args->operands,
		.checked_count = check->args->operands_count,
		.is_strict = check->is_strict,
		.has_notes = check->is_verbose};
	struct buf out = BUF_INIT;

	findings_ci_junit(&options, check->findings, &out);
	fwrite(buf_cstr(&out), 1, out.length, stdout);
	buf_fini(&out);
}

static void print_sarif(const struct check *check)
{
	AUTO_FREE char *folder = getcwd(NULL, 0);
	const struct findings_sarif options = {.version = PACKAGE_VERSION,
		.folder = folder ? folder : "/",
		.has_notes = check->is_verbose};
	struct source_lines *sources = source_lines_new();

	given_print_json(findings_sarif_make(&options, check->findings, sources));
	source_lines_free(sources);
}

static int print(const struct check *check)
{
	size_t errors = diag_list_level_count(check->findings, DIAG_ERROR);
	size_t warnings = diag_list_level_count(check->findings, DIAG_WARNING);

	switch (check->format) {
	case CHECK_TEXT:
		print_text(check);
		break;
	case CHECK_JSON:
		given_print_json(json_pack("{sI sI so}", "errors", (json_int_t)errors, "warnings",
			(json_int_t)warnings, "diagnostics",
			given_diags_json(check->findings, NULL)));
		break;
	case CHECK_SARIF:
		print_sarif(check);
		break;
	case CHECK_GITHUB:
		print_github(check);
		break;
	case CHECK_JUNIT:
		print_junit(check);
		break;
	}
	return errors || (warnings && check->is_strict) ? EXIT_FINDINGS : EXIT_FINE;
}

/* --- the command --------------------------------------------------------------------------- */

static int usage_error(const char *option, const char *value, const char *more)
{
	fprintf(stderr, "xdspub check: --%s %s: %s\n", option, value, more);
	return -EINVAL;
}

static int read_format(struct check *check)
{
	const char *name = args_get(check->args, "format");
	size_t i = 0;

	if (args_has(check->args, "json"))
		check->format = CHECK_JSON;
	if (!name)
		return 0;
	while (i < sizeof(format_names) / sizeof(*format_names) &&
		strcmp(name, format_names[i]) != 0)
		i++;
	if (i == sizeof(format_names) / sizeof(*format_names))
		return usage_error("format", name, "must be text, json, sarif, github or junit");
	check->format = (enum check_format)i;
	return 0;
}

static int read_rules(const struct check *check, const char *option)
{
	const char *pattern;
	size_t cursor = 0;
	char phrase[256];

	while ((pattern = args_next(check->args, option, &cursor))) {
		const struct catalogue_entry *entry = catalogue_find(slice_of(pattern));
		char text[320];

		snprintf(text, sizeof(text), "there is no such rule%s",
			catalogue_suggest(slice_of(pattern), phrase));
		if (!catalogue_matches_any(slice_of(pattern)))
			return usage_error(option, pattern, text);
		if (entry && !entry->is_silenceable && strcmp(option, "ignore") == 0)
			return usage_error(option, pattern,
				"cannot be silenced: what it finds cannot be used");
	}
	return 0;
}

static int read_opinion(struct check *check)
{
	const char *timeout = args_get(check->args, "envoy-timeout");

	check->opinion = (struct second_opinion){
		.program = args_get(check->args, "with-envoy"), .timeout_ms = ENVOY_TIMEOUT_MS};
	if (timeout && (text_parse_duration_ms(slice_of(timeout), &check->opinion.timeout_ms) ||
			       check->opinion.timeout_ms < 1))
		return usage_error("envoy-timeout", timeout, "must be a time such as 30s");
	return 0;
}

static int read_profile(struct check *check)
{
	const char *const *known = lint_profiles;

	check->profile = args_get(check->args, "profile");
	while (check->profile && *known && strcmp(*known, check->profile) != 0)
		known++;
	return *known ? 0 : usage_error("profile", check->profile, "there is only grpc");
}

static int read_arguments(struct check *check)
{
	const char *as = args_get(check->args, "as");

	check->is_verbose = args_has(check->args, "verbose");
	check->is_strict = args_has(check->args, "strict");
	for (check->as = 0; as && check->as < KINDS; check->as++) {
		if (strcmp(as, kinds[check->as].name) == 0)
			break;
	}
	if (!as)
		check->as = KINDS;
	else if (check->as == KINDS)
		return usage_error("as", as, "must be tree, published, resources or bootstrap");
	if (read_format(check) < 0 || read_rules(check, "select") < 0 ||
		read_rules(check, "ignore") < 0 || read_opinion(check) < 0 ||
		read_profile(check) < 0)
		return -EINVAL;
	return 0;
}

static int run(const struct args *args)
{
	struct check check = {.args = args, .findings = diag_list_new(DIAGS_LIMIT)};
	struct progress *progress;
	int status = EXIT_USAGE;

	options_init(&check.options);
	if (given_tree(args, &check.options, check.findings) < 0) {
		given_print_diags(stderr, check.findings, &(struct given_print){0});
		if (args->operands_count == 0 && !args_has(args, "config"))
			fputs("usage: xdspub check PATH... [OPTION]...\n", stderr);
	} else if (read_arguments(&check) == 0) {
		progress = progress_start("checking", check.options.source);
		if (output_load_schema(&check.options, check.findings, &check.schema) == 0) {
			for (size_t i = 0; i < args->operands_count; i++)
				check_operand(&check, args->operands[i]);
			if (args->operands_count == 0)
				check_tree(&check);
		}
		progress_stop(progress);
		diag_list_filter(check.findings, is_wanted, &check);
		diag_list_sort(check.findings);
		status = print(&check);
		schema_free(check.schema);
	}
	options_fini(&check.options);
	diag_list_free(check.findings);
	return status;
}

static const struct args_option check_options[] = {
	{"strict", 0, NULL, false, "warnings fail, too"},
	{"select", 0, "RULE", true, "only findings of these rules; \"string.*\"; may be repeated"},
	{"ignore", 0, "RULE", true, "without findings of these rules; may be repeated"},
	{"format", 'f', "FORMAT", false, "text, json, sarif, github or junit (default: text)"},
	{"as", 0, "KIND", false,
		"tree, published, resources or bootstrap\n(default: look what it is)"},
	{"profile", 0, "CLIENTS", false,
		"grpc: what gRPC libraries refuse, too, when they and not\n"
		"Envoy are the clients"},
	{"with-envoy", 0, "PATH", false,
		"a second opinion: each group through PATH --mode validate"},
	{"envoy-timeout", 0, "TIME", false, "how long Envoy may take for each (default: 60s)"},
	{"verbose", 'v', NULL, false, "notes too: what layers replace and delete"},
	{"all", 'a', NULL, false, "print everything, however long"},
	{"json", 'j', NULL, false, "the same as --format json"},
	GIVEN_TREE_OPTIONS,
	{0},
};

const struct command command_check = {
	.name = "check",
	.synopsis = "PATH... | --config FILE [OPTION]...",
	.summary = "Say what is wrong with a tree, and nothing when all is well",
	.details = "A path is a tree, a folder or a file of published files (yaml, json, pb,\n"
		   "pb_text), a file of resources such as cds.yaml, or a bootstrap of Envoy.\n"
		   "Each problem is a line: path:line:column: level: text [rule].\n"
		   "Exit status 1 when there are errors; warnings alone are 0 without --strict.",
	.options = check_options,
	.settings = OPTIONS_CHECK,
	.operands_min = 0,
	.operands_max = 10000,
	.run = run,
};
