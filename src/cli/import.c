/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xdspub import: an Envoy bootstrap, files of resources or a running Envoy to a tree. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "author/bootstrap_text.h"
#include "author/import_read.h"
#include "author/import_rest.h"
#include "author/import_split.h"
#include "author/import_write.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/given.h"
#include "cli/http_get.h"
#include "cli/new_folder.h"
#include "daemon/output.h"

#define DUMP_PATH "/config_dump?include_eds"

struct import_run {
	const struct args *args;
	struct options options;
	struct diag_list *diags;
	struct schema *schema;
	struct validator *validator;
	struct import_plan plan;
	struct import_split_options split;
	struct bootstrap_spec spec;
	struct import_files files;
	struct new_folder folder;
	const char *target;
};

static int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int usage_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("xdspub import: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	return EXIT_USAGE;
}

/* --- options ----------------------------------------------------------------------------- */

static int read_split(struct import_run *run, const char *list)
{
	const struct {
		const char *name;
		bool *is_on;
	} parts[] = {{"routes", &run->split.routes}, {"endpoints", &run->split.endpoints},
		{"certificates", &run->split.certificates}};

	while (*list) {
		size_t length = strcspn(list, ","), i = 0;
		struct slice word = {list, length};

		while (i < 3 && !slice_is(word, parts[i].name))
			i++;
		if (i == 3)
			return usage_error("no such part: \"%s\": routes, endpoints and "
					   "certificates can be split off",
				list);
		*parts[i].is_on = true;
		list += length + (list[length] == ',');
	}
	return EXIT_FINE;
}

static int read_options(struct import_run *run)
{
	const struct args *args = run->args;
	const char *source = args_get(args, "config-source"), *mode = args_get(args, "mode");
	const char *address = args_get(args, "address"), *value;
	size_t cursor = 0;
	int status = EXIT_FINE;

	run->split.routes = args_has(args, "routes-to-rds");
	run->split.endpoints = args_has(args, "endpoints-to-eds");
	run->split.certificates = args_has(args, "certificates-to-sds");
	while (!status && (value = args_next(args, "split", &cursor)))
		status = read_split(run, value);
	if (status)
		return status;
	if (source && strcmp(source, "ads") != 0 && strcmp(source, "self") != 0)
		return usage_error("no such config source: \"%s\": ads or self", source);
	run->split.uses_self = source && strcmp(source, "self") == 0;
	run->spec = (struct bootstrap_spec){.mode = BOOTSTRAP_ADS,
		.cluster = "xdspub",
		.out = XDSPUB_LOCALSTATEDIR "/lib/xdspub/out",
		.group = "default",
		.extension = "yaml"};
	if (mode && !bootstrap_mode_by_name(mode, &run->spec.mode))
		return usage_error(
			"no such mode: \"%s\": file, rest, grpc, ads and delta-ads are known",
			mode);
	run->spec.address = address			       ? address
			    : run->spec.mode == BOOTSTRAP_REST ? "127.0.0.1:18001"
							       : "127.0.0.1:18000";
	if (!bootstrap_address_is_good(run->spec.address))
		return usage_error(
			"%s is no address: host:port, [v6]:port or unix:/path", run->spec.address);
	run->target = args_get(args, "output");
	if (!run->target)
		return usage_error("%s is needed: the folder of the new tree", "-o TREE");
	if (args->operands_count == 0 && !args_has(args, "config-dump"))
		return usage_error("%s is missing", "a file, or --config-dump");
	return EXIT_FINE;
}

/* --- input ------------------------------------------------------------------------------- */

static int take(
	struct import_run *run, const char *path, enum import_format format, struct buf *text)
{
	size_t length;
	char *bytes = buf_take(text, &length);

	return import_read(&run->plan, run->validator, path, format, bytes ? bytes : xstrdup(""),
		       bytes ? length : 0)
		       ? EXIT_FINE
		       : EXIT_FINDINGS;
}

static int read_file(struct import_run *run, const char *path, enum import_format format)
{
	uint64_t limit = run->options.limits.source_file_bytes;
	bool is_input = strcmp(path, "-") == 0;
	struct buf text = BUF_INIT;
	int error =
		is_input ? file_read_fd(STDIN_FILENO, limit, &text) : file_read(path, limit, &text);

	if (!error)
		return take(run, is_input ? "standard input" : path, format, &text);
	buf_fini(&text);
	diag_error(run->diags, path, (struct position){0}, "unreadable", "%s",
		error == -EFBIG ? "larger than the limit for source files" : strerror(-error));
	return EXIT_FINDINGS;
}

static int read_admin(struct import_run *run, const char *address)
{
	AUTO_FREE char *host = NULL;
	const char *path = DUMP_PATH;
	struct buf text = BUF_INIT, problem = BUF_INIT;
	int error, http = 0, status = EXIT_UNREACHABLE;

	if (strncmp(address, "http://", 7) == 0) {
		address += 7;
		host = xstrndup(address, strcspn(address, "/"));
		if (address[strlen(host)] && strcmp(address + strlen(host), "/") != 0)
			path = address + strlen(host);
	} else {
		host = xstrdup(address);
	}
	error = http_get(host, path, &text, &http, &problem);
	if (error)
		fprintf(stderr, "xdspub import: %s\n", buf_cstr(&problem));
	else if (http != 200)
		fprintf(stderr, "xdspub import: %s answers %s with status %d\n", host, path, http);
	else
		status = take(run, host, IMPORT_CONFIG_DUMP, &text);
	buf_fini(&text);
	buf_fini(&problem);
	return status;
}

static int read_dump(struct import_run *run, const char *where)
{
	if (strncmp(where, "https://", 8) == 0)
		return usage_error("%s: only http:// is spoken, to the admin address", where);
	if (strncmp(where, "http://", 7) == 0 || strncmp(where, "unix:", 5) == 0)
		return read_admin(run, where);
	/* A file, unless there is none and it looks like host:port. */
	if (access(where, F_OK) != 0 && strcmp(where, "-") != 0 && strchr(where, ':') &&
		!strchr(where, '/'))
		return read_admin(run, where);
	return read_file(run, where, IMPORT_CONFIG_DUMP);
}

static int read_input(struct import_run *run)
{
	const char *dump = args_get(run->args, "config-dump");
	int status = EXIT_FINE, one;

	for (size_t i = 0; i < run->args->operands_count; i++) {
		one = read_file(run, run->args->operands[i], IMPORT_ANY);
		status = status ? status : one;
	}
	if (dump) {
		one = read_dump(run, dump);
		status = status ? status : one;
	}
	if (!status && run->plan.count == 0 && !run->plan.bootstrap) {
		diag_error(run->diags, "", (struct position){0}, "empty",
			"there is no resource in what was given");
		status = EXIT_FINDINGS;
	}
	return status;
}

/* --- output ------------------------------------------------------------------------------ */

static int make_files(struct import_run *run)
{
	struct import_plan *plan = &run->plan;
	struct buf rest = BUF_INIT;

	import_rest_keep(plan, run->split.certificates);
	import_split(plan, &run->split);
	if (!import_write(plan, &run->files))
		return EXIT_FINDINGS;
	if (!plan->bootstrap)
		return EXIT_FINE;
	if (!import_rest_write(plan, &run->spec, &rest)) {
		buf_fini(&rest);
		return EXIT_FINDINGS;
	}
	import_files_add(&run->files, IMPORT_BOOTSTRAP_FILE, &rest);
	return EXIT_FINE;
}

static int fail_folder(const struct import_run *run, int error)
{
	fprintf(stderr, "xdspub import: %s: %s\n", run->target,
		error == -ENOTEMPTY ? "there is something in it: --force puts it aside"
				    : strerror(-error));
	return EXIT_FINDINGS;
}

/* Compiles what was written, as everybody will. */
static bool verify(struct import_run *run)
{
	struct compile_options options = output_compile_options(&run->options, run->schema);
	struct compiler *compiler;
	const struct build *build;
	bool is_good = false;
	int error;

	options.root = run->folder.path;
	compiler = compiler_new(&options);
	error = compiler_run(compiler, NULL, 0, clock_wall_ms(), NULL, &build);
	if (error) {
		diag_error(run->diags, run->target, (struct position){0}, "unreadable",
			"the new tree cannot be read: %s", strerror(-error));
	} else {
		for (size_t i = 0; i < diag_list_count(build->diags); i++)
			if (diag_list_get(build->diags, i)->level == DIAG_ERROR)
				diag_list_copy(run->diags, diag_list_get(build->diags, i));
		is_good = import_verify(&run->plan, build);
	}
	compiler_free(compiler);
	return is_good;
}

static int write_tree(struct import_run *run)
{
	char *old = NULL;
	int error = new_folder_begin(&run->folder, run->target, args_has(run->args, "force"));

	for (size_t i = 0; i < run->files.count && !error; i++) {
		struct import_file *file = &run->files.items[i];
		bool is_secret = strncmp(file->path, "secrets/", 8) == 0;

		error = buf_error(&file->text);
		if (!error)
			error = new_folder_write(&run->folder, file->path, buf_slice(&file->text),
				is_secret ? 0600 : 0666);
	}
	if (error)
		return fail_folder(run, error);
	if (!verify(run))
		return EXIT_FINDINGS;
	error = new_folder_commit(&run->folder, &old);
	if (error)
		return fail_folder(run, error);
	if (old)
		printf("%s: what was there is now %s\n", run->target, old);
	free(old);
	return EXIT_FINE;
}

static void print_outcome(const struct import_run *run)
{
	struct buf counts = BUF_INIT;

	import_count(&run->plan, &counts);
	printf("%s: %s; compiled and compared: nothing is lost\n", run->folder.target,
		counts.length ? buf_cstr(&counts) : "no resources");
	if (run->plan.bootstrap)
		printf("%s/" IMPORT_BOOTSTRAP_FILE ": the bootstrap for Envoy, with what cannot be "
		       "in a tree\n",
			run->folder.target);
	buf_fini(&counts);
}

static int import(struct import_run *run)
{
	int status = read_options(run);

	if (status)
		return status;
	if (output_load_schema(&run->options, run->diags, &run->schema))
		return EXIT_FINDINGS;
	run->validator = validator_new(run->schema);
	import_plan_init(&run->plan, run->schema, &run->options.limits, run->diags);
	status = read_input(run);
	if (!status)
		status = make_files(run);
	if (!status)
		status = write_tree(run);
	if (status == EXIT_FINE)
		print_outcome(run);
	new_folder_fini(&run->folder);
	import_files_fini(&run->files);
	import_plan_fini(&run->plan);
	validator_free(run->validator);
	schema_free(run->schema);
	return status;
}

static int run_import(const struct args *args)
{
	struct import_run run = {.args = args, .diags = diag_list_new(0)};
	int status = EXIT_USAGE;

	options_init(&run.options);
	if (given_options(args, &run.options, run.diags) == 0)
		status = import(&run);
	diag_list_sort(run.diags);
	given_print_diags(stderr, run.diags,
		&(struct given_print){.notes = true, .all = args_has(args, "all")});
	if (status == EXIT_FINDINGS)
		fprintf(stderr, "xdspub import: nothing was written\n");
	options_fini(&run.options);
	diag_list_free(run.diags);
	return status;
}

static const struct args_option options[] = {
	{"output", 'o', "TREE", false, "the folder of the new tree"},
	{"config-dump", 'd', "URL|FILE", false,
		"take what a running Envoy has: http://HOST:PORT of its\nadmin interface, or a "
		"file"},
	{"split", 's', "PART,...", true,
		"move inline routes, endpoints, certificates into resources\nof their own (RDS, "
		"EDS, "
		"SDS)"},
	{"routes-to-rds", 0, NULL, false, "the same as --split routes"},
	{"endpoints-to-eds", 0, NULL, false, "the same as --split endpoints"},
	{"certificates-to-sds", 0, NULL, false, "the same as --split certificates"},
	{"config-source", 0, "ads|self", false,
		"where what was split off is to come from (default: ads)"},
	{"mode", 'm', "MODE", false,
		"how the new bootstrap gets the tree: file, rest, grpc, ads\nor delta-ads "
		"(default: "
		"ads)"},
	{"address", 0, "ADDRESS", false, "where xdspub listens (default: 127.0.0.1:18000)"},
	{"force", 0, NULL, false, "put aside what is in TREE"},
	{"all", 'a', NULL, false, "print every message, however many"},
	{0},
};

const struct command command_import = {
	.name = "import",
	.synopsis = "FILE... -o TREE | --config-dump URL|FILE -o TREE [OPTION]...",
	.summary = "Make a tree of an Envoy bootstrap or of what a running Envoy has",
	.details =
		"Takes the listeners, clusters and secrets out of an envoy.yaml, or the resources\n"
		"of files such as cds.yaml, with their comments, one file for each. The result is\n"
		"compiled and compared before TREE appears. What only a bootstrap can say stays "
		"in\n"
		"TREE/_bootstrap.yaml, which takes the rest from xdspub.\n\n"
		"  xdspub import envoy.yaml -o tree --split routes\n"
		"  xdspub import --config-dump http://127.0.0.1:9901 -o tree",
	.options = options,
	.settings = OPTIONS_SCHEMA,
	.operands_min = 0,
	.operands_max = SIZE_MAX,
	.run = run_import,
};
