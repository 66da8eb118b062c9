/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/given.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "author/findings_text.h"
#include "base/mem.h"
#include "compile/folder.h"
#include "daemon/config.h"
#include "daemon/mount_settings.h"

/* A command's own option may have the name of a setting that it does not take. */
static bool is_given(const struct args *args, const struct option_row *row)
{
	for (size_t i = 0; row->flag && i < args->given_count; i++) {
		const struct args_option *option = args->given[i].option;

		if (option->text == row->text && strcmp(option->name, row->flag) == 0)
			return true;
	}
	return false;
}

int given_options(const struct args *args, struct options *options, struct diag_list *diags)
{
	struct buf problem = BUF_INIT;
	size_t count;
	const struct option_row *rows = option_rows(&count);
	int error = 0;

	for (size_t i = 0; i < count; i++) {
		const char *value;
		size_t cursor = 0;

		if (!is_given(args, &rows[i]))
			continue;
		options_clear(options, &rows[i]);
		while ((value = args_next(args, rows[i].flag, &cursor))) {
			buf_reset(&problem);
			if (options_set(options, &rows[i], slice_of(value), NULL, &problem) == 0)
				continue;
			diag_error(diags, "", (struct position){0}, "bad-option", "--%s: %s",
				rows[i].flag, buf_cstr(&problem));
			error = -EINVAL;
		}
	}
	buf_fini(&problem);
	return error;
}

int given_mounts(const struct args *args, struct options *options, struct diag_list *diags)
{
	struct mount_settings *mounts = NULL;
	struct buf problem = BUF_INIT;
	const char *value;
	size_t cursor = 0;
	int error = 0;

	while ((value = args_next(args, "mount", &cursor))) {
		buf_reset(&problem);
		if (mount_settings_add(&mounts, value, &problem) == 0)
			continue;
		diag_error(diags, "", (struct position){0}, "bad-option", "--mount: %s",
			buf_cstr(&problem));
		error = -EINVAL;
	}
	buf_fini(&problem);
	if (mounts) {
		mount_settings_unref(options->mounts);
		options->mounts = mounts;
	}
	return error;
}

int given_tree(const struct args *args, struct options *options, struct diag_list *diags)
{
	const char *config = args_get(args, "config");
	int error = config ? config_read(config, options, diags) : 0;

	if (!error)
		error = given_options(args, options, diags);
	if (!error)
		error = given_mounts(args, options, diags);
	if (!error && args->operands_count) {
		free(options->source);
		options->source = xstrdup(args->operands[0]);
	} else if (!error && !options->source[0]) {
		diag_error(diags, "", (struct position){0}, "no-source",
			"nothing to look at: give a path, or --config FILE with a source in it");
		error = -EINVAL;
	}
	return error;
}

/* The path on disk of one in a mount; NULL: it is in the root. */
static char *mount_path(const struct options *options, const char *path)
{
	const struct mount_setting *best = NULL;

	for (size_t i = 0; options->mounts && i < options->mounts->count; i++) {
		const struct mount_setting *item = &options->mounts->items[i];

		if (folder_holds(slice_of(item->at), slice_of(path)) &&
			(!best || strlen(item->at) > strlen(best->at)))
			best = item;
	}
	return best ? xasprintf("%s%s", best->path, path + strlen(best->at)) : NULL;
}

void given_append(
	struct diag_list *list, const struct diag_list *about, const struct options *options)
{
	if (!options->mounts) {
		diag_list_append(list, about);
		return;
	}
	for (size_t i = 0; i < diag_list_count(about); i++) {
		struct diag diag = *diag_list_get(about, i);
		AUTO_FREE char *path = mount_path(options, diag.path);

		if (path)
			diag.path = path;
		diag_list_copy(list, &diag);
	}
}

bool given_is_coloured(FILE *to)
{
	const char *no_color = getenv("NO_COLOR");

	return !(no_color && no_color[0]) && isatty(fileno(to));
}

static char *joined_path(const char *prefix, const char *path)
{
	size_t length = prefix ? strlen(prefix) : 0;

	if (length == 0 || path[0] == '/' || path[0] == '\0')
		return xstrdup(path);
	while (length > 1 && prefix[length - 1] == '/')
		length--;
	return xasprintf(
		"%.*s%s%s", (int)length, prefix, prefix[length - 1] == '/' ? "" : "/", path);
}

/* `sources` NULL: without the line of the source. */
char *given_path(const struct options *options, const char *path)
{
	char *whole = mount_path(options, path);

	return whole ? whole : joined_path(options->source, path);
}

static void print_diag(FILE *to, const struct diag *diag, const char *prefix, bool is_coloured,
	struct source_lines *sources)
{
	AUTO_FREE char *path = joined_path(prefix, diag->path);
	struct diag shown = *diag;
	struct buf text = BUF_INIT;

	shown.path = path;
	findings_text_write(&shown, sources, is_coloured, &text);
	fwrite(buf_cstr(&text), 1, text.length, to);
	buf_fini(&text);
}

static bool is_shown(const struct diag *diag, const struct given_print *options)
{
	return diag->level != DIAG_NOTE || options->notes;
}

static size_t count_shown(
	const struct diag_list *diags, enum diag_level level, const struct given_print *options)
{
	size_t count = 0;

	for (size_t i = 0; i < diag_list_count(diags); i++) {
		const struct diag *diag = diag_list_get(diags, i);

		count += diag->level == level && is_shown(diag, options);
	}
	return count;
}

static void print_rest(
	FILE *to, const struct diag_list *diags, const struct given_print *options, size_t printed)
{
	size_t total = diag_list_level_count(diags, DIAG_ERROR) +
		       diag_list_level_count(diags, DIAG_WARNING) +
		       (options->notes ? diag_list_level_count(diags, DIAG_NOTE) : 0);

	if (total > printed)
		fprintf(to, "... and %zu more%s (%zu errors, %zu warnings in all)\n",
			total - printed, options->all ? "" : "; --all shows them",
			diag_list_level_count(diags, DIAG_ERROR),
			diag_list_level_count(diags, DIAG_WARNING));
}

void given_print_diags(FILE *to, const struct diag_list *diags, const struct given_print *options)
{
	size_t room[3], left = options->all ? SIZE_MAX : GIVEN_DIAGS, printed = 0;
	bool is_coloured = given_is_coloured(to);
	struct source_lines *sources = options->source ? source_lines_new() : NULL;

	/* Errors take the room first; what is printed stays in order. */
	for (int level = DIAG_ERROR; level >= DIAG_NOTE; level--) {
		size_t count = count_shown(diags, (enum diag_level)level, options);

		room[level] = count < left ? count : left;
		left -= room[level];
	}
	for (size_t i = 0; i < diag_list_count(diags); i++) {
		const struct diag *diag = diag_list_get(diags, i);

		if (!is_shown(diag, options) || room[diag->level] == 0)
			continue;
		room[diag->level]--;
		print_diag(to, diag, options->prefix, is_coloured, sources);
		printed++;
	}
	source_lines_free(sources);
	print_rest(to, diags, options, printed);
}

json_t *given_diags_json(const struct diag_list *diags, const char *prefix)
{
	json_t *list = json_array();

	for (size_t i = 0; i < diag_list_count(diags); i++) {
		const struct diag *diag = diag_list_get(diags, i);
		AUTO_FREE char *path = joined_path(prefix, diag->path);
		struct buf via = BUF_INIT;

		diag_format_via(diag, &via);
		json_array_append_new(list,
			json_pack("{ss* sI sI ss ss ss* ss*}", "path", path, "line",
				(json_int_t)diag->at.line, "column", (json_int_t)diag->at.column,
				"level", diag_level_name(diag->level), "rule", diag->rule, "text",
				diag->text, "included_by", diag->via[0] ? buf_cstr(&via) : NULL));
		buf_fini(&via);
	}
	return list;
}

void given_print_json(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII * 0);
	putchar('\n');
	json_decref(value);
}
