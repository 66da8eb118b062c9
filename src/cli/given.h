/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commands share: settings from flags, and diagnostics for people. */
#ifndef XDSPUB_CLI_GIVEN_H
#define XDSPUB_CLI_GIVEN_H

#include <jansson.h>
#include <stdio.h>

#include "base/diag.h"
#include "cli/args.h"
#include "daemon/options.h"

/* Overrides initialised options with the flags that were given. -EINVAL with diagnostics. */
int given_options(const struct args *args, struct options *options, struct diag_list *diags);

/* For commands that take a tree: settings from --config, then flags, then what the tree is made of:
 * the operand and --mount. -EINVAL with diagnostics. */
int given_tree(const struct args *args, struct options *options, struct diag_list *diags);
int given_mounts(const struct args *args, struct options *options, struct diag_list *diags);
#define GIVEN_MOUNT_OPTION                                                                         \
	{                                                                                          \
		"mount", 'm', "AT=PATH", true,                                                     \
			"this folder of the tree comes from PATH; may be repeated"                 \
	}
/* Rows of a command's own options for given_tree. */
#define GIVEN_TREE_OPTIONS                                                                         \
	{"config", 'c', "FILE", false, "read settings from here, the tree and its mounts too"},    \
		GIVEN_MOUNT_OPTION
/* Where a path of the tree is on disk: malloc'ed. */
char *given_path(const struct options *options, const char *path);
/* Appends diagnostics about a tree; those about files of mounts get the paths of these, so that
 * they can be clicked. */
void given_append(
	struct diag_list *list, const struct diag_list *about, const struct options *options);

/* How much of a list is printed without --all. */
#define GIVEN_DIAGS 50

struct given_print {
	const char *prefix; /* put before paths so that they can be clicked; NULL: none */
	bool all;	    /* no cap */
	bool notes;	    /* notes too */
	bool source;	    /* the line of the source with each */
};
/* Prints what a person can read, errors first when not all fits, and a count of the rest. */
void given_print_diags(FILE *to, const struct diag_list *diags, const struct given_print *options);
/* [{path, line, column, level, rule, text}]; everything the list kept. New reference. */
json_t *given_diags_json(const struct diag_list *diags, const char *prefix);
/* Dumps and frees; a line feed at the end. */
void given_print_json(json_t *value);
/* Colours: standard output is a terminal and NO_COLOR is not set. */
bool given_is_coloured(FILE *to);

#endif
