/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time. Policy code never asks for it: it gets times as arguments. Threads: any. */
#ifndef XDSPUB_BASE_CLOCK_H
#define XDSPUB_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_monotonic_ms(void);
int64_t clock_monotonic_us(void);
int64_t clock_wall_ms(void);				     /* since the epoch */
void clock_format_utc(int64_t wall_ms, char out[static 25]); /* 2026-01-02T03:04:05.678Z */

#endif
