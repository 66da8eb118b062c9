/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asking a running daemon at its admin listener: what commands with --admin and --config share. */
#ifndef XDSPUB_CLI_DAEMON_ASK_H
#define XDSPUB_CLI_DAEMON_ASK_H

#include <jansson.h>

#include "cli/args.h"

#define DAEMON_ASK_ADMIN "unix:" XDSPUB_RUNSTATEDIR "/xdspub/admin.sock"

/* GET path, with a query or without; tries again for some seconds while the daemon says that it is
 * busy. The address is that of --admin, else what the configuration says (--config, or where it
 * usually is), else where the package puts it. New reference; NULL: a sentence is in `problem`. */
json_t *daemon_ask(const struct args *args, const char *path, struct buf *problem);
/* name=value of a query, escaped, behind '?' or '&'. */
void daemon_ask_argument(struct buf *path, const char *name, struct slice value);

#endif
