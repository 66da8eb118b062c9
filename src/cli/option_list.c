/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/option_list.h"

#include <stdlib.h>

#include "base/mem.h"
#include "daemon/options.h"

static const struct args_option help_option = {"help", 'h', NULL, false, "print this and exit"};

static void add(struct option_list *list, const struct args_option *option)
{
	array_reserve(list->items, list->capacity, list->count + 1);
	list->items[list->count++] = option;
}

void option_list_init(struct option_list *list, const struct command *command)
{
	size_t rows_count;
	const struct option_row *rows = option_rows(&rows_count);

	*list = (struct option_list){0};
	for (const struct args_option *own = command->options; own && own->name; own++)
		add(list, own);
	list->from_settings = xcalloc(rows_count, sizeof(*list->from_settings));
	for (size_t i = 0; i < rows_count; i++) {
		if (!rows[i].flag || !(rows[i].commands & command->settings))
			continue;
		list->from_settings[i] = (struct args_option){
			rows[i].flag, 0, rows[i].value, rows[i].is_list, rows[i].text};
		add(list, &list->from_settings[i]);
	}
	add(list, &help_option);
}

void option_list_fini(struct option_list *list)
{
	free(list->items);
	free(list->from_settings);
}
