/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All options of a command: its own, the rows of the settings table it takes, and --help. */
#ifndef XDSPUB_CLI_OPTION_LIST_H
#define XDSPUB_CLI_OPTION_LIST_H

#include "cli/command.h"

struct option_list {
	const struct args_option **items;
	size_t count, capacity;
	struct args_option *from_settings;
};

void option_list_init(struct option_list *list, const struct command *command);
void option_list_fini(struct option_list *list);

#endif
