/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/state_contents.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/record.h"

#define STATE_FORMAT	1
#define RECORD_OVERHEAD 9

static const char state_magic[8] = "xdspubst";

/* What the records read so far amount to. */
struct replay_group {
	struct rcstr *group;
	struct rcstr *source;
	bool is_bridge;
	int64_t built_wall_ms;
	struct resource_set_builder *builders[XDS_TYPE_COUNT];
	struct hash names[XDS_TYPE_COUNT]; /* struct state_stored by name */
};

struct state_replay {
	struct hash by_id;   /* struct state_stored by its id */
	struct hash sources; /* struct config_sources by digest, so that equal ones are one */
	struct replay_group **groups;
	size_t count;
	size_t capacity;
	struct replay_group *current;
};

static struct slice digest_key(const struct digest *digest)
{
	return (struct slice){(const char *)digest->bytes, DIGEST_LENGTH};
}

static struct slice id_key(const struct state_stored *stored)
{
	return (struct slice){(const char *)&stored->id, sizeof(stored->id)};
}

static uint64_t resource_bytes(const struct resource *resource)
{
	uint64_t bytes = RECORD_OVERHEAD + 64 + resource->name.length + resource->body.length;

	if (resource->path)
		bytes += resource->path->length;
	for (size_t i = 0; i < resource->aliases_count; i++)
		bytes += 4 + resource->aliases[i].length;
	if (resource->binding)
		bytes += resource_sources(resource)->text.length + 12 +
			 24 * (uint64_t)resource->open->places_count +
			 20 * (uint64_t)resource->open->marks_count;
	/* and the PUT that goes with it */
	return bytes + RECORD_OVERHEAD + 8;
}

struct state_stored *state_stored_new(uint64_t id, const struct resource *resource)
{
	struct state_stored *stored = xcalloc(1, sizeof(*stored));

	stored->id = id;
	stored->digest = resource->digest;
	stored->bytes = resource_bytes(resource);
	return stored;
}

void state_stored_free(struct state_stored *stored)
{
	resource_unref(stored->resource);
	free(stored);
}

struct state_stored *state_contents_stored(
	const struct state_contents *contents, const struct resource *resource)
{
	return hash_get(&contents->stored, digest_key(&resource->digest));
}

void state_contents_store(struct state_contents *contents, struct state_stored *stored)
{
	hash_put(&contents->stored, digest_key(&stored->digest), stored);
	contents->live_bytes += stored->bytes;
}

void state_contents_release(struct state_contents *contents, struct state_stored *stored)
{
	if (--stored->uses)
		return;
	hash_remove(&contents->stored, digest_key(&stored->digest));
	if (contents->replay)
		hash_remove(&contents->replay->by_id, id_key(stored));
	contents->live_bytes -= stored->bytes;
	state_stored_free(stored);
}

struct state_group *state_contents_find(const struct state_contents *contents, struct slice group)
{
	for (size_t i = 0; i < contents->groups_count; i++) {
		const struct rcstr *name = contents->groups[i].group;

		if (slice_equal(group, (struct slice){name->text, name->length}))
			return &contents->groups[i];
	}
	return NULL;
}

void state_contents_add(struct state_contents *contents, struct snapshot *snapshot)
{
	array_reserve(contents->groups, contents->groups_capacity, contents->groups_count + 1);
	contents->groups[contents->groups_count++] =
		(struct state_group){rcstr_ref(snapshot->group), snapshot};
}

void state_contents_clear(struct state_contents *contents)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	for (size_t i = 0; i < contents->groups_count; i++) {
		rcstr_unref(contents->groups[i].group);
		snapshot_unref(contents->groups[i].snapshot);
	}
	contents->groups_count = 0;
	while ((slot = hash_next(&contents->stored, &cursor)))
		state_stored_free(slot->value);
	hash_fini(&contents->stored);
	hash_init(&contents->stored);
	contents->live_bytes = 0;
	contents->next_id = 0;
	buf_reset(&contents->text);
}

void state_contents_fini(struct state_contents *contents)
{
	state_contents_clear(contents);
	free(contents->groups);
	hash_fini(&contents->stored);
	buf_fini(&contents->text);
}

static struct config_sources *read_sources(
	struct state_replay *replay, struct record_reader *reader)
{
	struct config_sources *sources, *known;

	if (config_sources_parse(record_text(reader), &sources))
		return NULL;
	known = hash_get(&replay->sources, digest_key(&sources->digest));
	if (known) {
		config_sources_unref(sources);
		return known;
	}
	hash_put(&replay->sources, digest_key(&sources->digest), sources);
	return sources;
}

static int replay_resource(
	struct state_contents *contents, struct record_reader *reader, bool is_open)
{
	struct resource_spec spec = {0};
	struct state_stored *stored;
	struct resource *resource;
	uint64_t id = record_number(reader, 8), ttl;
	const struct xds_type_row *row = xds_type_by_name(record_text(reader));
	AUTO_FREE struct slice *aliases = NULL;
	struct slice path;

	spec.name = record_text(reader);
	ttl = record_number(reader, 8);
	spec.ttl_ms = ttl == UINT64_MAX ? -1 : (int64_t)ttl;
	path = record_text(reader);
	spec.at.line = (uint32_t)record_number(reader, 4);
	spec.at.column = (uint32_t)record_number(reader, 4);
	spec.aliases_count = (size_t)record_number(reader, 4);
	if (reader->failed || spec.aliases_count > reader->rest.length / 4)
		return -EBADMSG;
	aliases = xcalloc(spec.aliases_count ? spec.aliases_count : 1, sizeof(*aliases));
	for (size_t i = 0; i < spec.aliases_count; i++)
		aliases[i] = record_text(reader);
	spec.aliases = aliases;
	spec.body = record_text(reader);
	if (reader->failed || !row)
		return -EBADMSG;
	if (is_open) {
		spec.sources = read_sources(contents->replay, reader);
		spec.open = spec.sources ? open_body_read(reader, spec.body.length) : NULL;
		if (!spec.open)
			return -EBADMSG;
	}
	spec.type = row->type;
	spec.path = path.length ? rcstr_new(path.data, path.length) : NULL;

	resource = resource_new(&spec);
	rcstr_unref(spec.path);
	open_body_unref(spec.open);
	stored = state_stored_new(id, resource);
	stored->resource = resource;
	/* The writer never writes a resource that is there already. */
	if (state_contents_stored(contents, stored->resource) ||
		hash_get(&contents->replay->by_id, id_key(stored))) {
		state_stored_free(stored);
		return -EBADMSG;
	}
	state_contents_store(contents, stored);
	hash_put(&contents->replay->by_id, id_key(stored), stored);
	if (id >= contents->next_id)
		contents->next_id = id + 1;
	return 0;
}

static struct replay_group *replay_find(
	struct state_replay *replay, struct slice name, size_t *ret_index)
{
	for (size_t i = 0; i < replay->count; i++) {
		struct rcstr *group = replay->groups[i]->group;

		*ret_index = i;
		if (slice_equal(name, (struct slice){group->text, group->length}))
			return replay->groups[i];
	}
	return NULL;
}

static int replay_snapshot(struct state_contents *contents, struct record_reader *reader)
{
	struct state_replay *replay = contents->replay;
	struct slice name = record_text(reader), source;
	bool is_bridge = record_number(reader, 1) != 0;
	int64_t built = (int64_t)record_number(reader, 8);
	bool has_source = record_number(reader, 1) != 0;
	struct replay_group *group;
	size_t index;

	source = record_text(reader);
	if (reader->failed)
		return -EBADMSG;
	group = replay_find(replay, name, &index);
	if (!group) {
		group = xcalloc(1, sizeof(*group));
		group->group = rcstr_new(name.data, name.length);
		for (int type = 0; type < XDS_TYPE_COUNT; type++) {
			struct resource_set *empty = resource_set_empty((enum xds_type)type);

			group->builders[type] = resource_set_edit(empty);
			resource_set_unref(empty);
			hash_init(&group->names[type]);
		}
		array_reserve(replay->groups, replay->capacity, replay->count + 1);
		replay->groups[replay->count++] = group;
	}
	rcstr_unref(group->source);
	group->source = has_source ? rcstr_new(source.data, source.length) : NULL;
	group->is_bridge = is_bridge;
	group->built_wall_ms = built;
	replay->current = group;
	return 0;
}

static void replay_drop(struct state_contents *contents, struct replay_group *group,
	enum xds_type type, struct slice name)
{
	struct state_stored *stored = hash_remove(&group->names[type], name);

	if (!stored)
		return;
	resource_set_remove(group->builders[type], name);
	state_contents_release(contents, stored);
}

static int replay_put(struct state_contents *contents, struct record_reader *reader)
{
	struct replay_group *group = contents->replay->current;
	struct state_stored probe = {.id = record_number(reader, 8)}, *stored;
	enum xds_type type;

	stored = reader->failed ? NULL : hash_get(&contents->replay->by_id, id_key(&probe));
	if (!stored || !group)
		return -EBADMSG;
	type = stored->resource->type;
	stored->uses++;
	replay_drop(contents, group, type, stored->resource->name);
	hash_put(&group->names[type], stored->resource->name, stored);
	resource_set_put(group->builders[type], stored->resource);
	return 0;
}

static int replay_remove(struct state_contents *contents, struct record_reader *reader)
{
	const struct xds_type_row *row = xds_type_by_name(record_text(reader));
	struct slice name = record_text(reader);

	if (reader->failed || !row || !contents->replay->current)
		return -EBADMSG;
	replay_drop(contents, contents->replay->current, row->type, name);
	return 0;
}

/* Ends the group; the snapshot is the caller's. */
static struct snapshot *replay_group_end(
	struct state_contents *contents, struct replay_group *group, bool is_forgotten)
{
	struct resource_set *sets[XDS_TYPE_COUNT];
	struct snapshot *snapshot;

	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		struct hash_entry *slot;
		size_t cursor = 0;

		sets[type] = resource_set_finish(group->builders[type]);
		while (is_forgotten && (slot = hash_next(&group->names[type], &cursor)))
			state_contents_release(contents, slot->value);
		hash_fini(&group->names[type]);
	}
	snapshot = snapshot_new(
		group->group, sets, group->is_bridge, group->source, group->built_wall_ms);
	rcstr_unref(group->group);
	rcstr_unref(group->source);
	free(group);
	return snapshot;
}

static int replay_forget(struct state_contents *contents, struct record_reader *reader)
{
	struct state_replay *replay = contents->replay;
	struct slice name = record_text(reader);
	struct replay_group *group;
	size_t index;

	if (reader->failed)
		return -EBADMSG;
	group = replay_find(replay, name, &index);
	if (!group)
		return 0;
	if (replay->current == group)
		replay->current = NULL;
	replay->groups[index] = replay->groups[--replay->count];
	snapshot_unref(replay_group_end(contents, group, true));
	return 0;
}

static int on_record(void *ctx, uint8_t kind, struct slice body)
{
	struct state_contents *contents = ctx;
	struct record_reader reader = {body, false};

	switch ((enum state_record)kind) {
	case STATE_RECORD_RESOURCE:
		return replay_resource(contents, &reader, false);
	case STATE_RECORD_OPEN:
		return replay_resource(contents, &reader, true);
	case STATE_RECORD_SNAPSHOT:
		return replay_snapshot(contents, &reader);
	case STATE_RECORD_PUT:
		return replay_put(contents, &reader);
	case STATE_RECORD_REMOVE:
		return replay_remove(contents, &reader);
	case STATE_RECORD_FORGET:
		return replay_forget(contents, &reader);
	case STATE_RECORD_GROUPS:
		buf_reset(&contents->text);
		buf_append_slice(&contents->text, record_text(&reader));
		return reader.failed ? -EBADMSG : buf_error(&contents->text);
	}
	return -EBADMSG;
}

int state_contents_open(struct state_contents *contents, int folder_fd, const char *name,
	struct journal **ret_journal)
{
	struct state_replay replay = {0};
	struct hash_entry *slot;
	size_t cursor = 0;
	int error;

	hash_init(&replay.by_id);
	hash_init(&replay.sources);
	contents->replay = &replay;
	hash_init(&contents->stored);
	error = journal_open(
		folder_fd, name, 0600, state_magic, STATE_FORMAT, on_record, contents, ret_journal);
	for (size_t i = 0; i < replay.count; i++)
		state_contents_add(contents, replay_group_end(contents, replay.groups[i], false));
	free(replay.groups);
	while ((slot = hash_next(&replay.by_id, &cursor))) {
		struct state_stored *stored = slot->value;

		resource_unref(TAKE(stored->resource));
	}
	hash_fini(&replay.by_id);
	cursor = 0;
	while ((slot = hash_next(&replay.sources, &cursor)))
		config_sources_unref(slot->value);
	hash_fini(&replay.sources);
	contents->replay = NULL;
	return error;
}
