/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <time.h>

#define YEAR_0_MS    (-62167219200000)
#define YEAR_9999_MS 253402300799999 /* its last millisecond */

static int64_t read_us(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_monotonic_ms(void)
{
	return read_us(CLOCK_MONOTONIC) / 1000;
}

int64_t clock_monotonic_us(void)
{
	return read_us(CLOCK_MONOTONIC);
}

int64_t clock_wall_ms(void)
{
	return read_us(CLOCK_REALTIME) / 1000;
}

static char *put_number(char *out, int value, int digits)
{
	for (int i = digits - 1; i >= 0; i--, value /= 10)
		out[i] = (char)('0' + value % 10);
	return out + digits;
}

void clock_format_utc(int64_t wall_ms, char out[static 25])
{
	struct tm tm;
	time_t seconds;
	int ms;

	if (wall_ms < YEAR_0_MS)
		wall_ms = YEAR_0_MS;
	if (wall_ms > YEAR_9999_MS)
		wall_ms = YEAR_9999_MS;
	ms = (int)(wall_ms % 1000);
	if (ms < 0)
		ms += 1000;
	seconds = (time_t)((wall_ms - ms) / 1000);
	gmtime_r(&seconds, &tm);
	out = put_number(out, tm.tm_year + 1900, 4);
	*out++ = '-';
	out = put_number(out, tm.tm_mon + 1, 2);
	*out++ = '-';
	out = put_number(out, tm.tm_mday, 2);
	*out++ = 'T';
	out = put_number(out, tm.tm_hour, 2);
	*out++ = ':';
	out = put_number(out, tm.tm_min, 2);
	*out++ = ':';
	out = put_number(out, tm.tm_sec, 2);
	*out++ = '.';
	out = put_number(out, ms, 3);
	*out++ = 'Z';
	*out = '\0';
}
