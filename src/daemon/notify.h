/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the service manager is told over $NOTIFY_SOCKET (sd_notify's protocol: one datagram of
 * KEY=VALUE lines). Without the variable every call does nothing. Threads: one at a time.
 */
#ifndef XDSPUB_DAEMON_NOTIFY_H
#define XDSPUB_DAEMON_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

struct notify;

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes them from the environment. */
struct notify *notify_new(void);
void notify_free(struct notify *notify);

/* `status` is one line for people, or NULL. The last status is repeated only when it changes. */
void notify_ready(struct notify *notify, const char *status);
void notify_status(struct notify *notify, const char *status);
void notify_reloading(struct notify *notify); /* with MONOTONIC_USEC, as newer systemd wants */
void notify_stopping(struct notify *notify);
void notify_watchdog(struct notify *notify);
/* How often notify_watchdog must be called, 0: never. */
uint64_t notify_watchdog_ms(const struct notify *notify);

#endif
