/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/silence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "catalogue/catalogue.h"
#include "catalogue/ignore.h"
#include "message/yaml_comments.h"

struct scan {
	struct silence **silence;
	const char *path; /* the caller's, then a copy in the silence */
	struct diag_list *diags;
	bool is_copied;
};

static void add_item(struct scan *scan, const struct silence_item *item)
{
	struct silence *silence = *scan->silence;

	if (!silence)
		silence = *scan->silence = xcalloc(1, sizeof(*silence));
	if (!scan->is_copied) {
		array_reserve(silence->paths, silence->paths_capacity, silence->paths_count + 1);
		scan->path = silence->paths[silence->paths_count++] = xstrdup(scan->path);
		scan->is_copied = true;
	}
	array_reserve(silence->items, silence->capacity, silence->count + 1);
	silence->items[silence->count] = *item;
	silence->items[silence->count++].path = scan->path;
}

static void add_id(struct scan *scan, struct slice id, struct position at, uint32_t line)
{
	const struct catalogue_entry *entry = catalogue_find(id);
	struct buf shown = BUF_INIT;
	char phrase[256];

	text_quote(&shown, id, 64);
	if (!entry)
		diag_warning(scan->diags, scan->path, at, "unknown-rule", "no rule is called %s%s",
			buf_cstr(&shown), catalogue_suggest(id, phrase));
	else if (!entry->is_silenceable)
		diag_warning(scan->diags, scan->path, at, "not-silenceable",
			"%s cannot be silenced: what it finds cannot be used", entry->id);
	else
		add_item(scan, &(struct silence_item){.rule = entry->id, .line = line, .at = at});
	buf_fini(&shown);
}

static void take_comment(void *ctx, const struct yaml_comment *comment)
{
	struct scan *scan = ctx;
	struct ignore_comment ignore;

	ignore_parse(comment->text, &ignore);
	if (ignore.kind == IGNORE_BAD)
		diag_warning(scan->diags, scan->path, comment->at, "bad-ignore",
			"this comment silences nothing: %s", ignore.problem);
	if (ignore.kind != IGNORE_LINE && ignore.kind != IGNORE_FILE)
		return;
	for (size_t i = 0; i < ignore.ids_count; i++) {
		struct position at = comment->at;

		at.column += (uint32_t)(ignore.ids[i].data - comment->text.data);
		/* Alone at the end of the file: no line has this number. */
		add_id(scan, ignore.ids[i], at,
			ignore.kind == IGNORE_FILE ? 0
						   : (comment->line ? comment->line : UINT32_MAX));
	}
}

void silence_add(
	struct silence **silence, const char *path, struct slice text, struct diag_list *diags)
{
	struct scan scan = {.silence = silence, .path = path, .diags = diags};

	if (text.length && memmem(text.data, text.length, IGNORE_MARK, strlen(IGNORE_MARK)))
		yaml_comments(text, take_comment, &scan);
}

void silence_free(struct silence *silence)
{
	if (!silence)
		return;
	for (size_t i = 0; i < silence->paths_count; i++)
		free(silence->paths[i]);
	free(silence->paths);
	free(silence->items);
	free(silence);
}

/* Whether "PATH:LINE:" begins one of the places in a list such as "a.yaml:3:5, b.yaml:1:1". */
static bool has_place(const char *places, const char *path, uint32_t line)
{
	size_t length;
	char number[16];

	if (!places[0])
		return false;
	length = strlen(path);
	snprintf(number, sizeof(number), ":%u:", line);
	for (const char *at = places; (at = strstr(at, path)); at++) {
		if ((at == places || (at - places >= 2 && memcmp(at - 2, ", ", 2) == 0)) &&
			strncmp(at + length, line ? number : ":", strlen(line ? number : ":")) == 0)
			return true;
	}
	return false;
}

static bool covers(const struct silence_item *item, const struct diag *diag)
{
	if (strcmp(item->rule, diag->rule) != 0)
		return false;
	if (strcmp(item->path, diag->path) == 0)
		return item->line == 0 || item->line == diag->at.line;
	return has_place(diag->via, item->path, item->line);
}

bool silence_covers(struct silence *silence, const struct diag *diag, bool is_late)
{
	bool is_covered = false;

	if (!silence || !catalogue_may_silence(slice_of(diag->rule), diag->level))
		return false;
	for (size_t i = 0; i < silence->count; i++) {
		struct silence_item *item = &silence->items[i];

		if (!covers(item, diag))
			continue;
		is_covered = true;
		if (is_late)
			item->is_used_late = true;
		else
			item->is_used = true;
	}
	return is_covered;
}

static bool keep(void *ctx, const struct diag *diag)
{
	return !silence_covers(ctx, diag, false);
}

void silence_apply(struct silence *silence, struct diag_list *diags)
{
	if (silence)
		diag_list_filter(diags, keep, silence);
}

void silence_tell_idle(const struct silence *silence, struct diag_list *diags)
{
	if (diag_list_level_count(diags, DIAG_ERROR))
		return;
	for (size_t i = 0; silence && i < silence->count; i++) {
		const struct silence_item *item = &silence->items[i];

		if (!item->is_used)
			diag_warning(diags, item->path, item->at, "idle-ignore",
				"this silences nothing: there is no %s %s", item->rule,
				item->line ? "in the line" : "in the file");
	}
}
