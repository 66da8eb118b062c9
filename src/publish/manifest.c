/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records (numbers little-endian, text is u32 length and bytes), each beginning with
 *   text group, text stem of the type, text name, text extension:
 *   FILE   text version, text source path, u32 line, u32 column, u64 inode, u64 size,
 *          u64 time of modification
 *   STAMP  u64 time of change
 *   GONE   (extension empty)
 */
#include "publish/manifest.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/journal.h"
#include "base/mem.h"
#include "base/record.h"

#define MANIFEST_FILE	     "manifest"
#define MANIFEST_FORMAT	     1
#define MANIFEST_SMALL_BYTES (1u << 20) /* below this nothing is compacted */

static const char manifest_magic[8] = "xdspubmf";

enum record_kind {
	RECORD_FILE = 1,
	RECORD_STAMP,
	RECORD_GONE
};

struct manifest {
	struct journal *journal;
	struct manifest_group **groups;
	size_t count;
	size_t capacity;
	struct hash by_name;	      /* struct manifest_group */
	int slots[FILE_FORMAT_COUNT]; /* place in manifest_entry.files, -1: not in use */
	size_t slots_count;
	uint64_t live_bytes;
	struct buf body;
	int error;
};

static struct slice text_of(const struct rcstr *text)
{
	return text ? (struct slice){text->text, text->length} : SLICE("");
}

/* Memory */

static void entry_free(struct manifest_entry *entry)
{
	rcstr_unref(entry->source);
	free(entry);
}

static void group_free(struct manifest_group *group)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		struct hash_entry *slot;
		size_t cursor = 0;

		while ((slot = hash_next(&group->entries[type], &cursor)))
			entry_free(slot->value);
		hash_fini(&group->entries[type]);
	}
	rcstr_unref(group->name);
	free(group);
}

struct manifest_group *manifest_group(struct manifest *manifest, struct slice name)
{
	struct manifest_group *group = hash_get(&manifest->by_name, name);

	if (group)
		return group;
	group = xcalloc(1, sizeof(*group));
	group->name = rcstr_new(name.data, name.length);
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		hash_init(&group->entries[type]);
	array_reserve(manifest->groups, manifest->capacity, manifest->count + 1);
	manifest->groups[manifest->count++] = group;
	hash_put(&manifest->by_name, text_of(group->name), group);
	return group;
}

size_t manifest_count(const struct manifest *manifest)
{
	return manifest->count;
}

struct manifest_group *manifest_at(const struct manifest *manifest, size_t index)
{
	return manifest->groups[index];
}

struct manifest_entry *manifest_find(
	const struct manifest_group *group, enum xds_type type, struct slice name)
{
	return hash_get(&group->entries[type], name);
}

struct atomic_identity *manifest_file(
	const struct manifest *manifest, struct manifest_entry *entry, enum file_format format)
{
	assert(manifest->slots[format] >= 0);
	return entry ? &entry->files[manifest->slots[format]] : NULL;
}

static struct manifest_entry *make_entry(
	struct manifest *manifest, const struct manifest_record *record)
{
	struct manifest_entry *entry = manifest_find(record->group, record->type, record->name);
	size_t size = sizeof(*entry) + manifest->slots_count * sizeof(entry->files[0]);
	char *name;

	if (entry)
		return entry;
	entry = xcalloc(1, size + record->name.length);
	name = (char *)entry + size;
	if (record->name.length)
		memcpy(name, record->name.data, record->name.length);
	entry->type = record->type;
	entry->name = (struct slice){name, record->name.length};
	hash_put(&record->group->entries[record->type], entry->name, entry);
	return entry;
}

/* About what the journal would hold if it were written anew. */
static uint32_t entry_bytes(const struct manifest *manifest, const struct manifest_group *group,
	const struct manifest_entry *entry)
{
	size_t each = 170 + 2 * (group->name->length + entry->name.length) +
		      text_of(entry->source).length;

	return (uint32_t)(each * manifest->slots_count);
}

static void set_entry(struct manifest *manifest, const struct manifest_record *record)
{
	struct manifest_entry *entry = make_entry(manifest, record);
	struct rcstr *former = entry->source;

	/* The files of other formats are still those of the former version. */
	if (!version_equal(&entry->version, &record->version))
		memset(entry->files, 0, manifest->slots_count * sizeof(entry->files[0]));
	entry->version = record->version;
	entry->source = rcstr_ref(record->source);
	entry->at = record->at;
	rcstr_unref(former);
	*manifest_file(manifest, entry, record->format) = record->identity;
	manifest->live_bytes -= entry->bytes;
	entry->bytes = entry_bytes(manifest, record->group, entry);
	manifest->live_bytes += entry->bytes;
}

static void drop_entry(struct manifest *manifest, struct manifest_group *group, enum xds_type type,
	struct slice name)
{
	struct manifest_entry *entry = hash_remove(&group->entries[type], name);

	if (!entry)
		return;
	manifest->live_bytes -= entry->bytes;
	entry_free(entry);
}

/* Records */

static void put_key(struct manifest *manifest, const struct manifest_group *group,
	enum xds_type type, struct slice name, const char *extension)
{
	record_put_text(&manifest->body, text_of(group->name));
	record_put_text(&manifest->body, slice_of(xds_type_row(type)->stem));
	record_put_text(&manifest->body, name);
	record_put_text(&manifest->body, slice_of(extension));
}

static void add_record(struct manifest *manifest, enum record_kind kind)
{
	struct slice part = buf_slice(&manifest->body);

	if (!manifest->error)
		manifest->error = buf_error(&manifest->body);
	journal_add(manifest->journal, (uint8_t)kind, &part, 1);
	buf_reset(&manifest->body);
}

void manifest_intend(struct manifest *manifest, const struct manifest_record *record)
{
	struct buf *body = &manifest->body;

	put_key(manifest, record->group, record->type, record->name,
		file_format_extension(record->format));
	record_put_text(body, slice_of(record->version.text));
	record_put_text(body, text_of(record->source));
	record_put_number(body, record->at.line, 4);
	record_put_number(body, record->at.column, 4);
	record_put_number(body, record->identity.inode, 8);
	record_put_number(body, record->identity.size, 8);
	record_put_number(body, (uint64_t)record->identity.modified_ns, 8);
	add_record(manifest, RECORD_FILE);
}

static void add_stamp(struct manifest *manifest, const struct manifest_record *record)
{
	if (record->identity.changed_ns == 0)
		return;
	put_key(manifest, record->group, record->type, record->name,
		file_format_extension(record->format));
	record_put_number(&manifest->body, (uint64_t)record->identity.changed_ns, 8);
	add_record(manifest, RECORD_STAMP);
}

void manifest_confirm(struct manifest *manifest, const struct manifest_record *record)
{
	set_entry(manifest, record);
	add_stamp(manifest, record);
}

void manifest_forget(struct manifest *manifest, struct manifest_group *group, enum xds_type type,
	struct slice name)
{
	if (!manifest_find(group, type, name))
		return;
	put_key(manifest, group, type, name, "");
	add_record(manifest, RECORD_GONE);
	drop_entry(manifest, group, type, name);
}

/* Compaction */

static void copy_entry(
	struct manifest *manifest, struct manifest_group *group, struct manifest_entry *entry)
{
	for (int format = 0; format < FILE_FORMAT_COUNT; format++) {
		struct manifest_record record = {
			.group = group,
			.type = entry->type,
			.name = entry->name,
			.format = (enum file_format)format,
			.version = entry->version,
			.source = entry->source,
			.at = entry->at,
		};

		if (manifest->slots[format] < 0)
			continue;
		record.identity = *manifest_file(manifest, entry, record.format);
		if (record.identity.inode == 0)
			continue;
		manifest_intend(manifest, &record);
		add_stamp(manifest, &record);
	}
}

static void compact(struct manifest *manifest)
{
	if (journal_size(manifest->journal) < MANIFEST_SMALL_BYTES ||
		journal_size(manifest->journal) / 2 < manifest->live_bytes)
		return;
	if (journal_rewrite_begin(manifest->journal))
		return;
	for (size_t i = 0; i < manifest->count; i++) {
		struct manifest_group *group = manifest->groups[i];

		for (int type = 0; type < XDS_TYPE_COUNT; type++) {
			struct hash_entry *slot;
			size_t cursor = 0;

			while ((slot = hash_next(&group->entries[type], &cursor)))
				copy_entry(manifest, group, slot->value);
		}
	}
	if (manifest->error || journal_commit(manifest->journal, false))
		journal_abandon(manifest->journal);
	manifest->error = 0;
}

int manifest_commit(struct manifest *manifest)
{
	int error = manifest->error;

	manifest->error = 0;
	if (!error)
		error = journal_commit(manifest->journal, false);
	if (error)
		journal_abandon(manifest->journal);
	else
		compact(manifest);
	return error;
}

/* Reading */

static int read_file_record(struct manifest *manifest, struct record_reader *reader,
	struct manifest_record *record, bool is_used)
{
	struct slice version = record_text(reader), source = record_text(reader);

	record->at.line = (uint32_t)record_number(reader, 4);
	record->at.column = (uint32_t)record_number(reader, 4);
	record->identity.inode = record_number(reader, 8);
	record->identity.size = record_number(reader, 8);
	record->identity.modified_ns = (int64_t)record_number(reader, 8);
	if (reader->failed || version.length != VERSION_TEXT_LENGTH)
		return -EBADMSG;
	if (!is_used)
		return 0;
	memcpy(record->version.text, version.data, version.length);
	record->source = source.length ? rcstr_new(source.data, source.length) : NULL;
	set_entry(manifest, record);
	rcstr_unref(record->source);
	return 0;
}

static int on_record(void *ctx, uint8_t kind, struct slice body)
{
	struct manifest *manifest = ctx;
	struct record_reader reader = {body, false};
	struct manifest_record record = {0};
	struct slice group = record_text(&reader), extension;
	const struct xds_type_row *row = xds_type_by_name(record_text(&reader));
	struct manifest_entry *entry;
	bool is_used;

	record.name = record_text(&reader);
	extension = record_text(&reader);
	if (reader.failed || !row || !layout_group_is_valid(group))
		return -EBADMSG;
	record.type = row->type;
	record.group = manifest_group(manifest, group);
	is_used = file_format_parse(extension, &record.format) == 0 &&
		  manifest->slots[record.format] >= 0;
	switch ((enum record_kind)kind) {
	case RECORD_FILE:
		return read_file_record(manifest, &reader, &record, is_used);
	case RECORD_STAMP:
		entry = is_used ? manifest_find(record.group, record.type, record.name) : NULL;
		if (entry)
			manifest_file(manifest, entry, record.format)->changed_ns =
				(int64_t)record_number(&reader, 8);
		return reader.failed ? -EBADMSG : 0;
	case RECORD_GONE:
		drop_entry(manifest, record.group, record.type, record.name);
		return 0;
	}
	return -EBADMSG;
}

static void forget_all(struct manifest *manifest)
{
	for (size_t i = 0; i < manifest->count; i++)
		group_free(manifest->groups[i]);
	manifest->count = 0;
	manifest->live_bytes = 0;
	hash_fini(&manifest->by_name);
	hash_init(&manifest->by_name);
}

int manifest_open(int dirfd, const bool formats[FILE_FORMAT_COUNT], struct manifest **ret_manifest,
	const char **ret_problem)
{
	struct manifest *manifest = xcalloc(1, sizeof(*manifest));
	int error;

	*ret_problem = NULL;
	hash_init(&manifest->by_name);
	for (int format = 0; format < FILE_FORMAT_COUNT; format++)
		manifest->slots[format] = formats[format] ? (int)manifest->slots_count++ : -1;
	error = journal_open(dirfd, MANIFEST_FILE, 0600, manifest_magic, MANIFEST_FORMAT, on_record,
		manifest, &manifest->journal);
	if (error == -EBADMSG) {
		forget_all(manifest);
		*ret_problem =
			"the manifest cannot be read; it was renamed to manifest.damaged and "
			"all files are compared";
		error = renameat(dirfd, MANIFEST_FILE, dirfd, MANIFEST_FILE ".damaged") ? -errno
											: 0;
		if (!error)
			error = journal_open(dirfd, MANIFEST_FILE, 0600, manifest_magic,
				MANIFEST_FORMAT, on_record, manifest, &manifest->journal);
	}
	if (error) {
		manifest_close(manifest);
		return error;
	}
	*ret_manifest = manifest;
	return 0;
}

void manifest_close(struct manifest *manifest)
{
	if (!manifest)
		return;
	journal_close(manifest->journal);
	forget_all(manifest);
	hash_fini(&manifest->by_name);
	free(manifest->groups);
	buf_fini(&manifest->body);
	free(manifest);
}
