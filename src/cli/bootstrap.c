/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xdspub bootstrap: what an Envoy has to be started with to get a group's resources. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "author/bootstrap_make.h"
#include "author/sample_node.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/given.h"
#include "cli/node_given.h"
#include "compile/compile.h"
#include "daemon/config.h"
#include "daemon/output.h"

#define ADMIN "127.0.0.1:9901" /* where Envoy's documentation has it */

struct bootstrap_run {
	const struct args *args;
	struct options options;
	struct diag_list *diags;
	struct schema *schema;
	struct bootstrap_whole whole;
	const char *mode;
	char *address, *comment; /* malloc'ed */
	struct compiler *compiler;
	const struct build *build;
	json_t *node;
};

static int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int refuse(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("xdspub bootstrap: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	return EXIT_USAGE;
}

/* --- where it is served ------------------------------------------------------------------ */

/* Listening everywhere, this host's name is what others call it. */
static char *own_address(struct bootstrap_run *run, const char *listen)
{
	const char *colon = strrchr(listen, ':');
	size_t length = colon ? (size_t)(colon - listen) : 0;
	struct slice host = {listen, length};
	char name[256] = "";

	if (!slice_is(host, "0.0.0.0") && !slice_is(host, "[::]") && !slice_is(host, "*") &&
		!slice_is(host, ""))
		return xstrdup(listen);
	if (gethostname(name, sizeof(name) - 1) < 0 || !name[0])
		strcpy(name, "localhost");
	run->whole.more = "xdspub listens on every address: this is its host by name.";
	return xasprintf("%s%s", name, colon);
}

static int choose_address(struct bootstrap_run *run, bool has_config)
{
	bool is_rest = run->whole.spec.mode == BOOTSTRAP_REST;
	const struct texts *listen = is_rest ? &run->options.rest : &run->options.grpc;
	const char *given = args_get(run->args, "address");

	if (given)
		run->address = xstrdup(given);
	else if (listen->count)
		run->address = own_address(run, listen->items[0]);
	else if (has_config)
		return refuse(
			"%s.listen is not set: xdspub does not serve this way; give --address "
			"if another one does",
			is_rest ? "rest" : "grpc");
	else
		run->address = xstrdup(is_rest ? "127.0.0.1:18001" : "127.0.0.1:18000");
	run->whole.spec.address = run->address;
	if (!bootstrap_address_is_good(run->address))
		return refuse("%s is no address: host:port, [v6]:port or unix:/path", run->address);
	return EXIT_FINE;
}

static int choose_folder(struct bootstrap_run *run, bool has_config)
{
	const char *given = args_get(run->args, "seen-as");

	run->whole.spec.extension =
		run->options.formats.count ? run->options.formats.items[0] : "yaml";
	run->whole.spec.out = given ? given : run->options.publish;
	if (run->whole.spec.out[0])
		return EXIT_FINE;
	if (has_config)
		return refuse("publish.path is not set: there are no files; give --seen-as if "
			      "another xdspub publishes them");
	run->whole.spec.out = XDSPUB_LOCALSTATEDIR "/lib/xdspub/out";
	return EXIT_FINE;
}

static int read_options(struct bootstrap_run *run)
{
	const struct args *args = run->args;
	const char *config = args_get(args, "config"), *tree = args_get(args, "tree");
	const char *admin = args_get(args, "admin-address");

	run->mode = args_get(args, "mode");
	if (!run->mode)
		return refuse("give --mode: file, rest, grpc, ads or delta-ads");
	if (!bootstrap_mode_by_name(run->mode, &run->whole.spec.mode))
		return refuse("no such mode: \"%s\": file, rest, grpc, ads and delta-ads are known",
			run->mode);
	if (!config && !tree)
		config = CONFIG_PATH;
	if (config && config_read(config, &run->options, run->diags) < 0)
		return EXIT_USAGE;
	if (given_options(args, &run->options, run->diags) < 0)
		return EXIT_USAGE;
	if (tree) {
		free(run->options.source);
		run->options.source = xstrdup(tree);
	}
	if (!run->options.source[0])
		return refuse("give --tree: nothing says where the tree is");
	run->whole.admin = admin ? admin : ADMIN;
	if (strcmp(run->whole.admin, "none") == 0)
		run->whole.admin = NULL;
	else if (!bootstrap_address_is_good(run->whole.admin))
		return refuse("%s is no address: host:port, [v6]:port or unix:/path", admin);
	run->whole.spec.cluster = "xdspub";
	return run->whole.spec.mode == BOOTSTRAP_FILE ? choose_folder(run, config != NULL)
						      : choose_address(run, config != NULL);
}

/* --- for whom ---------------------------------------------------------------------------- */

static int compile(struct bootstrap_run *run)
{
	struct compile_options options = output_compile_options(&run->options, run->schema);
	int error;

	run->compiler = compiler_new(&options);
	error = compiler_run(run->compiler, NULL, 0, clock_wall_ms(), NULL, &run->build);
	if (error)
		fprintf(stderr, "xdspub bootstrap: %s: %s\n", run->options.source,
			strerror(-error));
	else if (!run->build->groups_are_good || !run->build->selector)
		diag_list_append(run->diags, run->build->diags);
	else
		return EXIT_FINE;
	return EXIT_FINDINGS;
}

static int refuse_group(const struct selector *selector, const char *group)
{
	struct suggestion suggestion;
	struct buf names = BUF_INIT;
	char phrase[256];
	size_t count = selector_count(selector);

	suggestion_init(&suggestion, slice_of(group ? group : ""));
	for (size_t i = 0; i < count; i++) {
		const char *name = selector_group(selector, i)->text;

		suggestion_offer(&suggestion, name);
		if (i < 10)
			buf_printf(&names, "%s%s", i ? ", " : "", name);
	}
	if (count > 10)
		buf_puts(&names, " ...");
	if (group)
		refuse("no such group: \"%s\"%s (there are: %s)", group,
			suggestion_phrase(&suggestion, phrase), buf_cstr(&names));
	else
		refuse("give --group: there are %s", buf_cstr(&names));
	buf_fini(&names);
	return EXIT_USAGE;
}

static int choose_node(struct bootstrap_run *run)
{
	const struct selector *selector = run->build->selector;
	const char *group = args_get(run->args, "group"), *given = args_get(run->args, "node");
	int index = group			    ? selector_find(selector, slice_of(group))
		    : selector_count(selector) == 1 ? 0
						    : -1;
	struct buf problem = BUF_INIT;

	if (index < 0)
		return refuse_group(selector, group);
	run->whole.spec.group = selector_group(selector, (size_t)index)->text;
	if (!given) {
		run->node = sample_node_find(selector, index);
	} else if (node_given(given, &run->node, &problem) < 0) {
		refuse("--node: %s", buf_cstr(&problem));
		buf_fini(&problem);
		return EXIT_USAGE;
	} else {
		int found = selector_select(selector, run->node);

		if (found != index) {
			refuse("this node is in %s%s, not in %s", found < 0 ? "no group" : "group ",
				found < 0 ? "" : selector_group(selector, (size_t)found)->text,
				run->whole.spec.group);
			return EXIT_FINDINGS;
		}
	}
	if (!run->node) {
		refuse("no node was found that belongs to group \"%s\": groups before it take "
		       "every one; --node says which it is to be",
			run->whole.spec.group);
		return EXIT_FINDINGS;
	}
	run->whole.node_is_partial = sample_node_strip(run->node);
	run->whole.node = run->node;
	return EXIT_FINE;
}

static int make(struct bootstrap_run *run)
{
	struct buf text = BUF_INIT;
	int status = EXIT_FINE;

	run->comment =
		xasprintf("Envoy's bootstrap for group %s: envoy -c FILE (from xdspub bootstrap "
			  "--mode %s)",
			run->whole.spec.group, run->mode);
	run->whole.comment = run->comment;
	if (bootstrap_make(&run->whole, run->schema, run->diags, &text))
		fwrite(text.data, 1, text.length, stdout);
	else
		status = EXIT_FINDINGS;
	buf_fini(&text);
	return status;
}

static int run_bootstrap(const struct args *args)
{
	struct bootstrap_run run = {.args = args, .diags = diag_list_new(0)};
	int status;

	options_init(&run.options);
	status = read_options(&run);
	if (!status && output_load_schema(&run.options, run.diags, &run.schema))
		status = EXIT_FINDINGS;
	if (!status)
		status = compile(&run);
	if (!status)
		status = choose_node(&run);
	if (!status)
		status = make(&run);
	diag_list_sort(run.diags);
	given_print_diags(stderr, run.diags, &(struct given_print){.all = true});
	compiler_free(run.compiler);
	json_decref(run.node);
	schema_free(run.schema);
	free(run.address);
	free(run.comment);
	options_fini(&run.options);
	diag_list_free(run.diags);
	return status;
}

static const struct args_option options[] = {
	{"mode", 'm', "MODE", false, "file, rest, grpc, ads or delta-ads"},
	{"group", 'g', "GROUP", false,
		"for an Envoy of this group (needed when there are several)"},
	{"node", 'n', "NODE", false, "as YAML: this node, instead of one that is made up"},
	{"config", 'c', "FILE", false,
		"the settings of the daemon (default, unless there is a\n--tree: " CONFIG_PATH ")"},
	{"tree", 't', "TREE", false, "the tree, instead of the one in the settings"},
	{"address", 0, "ADDRESS", false, "where xdspub is reached, instead of where it listens"},
	{"seen-as", 0, "DIR", false, "the folder of published files as Envoy sees it"},
	{"admin-address", 0, "ADDRESS", false,
		"of Envoy's admin interface, or none (default: " ADMIN ")"},
	{0},
};

const struct command command_bootstrap = {
	.name = "bootstrap",
	.synopsis = "--mode MODE [--group GROUP] [--config FILE | --tree TREE] [OPTION]...",
	.summary = "Print what an Envoy of a group is to be started with",
	.details = "The node in it is one that groups.yaml puts into the group; the addresses and\n"
		   "folders are those of the settings. It is checked before it is printed.\n\n"
		   "  xdspub bootstrap --mode ads --group edge > envoy.yaml",
	.options = options,
	.settings = OPTIONS_SCHEMA,
	.operands_min = 0,
	.operands_max = 0,
	.run = run_bootstrap,
};
