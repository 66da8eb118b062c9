/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `xdspub serve`: puts the parts together and runs the main thread's loop (signals, watchdog,
 * reload) until SIGTERM or SIGINT.
 */
#ifndef XDSPUB_DAEMON_APP_H
#define XDSPUB_DAEMON_APP_H

#include "base/diag.h"
#include "daemon/options.h"

/* Fills initialised options from file and command line; called at start and for every reload.
 * 0 or negative errno with diagnostics. */
typedef int (*app_load_cb)(void *ctx, struct options *options, struct diag_list *diags);

enum app_outcome {
	APP_FINE,
	APP_FAILED,	/* something could not be opened; it has been logged */
	APP_BAD_OPTIONS /* diagnostics say which */
};

/* config: the file's path for the status document, or NULL. */
enum app_outcome app_run(app_load_cb load, void *ctx, const char *config, struct diag_list *diags);

#endif
