/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "validate/value_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "validate/format.h"

#define SHOWN_BYTES   80
#define LISTED_VALUES 12

static void complain(const struct value_check *check, enum rule rule, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void complain(const struct value_check *check, enum rule rule, const char *format, ...)
{
	struct buf text = BUF_INIT;
	va_list arguments;

	va_start(arguments, format);
	buf_vprintf(&text, format, arguments);
	va_end(arguments);
	check->complain(check->ctx, rule_id(check->rules->kind, rule), buf_cstr(&text));
	buf_fini(&text);
}

/* ---- values as text ---- */

static void show_integer(struct buf *out, rules_integer value)
{
	char digits[48], *at = digits + sizeof(digits);
	bool is_negative = value < 0;
	rules_unsigned rest = is_negative ? -(rules_unsigned)value : (rules_unsigned)value;

	*--at = 0;
	do {
		*--at = (char)('0' + (int)(rest % 10));
		rest /= 10;
	} while (rest);
	if (is_negative)
		*--at = '-';
	buf_puts(out, at);
}

/* "1.5s" */
static void show_seconds(struct buf *out, rules_integer nanoseconds)
{
	rules_integer rest = nanoseconds < 0 ? -nanoseconds : nanoseconds;
	char fraction[16];
	int length;

	if (nanoseconds < 0)
		buf_puts(out, "-");
	show_integer(out, rest / RULES_SECOND);
	length = snprintf(fraction, sizeof(fraction), ".%09d", (int)(rest % RULES_SECOND));
	while (length && fraction[length - 1] == '0')
		fraction[--length] = 0;
	if (length > 1)
		buf_puts(out, fraction);
	buf_puts(out, "s");
}

static void show_bytes(struct buf *out, struct slice bytes)
{
	size_t shown = bytes.length < SHOWN_BYTES / 2 ? bytes.length : SHOWN_BYTES / 2;

	for (size_t i = 0; i < shown; i++)
		buf_printf(out, "%02x", (unsigned char)bytes.data[i]);
	if (shown < bytes.length)
		buf_puts(out, "...");
}

void value_check_show(struct buf *out, const struct field_rules *rules, union rules_value value)
{
	const struct schema_enum_value *named;

	switch ((int)rules->kind) { /* integers are the rest */
	case KIND_FLOAT:
	case KIND_DOUBLE:
		buf_printf(out, "%.9g", value.floating);
		break;
	case KIND_BOOL:
		buf_puts(out, value.integer ? "true" : "false");
		break;
	case KIND_STRING:
	case KIND_ANY:
		buf_puts(out, "\"");
		text_quote(out, value.text, SHOWN_BYTES);
		buf_puts(out, "\"");
		break;
	case KIND_BYTES:
		show_bytes(out, value.text);
		break;
	case KIND_ENUM:
		named = rules->field->enumeration ? schema_enum_by_number(rules->field->enumeration,
							    (int32_t)value.integer)
						  : NULL;
		if (named)
			buf_puts(out, named->name);
		else
			show_integer(out, value.integer);
		break;
	case KIND_DURATION:
	case KIND_TIMESTAMP:
		show_seconds(out, value.integer);
		break;
	default:
		show_integer(out, value.integer);
		break;
	}
}

/* ", is 7", or nothing for what must not be seen. */
static void show_value(struct buf *out, const struct field_rules *rules, union rules_value value)
{
	if (rules->is_sensitive)
		return;
	buf_puts(out, ", is ");
	value_check_show(out, rules, value);
}

/* ---- bounds ---- */

static int compare(const struct field_rules *rules, union rules_value a, union rules_value b)
{
	if (rules->kind == KIND_STRING || rules->kind == KIND_BYTES || rules->kind == KIND_ANY)
		return slice_compare(a.text, b.text);
	if (rules->is_floating)
		return (a.floating > b.floating) - (a.floating < b.floating);
	return (a.integer > b.integer) - (a.integer < b.integer);
}

static bool is_below(const struct field_rules *rules, union rules_value value)
{
	const struct rules_bounds *bounds = &rules->bounds;
	int order = compare(rules, value, bounds->less);

	if (rules->is_floating && value.floating != value.floating)
		return false; /* not a number is in no range */
	return bounds->may_equal_less ? order <= 0 : order < 0;
}

static bool is_above(const struct field_rules *rules, union rules_value value)
{
	const struct rules_bounds *bounds = &rules->bounds;
	int order = compare(rules, value, bounds->more);

	if (rules->is_floating && value.floating != value.floating)
		return false;
	return bounds->may_equal_more ? order >= 0 : order > 0;
}

static void tell_bound(const struct value_check *check, bool is_less, union rules_value value)
{
	const struct rules_bounds *bounds = &check->rules->bounds;
	bool may_equal = is_less ? bounds->may_equal_less : bounds->may_equal_more;
	struct buf text = BUF_INIT;

	buf_puts(&text, is_less ? (may_equal ? "must be at most " : "must be less than ")
				: (may_equal ? "must be at least " : "must be greater than "));
	value_check_show(&text, check->rules, is_less ? bounds->less : bounds->more);
	show_value(&text, check->rules, value);
	complain(check,
		is_less ? (may_equal ? RULE_LTE : RULE_LT) : (may_equal ? RULE_GTE : RULE_GT), "%s",
		buf_cstr(&text));
	buf_fini(&text);
}

/* An upper limit below the lower one means: outside of what is between them. */
static void tell_gap(const struct value_check *check, union rules_value value)
{
	const struct rules_bounds *bounds = &check->rules->bounds;
	struct buf text = BUF_INIT;

	buf_puts(&text, bounds->may_equal_less ? "must be at most " : "must be less than ");
	value_check_show(&text, check->rules, bounds->less);
	buf_puts(&text, bounds->may_equal_more ? " or at least " : " or greater than ");
	value_check_show(&text, check->rules, bounds->more);
	show_value(&text, check->rules, value);
	complain(check, bounds->may_equal_less ? RULE_LTE : RULE_LT, "%s", buf_cstr(&text));
	buf_fini(&text);
}

static bool is_listed(const struct field_rules *rules, const union rules_value *list,
	uint32_t count, union rules_value value)
{
	for (uint32_t i = 0; i < count; i++)
		if (compare(rules, list[i], value) == 0)
			return true;
	return false;
}

static void tell_list(const struct value_check *check, enum rule rule,
	const union rules_value *list, uint32_t count, union rules_value value)
{
	struct buf text = BUF_INIT;

	buf_puts(&text, rule == RULE_IN ? "must be one of " : "must be none of ");
	for (uint32_t i = 0; i < count && i < LISTED_VALUES; i++) {
		buf_puts(&text, i ? ", " : "");
		value_check_show(&text, check->rules, list[i]);
	}
	if (count > LISTED_VALUES)
		buf_printf(&text, " and %u others", count - LISTED_VALUES);
	show_value(&text, check->rules, value);
	complain(check, rule, "%s", buf_cstr(&text));
	buf_fini(&text);
}

static void check_bounds(const struct value_check *check, union rules_value value)
{
	const struct field_rules *rules = check->rules;
	const struct rules_bounds *bounds = &rules->bounds;

	if (bounds->has_const && compare(rules, value, bounds->constant) != 0) {
		struct buf text = BUF_INIT;

		buf_puts(&text, "must be ");
		value_check_show(&text, rules, bounds->constant);
		show_value(&text, rules, value);
		complain(check, RULE_CONST, "%s", buf_cstr(&text));
		buf_fini(&text);
	}
	if (bounds->has_less && bounds->has_more &&
		compare(rules, bounds->less, bounds->more) < 0) {
		if (!is_below(rules, value) && !is_above(rules, value))
			tell_gap(check, value);
	} else {
		if (bounds->has_less && !is_below(rules, value))
			tell_bound(check, true, value);
		if (bounds->has_more && !is_above(rules, value))
			tell_bound(check, false, value);
	}
	if (bounds->in_count && !is_listed(rules, bounds->in, bounds->in_count, value))
		tell_list(check, RULE_IN, bounds->in, bounds->in_count, value);
	if (bounds->not_in_count && is_listed(rules, bounds->not_in, bounds->not_in_count, value))
		tell_list(check, RULE_NOT_IN, bounds->not_in, bounds->not_in_count, value);
}

/* ---- texts ---- */

static uint64_t count_code_points(struct slice text)
{
	uint64_t count = 0;

	for (size_t i = 0; i < text.length; i++)
		count += ((unsigned char)text.data[i] & 0xc0) != 0x80;
	return count;
}

static void check_length(const struct value_check *check, uint64_t length, const uint64_t limits[3],
	const enum rule rules[3], const char *unit)
{
	static const char *const words[3] = {"exactly", "at least", "at most"};

	for (int i = 0; i < 3; i++) {
		bool is_fine = limits[i] == RULES_UNSET || length == limits[i] ||
			       (i == 1 && length > limits[i]) || (i == 2 && length < limits[i]);

		if (!is_fine)
			complain(check, rules[i], "must have %s %llu %s%s, has %llu", words[i],
				(unsigned long long)limits[i], unit, limits[i] == 1 ? "" : "s",
				(unsigned long long)length);
	}
}

static bool begins(struct slice text, struct slice with)
{
	return text.length >= with.length &&
	       slice_equal((struct slice){text.data, with.length}, with);
}

static bool ends(struct slice text, struct slice with)
{
	return text.length >= with.length &&
	       slice_equal(
		       (struct slice){text.data + text.length - with.length, with.length}, with);
}

static bool contains(struct slice text, struct slice what)
{
	return what.length == 0 ||
	       (text.length && memmem(text.data, text.length, what.data, what.length));
}

static void tell_affix(const struct value_check *check, enum rule rule, const char *what,
	struct slice affix, struct slice value)
{
	struct buf text = BUF_INIT;

	buf_puts(&text, what);
	value_check_show(&text, check->rules, (union rules_value){.text = affix});
	show_value(&text, check->rules, (union rules_value){.text = value});
	complain(check, rule, "%s", buf_cstr(&text));
	buf_fini(&text);
}

static void check_affixes(const struct value_check *check, struct slice value)
{
	const struct rules_text *rules = check->rules->text;

	if (rules->prefix.data && !begins(value, rules->prefix))
		tell_affix(check, RULE_PREFIX, "must begin with ", rules->prefix, value);
	if (rules->suffix.data && !ends(value, rules->suffix))
		tell_affix(check, RULE_SUFFIX, "must end with ", rules->suffix, value);
	if (rules->contains.data && !contains(value, rules->contains))
		tell_affix(check, RULE_CONTAINS, "must contain ", rules->contains, value);
	if (rules->not_contains.data && contains(value, rules->not_contains))
		tell_affix(
			check, RULE_NOT_CONTAINS, "must not contain ", rules->not_contains, value);
	if (rules->pattern && pattern_match(rules->pattern, value) == 0) {
		struct buf text = BUF_INIT;

		buf_puts(&text, "must match the pattern ");
		text_quote(&text, rules->pattern_text, SHOWN_BYTES);
		show_value(&text, check->rules, (union rules_value){.text = value});
		complain(check, RULE_PATTERN, "%s", buf_cstr(&text));
		buf_fini(&text);
	}
}

static bool is_ip(struct slice value)
{
	return format_is_ipv4(value) || format_is_ipv6(value);
}

static bool is_address(struct slice value)
{
	return format_is_hostname(value) || is_ip(value);
}

static const struct {
	bool (*is)(struct slice value);
	const char *name;
} formats[RULE_COUNT] = {
	[RULE_EMAIL] = {format_is_email, "an e-mail address"},
	[RULE_HOSTNAME] = {format_is_hostname, "a host name"},
	[RULE_IP] = {is_ip, "an IP address"},
	[RULE_IPV4] = {format_is_ipv4, "an IPv4 address"},
	[RULE_IPV6] = {format_is_ipv6, "an IPv6 address"},
	[RULE_URI] = {format_is_uri, "a URI with a scheme"},
	[RULE_URI_REF] = {format_is_uri_reference, "a URI, absolute or relative"},
	[RULE_ADDRESS] = {is_address, "a host name or an IP address"},
	[RULE_UUID] = {format_is_uuid, "a UUID"},
};

/* bytes that are an address */
static bool has_byte_format(enum rule format, struct slice value)
{
	return (format != RULE_IPV6 && value.length == 4) ||
	       (format != RULE_IPV4 && value.length == 16);
}

static bool has_format(const struct field_rules *rules, struct slice value)
{
	const struct rules_text *text = rules->text;

	if (text->format == RULE_COUNT)
		return true;
	if (rules->kind == KIND_BYTES)
		return has_byte_format(text->format, value);
	if (text->format == RULE_WELL_KNOWN_REGEX)
		return text->is_header_name ? format_is_header_name(value, text->is_loose)
					    : format_is_header_value(value, text->is_loose);
	return formats[text->format].is(value);
}

const char *value_check_format(const struct rules_text *rules)
{
	if (rules->format != RULE_WELL_KNOWN_REGEX)
		return formats[rules->format].name;
	if (rules->is_loose)
		return rules->is_header_name ? "a header name without line ends and NUL"
					     : "a header value without line ends and NUL";
	return rules->is_header_name ? "a valid HTTP header name" : "a valid HTTP header value";
}

static void tell_format(const struct value_check *check, struct slice value)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "must be %s", value_check_format(check->rules->text));
	show_value(&text, check->rules, (union rules_value){.text = value});
	complain(check, check->rules->text->format, "%s", buf_cstr(&text));
	buf_fini(&text);
}

static void check_text(const struct value_check *check, struct slice value)
{
	static const enum rule by_points[3] = {RULE_LEN, RULE_MIN_LEN, RULE_MAX_LEN};
	static const enum rule by_bytes[3] = {RULE_LEN_BYTES, RULE_MIN_BYTES, RULE_MAX_BYTES};
	const struct rules_lengths *lengths = &check->rules->text->lengths;
	bool is_string = check->rules->kind == KIND_STRING;

	check_length(check, is_string ? count_code_points(value) : value.length,
		(const uint64_t[]){lengths->exact, lengths->least, lengths->most}, by_points,
		is_string ? "character" : "byte");
	check_length(check, value.length,
		(const uint64_t[]){lengths->exact_bytes, lengths->least_bytes, lengths->most_bytes},
		by_bytes, "byte");
	check_affixes(check, value);
	if (!has_format(check->rules, value))
		tell_format(check, value);
}

/* ---- front ---- */

static bool is_zero(const struct field_rules *rules, union rules_value value)
{
	if (rules->text)
		return value.text.length == 0;
	return rules->is_floating ? value.floating == 0 : value.integer == 0;
}

/* A rule for another kind of value than the field has says nothing. */
static bool fits(enum rule_kind kind, enum schema_type type)
{
	static const enum schema_type types[KIND_COUNT] = {[KIND_FLOAT] = SCHEMA_FLOAT,
		[KIND_DOUBLE] = SCHEMA_DOUBLE,
		[KIND_INT32] = SCHEMA_INT32,
		[KIND_INT64] = SCHEMA_INT64,
		[KIND_UINT32] = SCHEMA_UINT32,
		[KIND_UINT64] = SCHEMA_UINT64,
		[KIND_SINT32] = SCHEMA_SINT32,
		[KIND_SINT64] = SCHEMA_SINT64,
		[KIND_FIXED32] = SCHEMA_FIXED32,
		[KIND_FIXED64] = SCHEMA_FIXED64,
		[KIND_SFIXED32] = SCHEMA_SFIXED32,
		[KIND_SFIXED64] = SCHEMA_SFIXED64,
		[KIND_BOOL] = SCHEMA_BOOL,
		[KIND_STRING] = SCHEMA_STRING,
		[KIND_BYTES] = SCHEMA_BYTES,
		[KIND_ENUM] = SCHEMA_ENUM};

	return types[kind] == type;
}

void value_check_scalar(const struct value_check *check, const struct schema_field *field,
	const union message_value *value)
{
	const struct field_rules *rules = check->rules;
	static const union message_value zero;
	union rules_value known;

	if (!fits(rules->kind, field->type))
		return;
	known = rules_value_of(field, value ? value : &zero);
	if (rules->ignore_empty && is_zero(rules, known))
		return;
	check_bounds(check, known);
	if (rules->text)
		check_text(check, known.text);
	if (rules->is_defined_only && field->enumeration &&
		!schema_enum_by_number(field->enumeration, (int32_t)known.integer))
		complain(check, RULE_DEFINED_ONLY, "must be a value that %s declares, is %d",
			field->enumeration->full_name, (int)known.integer);
}

static void check_now(const struct value_check *check, rules_integer value)
{
	const struct field_rules *rules = check->rules;
	rules_integer apart = value > check->now ? value - check->now : check->now - value;

	if (rules->lt_now && value >= check->now)
		complain(check, RULE_LT_NOW, "must be in the past");
	if (rules->gt_now && value <= check->now)
		complain(check, RULE_GT_NOW, "must be in the future");
	if (rules->within && apart > rules->within) {
		struct buf text = BUF_INIT;

		show_seconds(&text, rules->within);
		complain(check, RULE_WITHIN, "must be within %s of now", buf_cstr(&text));
		buf_fini(&text);
	}
}

void value_check_message(const struct value_check *check, const struct message *message)
{
	rules_integer value;

	if (check->rules->kind == KIND_ANY) {
		if (message->type->well_known == SCHEMA_ANY)
			check_bounds(
				check, (union rules_value){.text = message_get_bytes(message, 1)});
		return;
	}
	if (!(check->rules->kind == KIND_DURATION &&
		    message->type->well_known == SCHEMA_DURATION) &&
		!(check->rules->kind == KIND_TIMESTAMP &&
			message->type->well_known == SCHEMA_TIMESTAMP))
		return;
	value = rules_nanoseconds(message);
	check_bounds(check, (union rules_value){.integer = value});
	if (check->rules->kind == KIND_TIMESTAMP)
		check_now(check, value);
}

struct unique_item {
	union rules_value value;
	const struct field_rules *rules;
	uint32_t index;
};

static int by_value(const void *a, const void *b)
{
	const struct unique_item *first = a, *second = b;
	int order = compare(first->rules, first->value, second->value);

	return order ? order : (first->index > second->index) - (first->index < second->index);
}

/* Items of messages are never equal for PGV, which compares addresses. */
static void check_unique(const struct value_check *check, const struct message_field *entry)
{
	struct field_rules shape = *check->rules;
	struct unique_item *items;

	if (entry->count < 2 || entry->field->message)
		return;
	shape.kind = entry->field->type == SCHEMA_STRING || entry->field->type == SCHEMA_BYTES
			     ? KIND_STRING
			     : KIND_INT64;
	shape.is_floating =
		entry->field->type == SCHEMA_DOUBLE || entry->field->type == SCHEMA_FLOAT;
	items = xcalloc(entry->count, sizeof(*items));
	for (uint32_t i = 0; i < entry->count; i++)
		items[i] = (struct unique_item){
			rules_value_of(entry->field, &entry->items[i]), &shape, i};
	qsort(items, entry->count, sizeof(*items), by_value);
	for (uint32_t i = 1; i < entry->count; i++) {
		if (compare(&shape, items[i - 1].value, items[i].value) == 0) {
			complain(check, RULE_UNIQUE, "items %u and %u are equal: no two may be",
				items[i - 1].index, items[i].index);
			break;
		}
	}
	free(items);
}

void value_check_list(const struct value_check *check, const struct message_field *entry)
{
	const struct field_rules *rules = check->rules;
	uint64_t count = entry ? entry->count : 0;
	bool is_map = rules->kind == KIND_MAP;
	const char *noun = is_map ? "pair" : "item";

	if (rules->ignore_empty && count == 0)
		return;
	if (rules->least != RULES_UNSET && count < rules->least)
		complain(check, is_map ? RULE_MIN_PAIRS : RULE_MIN_ITEMS,
			"must have at least %llu %s%s, has %llu", (unsigned long long)rules->least,
			noun, rules->least == 1 ? "" : "s", (unsigned long long)count);
	if (rules->most != RULES_UNSET && count > rules->most)
		complain(check, is_map ? RULE_MAX_PAIRS : RULE_MAX_ITEMS,
			"must have at most %llu %s%s, has %llu", (unsigned long long)rules->most,
			noun, rules->most == 1 ? "" : "s", (unsigned long long)count);
	if (rules->is_unique && entry)
		check_unique(check, entry);
}
