/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads xdspub.yaml into options: strict keys from the table of options.h, positions and
 * suggestions for every mistake, all at once. Threads: any. May block on the file.
 */
#ifndef XDSPUB_DAEMON_CONFIG_H
#define XDSPUB_DAEMON_CONFIG_H

#include "base/diag.h"
#include "daemon/options.h"

#define CONFIG_PATH XDSPUB_SYSCONFDIR "/xdspub/xdspub.yaml"

/* Sets what the file sets in `options` (initialised by the caller; contents undefined on error).
 * 0, or -EBADMSG and other negative errno, always with a diagnostic. */
int config_read(const char *path, struct options *options, struct diag_list *diags);

#endif
