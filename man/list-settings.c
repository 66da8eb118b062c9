/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the table of settings as the body of an mdoc list, for xdspub.yaml(5). */
#include <stdio.h>

#include "daemon/options.h"

static const char *kind_text(const struct option_row *row)
{
	switch (row->type) {
	case OPTION_TEXT:
		return row->is_list ? "list of texts" : "text";
	case OPTION_PATH:
		return row->is_list ? "list of paths" : "path";
	case OPTION_ADDRESS:
		return row->is_list ? "list of addresses" : "address";
	case OPTION_CHOICE:
		return row->is_list ? "list of words" : "word";
	case OPTION_DURATION:
		return "time";
	case OPTION_SIZE:
		return "size";
	case OPTION_NUMBER:
		return "number";
	case OPTION_MODE:
		return "octal mode";
	}
	return "";
}

static void print_text(const char *text)
{
	putchar(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text);
	for (text++; *text; text++) {
		putchar(*text);
		if (*text == '\\')
			putchar('e');
	}
	puts(".");
}

int main(void)
{
	size_t count;
	const struct option_row *rows = option_rows(&count);

	for (size_t i = 0; i < count; i++) {
		const struct option_row *row = &rows[i];

		printf(".It Li %s Pq %s", row->key, kind_text(row));
		if (row->flag)
			printf(" , Fl Fl %s Ar %s", row->flag, row->value);
		putchar('\n');
		print_text(row->text);
		if (row->choices && !row->preset)
			printf("One of:\n.Li %s .\n", row->choices);
		if (row->preset)
			printf("Default:\n.Li %s .\n", row->preset);
		if (row->reload == OPTION_RELOAD_RESTART)
			puts("A change needs a restart.");
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
