/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/wkt_format.h"

#include <inttypes.h>

#include "message/number_format.h"
#include "message/time_text.h"

static void get_time(const struct message *message, int64_t *ret_seconds, int32_t *ret_nanos)
{
	const struct message_field *seconds = message_find(message, 1);
	const struct message_field *nanos = message_find(message, 2);

	*ret_seconds = seconds ? seconds->one.int64 : 0;
	*ret_nanos = nanos ? nanos->one.int32 : 0;
}

/* Nothing, or 3, 6 or 9 digits. */
static void put_fraction(struct buf *out, uint32_t nanos)
{
	char digits[10];
	unsigned count = nanos % 1000000 == 0 ? 3 : nanos % 1000 == 0 ? 6 : 9;

	if (nanos == 0)
		return;
	digits[0] = '.';
	for (unsigned i = 9; i > 0; i--, nanos /= 10)
		digits[i] = (char)('0' + nanos % 10);
	buf_append(out, digits, 1 + count);
}

const char *wkt_format_duration(const struct message *duration, struct buf *out)
{
	char text[NUMBER_FORMAT_BYTES];
	int64_t seconds;
	int32_t nanos;

	get_time(duration, &seconds, &nanos);
	if (!time_text_is_valid(true, seconds, nanos))
		return "a google.protobuf.Duration is out of range or its parts differ in sign";
	if (seconds < 0 || nanos < 0)
		buf_putc(out, '-');
	buf_append(
		out, text, number_format_u64(text, (uint64_t)(seconds < 0 ? -seconds : seconds)));
	put_fraction(out, (uint32_t)(nanos < 0 ? -nanos : nanos));
	buf_putc(out, 's');
	return NULL;
}

/* Days since 1970-01-01 to a date of the Gregorian calendar, for years 1 and later. Years begin in
 * March here, so that the leap day is the last. */
static void date_of(int64_t days, int *ret_year, int *ret_month, int *ret_day)
{
	int64_t shifted = days + 719468; /* since 0000-03-01 */
	int64_t era = shifted / 146097, in_era = shifted % 146097;
	int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	int64_t in_year = in_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * in_year + 2) / 153; /* 0 is March */

	*ret_day = (int)(in_year - (153 * month + 2) / 5 + 1);
	*ret_month = (int)(month < 10 ? month + 3 : month - 9);
	*ret_year = (int)(era * 400 + year + (*ret_month <= 2));
}

const char *wkt_format_timestamp(const struct message *timestamp, struct buf *out)
{
	int64_t seconds, days, rest;
	int32_t nanos;
	int year, month, day;

	get_time(timestamp, &seconds, &nanos);
	if (!time_text_is_valid(false, seconds, nanos))
		return "a google.protobuf.Timestamp is out of range";
	days = seconds / 86400;
	rest = seconds % 86400;
	if (rest < 0) {
		rest += 86400;
		days--;
	}
	date_of(days, &year, &month, &day);
	buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day, (int)(rest / 3600),
		(int)(rest / 60 % 60), (int)(rest % 60));
	put_fraction(out, (uint32_t)nanos);
	buf_putc(out, 'Z');
	return NULL;
}

/* Each "_x" becomes "X"; anything that would not come back the same has no JSON form. */
static bool put_path(struct buf *out, struct slice path)
{
	for (size_t i = 0; i < path.length; i++) {
		char letter = path.data[i];

		if ((letter >= 'A' && letter <= 'Z') || letter == ',')
			return false;
		if (letter == '_') {
			letter = ++i < path.length ? path.data[i] : '\0';
			if (letter < 'a' || letter > 'z')
				return false;
			letter = (char)(letter - 'a' + 'A');
		}
		buf_putc(out, letter);
	}
	return true;
}

const char *wkt_format_field_mask(const struct message *mask, struct buf *out)
{
	const struct message_field *paths = message_find(mask, 1);

	for (uint32_t i = 0; paths && i < paths->count; i++) {
		if (i > 0)
			buf_putc(out, ',');
		if (!put_path(out, paths->items[i].bytes))
			return "a path of a google.protobuf.FieldMask has no JSON form";
	}
	return NULL;
}
