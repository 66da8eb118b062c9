/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/diag.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/text.h"

#define LIMIT_USUAL 1000
#define TEXT_BYTES  4096
#define LEVELS	    3

/* Whose lines are those from base + 1 on (base: the whole file), up to the next one's base. */
struct included {
	const char *path;
	const char *from; /* the file with `at`, when that is not included itself */
	uint32_t base, end;
	struct position at;
};

struct diag_list {
	struct diag *entries;
	struct arena *arena; /* NULL until the first entry */
	size_t count;
	size_t capacity;
	size_t limit;
	size_t added[LEVELS];
	size_t kept[LEVELS];
	struct included *included; /* in ascending order of lines */
	size_t included_count, included_capacity;
};

struct diag_list *diag_list_new(size_t limit)
{
	struct diag_list *list = xcalloc(1, sizeof(*list));

	list->limit = limit ? limit : LIMIT_USUAL;
	return list;
}

void diag_list_free(struct diag_list *list)
{
	if (!list)
		return;
	arena_free(list->arena);
	free(list->entries);
	free(list->included);
	free(list);
}

void diag_list_clear(struct diag_list *list)
{
	if (list->arena)
		arena_reset(list->arena);
	list->count = 0;
	list->included_count = 0;
	memset(list->added, 0, sizeof(list->added));
	memset(list->kept, 0, sizeof(list->kept));
}

/* Room for an entry of this level: at the end, or instead of the last one of the lowest level. */
static struct diag *take_slot(struct diag_list *list, enum diag_level level)
{
	enum diag_level lowest = DIAG_NOTE;

	if (list->count < list->limit) {
		array_reserve(list->entries, list->capacity, list->count + 1);
		return &list->entries[list->count++];
	}
	while (lowest < level && !list->kept[lowest])
		lowest++;
	if (lowest == level)
		return NULL;
	list->kept[lowest]--;
	for (size_t i = list->count; i > 0; i--) {
		if (list->entries[i - 1].level != lowest)
			continue;
		memmove(&list->entries[i - 1], &list->entries[i],
			(list->count - i) * sizeof(*list->entries));
		break;
	}
	return &list->entries[list->count - 1];
}

static const char *copy_path(struct diag_list *list, const struct diag *slot, const char *path)
{
	const char *copy;

	if (!path || !path[0])
		return "";
	/* Problems come file by file, so the neighbour mostly has the same path. */
	if (slot > list->entries && strcmp(slot[-1].path, path) == 0)
		return slot[-1].path;
	copy = arena_strdup(list->arena, path);
	return copy ? copy : "";
}

static struct arena *arena_of(struct diag_list *list)
{
	if (!list->arena)
		list->arena = arena_new(0);
	return list->arena;
}

static void add(struct diag_list *list, enum diag_level level, const char *path, struct position at,
	const char *rule, struct slice text, const char *via, uint32_t vias)
{
	struct diag *slot = take_slot(list, level);

	if (!slot)
		return;
	arena_of(list);
	list->kept[level]++;
	*slot = (struct diag){
		.level = level,
		.at = at,
		.path = copy_path(list, slot, path),
		.rule = rule ? rule : "",
		.text = arena_copy(list->arena, text.data, text.length).data,
		.via = via && via[0] ? arena_strdup(list->arena, via) : "",
		.vias = vias,
	};
	if (!slot->text)
		slot->text = "";
}

/* --- included files -------------------------------------------------------------------------- */

uint32_t diag_list_include(struct diag_list *list, const char *path, size_t lines, const char *from,
	struct position at)
{
	uint32_t base = DIAG_INCLUDED_LINE;
	struct included *included;

	if (list->included_count)
		base = list->included[list->included_count - 1].end;
	if (lines >= UINT32_MAX - 1 - base)
		return 0;
	array_reserve(list->included, list->included_capacity, list->included_count + 1);
	included = &list->included[list->included_count++];
	*included = (struct included){.path = arena_strdup(arena_of(list), path),
		.from = arena_strdup(arena_of(list), from),
		.base = base,
		.end = base + (uint32_t)lines + 1,
		.at = at};
	return base;
}

static const struct included *find_included(const struct diag_list *list, struct position at)
{
	size_t low = 0, high = list->included_count;

	if (at.line < DIAG_INCLUDED_LINE || high == 0)
		return NULL;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (at.line >= list->included[middle].base)
			low = middle;
		else
			high = middle;
	}
	return &list->included[low];
}

const char *diag_list_file(
	const struct diag_list *list, const char *path, struct position at, uint32_t *ret_line)
{
	const struct included *included = find_included(list, at);

	*ret_line = included ? at.line - included->base : at.line;
	return included ? included->path : path;
}

const char *diag_list_includer(const struct diag_list *list, struct position at)
{
	const struct included *included = find_included(list, at);
	const struct included *outer = included ? find_included(list, included->at) : NULL;

	return outer ? outer->path : NULL;
}

struct position diag_list_outermost(const struct diag_list *list, struct position at)
{
	const struct included *included;

	while ((included = find_included(list, at)))
		at = included->at;
	return at;
}

const char *diag_list_place(const struct diag_list *list, struct position at, char out[static 256])
{
	uint32_t line;
	const char *path = diag_list_file(list, NULL, at, &line);

	if (path)
		snprintf(out, 256, "%.220s:%u:%u", path, line, at.column);
	else
		snprintf(out, 256, "%u:%u", line, at.column);
	return out;
}

void diag_list_via(const struct diag_list *list, struct position at, struct buf *out)
{
	const struct included *included = find_included(list, at);

	for (bool is_first = true; included; is_first = false) {
		const struct included *outer = find_included(list, included->at);

		buf_printf(out, "%s%s:%u:%u", is_first ? "" : ", ",
			outer ? outer->path : included->from,
			included->at.line - (outer ? outer->base : 0), included->at.column);
		included = outer;
	}
}

/* An entry at a position that may be in an included file. */
static void add_resolved(struct diag_list *list, enum diag_level level, const char *path,
	struct position at, const char *rule, struct slice text)
{
	const struct included *included = find_included(list, at);
	struct buf via = BUF_INIT;

	if (!included) {
		add(list, level, path, at, rule, text, "", 0);
		return;
	}
	diag_list_via(list, at, &via);
	at.line -= included->base;
	add(list, level, included->path, at, rule, text, buf_cstr(&via), 0);
	buf_fini(&via);
}

/* --- entries --------------------------------------------------------------------------------- */

void diag_vadd(struct diag_list *list, enum diag_level level, const char *path, struct position at,
	const char *rule, const char *format, va_list arguments)
{
	char text[TEXT_BYTES];
	size_t length;
	int wanted;

	if (!list)
		return;
	list->added[level]++;
	if (list->count == list->limit && list->kept[level] == list->count)
		return;
	wanted = vsnprintf(text, sizeof(text), format, arguments);
	if (wanted < 0)
		wanted = 0;
	length = (size_t)wanted;
	if (length >= sizeof(text)) {
		length = sizeof(text) - 4;
		while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
		memcpy(text + length, "...", 3);
		length += 3;
	}
	add_resolved(list, level, path, at, rule, (struct slice){text, length});
}

void diag_add(struct diag_list *list, enum diag_level level, const char *path, struct position at,
	const char *rule, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	diag_vadd(list, level, path, at, rule, format, arguments);
	va_end(arguments);
}

static void copy(struct diag_list *list, const struct diag *diag)
{
	add(list, diag->level, diag->path, diag->at, diag->rule, slice_of(diag->text), diag->via,
		diag->vias);
}

void diag_list_copy(struct diag_list *list, const struct diag *diag)
{
	list->added[diag->level]++;
	copy(list, diag);
}

void diag_list_append(struct diag_list *list, const struct diag_list *from)
{
	if (!list || !from)
		return;
	assert(list != from);
	for (size_t i = 0; i < from->count; i++)
		copy(list, &from->entries[i]);
	for (size_t level = 0; level < LEVELS; level++)
		list->added[level] += from->added[level];
}

void diag_list_count_more(struct diag_list *list, enum diag_level level, size_t count)
{
	list->added[level] += count;
}

void diag_list_filter(
	struct diag_list *list, bool (*keep)(void *ctx, const struct diag *diag), void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct diag *diag = &list->entries[i];

		if (keep(ctx, diag)) {
			list->entries[kept++] = *diag;
			continue;
		}
		list->added[diag->level]--;
		list->kept[diag->level]--;
	}
	list->count = kept;
}

static int order(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_problems(const struct diag *a, const struct diag *b)
{
	int result = a->path == b->path ? 0 : strcmp(a->path, b->path);

	if (!result)
		result = order(a->at.line, b->at.line);
	if (!result)
		result = order(a->at.column, b->at.column);
	if (!result)
		result = order(b->level, a->level);
	if (!result)
		result = strcmp(a->text, b->text);
	return result ? result : strcmp(a->rule, b->rule);
}

static int compare(const void *left, const void *right)
{
	const struct diag *a = left;
	const struct diag *b = right;
	int result = compare_problems(a, b);

	return result ? result : strcmp(a->via, b->via);
}

/* One problem of an included file, met on another way. */
static void join(struct diag *kept, const struct diag *diag)
{
	if (strcmp(kept->via, diag->via) != 0)
		kept->vias += diag->vias + 1;
}

void diag_list_sort(struct diag_list *list)
{
	size_t kept = 0;

	if (list->count < 2)
		return;
	qsort(list->entries, list->count, sizeof(*list->entries), compare);
	for (size_t i = 0; i < list->count; i++) {
		struct diag *diag = &list->entries[i];

		if (kept && compare_problems(&list->entries[kept - 1], diag) == 0) {
			join(&list->entries[kept - 1], diag);
			list->added[diag->level]--;
			list->kept[diag->level]--;
			continue;
		}
		list->entries[kept++] = *diag;
	}
	list->count = kept;
}

size_t diag_list_count(const struct diag_list *list)
{
	return list->count;
}

const struct diag *diag_list_get(const struct diag_list *list, size_t index)
{
	assert(index < list->count);
	return &list->entries[index];
}

size_t diag_list_level_count(const struct diag_list *list, enum diag_level level)
{
	return list->added[level];
}

const char *diag_level_name(enum diag_level level)
{
	switch (level) {
	case DIAG_NOTE:
		return "note";
	case DIAG_WARNING:
		return "warning";
	case DIAG_ERROR:
		return "error";
	}
	return "error";
}

void diag_format_via(const struct diag *diag, struct buf *out)
{
	if (!diag->via[0])
		return;
	buf_puts(out, diag->via);
	if (diag->vias)
		buf_printf(out, " and %u other place%s", diag->vias, diag->vias == 1 ? "" : "s");
}

void diag_format(const struct diag *diag, struct buf *out)
{
	if (diag->path[0]) {
		text_quote(out, slice_of(diag->path), 0);
		if (diag->at.line)
			buf_printf(out, ":%u", diag->at.line);
		if (diag->at.line && diag->at.column)
			buf_printf(out, ":%u", diag->at.column);
		buf_puts(out, ": ");
	}
	buf_puts(out, diag_level_name(diag->level));
	buf_puts(out, ": ");
	text_quote(out, slice_of(diag->text), 0);
	if (diag->via[0]) {
		struct buf via = BUF_INIT;

		diag_format_via(diag, &via);
		buf_puts(out, " (included by ");
		text_quote(out, buf_slice(&via), 0);
		buf_putc(out, ')');
		buf_fini(&via);
	}
	if (diag->rule[0]) {
		buf_puts(out, " [");
		buf_puts(out, diag->rule);
		buf_putc(out, ']');
	}
}
