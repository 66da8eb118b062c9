/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/time_text.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/text.h"

#define DURATION_MOST	INT64_C(315576000000) /* seconds */
#define TIMESTAMP_LEAST INT64_C(-62135596800)
#define TIMESTAMP_MOST	INT64_C(253402300799)

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits of a second behind the point, one to nine; *ret_end is behind them. */
static int parse_fraction(struct slice text, size_t start, int32_t *ret_nanos, size_t *ret_end)
{
	int32_t nanos = 0;
	size_t i = start;

	for (; i < text.length && is_digit(text.data[i]); i++) {
		if (i - start == 9)
			return -EINVAL;
		nanos = nanos * 10 + (text.data[i] - '0');
	}
	if (i == start)
		return -EINVAL;
	for (size_t digits = i - start; digits < 9; digits++)
		nanos *= 10;
	*ret_nanos = nanos;
	*ret_end = i;
	return 0;
}

int time_text_parse_duration(struct slice text, int64_t *ret_seconds, int32_t *ret_nanos)
{
	bool is_negative = text.length && text.data[0] == '-';
	size_t i = is_negative, start = i;
	int64_t seconds = 0;
	int32_t nanos = 0;
	bool is_large = false;

	for (; i < text.length && is_digit(text.data[i]); i++) {
		if (seconds > DURATION_MOST)
			is_large = true;
		else
			seconds = seconds * 10 + (text.data[i] - '0');
	}
	if (i == start)
		return -EINVAL;
	if (i < text.length && text.data[i] == '.' && parse_fraction(text, i + 1, &nanos, &i))
		return -EINVAL;
	if (i + 1 != text.length || text.data[i] != 's')
		return -EINVAL;
	if (is_large || seconds > DURATION_MOST || (seconds == DURATION_MOST && nanos))
		return -ERANGE;
	*ret_seconds = is_negative ? -seconds : seconds;
	*ret_nanos = is_negative ? -nanos : nanos;
	return 0;
}

bool time_text_guess_duration(struct slice text, char out[static TIME_TEXT_MOST])
{
	struct slice number_text = text;
	struct slice unit;
	struct buf digits = BUF_INIT;
	double number;
	int64_t ms, ignored_seconds;
	int32_t ignored_nanos;

	/* "5", "1.5", "5 sec" */
	while (number_text.length && !is_digit(number_text.data[number_text.length - 1]))
		number_text.length--;
	unit = (struct slice){text.data + number_text.length, text.length - number_text.length};
	while (unit.length && unit.data[0] == ' ')
		unit = (struct slice){unit.data + 1, unit.length - 1};
	if ((unit.length == 0 || slice_is(unit, "s") || slice_is(unit, "sec") ||
		    slice_is(unit, "S") || slice_is(unit, "seconds")) &&
		text_parse_double(number_text, &number) == 0)
		;
	else if (text_parse_duration_ms(text, &ms) == 0)
		number = (double)ms / 1000;
	else
		return false;
	text_format_double(&digits, number);
	snprintf(out, TIME_TEXT_MOST, "%ss", buf_cstr(&digits));
	buf_fini(&digits);
	return time_text_parse_duration(slice_of(out), &ignored_seconds, &ignored_nanos) == 0;
}

/* Exactly `count` digits at `at`, between low and high. */
static bool parse_part(struct slice text, size_t at, unsigned count, int low, int high, int *ret)
{
	int value = 0;

	if (at + count > text.length)
		return false;
	for (size_t i = at; i < at + count; i++) {
		if (!is_digit(text.data[i]))
			return false;
		value = value * 10 + (text.data[i] - '0');
	}
	*ret = value;
	return value >= low && value <= high;
}

static bool is_leap(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days since 1970-01-01. */
static int64_t days_of(int year, int month, int day)
{
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
	int64_t past = year - 1;

	return past * 365 + past / 4 - past / 100 + past / 400 - 719162 + before[month - 1] +
	       (month > 2 && is_leap(year)) + day - 1;
}

int time_text_parse_timestamp(struct slice text, int64_t *ret_seconds, int32_t *ret_nanos)
{
	static const int days_in[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year, month, day, hour, minute, second, offset_hours = 0, offset_minutes = 0;
	int32_t nanos = 0;
	int64_t seconds;
	size_t i = 19;

	if (text.length < 20 || text.data[4] != '-' || text.data[7] != '-' ||
		text.data[10] != 'T' || text.data[13] != ':' || text.data[16] != ':' ||
		!parse_part(text, 0, 4, 1, 9999, &year) || !parse_part(text, 5, 2, 1, 12, &month) ||
		!parse_part(text, 8, 2, 1, 31, &day) || !parse_part(text, 11, 2, 0, 23, &hour) ||
		!parse_part(text, 14, 2, 0, 59, &minute) ||
		!parse_part(text, 17, 2, 0, 59, &second))
		return -EINVAL;
	if (day > days_in[month - 1] + (month == 2 && is_leap(year)))
		return -EINVAL;
	if (text.data[i] == '.' && parse_fraction(text, i + 1, &nanos, &i))
		return -EINVAL;
	if (i + 1 == text.length && text.data[i] == 'Z') {
		;
	} else if (i + 6 == text.length && (text.data[i] == '+' || text.data[i] == '-') &&
		   text.data[i + 3] == ':' && parse_part(text, i + 1, 2, 0, 23, &offset_hours) &&
		   parse_part(text, i + 4, 2, 0, 59, &offset_minutes)) {
		if (text.data[i] == '-') {
			offset_hours = -offset_hours;
			offset_minutes = -offset_minutes;
		}
	} else {
		return -EINVAL;
	}
	seconds = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second -
		  offset_hours * 3600 - offset_minutes * 60;
	if (!time_text_is_valid(false, seconds, nanos))
		return -ERANGE;
	*ret_seconds = seconds;
	*ret_nanos = nanos;
	return 0;
}

bool time_text_is_valid(bool is_duration, int64_t seconds, int32_t nanos)
{
	if (!is_duration)
		return seconds >= TIMESTAMP_LEAST && seconds <= TIMESTAMP_MOST && nanos >= 0 &&
		       nanos <= 999999999;
	return seconds >= -DURATION_MOST && seconds <= DURATION_MOST && nanos >= -999999999 &&
	       nanos <= 999999999 && !(seconds > 0 && nanos < 0) && !(seconds < 0 && nanos > 0);
}
