/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/complete.h"
#include "cli/option_list.h"
#include "daemon/options.h"

/* In the order of --help. */
static const struct command *const commands[] = {
	&command_check,
	&command_build,
	&command_bootstrap,
	&command_completion,
	&command_convert,
	&command_explain,
	&command_import,
	&command_schema,
	&command_serve,
	&command_status,
	&command_why,
	NULL,
};

static void print_option(const struct args_option *option)
{
	const struct option_row *row = option_by_flag(option->name);
	char left[64];
	const char *text = option->text;

	snprintf(left, sizeof(left), "%c%c%s--%s%s%s", option->letter ? '-' : ' ',
		option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name,
		option->value ? " " : "", option->value ? option->value : "");
	printf("  %-26s  ", left);
	while (*text) {
		size_t line = strcspn(text, "\n");

		printf("%.*s", (int)line, text);
		text += line;
		if (*text == '\n') {
			printf("\n%30s", "");
			text++;
		}
	}
	if (row && row->preset && row->text == option->text)
		printf(" (default: %s)", row->preset);
	putchar('\n');
}

static void print_command_help(const struct command *command, const struct option_list *list)
{
	printf("usage: xdspub %s %s\n\n%s.\n", command->name, command->synopsis, command->summary);
	if (command->details)
		printf("\n%s\n", command->details);
	printf("\nOptions:\n");
	for (size_t i = 0; i < list->count; i++)
		print_option(list->items[i]);
}

static void print_help(FILE *to)
{
	fputs("usage: xdspub COMMAND [OPTION]...\n"
	      "       xdspub COMMAND --help | --help | --version\n\n"
	      "Envoy configuration as YAML in git, compiled strictly and published as files and\n"
	      "over REST.\n\nCommands:\n",
		to);
	for (size_t i = 0; commands[i]; i++)
		fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\nExit status: 0 fine, 1 findings or failed, 2 wrong usage, 3 daemon out of "
	      "reach.\n",
		to);
}

static const struct command *find_command(const char *name)
{
	struct suggestion suggestion;
	char phrase[256];
	struct buf quoted = BUF_INIT;

	suggestion_init(&suggestion, slice_of(name));
	for (size_t i = 0; commands[i]; i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
		suggestion_offer(&suggestion, commands[i]->name);
	}
	text_quote(&quoted, slice_of(name), 64);
	fprintf(stderr, "xdspub: unknown %s \"%s\"%s\nTry: xdspub --help\n",
		name[0] == '-' ? "option" : "command", buf_cstr(&quoted),
		suggestion_phrase(&suggestion, phrase));
	buf_fini(&quoted);
	return NULL;
}

static int check_operands(const struct command *command, const struct args *args)
{
	if (args->operands_count < command->operands_min)
		fprintf(stderr, "xdspub %s: something is missing\n", command->name);
	else if (args->operands_count > command->operands_max)
		fprintf(stderr, "xdspub %s: one too many: \"%s\"\n", command->name,
			args->operands[command->operands_max]);
	else
		return 0;
	fprintf(stderr, "usage: xdspub %s %s\n", command->name, command->synopsis);
	return -1;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct option_list list;
	struct args args;
	struct buf problem = BUF_INIT;
	int status = EXIT_USAGE;

	option_list_init(&list, command);
	if (args_parse(&args, list.items, list.count, argc, argv, &problem) < 0) {
		fprintf(stderr, "xdspub %s: %s\nTry: xdspub %s --help\n", command->name,
			buf_cstr(&problem), command->name);
	} else {
		if (args_has(&args, "help")) {
			print_command_help(command, &list);
			status = EXIT_FINE;
		} else if (check_operands(command, &args) == 0) {
			status = command->run(&args);
		}
		args_fini(&args);
	}
	buf_fini(&problem);
	option_list_fini(&list);
	return status;
}

/* A full disk or a closed pipe must not look like success. */
static int close_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	perror("xdspub: standard output");
	return status == EXIT_FINE ? EXIT_FINDINGS : status;
}

int main(int argc, char **argv)
{
	const struct command *command;

	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts(PACKAGE_STRING);
		return close_output(EXIT_FINE);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		(strcmp(argv[1], "help") == 0 && argc == 2)) {
		print_help(stdout);
		return close_output(EXIT_FINE);
	}
	/* For the scripts of `xdspub completion` only. */
	if (strcmp(argv[1], "__complete") == 0 && argc == 3) {
		complete_line(commands, argv[2], stdout);
		return close_output(EXIT_FINE);
	}
	command = find_command(argv[1]);
	if (!command)
		return EXIT_USAGE;
	return close_output(run_command(command, argc - 2, argv + 2));
}
