/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/path.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

#define PATH_BYTES   4096
#define QUOTED_BYTES 100
#define LISTED	     6 /* types, when a name could be several */

struct walk {
	struct names *names;
	const struct schema *schema;
	struct slice rest;
	struct path path;
	struct buf *problem;
};

const struct schema_message *path_message_of(const struct schema_field *field)
{
	if (!field->is_map)
		return field->message;
	return field->message->fields[1].message;
}

const struct schema_enum *path_enum_of(const struct schema_field *field)
{
	return field->is_map ? field->message->fields[1].enumeration : field->enumeration;
}

static void quote(struct buf *out, struct slice text)
{
	buf_putc(out, '"');
	text_quote(out, text, QUOTED_BYTES);
	buf_putc(out, '"');
}

static int refuse(struct walk *walk, const char *what, struct slice word, const char *where,
	const struct suggestion *suggestion)
{
	char phrase[256] = "";

	buf_printf(walk->problem, "%s ", what);
	quote(walk->problem, word);
	if (where)
		buf_printf(walk->problem, " in %s", where);
	if (suggestion)
		buf_puts(walk->problem, suggestion_phrase(suggestion, phrase));
	return -EINVAL;
}

static struct slice head(struct slice text, size_t length)
{
	return (struct slice){text.data, length};
}

static struct slice skip(struct slice text, size_t length)
{
	return (struct slice){text.data + length, text.length - length};
}

static bool is_separator(char c)
{
	return c == '.' || c == ':' || c == '[';
}

/* Up to the next separator. */
static struct slice part_of(struct slice text)
{
	size_t length = 0;

	while (length < text.length && !is_separator(text.data[length]))
		length++;
	return head(text, length);
}

/* Behind the host of a type URL, if there is one before any field. */
static struct slice skip_host(struct slice text)
{
	const char *slash = text.length ? memchr(text.data, '/', text.length) : NULL;

	return slash ? skip(text, (size_t)(slash + 1 - text.data)) : text;
}

/* ---- the beginning ---- */

static void at_message(struct walk *walk, const struct schema_message *message)
{
	walk->path.kind = PATH_MESSAGE;
	walk->path.message = message;
}

static void at_enum(struct walk *walk, const struct schema_enum *enumeration)
{
	walk->path.kind = PATH_ENUM;
	walk->path.enumeration = enumeration;
	walk->path.message = NULL;
}

/* The longest full name that the rest begins with. */
static bool take_full_name(struct walk *walk)
{
	struct slice text = skip_host(walk->rest);

	for (size_t length = text.length; length; length--) {
		struct slice name = head(text, length);
		const struct schema_message *message;
		const struct schema_enum *enumeration;

		if (length < text.length && !is_separator(text.data[length]))
			continue;
		message = schema_find_message(walk->schema, name);
		enumeration = message ? NULL : schema_find_enum(walk->schema, name);
		if (message)
			at_message(walk, message);
		else if (enumeration)
			at_enum(walk, enumeration);
		else
			continue;
		walk->rest = skip(text, length);
		return true;
	}
	return false;
}

static int refuse_several(struct walk *walk, struct slice name,
	const struct schema_message *const *found, size_t count)
{
	buf_puts(walk->problem, "several types are called ");
	quote(walk->problem, name);
	buf_puts(walk->problem, ":");
	for (size_t i = 0; i < count && i < LISTED; i++)
		buf_printf(walk->problem, "\n  %s", found[i]->full_name);
	if (count > LISTED)
		buf_printf(walk->problem, "\n  and %zu more", count - LISTED);
	return -EINVAL;
}

static int refuse_type(struct walk *walk, struct slice name)
{
	struct suggestion suggestion;
	const char *nearest = schema_nearest_message(walk->schema, name);
	char phrase[256];

	suggestion_init(&suggestion, name);
	names_offer(walk->names, &suggestion);
	if (nearest && !suggestion.best.data)
		suggestion.best = slice_of(nearest);
	buf_puts(walk->problem, "unknown type ");
	quote(walk->problem, name);
	buf_printf(walk->problem, " (%s)%s", schema_label(walk->schema),
		suggestion_phrase(&suggestion, phrase));
	return -EINVAL;
}

static int take_name(struct walk *walk)
{
	const struct schema_message *found[LISTED];
	struct slice name = part_of(walk->rest);
	size_t count = names_find(walk->names, name, found, LISTED);

	if (count > 1)
		return refuse_several(walk, name, found, count);
	if (count == 0) {
		/* A full name with a mistake in it is looked for as a whole. */
		struct slice whole = skip_host(walk->rest);
		bool is_full =
			whole.data != walk->rest.data ||
			(whole.length > name.length && islower((unsigned char)name.data[0]) &&
				memchr(whole.data + name.length + 1, '.',
					whole.length - name.length - 1));

		return refuse_type(walk, is_full ? whole : name);
	}
	at_message(walk, found[0]);
	walk->rest = skip(walk->rest, name.length);
	return 0;
}

/* ---- steps ---- */

static void at_field(struct walk *walk, const struct schema_field *field)
{
	walk->path.outer = walk->path.field;
	walk->path.kind = PATH_FIELD;
	walk->path.field = field;
	walk->path.message = path_message_of(field);
	walk->path.enumeration = path_enum_of(field);
}

static const struct schema_oneof *find_oneof(
	const struct schema_message *message, struct slice name)
{
	for (uint32_t i = 0; i < message->oneofs_count; i++)
		if (slice_is(name, message->oneofs[i].name))
			return &message->oneofs[i];
	return NULL;
}

/* A type that is declared in the message. */
static bool take_nested(struct walk *walk, const struct schema_message *message, struct slice name)
{
	struct buf whole = BUF_INIT;
	const struct schema_message *nested;
	const struct schema_enum *enumeration;

	buf_printf(&whole, "%s.%.*s", message->full_name, SLICE_ARG(name));
	nested = schema_find_message(walk->schema, buf_slice(&whole));
	enumeration = schema_find_enum(walk->schema, buf_slice(&whole));
	buf_fini(&whole);
	if (nested)
		at_message(walk, nested);
	else if (enumeration)
		at_enum(walk, enumeration);
	return nested || enumeration;
}

static int refuse_field(struct walk *walk, const struct schema_message *message, struct slice name)
{
	struct suggestion suggestion;

	suggestion_init(&suggestion, name);
	for (uint32_t i = 0; i < message->fields_count; i++) {
		suggestion_offer(&suggestion, message->fields[i].name);
		suggestion_offer(&suggestion, message->fields[i].json_name);
	}
	for (uint32_t i = 0; i < message->oneofs_count; i++)
		suggestion_offer(&suggestion, message->oneofs[i].name);
	return refuse(walk, "there is no field", name,
		names_short(walk->schema, message->full_name), &suggestion);
}

static int refuse_below_any(struct walk *walk)
{
	struct buf fitting = BUF_INIT;
	size_t count = path_fitting(walk->names, walk->schema, &walk->path, 4, &fitting);

	buf_printf(walk->problem, "\"%s\" holds any message: say which, for example \"%s:%.*s\"",
		walk->path.field->name, walk->path.field->name,
		count ? (int)strcspn(buf_cstr(&fitting), " ") : 11,
		count ? buf_cstr(&fitting) : "MessageType");
	buf_fini(&fitting);
	return -EINVAL;
}

static int take_value(struct walk *walk, struct slice name)
{
	const struct schema_enum *enumeration = walk->path.enumeration;
	const struct schema_enum_value *value = schema_enum_by_name_loose(enumeration, name);
	struct suggestion suggestion;

	if (value) {
		walk->path.kind = PATH_VALUE;
		walk->path.value = value;
		return 0;
	}
	suggestion_init(&suggestion, name);
	for (uint32_t i = 0; i < enumeration->values_count; i++)
		suggestion_offer(&suggestion, enumeration->values[i].name);
	return refuse(walk, "there is no value", name,
		names_short(walk->schema, enumeration->full_name), &suggestion);
}

/* Of a path that ends where nothing can be below. */
static const char *last_name(const struct path *path)
{
	if (path->kind == PATH_VALUE)
		return path->value->name;
	if (path->kind == PATH_ONEOF)
		return path->oneof->name;
	assert(path->field);
	return path->field->name;
}

static int take_step(struct walk *walk)
{
	const struct schema_message *message = walk->path.message;
	struct slice name = part_of(skip(walk->rest, 1));
	const struct schema_field *field;
	const struct schema_oneof *oneof;

	walk->rest = skip(walk->rest, 1 + name.length);
	if (name.length == 0) {
		buf_puts(walk->problem, "a name is missing behind the dot");
		return -EINVAL;
	}
	if (walk->path.kind == PATH_VALUE || walk->path.kind == PATH_ONEOF ||
		(!message && !walk->path.enumeration)) {
		buf_puts(walk->problem, "there is nothing below ");
		quote(walk->problem, slice_of(last_name(&walk->path)));
		buf_puts(walk->problem,
			walk->path.kind == PATH_ONEOF ? ": its fields belong to the message" : "");
		return -EINVAL;
	}
	if (!message)
		return take_value(walk, name);
	if (message->well_known == SCHEMA_ANY && walk->path.kind == PATH_FIELD)
		return refuse_below_any(walk);
	field = schema_field_by_name(message, name);
	oneof = field ? NULL : find_oneof(message, name);
	if (field) {
		at_field(walk, field);
	} else if (oneof) {
		walk->path.kind = PATH_ONEOF;
		walk->path.oneof = oneof;
	} else if (!take_nested(walk, message, name)) {
		return refuse_field(walk, message, name);
	}
	return 0;
}

static struct slice last_part(struct slice name)
{
	const char *dot = name.length ? memrchr(name.data, '.', name.length) : NULL;

	return dot ? skip(name, (size_t)(dot + 1 - name.data)) : name;
}

static bool is_same(struct slice a, struct slice b)
{
	return a.length == b.length && strncasecmp(a.data, b.data, a.length) == 0;
}

/* By the message's name, or by the last part of the extension's: many messages are "Config". */
static bool is_named(
	const struct walk *walk, const struct names_extension *extension, struct slice name)
{
	const char *full = extension->message->full_name;

	return is_same(name, slice_of(names_short(walk->schema, full))) ||
	       is_same(name, last_part(extension->name));
}

/* The rest begins with a colon: what the Any before it holds. */
static int take_type(struct walk *walk)
{
	const struct schema_message *message = walk->path.message, *found[LISTED];
	const struct names_extension *fitting;
	struct buf categories = BUF_INIT;
	size_t count, matches = 0;
	struct slice name;

	walk->rest = skip(walk->rest, 1);
	if (walk->path.kind != PATH_FIELD || !message || message->well_known != SCHEMA_ANY) {
		buf_puts(
			walk->problem, "\":\" says what an Any holds, and there is none before it");
		return -EINVAL;
	}
	if (take_full_name(walk))
		return 0;
	name = part_of(walk->rest);
	if (name.length == 0) {
		buf_puts(walk->problem, "a type is missing behind the colon");
		return -EINVAL;
	}
	names_categories(walk->names, walk->path.field, walk->path.outer, &categories);
	fitting = names_fitting(walk->names, buf_slice(&categories), &count);
	for (size_t i = 0; i < count && matches < LISTED; i++)
		if (is_named(walk, &fitting[i], name))
			found[matches++] = fitting[i].message;
	buf_fini(&categories);
	if (matches > 1)
		return refuse_several(walk, name, found, matches);
	if (matches == 0)
		return take_name(walk);
	at_message(walk, found[0]);
	walk->rest = skip(walk->rest, name.length);
	return 0;
}

static int skip_index(struct walk *walk)
{
	const char *end = memchr(walk->rest.data, ']', walk->rest.length);

	if (walk->path.kind != PATH_FIELD || !walk->path.field->is_repeated || !end) {
		buf_puts(walk->problem, end ? "[...] may stand behind lists and maps only"
					    : "there is a \"[\" without a \"]\"");
		return -EINVAL;
	}
	walk->rest = skip(walk->rest, (size_t)(end + 1 - walk->rest.data));
	return 0;
}

static int take_next(struct walk *walk)
{
	switch (walk->rest.data[0]) {
	case '.':
		return take_step(walk);
	case ':':
		return take_type(walk);
	case '[':
		return skip_index(walk);
	default:
		return refuse(walk, "a dot is missing before", walk->rest, NULL, NULL);
	}
}

static bool is_possible(struct slice text)
{
	return text.length <= PATH_BYTES && !(text.length && memchr(text.data, '\0', text.length));
}

int path_resolve(struct names *names, const struct schema *schema, struct slice text,
	struct path *ret_path, struct buf *problem)
{
	struct walk walk = {.names = names, .schema = schema, .rest = text, .problem = problem};
	int error = 0;

	if (text.length == 0 || !is_possible(text)) {
		buf_puts(problem, text.length == 0	     ? "there is no name"
				  : text.length > PATH_BYTES ? "this is too long for a path"
							     : "there is a NUL byte in it");
		return -EINVAL;
	}
	if (!take_full_name(&walk))
		error = take_name(&walk);
	while (!error && walk.rest.length)
		error = take_next(&walk);
	*ret_path = walk.path;
	return error;
}

size_t path_fitting(struct names *names, const struct schema *schema, const struct path *path,
	size_t limit, struct buf *out)
{
	struct buf categories = BUF_INIT;
	const struct names_extension *fitting;
	size_t count;

	names_categories(names, path->field, path->outer, &categories);
	fitting = names_fitting(names, buf_slice(&categories), &count);
	for (size_t i = 0; i < count && i < limit; i++)
		buf_printf(out, "%s%s", i ? " " : "",
			names_short(schema, fitting[i].message->full_name));
	buf_fini(&categories);
	return count;
}

/* ---- completion ---- */

struct completion {
	struct slice before; /* of the part that is unfinished */
	struct slice start;  /* of that part */
	path_cb tell;
	void *ctx;
	struct hash told;
};

static void offer_slice(struct completion *completion, struct slice name)
{
	struct buf whole = BUF_INIT;

	if (name.length < completion->start.length ||
		strncasecmp(name.data, completion->start.data ? completion->start.data : "",
			completion->start.length) != 0)
		return;
	buf_append_slice(&whole, completion->before);
	buf_append_slice(&whole, name);
	if (!hash_get(&completion->told, buf_slice(&whole))) {
		char *copy = xstrdup(buf_cstr(&whole));

		hash_put(&completion->told, slice_of(copy), copy);
		completion->tell(completion->ctx, copy);
	}
	buf_fini(&whole);
}

static void offer(struct completion *completion, const char *name)
{
	offer_slice(completion, slice_of(name));
}

/* The next part of every full name that begins as the text does. */
static void complete_full_name(
	struct completion *completion, const struct schema *schema, struct slice text)
{
	size_t count;
	const struct schema_message *const *all = schema_messages(schema, &count);

	for (size_t i = 0; i < count; i++) {
		struct slice name = slice_of(all[i]->full_name);
		const char *dot;

		if (name.length < text.length || memcmp(name.data, text.data, text.length) != 0)
			continue;
		name = skip(name, completion->before.length);
		dot = memchr(name.data + completion->start.length, '.',
			name.length - completion->start.length);
		offer_slice(completion, dot ? head(name, (size_t)(dot - name.data)) : name);
	}
}

static void complete_start(void *ctx, const char *name, const struct schema_message *message)
{
	struct completion *completion = ctx;

	(void)message;
	/* Without a letter typed only resources are offered, not a thousand types. */
	if (!strchr(name, ' ') && (completion->start.length || islower((unsigned char)name[0])))
		offer(completion, name);
}

static void complete_below(struct completion *completion, const struct path *path)
{
	const struct schema_message *message = path->message;
	bool is_camel = false;

	for (size_t i = 0; i < completion->start.length; i++)
		is_camel = is_camel || isupper((unsigned char)completion->start.data[i]);
	if (message && (path->kind == PATH_MESSAGE || path->kind == PATH_FIELD) &&
		message->well_known != SCHEMA_ANY) {
		for (uint32_t i = 0; i < message->fields_count; i++)
			offer(completion,
				is_camel ? message->fields[i].json_name : message->fields[i].name);
		for (uint32_t i = 0; i < message->oneofs_count; i++)
			offer(completion, message->oneofs[i].name);
	} else if (path->enumeration && path->kind != PATH_VALUE) {
		for (uint32_t i = 0; i < path->enumeration->values_count; i++)
			offer(completion, path->enumeration->values[i].name);
	}
}

static void complete_type(struct completion *completion, struct names *names,
	const struct schema *schema, const struct path *path)
{
	const struct names_extension *fitting;
	struct buf categories = BUF_INIT;
	size_t count;

	if (path->kind != PATH_FIELD || !path->message || path->message->well_known != SCHEMA_ANY)
		return;
	names_categories(names, path->field, path->outer, &categories);
	fitting = names_fitting(names, buf_slice(&categories), &count);
	for (size_t i = 0; i < count; i++) {
		const char *name = names_short(schema, fitting[i].message->full_name);
		size_t others = 0;

		for (size_t k = 0; k < count; k++)
			others += strcmp(name,
					  names_short(schema, fitting[k].message->full_name)) == 0;
		offer_slice(completion, others > 1 ? last_part(fitting[i].name) : slice_of(name));
	}
	buf_fini(&categories);
}

void path_complete(struct names *names, const struct schema *schema, struct slice text,
	path_cb tell, void *ctx)
{
	struct completion completion = {.tell = tell, .ctx = ctx};
	struct buf problem = BUF_INIT;
	struct hash_entry *entry;
	struct path path;
	size_t at = text.length, cursor = 0;

	if (!is_possible(text))
		return;
	hash_init(&completion.told);
	while (at && !(text.data[at - 1] == '.' || text.data[at - 1] == ':'))
		at--;
	completion.before = head(text, at);
	completion.start = skip(text, at);
	if (at == 0) {
		names_beginning(names, text, complete_start, &completion);
	} else if (path_resolve(names, schema, head(text, at - 1), &path, &problem) == 0) {
		if (text.data[at - 1] == ':')
			complete_type(&completion, names, schema, &path);
		else
			complete_below(&completion, &path);
	}
	if (at == 0 || text.data[at - 1] == '.')
		complete_full_name(&completion, schema, text);
	while ((entry = hash_next(&completion.told, &cursor)))
		free(entry->value);
	hash_fini(&completion.told);
	buf_fini(&problem);
}
