/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schema/schema.h"

#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "schema/schema_build.h"

#define SET_LIMIT_BYTES (64u << 20)
#define ARENA_FACTOR	32
#define ARENA_FLOOR	(1u << 20)

static void free_texts(struct buf *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_fini(&texts[i]);
	free(texts);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What the set itself says it is; NULL when it does not. */
static const char *find_origin(const struct schema *schema)
{
	const struct schema_message *type =
		schema_find_message(schema, SLICE("xdspub.schema.Origin"));
	const struct schema_field *field = type ? schema_field_by_name(type, SLICE("label")) : NULL;

	return field ? field->default_text : NULL;
}

static const char *make_label(const struct schema *schema, const char *const *names)
{
	const char *base = base_name(names[0]), *origin = find_origin(schema);
	const char *kind = origin ? origin : "schema", *in = origin ? " in" : "";

	if (schema->texts_count == 1)
		return arena_printf(schema->arena, "%s%s %s", kind, in, base);
	if (schema->texts_count == 2)
		return arena_printf(
			schema->arena, "%s%s %s with %s", kind, in, base, base_name(names[1]));
	return arena_printf(schema->arena, "%s%s %s with %zu more files", kind, in, base,
		schema->texts_count - 1);
}

static int build(struct schema *schema, const char *const *names, struct descset *files,
	struct diag_list *diags)
{
	size_t size = 0;
	int rc = 0;

	for (size_t i = 0; i < schema->texts_count; i++) {
		size += schema->texts[i].length;
		if (descset_add(files, buf_slice(&schema->texts[i]), names[i], diags))
			rc = -EINVAL;
	}
	if (rc)
		return rc;
	schema->arena = arena_new(size * ARENA_FACTOR + ARENA_FLOOR);
	rc = schema_build(schema, files, diags);
	if (!rc) {
		schema->label = make_label(schema, names);
		rc = schema->label ? 0 : -ENOMEM;
	}
	if (rc == -ENOMEM)
		diag_error(diags, names[0], (struct position){0}, "schema-limit",
			"the schema needs too much memory");
	return rc;
}

/* Takes the texts, whatever comes of it. */
static int load_texts(struct buf *texts, const char *const *names, size_t count,
	struct diag_list *diags, struct schema **ret_schema)
{
	struct schema *schema = xcalloc(1, sizeof(*schema));
	struct descset *files = descset_new();
	int rc;

	schema->texts = texts;
	schema->texts_count = count;
	hash_init(&schema->symbols);
	hash_init(&schema->files);
	rc = build(schema, names, files, diags);
	descset_free(files);
	if (rc)
		schema_free(schema);
	else
		*ret_schema = schema;
	return rc;
}

int schema_load_bytes(const struct slice *sets, const char *const *names, size_t count,
	struct diag_list *diags, struct schema **ret_schema)
{
	struct buf *texts = xcalloc(count, sizeof(*texts));

	for (size_t i = 0; i < count; i++)
		buf_append_slice(&texts[i], sets[i]);
	return load_texts(texts, names, count, diags, ret_schema);
}

int schema_load(
	const char *const *paths, size_t count, struct diag_list *diags, struct schema **ret_schema)
{
	struct buf *texts = xcalloc(count, sizeof(*texts));
	int rc = 0;

	for (size_t i = 0; i < count; i++) {
		int error = file_read(paths[i], SET_LIMIT_BYTES, &texts[i]);

		if (!error)
			continue;
		rc = error;
		if (error == -EFBIG)
			diag_error(diags, paths[i], (struct position){0}, "schema-limit",
				"the descriptor set is larger than 64 MiB");
		else
			diag_error(diags, paths[i], (struct position){0}, "schema-unreadable",
				"cannot read the descriptor set: %s", strerror(-error));
	}
	if (!rc)
		return load_texts(texts, paths, count, diags, ret_schema);
	free_texts(texts, count);
	return rc;
}

void schema_free(struct schema *schema)
{
	if (!schema)
		return;
	free(atomic_load(&schema->sorted));
	hash_fini(&schema->symbols);
	hash_fini(&schema->files);
	arena_free(schema->arena);
	free_texts(schema->texts, schema->texts_count);
	free(schema);
}

const char *schema_label(const struct schema *schema)
{
	return schema->label;
}

struct slice schema_file(const struct schema *schema, struct slice file_name)
{
	const struct schema_kept_file *kept = hash_get(&schema->files, file_name);

	return kept ? kept->bytes : (struct slice){0};
}

bool schema_next_file(const struct schema *schema, size_t *cursor, struct slice *ret_bytes)
{
	const struct hash_entry *entry = hash_next(&schema->files, cursor);
	const struct schema_kept_file *kept = entry ? entry->value : NULL;

	if (kept)
		*ret_bytes = kept->bytes;
	return kept;
}

const struct schema_message *schema_find_message(const struct schema *schema, struct slice name)
{
	const void *object;

	return schema_symbol(schema, name, &object) == SYMBOL_MESSAGE ? object : NULL;
}

const struct schema_message *schema_find_type_url(const struct schema *schema, struct slice url)
{
	const char *slash = url.length ? memrchr(url.data, '/', url.length) : NULL;

	if (!slash)
		return NULL;
	slash++;
	return schema_find_message(
		schema, (struct slice){slash, url.length - (size_t)(slash - url.data)});
}

const struct schema_enum *schema_find_enum(const struct schema *schema, struct slice name)
{
	const void *object;

	return schema_symbol(schema, name, &object) == SYMBOL_ENUM ? object : NULL;
}

const struct schema_service *schema_find_service(const struct schema *schema, struct slice name)
{
	const void *object;

	return schema_symbol(schema, name, &object) == SYMBOL_SERVICE ? object : NULL;
}

const struct schema_field *schema_extension_by_name(
	const struct schema *schema, struct slice full_name)
{
	const void *object;

	return schema_symbol(schema, full_name, &object) == SYMBOL_EXTENSION ? object : NULL;
}

const struct schema_field *schema_extensions(
	const struct schema *schema, const struct schema_message *message, size_t *ret_count)
{
	const struct schema_field *end = schema->extensions + schema->extensions_count;
	const struct schema_field *first, *last;
	size_t low = 0, high = schema->extensions_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (schema->extensions[middle].parent < message)
			low = middle + 1;
		else
			high = middle;
	}
	first = last = schema->extensions + low;
	while (last < end && last->parent == message)
		last++;
	*ret_count = (size_t)(last - first);
	return first;
}

const struct schema_field *schema_extension_by_number(
	const struct schema *schema, const struct schema_message *message, uint32_t number)
{
	size_t low = 0, high = schema->extensions_count;

	if (!message->has_extensions)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct schema_field *field = &schema->extensions[middle];

		if (field->parent == message && field->number == number)
			return field;
		if (field->parent < message || (field->parent == message && field->number < number))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static int compare_messages(const void *left, const void *right)
{
	const struct schema_message *const *a = left, *const *b = right;

	return strcmp((*a)->full_name, (*b)->full_name);
}

const struct schema_message *const *schema_messages(const struct schema *schema, size_t *ret_count)
{
	const struct schema_message **sorted = atomic_load(&schema->sorted);
	const struct schema_message **expected = NULL;

	*ret_count = schema->messages_count;
	if (sorted)
		return sorted;
	/* Sorting takes a tenth of the time of loading and only suggestions need it. */
	sorted = xmalloc((schema->messages_count + 1) * sizeof(const struct schema_message *));
	for (size_t i = 0; i < schema->messages_count; i++)
		sorted[i] = &schema->messages[i];
	qsort(sorted, schema->messages_count, sizeof(const struct schema_message *),
		compare_messages);
	struct schema *cache = (struct schema *)(uintptr_t)schema;
	if (!atomic_compare_exchange_strong(&cache->sorted, &expected, sorted)) {
		free(sorted);
		return expected;
	}
	return sorted;
}

/* Envoy's types say in their options what they were called in the API version before. */
static bool was_called(const struct schema_message *message, struct slice name)
{
	const char *at = name.length && name.length < 128 && message->options.length
				 ? memmem(message->options.data, message->options.length, name.data,
					   name.length)
				 : NULL;

	return at && at > message->options.data && (unsigned char)at[-1] == name.length;
}

static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* How many parts of a dotted name are parts of another one, too. */
static unsigned shared_parts(struct slice name, const char *other)
{
	struct slice whole = slice_of(other);
	unsigned shared = 0;

	while (name.length) {
		const char *dot = memchr(name.data, '.', name.length);
		struct slice part = {name.data, dot ? (size_t)(dot - name.data) : name.length};
		const char *at = part.length
					 ? memmem(whole.data, whole.length, part.data, part.length)
					 : NULL;

		shared += at && (at == other || at[-1] == '.') &&
			  (at[part.length] == '.' || !at[part.length]);
		name.data += part.length + (dot != NULL);
		name.length -= part.length + (dot != NULL);
	}
	return shared;
}

/* The type of the same short name whose package is most alike. */
static const char *find_moved(
	const struct schema_message *const *messages, size_t count, struct slice name)
{
	const char *dot = name.length ? memrchr(name.data, '.', name.length) : NULL;
	size_t skip = dot ? (size_t)(dot + 1 - name.data) : 0;
	struct slice last = {name.data + skip, name.length - skip};
	const char *best = NULL;
	unsigned most = 1; /* the short name itself */

	for (size_t i = 0; i < count && last.length; i++) {
		unsigned shared;

		if (!slice_is(last, last_part(messages[i]->full_name)))
			continue;
		shared = shared_parts(name, messages[i]->full_name);
		if (shared > most) {
			most = shared;
			best = messages[i]->full_name;
		}
	}
	return best;
}

const char *schema_nearest_message(const struct schema *schema, struct slice name)
{
	struct suggestion suggestion;
	size_t count;
	const struct schema_message *const *messages = schema_messages(schema, &count);

	for (size_t i = 0; i < count; i++)
		if (was_called(messages[i], name))
			return messages[i]->full_name;
	suggestion_init(&suggestion, name);
	for (size_t i = 0; i < count; i++)
		suggestion_offer(&suggestion, messages[i]->full_name);
	/* The best is one of the names offered, and those end in NUL. */
	return suggestion.best.data ? suggestion.best.data : find_moved(messages, count, name);
}
