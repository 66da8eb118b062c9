/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the catalogue of rules as mdoc, for xdspub-rules(7). */
#include <stdio.h>
#include <string.h>

#include "catalogue/catalogue.h"

/* Text lines: no control line, no escape. */
static void print_line(const char *line, size_t length)
{
	if (length && (*line == '.' || *line == '\''))
		fputs("\\&", stdout);
	for (size_t i = 0; i < length; i++) {
		if (line[i] == '\\')
			fputs("\\e", stdout);
		else if (line[i] == '-' && i + 1 < length && line[i + 1] == '-')
			fputs("\\-", stdout);
		else
			putchar(line[i]);
	}
	putchar('\n');
}

static bool ends_sentence(const char *at, size_t left)
{
	return (*at == '.' || *at == '?' || *at == '!') && left > 2 && at[1] == ' ';
}

/* Each sentence begins a line, as mdoc wants it. */
static void print_sentences(const char *line, size_t length)
{
	size_t start = 0;

	for (size_t i = 0; i < length; i++) {
		if (!ends_sentence(line + i, length - i))
			continue;
		print_line(line + start, i + 1 - start);
		start = i + 2;
	}
	print_line(line + start, length - start);
}

static void print_page(const char *page)
{
	bool is_example = false;

	while (*page) {
		size_t length = strcspn(page, "\n");
		bool is_indented = strncmp(page, "    ", 4) == 0;

		if (is_indented && !is_example)
			puts(".Bd -literal -offset indent -compact");
		else if (!is_indented && is_example)
			puts(".Ed");
		is_example = is_indented;
		if (length == 0)
			puts(".Pp");
		else if (is_indented)
			print_line(page + 4, length - 4);
		else
			print_sentences(page, length);
		page += length + 1;
	}
	if (is_example)
		puts(".Ed");
}

static const char *kind_text(const struct catalogue_entry *entry)
{
	if (entry->is_silenceable && entry->level == DIAG_ERROR)
		return "error, may be silenced";
	return diag_level_name(entry->level);
}

/* Rows that differ in the kind of value alone: one item for all of them. */
static bool is_same_family(const struct catalogue_entry *a, const struct catalogue_entry *b)
{
	return a->area == CATALOGUE_VALUES && b->area == a->area && strcmp(a->page, b->page) == 0 &&
	       strcmp(a->reason, b->reason) == 0;
}

int main(void)
{
	const struct catalogue_entry *last = NULL;

	for (size_t i = 0; i < catalogue_count(); i++) {
		const struct catalogue_entry *entry = catalogue_get(i);

		if (!last || last->area != entry->area)
			printf("%s.Ss %s\n.Bl -tag -width indent\n", last ? ".El\n" : "",
				catalogue_area_title(entry->area));
		printf(".It Li %s Pq %s\n", entry->id, kind_text(entry));
		last = entry;
		while (i + 1 < catalogue_count() && is_same_family(entry, catalogue_get(i + 1)))
			printf(".It Li %s\n", catalogue_get(++i)->id);
		printf(".Em ");
		print_line(entry->reason, strlen(entry->reason));
		puts(".Pp");
		print_page(entry->page);
	}
	puts(".El");
	return fflush(stdout) == 0 ? 0 : 1;
}
