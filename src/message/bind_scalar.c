/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "message/bind_context.h"
#include "message/number.h"

static void complain_octal(
	struct bind_context *bind, const struct node *node, const struct schema_field *field)
{
	char quoted[BIND_TEXT];

	bind_quote(node->text, quoted);
	bind_error(bind, node->at, "ambiguous-number",
		"%s for \"%s\" is octal for some readers (Envoy's too) and decimal for others: "
		"write it without the leading zero, or 0o%s",
		quoted, field->name, quoted + strspn(quoted, "-+0"));
}

/* Envoy's reader takes 0644 for octal; so do we when lenient. */
static int parse_octal(struct slice text, bool *ret_is_negative, uint64_t *ret_magnitude)
{
	uint64_t value = 0;

	*ret_is_negative = text.data[0] == '-';
	for (size_t i = text.data[0] == '-' || text.data[0] == '+'; i < text.length; i++) {
		if (text.data[i] > '7')
			return -EINVAL;
		if (value >> 61)
			return -ERANGE;
		value = value << 3 | (unsigned)(text.data[i] - '0');
	}
	*ret_magnitude = value;
	return 0;
}

/* A whole number in any allowed spelling. False: reported. */
static bool read_integer(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, bool *ret_is_negative, uint64_t *ret_magnitude)
{
	enum number_form form = number_form(node->text);
	char quoted[BIND_TEXT];
	int rc;

	if (form == NUMBER_NONE || form > NUMBER_LOOSE ||
		(!node->is_plain && form > NUMBER_DECIMAL)) {
		bind_wrong_type(bind, node, field, number_type_words(field->type));
		return false;
	}
	if (form == NUMBER_LEADING_ZERO) {
		if (!bind->options->lenient ||
			parse_octal(node->text, ret_is_negative, ret_magnitude)) {
			complain_octal(bind, node, field);
			return false;
		}
		return true;
	}
	rc = number_to_integer(form, node->text, ret_is_negative, ret_magnitude);
	if (rc == 0)
		return true;
	bind_quote(node->text, quoted);
	if (rc == -EDOM)
		bind_error(bind, node->at, "bad-value", "\"%s\" must be a whole number, not %s",
			field->name, quoted);
	else
		bind_error(bind, node->at, "out-of-range", "%s is out of range for \"%s\"", quoted,
			field->name);
	return false;
}

static bool is_in_range(enum schema_type type, bool is_negative, uint64_t magnitude)
{
	switch (type) {
	case SCHEMA_INT32:
	case SCHEMA_SINT32:
	case SCHEMA_SFIXED32:
	case SCHEMA_ENUM:
		return magnitude <= (uint64_t)INT32_MAX + is_negative;
	case SCHEMA_UINT32:
	case SCHEMA_FIXED32:
		return magnitude <= (is_negative ? 0 : UINT32_MAX);
	case SCHEMA_UINT64:
	case SCHEMA_FIXED64:
		return !is_negative || magnitude == 0;
	case SCHEMA_INT64:
	case SCHEMA_SINT64:
	case SCHEMA_SFIXED64:
	case SCHEMA_DOUBLE:
	case SCHEMA_FLOAT:
	case SCHEMA_BOOL:
	case SCHEMA_STRING:
	case SCHEMA_GROUP:
	case SCHEMA_MESSAGE:
	case SCHEMA_BYTES:
		break;
	}
	return magnitude <= (uint64_t)INT64_MAX + is_negative;
}

static bool store_integer(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, bool is_negative, uint64_t magnitude, union message_value *value)
{
	uint64_t bits = is_negative ? -magnitude : magnitude;
	char quoted[BIND_TEXT];

	if (!is_in_range(field->type, is_negative, magnitude)) {
		const char *words = number_type_words(field->type);

		bind_error(bind, node->at, "out-of-range", "%s is out of range for \"%s\", %s",
			bind_quote(node->text, quoted), field->name,
			field->type == SCHEMA_ENUM ? "an enum" : words);
		return false;
	}
	switch (field->type) {
	case SCHEMA_INT32:
	case SCHEMA_SINT32:
	case SCHEMA_SFIXED32:
	case SCHEMA_ENUM:
	case SCHEMA_UINT32:
	case SCHEMA_FIXED32:
		value->uint32 = (uint32_t)bits;
		break;
	case SCHEMA_UINT64:
	case SCHEMA_FIXED64:
	case SCHEMA_INT64:
	case SCHEMA_SINT64:
	case SCHEMA_SFIXED64:
	case SCHEMA_DOUBLE:
	case SCHEMA_FLOAT:
	case SCHEMA_BOOL:
	case SCHEMA_STRING:
	case SCHEMA_GROUP:
	case SCHEMA_MESSAGE:
	case SCHEMA_BYTES:
		value->uint64 = bits;
		break;
	}
	return true;
}

static bool bind_integer(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, union message_value *value)
{
	uint64_t magnitude = 0;
	bool is_negative = false;

	/* The usual case in a few instructions: up to nine digits, unquoted. */
	if (node->is_plain && node->text.length <= 9 && node->text.length &&
		(node->text.data[0] != '0' || node->text.length == 1)) {
		size_t i = 0;
		uint32_t small = 0;

		for (; i < node->text.length; i++) {
			unsigned digit = (unsigned char)node->text.data[i] - '0';

			if (digit > 9)
				break;
			small = small * 10 + digit;
		}
		if (i == node->text.length)
			return store_integer(bind, field, node, false, small, value);
	}
	if (!read_integer(bind, field, node, &is_negative, &magnitude))
		return false;
	return store_integer(bind, field, node, is_negative, magnitude, value);
}

static bool bind_float(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, union message_value *value)
{
	enum number_form form = number_form(node->text);
	char quoted[BIND_TEXT];
	double number;

	if (slice_is(node->text, "NaN") && !node->is_json) {
		number = NAN;
	} else if (slice_is(node->text, "Infinity")) {
		number = INFINITY;
	} else if (slice_is(node->text, "-Infinity")) {
		number = -INFINITY;
	} else if (slice_is(node->text, "NaN")) {
		number = NAN;
	} else if (form == NUMBER_NONE || (!node->is_plain && form > NUMBER_DECIMAL)) {
		bind_wrong_type(bind, node, field, number_type_words(field->type));
		return false;
	} else if (form == NUMBER_LEADING_ZERO && !bind->options->lenient) {
		complain_octal(bind, node, field);
		return false;
	} else if (number_to_double(form, node->text, &number) ||
		   (field->type == SCHEMA_FLOAT && isfinite(number) && isinf((float)number))) {
		bind_error(bind, node->at, "out-of-range", "%s is out of range for \"%s\"",
			bind_quote(node->text, quoted), field->name);
		return false;
	}
	if (field->type == SCHEMA_FLOAT)
		value->float32 = (float)number;
	else
		value->float64 = number;
	return true;
}

static bool bind_boolean(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, union message_value *value)
{
	static const char *const trues[] = {"yes", "Yes", "YES", "on", "On", "ON", "y", "Y"};
	static const char *const falses[] = {"no", "No", "NO", "off", "Off", "OFF", "n", "N"};
	struct node_value resolved = node_resolve(node);
	int guess = -1;

	if (resolved.kind == NODE_BOOL) {
		value->boolean = resolved.boolean;
		return true;
	}
	if (!node->is_plain && (slice_is(node->text, "true") || slice_is(node->text, "false"))) {
		value->boolean = node->text.length == 4;
		bind_forgive(bind, node->at, "\"%s\" wants %s without quotes", field->name,
			value->boolean ? "true" : "false");
		return true;
	}
	for (size_t i = 0; i < sizeof(trues) / sizeof(*trues); i++) {
		if (slice_is(node->text, trues[i]))
			guess = 1;
		else if (slice_is(node->text, falses[i]))
			guess = 0;
	}
	if (guess >= 0 && bind->options->lenient) {
		value->boolean = guess;
		return true;
	}
	if (guess >= 0) {
		char quoted[BIND_TEXT];

		bind_error(bind, node->at, "wrong-type",
			"expected true or false for \"%s\", found %s, did you mean \"%s\"?",
			field->name, bind_quote(node->text, quoted), guess ? "true" : "false");
	} else {
		bind_wrong_type(bind, node, field, number_type_words(SCHEMA_BOOL));
	}
	return false;
}

static bool bind_enum(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, union message_value *value)
{
	const struct schema_enum *enumeration = field->enumeration;
	const struct schema_enum_value *found = NULL;
	enum number_form form;
	char quoted[BIND_TEXT];

	if (!(node->is_json && node->is_plain))
		found = schema_enum_by_name(enumeration, node->text);
	if (found) {
		value->int32 = found->number;
		return true;
	}
	if (enumeration->is_null_value && bind_is_null(node)) {
		value->int32 = 0;
		return true;
	}
	form = number_form(node->text);
	if (form == NUMBER_DIGITS || (node->is_plain && form == NUMBER_DECIMAL)) {
		if (!bind_integer(bind, field, node, value))
			return false;
		if (schema_enum_by_number(enumeration, value->int32)) {
			if (!node->is_plain)
				bind_forgive(bind, node->at,
					"\"%s\" wants the number without quotes", field->name);
			return true;
		}
		if (enumeration->is_closed || !node->is_plain) {
			bind_unknown_value(bind, enumeration, node);
			return false;
		}
		bind_warning(bind, node->at, "unknown-enum-value", "%s has no value with number %d",
			enumeration->full_name, value->int32);
		return true;
	}
	if (node->is_json && node->is_plain) {
		bind_wrong_type(bind, node, field, number_type_words(SCHEMA_ENUM));
		return false;
	}
	found = schema_enum_by_name_loose(enumeration, node->text);
	if (!found) {
		bind_unknown_value(bind, enumeration, node);
		return false;
	}
	bind_forgive(bind, node->at, "\"%s\" is spelt \"%s\" in %s", bind_quote(node->text, quoted),
		found->name, enumeration->full_name);
	value->int32 = found->number;
	return true;
}

static unsigned base64_value(char c)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	const char *found = c ? strchr(letters, c) : NULL;

	if (found)
		return (unsigned)(found - letters);
	return c == '+' || c == '-' ? 62 : 63;
}

/* libprotobuf refuses text in both alphabets, and bits behind the last byte: so would Envoy. */
static bool is_clean_base64(struct slice text)
{
	bool has_standard =
		memchr(text.data, '+', text.length) || memchr(text.data, '/', text.length);
	bool has_url = memchr(text.data, '-', text.length) || memchr(text.data, '_', text.length);
	size_t length = text.length;

	while (length && text.data[length - 1] == '=')
		length--;
	if (length % 4 == 0)
		return !(has_standard && has_url);
	return !(has_standard && has_url) &&
	       (base64_value(text.data[length - 1]) & (length % 4 == 2 ? 15 : 3)) == 0;
}

static bool bind_bytes(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, union message_value *value)
{
	struct buf decoded = BUF_INIT;
	bool is_good = false;
	char *bytes;

	if (node->is_json && node->is_plain) {
		bind_wrong_type(bind, node, field, "base64 text");
		return false;
	}
	if (text_base64_decode(&decoded, node->text) || !is_clean_base64(node->text)) {
		bind_error(bind, node->at, "bad-value", "\"%s\" wants base64 text%s", field->name,
			bind->options->read_file ? " (or \"!file name\" for the bytes of a file)"
						 : "");
	} else {
		bytes = bind_alloc(bind, decoded.length);
		if (bytes && decoded.length)
			memcpy(bytes, decoded.data, decoded.length);
		value->bytes = (struct slice){bytes, decoded.length};
		is_good = bytes != NULL;
	}
	buf_fini(&decoded);
	return is_good;
}

static bool bind_file(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, union message_value *value)
{
	const struct bind_options *options = bind->options;

	if (!options->read_file) {
		bind_error(bind, node->at, "no-files", "\"!file\" cannot be used here");
		return false;
	}
	if (field->type != SCHEMA_STRING && field->type != SCHEMA_BYTES) {
		bind_error(bind, node->at, "wrong-type",
			"\"!file\" gives text or bytes, but \"%s\" wants %s", field->name,
			number_type_words(field->type));
		return false;
	}
	if (options->read_file(options->read_file_ctx, node->text, node->at, bind->arena,
		    bind->diags, &value->bytes)) {
		bind->is_bad = true;
		return false;
	}
	if (field->type == SCHEMA_STRING &&
		(!text_is_utf8(value->bytes) ||
			memchr(value->bytes.data, 0, value->bytes.length))) {
		char quoted[BIND_TEXT];

		bind_error(bind, node->at, "not-text",
			"\"%s\" wants text, but file \"%s\" is not UTF-8 or holds NUL bytes",
			field->name, bind_quote(node->text, quoted));
		return false;
	}
	return true;
}

bool bind_scalar(struct bind_context *bind, const struct schema_field *field,
	const struct node *node, union message_value *value)
{
	if (node->tag == NODE_TAG_FILE)
		return bind_file(bind, field, node, value);
	if (node->kind != NODE_SCALAR) {
		bind_wrong_type(bind, node, field, number_type_words(field->type));
		return false;
	}
	switch (field->type) {
	case SCHEMA_STRING:
		if (node->is_json && node->is_plain) {
			bind_wrong_type(bind, node, field, "text in double quotes");
			return false;
		}
		value->bytes = node->text;
		return true;
	case SCHEMA_BYTES:
		return bind_bytes(bind, field, node, value);
	case SCHEMA_BOOL:
		return bind_boolean(bind, field, node, value);
	case SCHEMA_ENUM:
		return bind_enum(bind, field, node, value);
	case SCHEMA_FLOAT:
	case SCHEMA_DOUBLE:
		return bind_float(bind, field, node, value);
	case SCHEMA_INT32:
	case SCHEMA_SINT32:
	case SCHEMA_SFIXED32:
	case SCHEMA_UINT32:
	case SCHEMA_FIXED32:
	case SCHEMA_INT64:
	case SCHEMA_SINT64:
	case SCHEMA_SFIXED64:
	case SCHEMA_UINT64:
	case SCHEMA_FIXED64:
		return bind_integer(bind, field, node, value);
	case SCHEMA_MESSAGE:
	case SCHEMA_GROUP:
		break;
	}
	__builtin_unreachable();
}
