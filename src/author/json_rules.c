/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/json_rules.h"

#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/text.h"

/* Any value may be that of a file: `!include _parts/port.yaml`. */
#define OR_FILE	     "|" JSON_RULES_FILE
#define DIGITS	     "^-?[0-9]+$" OR_FILE
#define FLOAT_DIGITS "^(-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?|NaN|-?Infinity)$" OR_FILE
#define SECONDS	     "[0-9]+(\\.[0-9]{1,9})?s$" OR_FILE

static void set_string(json_t *to, const char *key, const char *text)
{
	json_object_set_new(to, key, json_string(text));
}

static void set_integer(json_t *to, const char *key, json_int_t value)
{
	json_object_set_new(to, key, json_integer(value));
}

/* ---- numbers ---- */

struct range {
	rules_integer least, most;
};

static struct range range_of(enum schema_type type)
{
	switch ((int)type) {
	case SCHEMA_INT32:
	case SCHEMA_SINT32:
	case SCHEMA_SFIXED32:
		return (struct range){INT32_MIN, INT32_MAX};
	case SCHEMA_UINT32:
	case SCHEMA_FIXED32:
		return (struct range){0, UINT32_MAX};
	case SCHEMA_UINT64:
	case SCHEMA_FIXED64:
		return (struct range){0, UINT64_MAX};
	default:
		return (struct range){INT64_MIN, INT64_MAX};
	}
}

/* Rules with an upper limit below the lower one mean a gap: JSON Schema is not told of it. */
static bool is_gap(const struct field_rules *rules)
{
	const struct rules_bounds *bounds = &rules->bounds;

	if (!bounds->has_less || !bounds->has_more)
		return false;
	return rules->is_floating ? bounds->less.floating < bounds->more.floating
				  : bounds->less.integer < bounds->more.integer;
}

static void narrow(const struct field_rules *rules, struct range *range)
{
	const struct rules_bounds *bounds = &rules->bounds;

	if (rules->ignore_empty || is_gap(rules))
		return;
	if (bounds->has_more && bounds->more.integer + !bounds->may_equal_more > range->least)
		range->least = bounds->more.integer + !bounds->may_equal_more;
	if (bounds->has_less && bounds->less.integer - !bounds->may_equal_less < range->most)
		range->most = bounds->less.integer - !bounds->may_equal_less;
	if (bounds->has_const)
		range->least = range->most = bounds->constant.integer;
}

/* jansson has no unsigned numbers; a double is as good for what is that large. */
static json_t *large_integer(rules_integer value)
{
	return value > INT64_MAX ? json_real((double)value) : json_integer((json_int_t)value);
}

static json_t *make_integer(const struct schema_field *field, const struct field_rules *rules)
{
	struct range range = range_of(field->type);
	json_t *to = json_pack("{s[sss]}", "type", "integer", "string", "null");

	if (rules && rules->kind)
		narrow(rules, &range);
	set_string(to, "pattern", range.least < 0 ? DIGITS : "^[0-9]+$" OR_FILE);
	json_object_set_new(to, "minimum", large_integer(range.least));
	json_object_set_new(to, "maximum", large_integer(range.most));
	return to;
}

static json_t *make_number(const struct field_rules *rules)
{
	json_t *to = json_pack(
		"{s[sss]ss}", "type", "number", "string", "null", "pattern", FLOAT_DIGITS);
	const struct rules_bounds *bounds = rules ? &rules->bounds : NULL;

	if (!rules || !rules->kind || rules->ignore_empty || is_gap(rules))
		return to;
	if (bounds->has_more && isfinite(bounds->more.floating))
		json_object_set_new(to, bounds->may_equal_more ? "minimum" : "exclusiveMinimum",
			json_real(bounds->more.floating));
	if (bounds->has_less && isfinite(bounds->less.floating))
		json_object_set_new(to, bounds->may_equal_less ? "maximum" : "exclusiveMaximum",
			json_real(bounds->less.floating));
	return to;
}

/* ---- texts ---- */

/* Whether RE2 and ECMAScript mean the same by it. */
static bool is_portable(struct slice pattern)
{
	static const char *const others[] = {
		"(?", "[[:", "\\p", "\\P", "\\A", "\\z", "\\C", "\\Q", "\\a", "\\x{"};

	if (!pattern.data || !text_is_utf8(pattern))
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (pattern.length &&
			memmem(pattern.data, pattern.length, others[i], strlen(others[i])))
			return false;
	/* In a class ECMAScript's /u refuses what RE2 takes for itself. */
	for (size_t i = 0; i + 1 < pattern.length; i++) {
		if (pattern.data[i] != '\\')
			continue;
		if (!strchr("^$\\.*+?()[]{}|/dDwWsSbBnrtfv-0x", pattern.data[++i]))
			return false;
	}
	return true;
}

static void escape(struct buf *out, struct slice text)
{
	for (size_t i = 0; i < text.length; i++) {
		if (text.data[i] && strchr("^$\\.*+?()[]{}|/", text.data[i]))
			buf_putc(out, '\\');
		buf_putc(out, text.data[i]);
	}
}

static void put_pattern(const struct rules_text *text, json_t *to)
{
	struct buf pattern = BUF_INIT;

	/* One pattern is what a schema can have; the demand for a whole match is RE2's. */
	if (is_portable(text->pattern_text)) {
		buf_printf(&pattern, "^(?:%.*s)$" OR_FILE, SLICE_ARG(text->pattern_text));
	} else if (text->prefix.length && text_is_utf8(text->prefix)) {
		buf_puts(&pattern, "^");
		escape(&pattern, text->prefix);
		buf_puts(&pattern, OR_FILE);
	} else if (text->suffix.length && text_is_utf8(text->suffix)) {
		escape(&pattern, text->suffix);
		buf_puts(&pattern, "$" OR_FILE);
	}
	if (pattern.length)
		set_string(to, "pattern", buf_cstr(&pattern));
	buf_fini(&pattern);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a == RULES_UNSET ? b : b == RULES_UNSET || a > b ? a : b;
}

static json_t *text_value(struct slice text)
{
	return text_is_utf8(text) ? json_stringn(text.data ? text.data : "", text.length)
				  : json_string("");
}

static void put_lengths(const struct field_rules *rules, json_t *to)
{
	const struct rules_lengths *lengths = &rules->text->lengths;
	uint64_t least = larger(lengths->least, lengths->exact);
	uint64_t most = lengths->exact != RULES_UNSET ? lengths->exact : lengths->most;

	if (rules->kind != KIND_STRING)
		return; /* base64 has other lengths */
	/* A text of at least one byte has a character; further than that bytes say nothing. */
	if (least == RULES_UNSET && lengths->least_bytes != RULES_UNSET && lengths->least_bytes)
		least = 1;
	if (most == RULES_UNSET)
		most = lengths->most_bytes;
	if (least != RULES_UNSET && least < INT64_MAX)
		set_integer(to, "minLength", (json_int_t)least);
	if (most != RULES_UNSET && most < INT64_MAX)
		set_integer(to, "maxLength", (json_int_t)most);
}

static json_t *make_text(const struct field_rules *rules, bool is_bytes)
{
	/* A plain 1.10 is a text where the schema wants one. */
	json_t *to =
		is_bytes ? json_pack("{s[sss]}", "type", "string", "number", "null")
			 : json_pack("{s[ssss]}", "type", "string", "number", "boolean", "null");
	json_t *list;

	if (is_bytes)
		set_string(to, "contentEncoding", "base64");
	if (!rules || !rules->text || rules->ignore_empty)
		return to;
	put_lengths(rules, to);
	if (is_bytes)
		return to;
	put_pattern(rules->text, to);
	if (rules->bounds.has_const)
		json_object_set_new(to, "const", text_value(rules->bounds.constant.text));
	if (!rules->bounds.in_count)
		return to;
	list = json_array();
	for (uint32_t i = 0; i < rules->bounds.in_count; i++)
		json_array_append_new(list, text_value(rules->bounds.in[i].text));
	json_array_append_new(list, json_null());
	json_object_set_new(to, "enum", list);
	return to;
}

/* ---- enums and booleans ---- */

static bool is_listed(const union rules_value *list, uint32_t count, int32_t number)
{
	for (uint32_t i = 0; i < count; i++)
		if (list[i].integer == number)
			return true;
	return false;
}

static bool is_allowed(const struct field_rules *rules, int32_t number)
{
	const struct rules_bounds *bounds = rules ? &rules->bounds : NULL;

	if (!rules || rules->kind != KIND_ENUM)
		return true;
	return (!bounds->has_const || bounds->constant.integer == number) &&
	       (!bounds->in_count || is_listed(bounds->in, bounds->in_count, number)) &&
	       !is_listed(bounds->not_in, bounds->not_in_count, number);
}

static json_t *make_enum(const struct schema_enum *enumeration, const struct field_rules *rules)
{
	json_t *names = json_array(), *numbers = json_pack("{ss}", "type", "integer");
	bool is_closed = rules && rules->kind == KIND_ENUM && rules->is_defined_only;

	if (enumeration->is_null_value) {
		json_decref(names);
		json_decref(numbers);
		return json_pack("{ss}", "type", "null");
	}
	if (is_closed)
		json_object_set_new(numbers, "enum", json_array());
	for (uint32_t i = 0; i < enumeration->values_count; i++) {
		const struct schema_enum_value *value = &enumeration->values[i];

		if (!is_allowed(rules, value->number))
			continue;
		json_array_append_new(names, json_string(value->name));
		if (is_closed)
			json_array_append_new(
				json_object_get(numbers, "enum"), json_integer(value->number));
	}
	json_array_append_new(names, json_null());
	/* By name; or by number or from a file, which is not offered. */
	return json_pack("{s[{so}o{ssss}]}", "anyOf", "enum", names, numbers, "type", "string",
		"pattern", JSON_RULES_FILE);
}

json_t *json_rules_scalar(const struct schema_field *field, const struct field_rules *rules)
{
	switch ((int)field->type) {
	case SCHEMA_BOOL:
		if (rules && rules->kind == KIND_BOOL && rules->bounds.has_const)
			return json_pack("{s[bn]}", "enum", (int)rules->bounds.constant.integer);
		return json_pack("{s[sss]ss}", "type", "boolean", "string", "null", "pattern",
			JSON_RULES_FILE);
	case SCHEMA_STRING:
		return make_text(rules, false);
	case SCHEMA_BYTES:
		return make_text(rules, true);
	case SCHEMA_ENUM:
		return make_enum(field->enumeration, rules);
	case SCHEMA_FLOAT:
	case SCHEMA_DOUBLE:
		return make_number(rules);
	default:
		return make_integer(field, rules);
	}
}

json_t *json_rules_duration(const struct field_rules *rules)
{
	bool is_positive = rules && rules->kind == KIND_DURATION && rules->bounds.has_more &&
			   rules->bounds.more.integer >= 0 && !is_gap(rules);
	bool is_above_zero = is_positive && !rules->bounds.may_equal_more;

	return json_pack("{s[ss]ss}", "type", "string", "null", "pattern",
		is_above_zero ? "^(?=.*[1-9])" SECONDS
		: is_positive ? "^" SECONDS
			      : "^-?" SECONDS);
}

void json_rules_counts(const struct field_rules *rules, json_t *to)
{
	bool is_map = rules->kind == KIND_MAP;

	if (rules->kind != KIND_REPEATED && !is_map)
		return;
	if (rules->least != RULES_UNSET && !rules->ignore_empty && rules->least < INT64_MAX)
		set_integer(to, is_map ? "minProperties" : "minItems", (json_int_t)rules->least);
	if (rules->most != RULES_UNSET && rules->most < INT64_MAX)
		set_integer(to, is_map ? "maxProperties" : "maxItems", (json_int_t)rules->most);
	if (rules->is_unique && !is_map && !rules->field->message)
		json_object_set_new(to, "uniqueItems", json_true());
}

json_t *json_rules_keys(const struct schema_field *key, const struct field_rules *rules)
{
	json_t *to;

	if (key->type == SCHEMA_BOOL)
		return json_pack("{s[ss]}", "enum", "true", "false");
	if (key->type != SCHEMA_STRING)
		return json_pack("{ss}", "pattern", "^-?[0-9]+$");
	to = make_text(rules, false);
	json_object_del(to, "type");
	if (json_object_size(to))
		return to;
	json_decref(to);
	return NULL;
}

bool json_rules_must_be_set(const struct schema_field *field, const struct field_rules *rules)
{
	const struct rules_bounds *bounds = rules ? &rules->bounds : NULL;

	if (!rules || field->oneof)
		return false;
	if (rules->is_required)
		return true;
	if (field->has_presence || rules->ignore_empty)
		return false;
	if (field->is_repeated)
		return rules->least != RULES_UNSET && rules->least > 0;
	if (rules->kind == KIND_STRING)
		return (rules->text->lengths.least != RULES_UNSET && rules->text->lengths.least) ||
		       (rules->text->lengths.least_bytes != RULES_UNSET &&
			       rules->text->lengths.least_bytes);
	if (rules->kind >= KIND_INT32 && rules->kind <= KIND_SFIXED64 && bounds->has_more &&
		!is_gap(rules))
		return bounds->more.integer + !bounds->may_equal_more > 0;
	return false;
}
