/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/findings_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

#define SHOWN_COLUMNS  100 /* of a line of the source */
#define BEFORE_COLUMNS 60  /* of these, before the mark */
#define TAB_COLUMNS    4
#define MARK_MAX       40

/* A character as it is shown. */
struct cell {
	size_t start, length; /* in the shown text */
	unsigned columns;
};

struct view {
	struct buf text;
	struct cell *cells;
	size_t count, capacity;
	size_t mark, mark_end; /* cells; mark == count: behind the last one */
};

/* ---- how wide a character is ---- */

struct range {
	uint32_t first, last;
};

static bool is_in(const struct range *ranges, size_t count, uint32_t point)
{
	for (size_t i = 0; i < count; i++) {
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	}
	return false;
}

/* Close enough for a mark: terminals differ among themselves. */
static unsigned columns_of(uint32_t point)
{
	static const struct range none[] = {{0x300, 0x36f}, {0x483, 0x489}, {0x591, 0x5bd},
		{0x610, 0x61a}, {0x64b, 0x65f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
		{0x200b, 0x200d}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
		{0xe0100, 0xe01ef}};
	static const struct range two[] = {{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf},
		{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe4f}, {0xff00, 0xff60},
		{0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
		{0x20000, 0x3fffd}};

	if (point < 0x300)
		return 1;
	if (is_in(none, sizeof(none) / sizeof(*none), point))
		return 0;
	return is_in(two, sizeof(two) / sizeof(*two), point) ? 2 : 1;
}

/* ---- a line as it is shown ---- */

static size_t sequence_length(const char *at, const char *end)
{
	size_t length = 1;

	while (at + length < end && ((unsigned char)at[length] & 0xc0) == 0x80)
		length++;
	return length;
}

static uint32_t code_point(const char *at, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)at;
	uint32_t point = length == 1 ? bytes[0] : bytes[0] & (0xffu >> (length + 1));

	for (size_t i = 1; i < length; i++)
		point = point << 6 | (bytes[i] & 0x3f);
	return point;
}

static void add_cell(struct view *view, const char *at, size_t length, unsigned before)
{
	struct cell cell = {.start = view->text.length};

	if (*at == '\t') {
		cell.columns = TAB_COLUMNS - before % TAB_COLUMNS;
		buf_fill(&view->text, ' ', cell.columns);
	} else {
		text_quote(&view->text, (struct slice){at, length}, 0);
		/* What was escaped is ASCII. */
		cell.columns = view->text.length - cell.start == length
				       ? columns_of(code_point(at, length))
				       : (unsigned)(view->text.length - cell.start);
	}
	cell.length = view->text.length - cell.start;
	array_reserve(view->cells, view->capacity, view->count + 1);
	view->cells[view->count++] = cell;
}

static bool ends_word(char c)
{
	return c == ' ' || c == '\t' || c == ':' || c == ',' || c == '}' || c == ']' || c == '#';
}

/* `column` counts bytes from 1. Only the neighbourhood of the mark is looked at. */
static void view_line(struct view *view, struct slice line, uint32_t column)
{
	const char *mark, *at = line.data, *end = line.data + line.length;
	bool is_word = true;
	unsigned columns = 0;

	mark = column ? line.data + (column - 1 < line.length ? column - 1 : line.length) : end;
	if (column && mark - at > 8 * SHOWN_COLUMNS) {
		at = mark - 8 * SHOWN_COLUMNS;
		while (((unsigned char)*at & 0xc0) == 0x80)
			at++;
	}
	view->mark = view->mark_end = SIZE_MAX;
	while (at < end &&
		(view->mark == SIZE_MAX || view->count - view->mark < 2 * SHOWN_COLUMNS)) {
		size_t length = sequence_length(at, end);

		if (column && view->mark == SIZE_MAX && at >= mark)
			view->mark = view->mark_end = view->count;
		if (view->mark != SIZE_MAX && is_word) {
			is_word = view->count == view->mark || !ends_word(*at);
			if (is_word)
				view->mark_end = view->count + 1;
		}
		add_cell(view, at, length, columns);
		columns += view->cells[view->count - 1].columns;
		at += length;
		if (!column && view->count > 2 * SHOWN_COLUMNS)
			break;
	}
	if (view->mark == SIZE_MAX)
		view->mark = view->mark_end = view->count;
}

static void view_fini(struct view *view)
{
	buf_fini(&view->text);
	free(view->cells);
}

/* The cells from *ret_first on that fit, with the mark among them. */
static void choose_window(const struct view *view, size_t *ret_first, size_t *ret_end)
{
	size_t first = view->mark, end;
	unsigned columns = 0;

	while (first > 0 && columns + view->cells[first - 1].columns <= BEFORE_COLUMNS)
		columns += view->cells[--first].columns;
	for (end = view->mark;
		end < view->count && columns + view->cells[end].columns <= SHOWN_COLUMNS; end++)
		columns += view->cells[end].columns;
	while (end == view->count && first > 0 &&
		columns + view->cells[first - 1].columns <= SHOWN_COLUMNS)
		columns += view->cells[--first].columns;
	*ret_first = first;
	*ret_end = end;
}

static void write_source(struct slice line, struct position at, const char *colour,
	const char *plain, struct buf *out)
{
	struct view view = {0};
	size_t first, end, start, stop;
	unsigned before = 0, marked = 0;
	bool is_cut;

	view_line(&view, line, at.column);
	choose_window(&view, &first, &end);
	is_cut = first > 0;
	start = first < view.count ? view.cells[first].start : view.text.length;
	stop = end < view.count ? view.cells[end].start : view.text.length;
	buf_printf(out, "%5u | %s%.*s%s\n", at.line, is_cut ? "..." : "", (int)(stop - start),
		view.text.length ? view.text.data + start : "", end < view.count ? "..." : "");
	if (at.column) {
		for (size_t i = first; i < view.mark; i++)
			before += view.cells[i].columns;
		for (size_t i = view.mark; i < view.mark_end && i < end; i++)
			marked += view.cells[i].columns;
		buf_printf(out, "%5s | ", "");
		buf_fill(out, ' ', before + (is_cut ? 3 : 0));
		buf_printf(out, "%s^", colour);
		if (marked > 1)
			buf_fill(out, '~', (marked < MARK_MAX ? marked : MARK_MAX) - 1);
		buf_printf(out, "%s\n", plain);
	}
	view_fini(&view);
}

void findings_text_write(
	const struct diag *diag, struct source_lines *sources, bool is_coloured, struct buf *out)
{
	static const char *const colours[] = {
		[DIAG_NOTE] = "\033[36m", [DIAG_WARNING] = "\033[35m", [DIAG_ERROR] = "\033[31m"};
	const char *colour = is_coloured ? colours[diag->level] : "";
	const char *plain = is_coloured ? "\033[0m" : "", *level = diag_level_name(diag->level);
	struct buf text = BUF_INIT, path = BUF_INIT;
	struct slice line;
	const char *at;

	diag_format(diag, &text);
	text_quote(&path, slice_of(diag->path), 0);
	/* The level is the first thing behind the place. */
	at = strstr(buf_cstr(&text) + path.length, level);
	if (at && is_coloured)
		buf_printf(out, "%.*s%s%s%s%s\n", (int)(at - buf_cstr(&text)), buf_cstr(&text),
			colour, level, plain, at + strlen(level));
	else
		buf_printf(out, "%s\n", buf_cstr(&text));
	if (sources && source_lines_get(sources, diag->path, diag->at.line, &line) && line.length)
		write_source(line, diag->at, colour, plain, out);
	buf_fini(&text);
	buf_fini(&path);
}
