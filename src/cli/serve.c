/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "cli/command.h"
#include "cli/given.h"
#include "daemon/app.h"
#include "daemon/config.h"

/* --source makes the command line complete; without it the installed file is read. */
static const char *config_path(const struct args *args)
{
	const char *path = args_get(args, "config");

	return path ? path : args_has(args, "source") ? NULL : CONFIG_PATH;
}

static int load(void *ctx, struct options *options, struct diag_list *diags)
{
	const struct args *args = ctx;
	const char *path = config_path(args);
	int error = path ? config_read(path, options, diags) : 0;
	int flags_error = given_options(args, options, diags);

	if (!flags_error)
		flags_error = given_mounts(args, options, diags);

	return error ? error : flags_error;
}

static int run(const struct args *args)
{
	struct diag_list *diags = diag_list_new(0);
	enum app_outcome outcome = app_run(load, (void *)args, config_path(args), diags);

	if (outcome == APP_BAD_OPTIONS) {
		given_print_diags(stderr, diags, &(struct given_print){.all = true});
		fputs("Try: xdspub serve --help\n", stderr);
	}
	diag_list_free(diags);
	return outcome == APP_FINE ? EXIT_FINE : outcome == APP_FAILED ? EXIT_FINDINGS : EXIT_USAGE;
}

static const struct args_option serve_options[] = {
	{"config", 'c', "FILE", false,
		"read settings from here (default, unless there is a\n"
		"--source: " CONFIG_PATH ")"},
	GIVEN_MOUNT_OPTION,
	{0},
};

const struct command command_serve = {
	.name = "serve",
	.synopsis = "[--config FILE] [OPTION]...",
	.summary = "Run the daemon: watch a tree, publish files, serve REST",
	.details = "An option overrides the same setting of the file. SIGHUP reads both again.",
	.options = serve_options,
	.settings = OPTIONS_SERVE,
	.operands_max = 0,
	.run = run,
};
