/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "message/node.h"

#include "message/number.h"

const struct node_pair *node_find(const struct node *map, const char *key)
{
	struct slice name = slice_of(key);

	if (map->kind != NODE_MAP)
		return NULL;
	for (size_t i = 0; i < map->pairs_count; i++) {
		if (slice_equal(map->pairs[i].key, name))
			return &map->pairs[i];
	}
	return NULL;
}

static bool is_one_of(struct slice text, const char *const *words)
{
	for (; *words; words++) {
		if (slice_is(text, *words))
			return true;
	}
	return false;
}

/* What YAML 1.1 takes for a boolean, or for a number that is none here. */
static bool differs_as_string(struct slice text)
{
	static const char *const booleans[] = {"y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No",
		"NO", "on", "On", "ON", "off", "Off", "OFF", NULL};
	size_t i = text.length && (text.data[0] == '-' || text.data[0] == '+');
	bool has_mark = false;

	if (text.length <= 3 && is_one_of(text, booleans))
		return true;
	/* 1_000, 1:30, 0b101, -0x1f: digits with marks that only YAML 1.1 knows. */
	if (i == text.length || text.data[i] < '0' || text.data[i] > '9')
		return false;
	for (; i < text.length; i++) {
		char c = text.data[i];

		if (c == '_' || (c == ':' && i + 1 < text.length) ||
			((c == 'b' || c == 'x') && i > 0 && text.data[i - 1] == '0'))
			has_mark = true;
		else if (!((c >= '0' && c <= '9') || c == '.' ||
				 ((c | 32) >= 'a' && (c | 32) <= 'f' && has_mark)))
			return false;
	}
	return has_mark;
}

struct node_value node_resolve(const struct node *scalar)
{
	static const char *const nulls[] = {"null", "~", "Null", "NULL", NULL};
	static const char *const trues[] = {"true", "True", "TRUE", NULL};
	static const char *const falses[] = {"false", "False", "FALSE", NULL};
	struct node_value value = {.kind = NODE_STRING};
	struct slice text = scalar->text;
	enum number_form form;

	if (!scalar->is_plain)
		return value;
	if (text.length == 0 || (text.length <= 4 && is_one_of(text, nulls))) {
		value.kind = NODE_NULL;
		return value;
	}
	if (text.length <= 5 && (is_one_of(text, trues) || is_one_of(text, falses))) {
		value.kind = NODE_BOOL;
		value.boolean = (text.data[0] | 32) == 't';
		return value;
	}
	form = number_form(text);
	if (form == NUMBER_NONE) {
		value.differs_in_yaml11 = differs_as_string(text);
		return value;
	}
	value.kind = NODE_FLOAT;
	if (number_to_double(form, text, &value.number))
		value.number = text.data[0] == '-' ? -__builtin_inf() : __builtin_inf();
	if (form == NUMBER_DIGITS || form == NUMBER_LEADING_ZERO || form == NUMBER_HEX ||
		form == NUMBER_OCTAL || form == NUMBER_SIGNED)
		value.kind = NODE_INTEGER;
	if (scalar->is_json)
		return value;
	/* Octal; larger than Envoy's reader takes for a number; an exponent without a point. */
	if (form == NUMBER_LEADING_ZERO || form == NUMBER_OCTAL ||
		(value.kind == NODE_INTEGER &&
			(value.number > INT32_MAX || value.number < INT32_MIN)) ||
		(form == NUMBER_DECIMAL && !memchr(text.data, '.', text.length)))
		value.differs_in_yaml11 = true;
	return value;
}
