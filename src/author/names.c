/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "author/plain.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/mem.h"
#include "snapshot/types.h"

/* Categories whose extensions are not named after them, and fields that say nothing of theirs. */
static const struct {
	const char *category, *extensions;
} aliases[] = {
	{"envoy.matching.input_matchers", "envoy.matching.matchers"},
	{"envoy.transport_sockets.downstream", "envoy.transport_sockets"},
	{"envoy.transport_sockets.upstream", "envoy.transport_sockets"},
};
static const struct {
	const char *field, *categories;
	bool with_overrides; /* the types with which routes override filters, too */
} fields[] = {
	{"typed_per_filter_config", "envoy.filters.http", true},
	{"typed_extension_protocol_options", "envoy.upstreams.http.http_protocol_options", false},
};

struct entry {
	char *folded; /* lower case, without '_' */
	const char *name;
	const struct schema_message *message;
};

struct names {
	const struct schema *schema;
	const struct comments *comments;
	struct arena *arena;
	struct entry *entries; /* by folded name, then full name; nested types are not in it */
	size_t count;
	struct names_extension *extensions; /* by full name of the message */
	size_t extensions_count, extensions_capacity;
	struct names_extension *fitting;
	size_t fitting_capacity;
};

static bool is_nested(const struct schema *schema, const char *full_name)
{
	const char *dot = strrchr(full_name, '.');
	struct slice parent = {full_name, dot ? (size_t)(dot - full_name) : 0};

	return dot && schema_find_message(schema, parent);
}

const char *names_short(const struct schema *schema, const char *full_name)
{
	const char *start = strrchr(full_name, '.');

	if (!start)
		return full_name;
	while (start > full_name &&
		schema_find_message(
			schema, (struct slice){full_name, (size_t)(start - full_name)})) {
		const char *dot = memrchr(full_name, '.', (size_t)(start - full_name));

		if (!dot)
			return full_name;
		start = dot;
	}
	return start + 1;
}

static size_t fold(struct slice name, char *out, size_t room)
{
	size_t length = 0;

	for (size_t i = 0; i < name.length && length + 1 < room; i++)
		if (name.data[i] != '_' && name.data[i] != '-' && name.data[i] != ' ')
			out[length++] = (char)tolower((unsigned char)name.data[i]);
	out[length] = '\0';
	return length;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = strcmp(a->folded, b->folded);

	return order ? order : strcmp(a->message->full_name, b->message->full_name);
}

static void add_entry(struct names *names, const char *name, const struct schema_message *message)
{
	size_t length = strlen(name);
	char *folded = arena_alloc(names->arena, length + 1);

	fold(slice_of(name), folded, length + 1);
	names->entries[names->count++] = (struct entry){folded, name, message};
}

static void add_types(struct names *names)
{
	size_t count;
	const struct schema_message *const *all = schema_messages(names->schema, &count);

	names->entries = xcalloc(count + 4 * XDS_TYPE_COUNT, sizeof(*names->entries));
	for (size_t i = 0; i < count; i++) {
		const char *dot = strrchr(all[i]->full_name, '.');

		if (!is_nested(names->schema, all[i]->full_name))
			add_entry(names, dot ? dot + 1 : all[i]->full_name, all[i]);
	}
	/* Resources have more names. Where a type has one of them, too, names_find prefers these.
	 */
	for (int i = 0; i < XDS_TYPE_COUNT; i++) {
		const struct xds_type_row *row = xds_type_row((enum xds_type)i);
		const struct schema_message *message =
			schema_find_message(names->schema, slice_of(row->message));

		if (!message)
			continue;
		add_entry(names, row->stem, message);
		add_entry(names, row->folder, message);
		add_entry(names, row->noun, message);
	}
	qsort(names->entries, names->count, sizeof(*names->entries), compare_entries);
}

/* ---- extensions ---- */

static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* "envoy.filters.network.http_connection_manager" and "HttpConnectionManager" */
static bool is_called(const struct schema_message *message, struct slice extension)
{
	const char *dot = extension.length ? memrchr(extension.data, '.', extension.length) : NULL;
	size_t skip = dot ? (size_t)(dot + 1 - extension.data) : 0;
	char left[256], right[256];

	fold((struct slice){extension.data + skip, extension.length - skip}, left, sizeof(left));
	fold(slice_of(last_part(message->full_name)), right, sizeof(right));
	return strcmp(left, right) == 0;
}

/* The extensions that a comment names; `only_main`: only if the message is called so. */
static void add_extension(struct names *names, const struct schema_message *message,
	struct slice comment, bool only_main)
{
	size_t cursor = 0;
	struct slice name;

	while ((name = plain_next_mark(comment, "extension", &cursor)).data) {
		bool is_main = is_called(message, name);

		if (only_main && !is_main)
			continue;
		array_reserve(
			names->extensions, names->extensions_capacity, names->extensions_count + 1);
		names->extensions[names->extensions_count++] =
			(struct names_extension){message, name, is_main};
	}
}

/* Messages that a message of the same file has as a field: parts of others, no extensions. */
static void find_parts(const struct schema_message *message, struct hash *parts)
{
	for (uint32_t i = 0; i < message->fields_count; i++) {
		const struct schema_message *part = message->fields[i].message;

		if (part && part != message && strcmp(part->file_name, message->file_name) == 0)
			hash_put(parts, slice_of(part->full_name), (void *)(uintptr_t)part);
	}
}

static void add_extensions(struct names *names)
{
	size_t count;
	const struct schema_message *const *all = schema_messages(names->schema, &count);
	struct hash parts;

	hash_init(&parts);
	for (size_t i = 0; i < count; i++)
		find_parts(all[i], &parts);
	for (size_t i = 0; i < count; i++) {
		const char *name = all[i]->full_name;
		struct slice own = comments_find(names->comments, name, NULL);

		add_extension(names, all[i], own, false);
		if (!plain_has_mark(own, "extension") && !is_nested(names->schema, name))
			add_extension(names, all[i],
				comments_of_file(names->comments, all[i]->file_name),
				hash_get(&parts, slice_of(name)));
	}
	hash_fini(&parts);
}

struct names *names_new(const struct schema *schema, const struct comments *comments)
{
	struct names *names = xcalloc(1, sizeof(*names));

	names->schema = schema;
	names->comments = comments;
	names->arena = arena_new(0);
	add_types(names);
	add_extensions(names);
	return names;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	free(names->entries);
	free(names->extensions);
	free(names->fitting);
	arena_free(names->arena);
	free(names);
}

/* ---- categories ---- */

static void add_category(struct buf *out, struct slice category)
{
	if (category.length && !memchr(category.data, ' ', category.length))
		buf_printf(out, "%s%.*s", out->length ? " " : "", SLICE_ARG(category));
}

static void own_categories(
	const struct names *names, const struct schema_field *field, struct buf *out)
{
	struct slice comment =
		comments_find(names->comments, field->parent->full_name, field->name);
	struct slice category;
	size_t cursor = 0;

	while ((category = plain_next_mark(comment, "extension-category", &cursor)).data)
		add_category(out, category);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && out->length == 0; i++)
		if (strcmp(field->name, fields[i].field) == 0)
			buf_printf(out, "%s%s", fields[i].categories,
				fields[i].with_overrides ? " *" : "");
}

void names_categories(const struct names *names, const struct schema_field *field,
	const struct schema_field *outer, struct buf *out)
{
	size_t start = out->length;

	own_categories(names, field, out);
	if (out->length == start && outer)
		own_categories(names, outer, out);
}

static bool begins_with(struct slice name, struct slice start)
{
	return name.length > start.length && memcmp(name.data, start.data, start.length) == 0 &&
	       name.data[start.length] == '.';
}

/* "envoy.compression.gzip.compressor" is one of "envoy.compression.compressor". */
static bool is_between(struct slice name, struct slice category)
{
	const char *dot = category.length ? memrchr(category.data, '.', category.length) : NULL;
	struct slice head = {category.data, dot ? (size_t)(dot - category.data) : 0};
	struct slice tail = {dot, category.length - head.length};

	return dot && begins_with(name, head) && name.length > category.length &&
	       memcmp(name.data + name.length - tail.length, tail.data, tail.length) == 0;
}

/* Some extensions are called "envoy.extensions.http.cache.x" instead of "envoy.http.cache.x". */
static bool is_long_form(struct slice name, struct slice category)
{
	const struct slice start = SLICE("envoy."), more = SLICE("envoy.extensions.");

	return name.length > more.length && category.length > start.length &&
	       memcmp(name.data, more.data, more.length) == 0 &&
	       begins_with((struct slice){name.data + more.length, name.length - more.length},
		       (struct slice){
			       category.data + start.length, category.length - start.length});
}

static bool fits(struct slice extension, struct slice category)
{
	if (slice_equal(extension, category) || begins_with(extension, category) ||
		is_between(extension, category) || is_long_form(extension, category))
		return true;
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (slice_is(category, aliases[i].category) &&
			begins_with(extension, slice_of(aliases[i].extensions)))
			return true;
	return false;
}

static struct slice next_word(struct slice *rest)
{
	const char *blank = rest->length ? memchr(rest->data, ' ', rest->length) : NULL;
	size_t length = blank ? (size_t)(blank - rest->data) : rest->length;
	struct slice word = {rest->data, length};

	rest->data += length + (blank != NULL);
	rest->length -= length + (blank != NULL);
	return word;
}

/* FooPerRoute overrides a filter; it is none. */
static bool is_override(const struct schema_message *message)
{
	return strstr(message->full_name, "PerRoute") != NULL;
}

/* Whether a message of this extension is called as it: then others of its file are something else.
 */
static bool has_main(const struct names *names, struct slice extension)
{
	for (size_t i = 0; i < names->extensions_count; i++)
		if (names->extensions[i].is_main &&
			slice_equal(names->extensions[i].name, extension))
			return true;
	return false;
}

static bool is_fitting(
	const struct names *names, const struct names_extension *extension, struct slice categories)
{
	bool with_overrides = categories.length && memchr(categories.data, '*', categories.length);
	struct slice word;

	if (!with_overrides && (is_override(extension->message) ||
				       (!extension->is_main && has_main(names, extension->name))))
		return false;
	while ((word = next_word(&categories)).length)
		if (fits(extension->name, word))
			return true;
	return false;
}

const struct names_extension *names_fitting(
	struct names *names, struct slice categories, size_t *ret_count)
{
	*ret_count = 0;
	for (size_t i = 0; i < names->extensions_count && categories.length; i++) {
		if (!is_fitting(names, &names->extensions[i], categories))
			continue;
		array_reserve(names->fitting, names->fitting_capacity, *ret_count + 1);
		names->fitting[(*ret_count)++] = names->extensions[i];
	}
	return names->fitting;
}

struct slice names_extension_of(const struct names *names, const struct schema_message *message)
{
	for (size_t i = 0; i < names->extensions_count; i++) {
		const struct names_extension *extension = &names->extensions[i];

		if (extension->message == message && (extension->is_main || is_override(message) ||
							     !has_main(names, extension->name)))
			return extension->name;
	}
	return (struct slice){NULL, 0};
}

/* ---- looking up ---- */

static size_t first_from(const struct names *names, const char *folded)
{
	size_t low = 0, high = names->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(names->entries[middle].folded, folded) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Resources first, then what is spelt so, then what Envoy's own configuration has. */
static int rank(const struct entry *entry, struct slice name)
{
	const char *full = entry->message->full_name;

	if (xds_type_by_message(slice_of(full)))
		return 0;
	if (slice_is(name, entry->name))
		return 1;
	return strncmp(full, "envoy.config.", 13) == 0 ? 2 : 3;
}

size_t names_find(const struct names *names, struct slice name, const struct schema_message **out,
	size_t limit)
{
	char folded[256];
	size_t found = 0;
	int best = 9;

	if (name.length >= sizeof(folded) || fold(name, folded, sizeof(folded)) == 0)
		return 0;
	for (size_t i = first_from(names, folded);
		i < names->count && strcmp(names->entries[i].folded, folded) == 0; i++) {
		const struct entry *entry = &names->entries[i];
		int its = rank(entry, name);
		bool is_there = false;

		if (its < best) {
			best = its;
			found = 0;
		}
		for (size_t k = 0; k < found && k < limit; k++)
			is_there = is_there || out[k] == entry->message;
		if (its > best || is_there)
			continue;
		if (found < limit)
			out[found] = entry->message;
		found++;
	}
	return found;
}

void names_offer(const struct names *names, struct suggestion *suggestion)
{
	for (size_t i = 0; i < names->count; i++)
		suggestion_offer(suggestion, names->entries[i].name);
}

void names_beginning(const struct names *names, struct slice start, names_cb tell, void *ctx)
{
	for (size_t i = 0; i < names->count; i++)
		if (strlen(names->entries[i].name) >= start.length &&
			strncasecmp(names->entries[i].name, start.data ? start.data : "",
				start.length) == 0)
			tell(ctx, names->entries[i].name, names->entries[i].message);
}
