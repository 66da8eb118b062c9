/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/explain_text.h"

#include "author/plain.h"

#define LABEL_COLUMNS 10
#define SUMMARY_BYTES 300

struct printer {
	const struct explain_style *style;
	struct buf *out;
};

static const char *get(const json_t *from, const char *key)
{
	return json_string_value(json_object_get(from, key));
}

static bool has(const json_t *from, const char *key)
{
	return json_is_true(json_object_get(from, key));
}

static const char *bold(const struct printer *printer)
{
	return printer->style->is_coloured ? "\033[1m" : "";
}

static const char *dim(const struct printer *printer)
{
	return printer->style->is_coloured ? "\033[36m" : "";
}

static const char *warn(const struct printer *printer)
{
	return printer->style->is_coloured ? "\033[33m" : "";
}

static const char *plain(const struct printer *printer)
{
	return printer->style->is_coloured ? "\033[0m" : "";
}

/* "RULES:    text", further lines below the text. */
static void put_label(const struct printer *printer, const char *label, const char *text)
{
	struct buf lines = BUF_INIT;

	plain_wrap(&lines, slice_of(text), LABEL_COLUMNS, printer->style->width);
	buf_printf(printer->out, "%s%s%s", bold(printer), label, plain(printer));
	buf_fill(printer->out, ' ',
		strlen(label) < LABEL_COLUMNS ? LABEL_COLUMNS - strlen(label) : 1);
	buf_puts(printer->out,
		buf_cstr(&lines) + (lines.length > LABEL_COLUMNS ? LABEL_COLUMNS : 0));
	buf_fini(&lines);
}

static void put_heading(const struct printer *printer, const char *heading)
{
	buf_printf(printer->out, "\n%s%s%s\n", bold(printer), heading, plain(printer));
}

static void put_block(const struct printer *printer, const char *text, unsigned indent)
{
	plain_wrap(printer->out, slice_of(text), indent, printer->style->width);
}

/* The first sentence of a comment, as far as it goes on its first line. */
static struct slice summary_of(const char *text)
{
	struct slice line = {text, strcspn(text, "\n")};

	for (size_t i = 3; i + 1 < line.length; i++)
		if (line.data[i] == '.' && line.data[i + 1] == ' ' &&
			memcmp(line.data + i - 3, "i.e", 3) != 0 &&
			memcmp(line.data + i - 3, "e.g", 3) != 0)
			line.length = i + 1;
	if (line.length > SUMMARY_BYTES)
		while (line.length && line.data[line.length - 1] != ' ')
			line.length--;
	return line;
}

/* ---- marks ---- */

static void put_marks(const json_t *of, struct buf *marks)
{
	const char *at = get(of, "deprecated_at");

	if (has(of, "required"))
		buf_puts(marks, " required");
	if (has(of, "disallowed"))
		buf_puts(marks, " refused-by-default");
	else if (has(of, "deprecated"))
		buf_puts(marks, " deprecated");
	if (has(of, "deprecated") && at)
		buf_printf(marks, "-in-%s", at);
	if (has(of, "work_in_progress"))
		buf_puts(marks, " work-in-progress");
	if (has(of, "not_implemented"))
		buf_puts(marks, " not-implemented");
	if (has(of, "sensitive"))
		buf_puts(marks, " sensitive");
}

static void put_rules(const struct printer *printer, const json_t *of)
{
	const json_t *rules = json_object_get(of, "rules"), *rule;
	const char *label = "RULES:";
	size_t i;

	json_array_foreach(rules, i, rule)
	{
		struct buf text = BUF_INIT;

		buf_printf(&text, "%s [%s]", get(rule, "text"), get(rule, "id"));
		put_label(printer, label, buf_cstr(&text));
		label = "";
		buf_fini(&text);
	}
}

static void put_standing(const struct printer *printer, const json_t *of)
{
	const char *at = get(of, "deprecated_at");
	struct buf text = BUF_INIT;

	if (has(of, "deprecated")) {
		buf_printf(&text, "deprecated%s%s%s", at ? " in API version " : "", at ? at : "",
			has(of, "disallowed") ? "; Envoy refuses it unless it is told otherwise"
					      : "");
	} else if (has(of, "disallowed")) {
		buf_puts(&text, "Envoy refuses it unless it is told otherwise");
	}
	if (has(of, "work_in_progress"))
		buf_printf(
			&text, "%swork in progress: it may change or go", text.length ? "; " : "");
	if (has(of, "not_implemented"))
		buf_printf(&text, "%snot implemented by Envoy, or not for everyone",
			text.length ? "; " : "");
	if (text.length)
		put_label(printer, "STATUS:", buf_cstr(&text));
	buf_reset(&text);
	if (has(of, "sensitive"))
		put_label(
			printer, "SECRET:", "sensitive: messages of xdspub do not show its value");
	buf_fini(&text);
}

/* ---- lists ---- */

static const json_t *find_oneof(const json_t *document, const char *name)
{
	const json_t *oneof;
	size_t i;

	json_array_foreach(json_object_get(document, "oneofs"), i, oneof)
	{
		if (strcmp(get(oneof, "name"), name) == 0)
			return oneof;
	}
	return NULL;
}

/* "  name <type> required" and the first sentence below it. */
static void put_field(const struct printer *printer, const json_t *document, const json_t *field)
{
	const char *oneof = get(field, "oneof"), *text = get(field, "description");
	const json_t *whole = oneof ? find_oneof(document, oneof) : NULL;
	struct buf marks = BUF_INIT;

	put_marks(field, &marks);
	buf_printf(printer->out, "  %s%s%s %s<%s>%s%s%s%s", bold(printer), get(field, "name"),
		plain(printer), dim(printer), get(field, "type"), plain(printer), warn(printer),
		buf_cstr(&marks), plain(printer));
	if (oneof)
		buf_printf(printer->out, " (one of %s%s)", oneof,
			whole && has(whole, "required") ? ", required" : "");
	buf_putc(printer->out, '\n');
	if (text)
		plain_wrap(printer->out, summary_of(text), 6, printer->style->width);
	buf_fini(&marks);
}

static void put_tree(const struct printer *printer, const json_t *fields, unsigned indent)
{
	const json_t *field;
	size_t i;

	json_array_foreach(fields, i, field)
	{
		struct buf marks = BUF_INIT;
		const json_t *below = json_object_get(field, "fields");

		put_marks(field, &marks);
		buf_fill(printer->out, ' ', indent);
		buf_printf(printer->out, "%s%s%s %s<%s>%s%s%s%s%s%s\n", bold(printer),
			get(field, "name"), plain(printer), dim(printer), get(field, "type"),
			plain(printer), warn(printer), buf_cstr(&marks), plain(printer),
			has(field, "cycle") ? " (as above)" : "", has(field, "cut") ? " ..." : "");
		buf_fini(&marks);
		if (below)
			put_tree(printer, below, indent + 2);
	}
}

static void put_fields(const struct printer *printer, const json_t *document)
{
	const json_t *fields = json_object_get(document, "fields"), *field;
	bool is_tree = false;
	size_t i;

	if (!json_array_size(fields))
		return;
	put_heading(printer, "FIELDS");
	/* What a tree has of a field is no more than its place. */
	json_array_foreach(fields, i, field)
	{
		is_tree = is_tree || !json_object_get(field, "number");
	}
	if (is_tree)
		put_tree(printer, fields, 2);
	json_array_foreach(fields, i, field)
	{
		if (!is_tree)
			put_field(printer, document, field);
	}
}

static void put_values(const struct printer *printer, const json_t *document)
{
	const json_t *values = json_object_get(document, "values"), *value;
	size_t i;

	if (!json_array_size(values))
		return;
	put_heading(printer, "VALUES");
	json_array_foreach(values, i, value)
	{
		const char *text = get(value, "description");
		struct buf marks = BUF_INIT;

		put_marks(value, &marks);
		buf_printf(printer->out, "  %s%s%s (%lld)%s%s%s\n", bold(printer),
			get(value, "name"), plain(printer),
			(long long)json_integer_value(json_object_get(value, "number")),
			warn(printer), buf_cstr(&marks), plain(printer));
		if (text)
			put_block(printer, text, 6);
		buf_fini(&marks);
	}
}

static void put_fitting(const struct printer *printer, const json_t *document)
{
	const json_t *fitting = json_object_get(document, "fitting"), *one;
	size_t i;

	if (!json_array_size(fitting))
		return;
	put_heading(printer, "TYPES THAT GO HERE");
	json_array_foreach(fitting, i, one)
	{
		buf_printf(printer->out, "  %s%s%s %s\n", bold(printer), get(one, "name"),
			plain(printer), get(one, "extension"));
		buf_printf(printer->out, "      type.googleapis.com/%s\n", get(one, "full_name"));
	}
}

static void put_keys(const struct printer *printer, const json_t *document)
{
	const json_t *keys = json_object_get(document, "keys"), *key;
	size_t i;

	if (!json_array_size(keys))
		return;
	put_heading(printer, "KEYS");
	json_array_foreach(keys, i, key)
	{
		buf_printf(printer->out, "  %s%s%s %s<%s>%s%s\n", bold(printer), get(key, "name"),
			plain(printer), dim(printer), get(key, "type"), plain(printer),
			has(key, "required") ? " required" : "");
		if (get(key, "description"))
			put_block(printer, get(key, "description"), 6);
	}
}

/* ---- heads ---- */

static void put_optional(
	const struct printer *printer, const char *label, const json_t *document, const char *key)
{
	if (get(document, key))
		put_label(printer, label, get(document, key));
}

static void put_type_head(const struct printer *printer, const json_t *document)
{
	struct buf text = BUF_INIT;

	buf_puts(&text, get(document, "name"));
	put_label(printer,
		strcmp(get(document, "kind"), "enum") == 0 ? "ENUM:" : "TYPE:", buf_cstr(&text));
	put_label(printer, "NAME:", get(document, "full_name"));
	buf_reset(&text);
	if (get(document, "resource")) {
		buf_printf(&text, "%s, in the folder %s/", get(document, "resource"),
			get(document, "folder"));
		put_label(printer, "RESOURCE:", buf_cstr(&text));
	}
	put_optional(printer, "EXTENDS:", document, "extension");
	put_optional(printer, "WRITTEN:", document, "format");
	put_standing(printer, document);
	buf_fini(&text);
}

static void put_oneof_line(const struct printer *printer, const json_t *document)
{
	const char *oneof = get(document, "oneof");

	if (oneof)
		put_label(printer, "ONE OF:", oneof);
}

static void put_field_head(const struct printer *printer, const json_t *document)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "%s.%s", get(document, "parent_name"), get(document, "name"));
	put_label(printer, "FIELD:", buf_cstr(&text));
	buf_reset(&text);
	buf_puts(&text, get(document, "type"));
	if (get(document, "message") || get(document, "enum"))
		buf_printf(&text, " (%s)",
			get(document, "message") ? get(document, "message")
						 : get(document, "enum"));
	if (has(document, "is_wrapper"))
		buf_puts(&text, ", may be left out");
	put_label(printer, "TYPE:", buf_cstr(&text));
	put_optional(printer, "WRITTEN:", document, "format");
	put_optional(printer, "OR AS:", document, "json_name");
	put_oneof_line(printer, document);
	put_optional(printer, "DEFAULT:", document, "default");
	put_rules(printer, document);
	put_standing(printer, document);
	buf_fini(&text);
}

static void put_member_head(
	const struct printer *printer, const json_t *document, const char *label)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "%s.%s", get(document, "parent_name"), get(document, "name"));
	if (json_object_get(document, "number"))
		buf_printf(&text, " (%lld)",
			(long long)json_integer_value(json_object_get(document, "number")));
	put_label(printer, label, buf_cstr(&text));
	if (has(document, "required"))
		put_label(printer, "RULES:", "one of its fields must be set [oneof.required]");
	put_standing(printer, document);
	buf_fini(&text);
}

static void put_rule_head(const struct printer *printer, const json_t *document)
{
	put_label(printer, "RULE:", get(document, "id"));
	put_label(printer, "LEVEL:", get(document, "level"));
	put_optional(printer, "ABOUT:", document, "area");
	put_optional(printer, "MEANS:", document, "reason");
	put_optional(printer, "SILENCE:", document, "silence");
}

static void put_key_head(const struct printer *printer, const json_t *document)
{
	put_label(printer, "KEY:", get(document, "name"));
	put_optional(printer, "FILE:", document, "file");
	put_optional(printer, "TYPE:", document, "type");
	put_optional(printer, "OPTION:", document, "flag");
	put_optional(printer, "DEFAULT:", document, "default");
	put_optional(printer, "RANGE:", document, "range");
	put_optional(printer, "CHANGES:", document, "reload");
	if (has(document, "required"))
		put_label(printer, "RULES:", "must be there");
	put_optional(printer, "EXAMPLE:", document, "example");
}

void explain_text(const json_t *document, const struct explain_style *style, struct buf *out)
{
	const struct printer printer = {style, out};
	const char *kind = get(document, "kind"), *comment = get(document, "description");
	const char *more = get(json_object_get(document, "message_comment"), "description");

	if (strcmp(kind, "message") == 0 || strcmp(kind, "enum") == 0)
		put_type_head(&printer, document);
	else if (strcmp(kind, "field") == 0)
		put_field_head(&printer, document);
	else if (strcmp(kind, "rule") == 0)
		put_rule_head(&printer, document);
	else if (strcmp(kind, "key") == 0)
		put_key_head(&printer, document);
	else
		put_member_head(
			&printer, document, strcmp(kind, "oneof") == 0 ? "ONEOF:" : "VALUE:");
	if (comment || more)
		put_heading(&printer, "DESCRIPTION");
	if (comment)
		put_block(&printer, comment, 4);
	if (comment && more)
		buf_putc(out, '\n');
	if (more)
		put_block(&printer, more, 4);
	put_values(&printer, document);
	put_fitting(&printer, document);
	put_keys(&printer, document);
	put_fields(&printer, document);
}
