/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/args.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

static const struct args_option *find_name(const struct args *args, struct slice name)
{
	for (size_t i = 0; i < args->options_count; i++)
		if (slice_is(name, args->options[i]->name))
			return args->options[i];
	return NULL;
}

static const struct args_option *find_letter(const struct args *args, char letter)
{
	for (size_t i = 0; i < args->options_count; i++)
		if (args->options[i]->letter == letter)
			return args->options[i];
	return NULL;
}

static int refuse_name(const struct args *args, struct slice name, struct buf *problem)
{
	struct suggestion suggestion;
	char phrase[256];

	suggestion_init(&suggestion, name);
	for (size_t i = 0; i < args->options_count; i++)
		suggestion_offer(&suggestion, args->options[i]->name);
	buf_puts(problem, "unknown option \"--");
	text_quote(problem, name, 64);
	buf_printf(problem, "\"%s", suggestion_phrase(&suggestion, phrase));
	return -EINVAL;
}

/* One word that starts with a dash; *index moves on when the value is the next word. */
static int take_option(struct args *args, int argc, char **argv, int *index, struct buf *problem)
{
	const char *word = argv[*index];
	const struct args_option *option;
	const char *value = NULL;

	if (word[1] == '-') {
		const char *equals = strchr(word, '=');
		size_t length = equals ? (size_t)(equals - word) - 2 : strlen(word + 2);
		struct slice name = {word + 2, length};

		option = find_name(args, name);
		if (!option)
			return refuse_name(args, name, problem);
		value = equals ? equals + 1 : NULL;
	} else {
		option = find_letter(args, word[1]);
		if (!option) {
			buf_puts(problem, "unknown option \"-");
			text_quote(problem, (struct slice){word + 1, 1}, 8);
			buf_puts(problem, "\"");
			return -EINVAL;
		}
		value = word[2] ? word + 2 : NULL;
	}
	if (!option->value && value) {
		buf_printf(problem, "option \"--%s\" takes no value", option->name);
		return -EINVAL;
	}
	if (option->value && !value) {
		if (*index + 1 >= argc) {
			buf_printf(problem, "option \"--%s\" needs a value: %s", option->name,
				option->value);
			return -EINVAL;
		}
		value = argv[++*index];
	}
	args->given[args->given_count++] =
		(struct args_given){.option = option, .value = value ? value : ""};
	return 0;
}

int args_parse(struct args *args, const struct args_option *const *options, size_t options_count,
	int argc, char **argv, struct buf *problem)
{
	bool only_operands = false;

	*args = (struct args){.options = options, .options_count = options_count};
	args->given = xcalloc((size_t)argc + 1, sizeof(*args->given));
	args->operands = xcalloc((size_t)argc + 1, sizeof(*args->operands));
	for (int i = 0; i < argc; i++) {
		if (only_operands || argv[i][0] != '-' || argv[i][1] == '\0') {
			args->operands[args->operands_count++] = argv[i];
		} else if (strcmp(argv[i], "--") == 0) {
			only_operands = true;
		} else {
			int error = take_option(args, argc, argv, &i, problem);

			if (error) {
				args_fini(args);
				return error;
			}
		}
	}
	return 0;
}

void args_fini(struct args *args)
{
	free(args->given);
	free(args->operands);
	*args = (struct args){0};
}

const char *args_next(const struct args *args, const char *name, size_t *cursor)
{
	while (*cursor < args->given_count) {
		const struct args_given *given = &args->given[(*cursor)++];

		if (strcmp(given->option->name, name) == 0)
			return given->value;
	}
	return NULL;
}

const char *args_get(const struct args *args, const char *name)
{
	const char *last = NULL, *value;
	size_t cursor = 0;

	while ((value = args_next(args, name, &cursor)))
		last = value;
	return last;
}

bool args_has(const struct args *args, const char *name)
{
	return args_get(args, name) != NULL;
}
