/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/complete.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "catalogue/catalogue.h"
#include "cli/authoring.h"
#include "cli/given.h"
#include "cli/option_list.h"
#include "compile/folder.h"
#include "message/yaml_read.h"

#define LINE_WORDS	   1000
#define GROUPS_LIMIT_BYTES (16u << 20)

struct completion {
	FILE *to;
	char *words[LINE_WORDS + 1]; /* the last is what is being typed, maybe "" */
	size_t count;
	const struct command *command;
	struct option_list options;
	struct slice before; /* "--format=": what candidates begin with */
	struct slice start;  /* of the value or word */
};

/* Words as a shell takes them, roughly: quotes and backslashes keep blanks. */
static void split(struct completion *completion, const char *line)
{
	struct buf word = BUF_INIT;
	bool is_in = false;
	char quote = 0;

	for (; *line && completion->count < LINE_WORDS; line++) {
		if (!quote && isspace((unsigned char)*line)) {
			if (is_in)
				completion->words[completion->count++] = xstrdup(buf_cstr(&word));
			buf_reset(&word);
			is_in = false;
			continue;
		}
		is_in = true;
		if (*line == quote)
			quote = 0;
		else if (!quote && (*line == '"' || *line == '\''))
			quote = *line;
		else if (*line == '\\' && quote != '\'' && line[1])
			buf_putc(&word, *++line);
		else
			buf_putc(&word, *line);
	}
	completion->words[completion->count++] = xstrdup(buf_cstr(&word));
	buf_fini(&word);
}

/* ---- candidates ---- */

static void offer(const struct completion *completion, const char *word)
{
	struct slice start = completion->start;

	if (strlen(word) >= start.length &&
		(start.length == 0 || memcmp(word, start.data, start.length) == 0))
		fprintf(completion->to, "%.*s%s\n", SLICE_ARG(completion->before), word);
}

static void offer_commands(
	const struct completion *completion, const struct command *const *commands)
{
	for (; *commands; commands++)
		offer(completion, (*commands)->name);
	offer(completion, "--help");
	offer(completion, "--version");
}

static void offer_options(const struct completion *completion)
{
	for (size_t i = 0; i < completion->options.count; i++) {
		char flag[64];

		snprintf(flag, sizeof(flag), "--%s", completion->options.items[i]->name);
		offer(completion, flag);
	}
}

static void offer_parts(const struct completion *completion, const char *words, char between)
{
	AUTO_FREE char *copy = xstrdup(words);
	const char separators[2] = {between, '\0'};
	char *rest = copy, *word;

	while ((word = strsep(&rest, separators)))
		offer(completion, word);
}

static void offer_rules(const struct completion *completion)
{
	for (size_t i = 0; i < catalogue_count(); i++)
		offer(completion, catalogue_get(i)->id);
}

static void offer_keys(const struct completion *completion, const struct keys *keys)
{
	size_t count;
	const struct key_row *rows = keys_rows(keys, &count);

	for (size_t i = 0; i < count; i++)
		offer(completion, rows[i].path);
	offer(completion, keys_file(keys));
}

static void print_path(void *ctx, const char *path)
{
	fprintf(((struct completion *)ctx)->to, "%s\n", path);
}

/* The schema that the line names, or the usual one. */
static int load(
	const struct completion *completion, struct authoring *authoring, struct options *options)
{
	struct diag_list *diags = diag_list_new(0);
	int error;

	for (size_t i = 2; i + 1 < completion->count; i++) {
		const struct option_row *row = strncmp(completion->words[i], "--", 2) == 0
						       ? option_by_flag(completion->words[i] + 2)
						       : NULL;
		struct buf problem = BUF_INIT;

		if (row && (row->commands & OPTIONS_SCHEMA))
			(void)options_set(
				options, row, slice_of(completion->words[i + 1]), NULL, &problem);
		buf_fini(&problem);
	}
	error = authoring_load(authoring, options, diags);
	diag_list_free(diags);
	return error;
}

static void offer_names(struct completion *completion, bool only_types)
{
	struct authoring authoring;
	struct options options;

	authoring_init(&authoring);
	options_init(&options);
	if (!only_types && completion->start.length)
		offer_rules(completion);
	if (!only_types ||
		memchr("gx", completion->start.length ? completion->start.data[0] : 'g', 2)) {
		offer_keys(completion, authoring.groups);
		offer_keys(completion, authoring.settings);
	}
	fputs(":nospace\n", completion->to);
	if (load(completion, &authoring, &options) == 0)
		path_complete(authoring.names, authoring.schema, completion->start, print_path,
			completion);
	authoring_fini(&authoring);
	options_fini(&options);
}

/* ---- groups ---- */

/* Of the tree that the line names: --source, else the first word that is no option. */
static const char *find_tree(const struct completion *completion)
{
	for (size_t i = 2; i + 1 < completion->count; i++)
		if (strcmp(completion->words[i], "--source") == 0)
			return completion->words[i + 1];
	for (size_t i = 2; i + 1 < completion->count; i++)
		if (completion->words[i][0] != '-' && completion->words[i - 1][0] != '-')
			return completion->words[i];
	return ".";
}

static void offer_groups_of(const struct completion *completion, const struct node *root)
{
	const struct node_pair *list = root->kind == NODE_MAP ? node_find(root, "groups") : NULL;

	for (size_t i = 0; list && list->value->kind == NODE_LIST && i < list->value->items_count;
		i++) {
		const struct node *group = list->value->items[i];
		const struct node_pair *name =
			group->kind == NODE_MAP ? node_find(group, "name") : NULL;

		/* Those with {1} are several, and the folders are not looked at here. */
		if (name && name->value->kind == NODE_SCALAR &&
			!memchr(name->value->text.data, '{', name->value->text.length)) {
			AUTO_FREE char *text =
				xstrndup(name->value->text.data, name->value->text.length);

			offer(completion, text);
		}
	}
}

static void offer_groups(const struct completion *completion)
{
	AUTO_FREE char *path = xasprintf("%s/%s", find_tree(completion), FOLDER_GROUPS_FILE);
	const struct read_options options = {.path = path};
	struct arena *arena = arena_new(16 * GROUPS_LIMIT_BYTES);
	struct documents documents = {0};
	struct buf text = BUF_INIT;

	if (file_read(path, GROUPS_LIMIT_BYTES, &text) == 0 &&
		yaml_read(&options, buf_slice(&text), arena, NULL, &documents) == 0 &&
		documents.count)
		offer_groups_of(completion, documents.roots[0]);
	buf_fini(&text);
	arena_free(arena);
}

/* ---- values of options ---- */

static bool is_word(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!islower((unsigned char)text[i]) && !isdigit((unsigned char)text[i]) &&
			text[i] != '_' && text[i] != '-')
			return false;
	return length > 0;
}

/* "yaml, json, pb or pb_text (default: ...)": what --help lists. */
static void offer_listed(const struct completion *completion, const char *text)
{
	bool is_last = false;

	for (const char *at = text; *at;) {
		size_t length = strcspn(at, " \n"), bare = length;
		const char *next = at + length + strspn(at + length, " \n");

		if (bare && at[bare - 1] == ',')
			bare--;
		if ((bare < length || is_last || strncmp(next, "or ", 3) == 0) &&
			is_word(at, bare) && strncmp(at, "or ", 3) != 0) {
			AUTO_FREE char *word = xstrndup(at, bare);

			offer(completion, word);
		}
		if (is_last)
			return;
		is_last = length == 2 && strncmp(at, "or", 2) == 0;
		at = next;
	}
}

static void offer_value(struct completion *completion, const struct args_option *option)
{
	const struct option_row *row = option_by_flag(option->name);

	if (row && row->type == OPTION_CHOICE && row->text == option->text)
		offer_parts(completion, row->choices, ' ');
	else if (strcmp(option->name, "group") == 0)
		offer_groups(completion);
	else if (strcmp(option->name, "type") == 0)
		offer_names(completion, true);
	else if (strcmp(option->value, "RULE") == 0)
		offer_rules(completion);
	else if (strstr(option->value, "FILE"))
		fputs(":files\n", completion->to);
	else if (strcmp(option->value, "DIR") == 0 || strcmp(option->value, "TREE") == 0 ||
		 strcmp(option->value, "OUT") == 0)
		fputs(":folders\n", completion->to);
	else if (strchr(option->value, '|'))
		offer_parts(completion, option->value, '|');
	else if (strcmp(option->value, "FORMAT") == 0 || strcmp(option->value, "KIND") == 0 ||
		 strcmp(option->value, "MODE") == 0 || strcmp(option->value, "LEVEL") == 0)
		offer_listed(completion, option->text);
}

static const struct args_option *find_option(
	const struct completion *completion, const char *word, size_t length)
{
	for (size_t i = 0; i < completion->options.count; i++) {
		const struct args_option *option = completion->options.items[i];

		if ((length > 2 && strncmp(word, "--", 2) == 0 &&
			    strlen(option->name) == length - 2 &&
			    memcmp(option->name, word + 2, length - 2) == 0) ||
			(length == 2 && word[0] == '-' && option->letter == word[1] &&
				option->letter))
			return option;
	}
	return NULL;
}

/* ---- the front ---- */

static void offer_operands(struct completion *completion)
{
	const struct command *command = completion->command;

	if (command->operands_max == 0)
		return;
	switch (command->operands) {
	case OPERANDS_FILES:
		fputs(":files\n", completion->to);
		break;
	case OPERANDS_NAMES:
		offer_names(completion, false);
		break;
	case OPERANDS_TYPES:
		offer_names(completion, true);
		break;
	case OPERANDS_WORDS:
		offer_parts(completion, command->synopsis, '|');
		break;
	}
}

static void complete_word(struct completion *completion)
{
	const char *word = completion->words[completion->count - 1];
	const char *previous = completion->words[completion->count - 2];
	const char *equals = strchr(word, '=');
	const struct args_option *option = find_option(completion, previous, strlen(previous));

	completion->start = slice_of(word);
	if (option && option->value) {
		offer_value(completion, option);
		return;
	}
	if (word[0] != '-') {
		offer_operands(completion);
		return;
	}
	option = equals ? find_option(completion, word, (size_t)(equals - word)) : NULL;
	if (option && option->value) {
		completion->before = (struct slice){word, (size_t)(equals + 1 - word)};
		completion->start = slice_of(equals + 1);
		offer_value(completion, option);
	} else {
		offer_options(completion);
	}
}

void complete_line(const struct command *const *commands, const char *line, FILE *to)
{
	struct completion completion = {.to = to};

	split(&completion, line);
	if (completion.count == 2) {
		completion.start = slice_of(completion.words[1]);
		offer_commands(&completion, commands);
	}
	for (size_t i = 0; completion.count > 2 && commands[i]; i++)
		if (strcmp(commands[i]->name, completion.words[1]) == 0)
			completion.command = commands[i];
	if (completion.command) {
		option_list_init(&completion.options, completion.command);
		complete_word(&completion);
		option_list_fini(&completion.options);
	}
	for (size_t i = 0; i < completion.count; i++)
		free(completion.words[i]);
}
