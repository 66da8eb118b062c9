/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/record.h"
#include "snapshot/state_contents.h"

#define STATE_FILE	  "snapshots"
#define STATE_SMALL_BYTES (1u << 20) /* below this nothing is compacted */

struct state {
	int folder_fd;
	struct journal *journal;
	struct state_contents contents;
	uint64_t compacted_bytes; /* what the last rewrite left; 0: none since the start */
	bool is_unsynced;	  /* something was written that a crash could still take back */
};

static int open_folder(const char *path)
{
	int error = file_make_directories(AT_FDCWD, path, 0700);
	int fd;

	if (error)
		return error;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int state_open(const char *path, struct state **ret_state, const char **ret_problem)
{
	struct state *state = xcalloc(1, sizeof(*state));
	int error;

	*ret_problem = NULL;
	state->folder_fd = open_folder(path);
	if (state->folder_fd < 0) {
		error = state->folder_fd;
		free(state);
		return error;
	}
	error = state_contents_open(
		&state->contents, state->folder_fd, STATE_FILE, &state->journal);
	if (error == -EBADMSG) {
		/* Keep the unreadable file for a person to look at and start afresh. */
		state_contents_clear(&state->contents);
		*ret_problem = "the state file cannot be read; it was renamed to "
			       "snapshots.damaged and a new one begun";
		error = 0;
		if (renameat(state->folder_fd, STATE_FILE, state->folder_fd, STATE_FILE ".damaged"))
			error = -errno;
		if (!error)
			error = state_contents_open(
				&state->contents, state->folder_fd, STATE_FILE, &state->journal);
	} else if (!error && journal_dropped(state->journal)) {
		*ret_problem = "the end of the state file was damaged; what was whole is kept";
	}
	if (error) {
		state_close(state);
		return error;
	}
	*ret_state = state;
	return 0;
}

void state_close(struct state *state)
{
	if (!state)
		return;
	if (state->journal)
		journal_close(state->journal);
	state_contents_fini(&state->contents);
	close(state->folder_fd);
	free(state);
}

size_t state_count(const struct state *state)
{
	return state->contents.groups_count;
}

struct snapshot *state_snapshot(const struct state *state, size_t index)
{
	return state->contents.groups[index].snapshot;
}

struct snapshot *state_find(const struct state *state, struct slice group)
{
	const struct state_group *held = state_contents_find(&state->contents, group);

	return held ? held->snapshot : NULL;
}

struct slice state_groups(const struct state *state)
{
	return buf_slice(&state->contents.text);
}

/* What one batch does to `stored`, applied only when the batch is on disk. */
struct change {
	struct state_stored *stored;
	bool is_put; /* else one use less */
	bool is_new;
};

struct batch {
	struct state *state;
	struct buf body;
	struct change *changes;
	size_t count;
	size_t capacity;
	uint64_t next_id;
	int error;
};

/* Adds what `body` holds and empties it. */
static void add_record(struct batch *batch, enum state_record kind)
{
	struct slice part = buf_slice(&batch->body);

	if (!batch->error)
		batch->error = buf_error(&batch->body);
	journal_add(batch->state->journal, (uint8_t)kind, &part, 1);
	buf_reset(&batch->body);
}

static void batch_note(struct batch *batch, struct change change)
{
	array_reserve(batch->changes, batch->capacity, batch->count + 1);
	batch->changes[batch->count++] = change;
}

static void batch_end(struct batch *batch, bool is_on_disk)
{
	struct state *state = batch->state;

	for (size_t i = 0; i < batch->count; i++) {
		struct state_stored *stored = batch->changes[i].stored;

		if (!is_on_disk) {
			if (batch->changes[i].is_new)
				state_stored_free(stored);
			continue;
		}
		if (batch->changes[i].is_new)
			state_contents_store(&state->contents, stored);
		if (batch->changes[i].is_put)
			stored->uses++;
		else
			state_contents_release(&state->contents, stored);
	}
	if (is_on_disk)
		state->contents.next_id = batch->next_id;
	else
		journal_abandon(state->journal);
	free(batch->changes);
	buf_fini(&batch->body);
}

static int batch_commit(struct batch *batch, bool sync)
{
	int error = batch->error;

	if (!error)
		error = journal_commit(batch->state->journal, sync);
	if (!error)
		batch->state->is_unsynced = !sync;
	batch_end(batch, !error);
	return error;
}

static void put_open(struct buf *body, const struct resource *resource)
{
	record_put_text(body, resource_sources(resource)->text);
	open_body_write(resource->open, body);
}

static void add_resource(struct batch *batch, uint64_t id, const struct resource *resource)
{
	struct buf *body = &batch->body;

	record_put_number(body, id, 8);
	record_put_text(body, slice_of(xds_type_row(resource->type)->stem));
	record_put_text(body, resource->name);
	record_put_number(body, resource->ttl_ms < 0 ? UINT64_MAX : (uint64_t)resource->ttl_ms, 8);
	record_put_text(body, resource->path
				      ? (struct slice){resource->path->text, resource->path->length}
				      : SLICE(""));
	record_put_number(body, resource->at.line, 4);
	record_put_number(body, resource->at.column, 4);
	record_put_number(body, resource->aliases_count, 4);
	for (size_t i = 0; i < resource->aliases_count; i++)
		record_put_text(body, resource->aliases[i]);
	record_put_text(body, resource->body);
	if (resource->binding)
		put_open(body, resource);
	add_record(batch, resource->binding ? STATE_RECORD_OPEN : STATE_RECORD_RESOURCE);
}

static void add_put(struct batch *batch, const struct state_stored *stored)
{
	record_put_number(&batch->body, stored->id, 8);
	add_record(batch, STATE_RECORD_PUT);
}

static void add_snapshot(struct batch *batch, const struct snapshot *snapshot)
{
	struct buf *body = &batch->body;
	struct slice source = SLICE("");

	if (snapshot->source)
		source = (struct slice){snapshot->source->text, snapshot->source->length};
	record_put_text(body, (struct slice){snapshot->group->text, snapshot->group->length});
	record_put_number(body, snapshot->is_bridge, 1);
	record_put_number(body, (uint64_t)snapshot->built_wall_ms, 8);
	record_put_number(body, snapshot->source != NULL, 1);
	record_put_text(body, source);
	add_record(batch, STATE_RECORD_SNAPSHOT);
}

static int on_difference(void *ctx, struct resource *old_resource, struct resource *new_resource)
{
	struct batch *batch = ctx;
	struct state *state = batch->state;
	struct state_stored *stored;

	if (new_resource) {
		stored = state_contents_stored(&state->contents, new_resource);
		if (stored) {
			batch_note(batch, (struct change){stored, true, false});
		} else {
			stored = state_stored_new(batch->next_id++, new_resource);
			add_resource(batch, stored->id, new_resource);
			batch_note(batch, (struct change){stored, true, true});
		}
		add_put(batch, stored);
	}
	if (old_resource) {
		batch_note(batch,
			(struct change){state_contents_stored(&state->contents, old_resource),
				false, false});
		if (!new_resource) {
			record_put_text(
				&batch->body, slice_of(xds_type_row(old_resource->type)->stem));
			record_put_text(&batch->body, old_resource->name);
			add_record(batch, STATE_RECORD_REMOVE);
		}
	}
	return 0;
}

static void copy_group(struct batch *batch, const struct snapshot *snapshot)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		struct resource *resource;
		uint64_t cursor = 0;

		while ((resource = resource_set_next(snapshot->sets[type], &cursor))) {
			struct state_stored *stored =
				state_contents_stored(&batch->state->contents, resource);

			if (!stored->is_copied)
				add_resource(batch, stored->id, resource);
			stored->is_copied = true;
			add_put(batch, stored);
		}
	}
}

/* Rewrites the journal without what is dead. Ids stay: they are what `stored` says. A failure
 * leaves the old journal, which is right as well. */
static void compact(struct state *state)
{
	struct batch batch = {.state = state};
	struct hash_entry *slot;
	size_t cursor = 0;

	/* Where groups share their resources most of what lives is not counted as such; what the
	 * last rewrite left is what lives, too. */
	if (journal_size(state->journal) < STATE_SMALL_BYTES ||
		journal_size(state->journal) / 2 < state->contents.live_bytes ||
		journal_size(state->journal) / 2 < state->compacted_bytes)
		return;
	if (journal_rewrite_begin(state->journal))
		return;
	if (state->contents.text.length) {
		record_put_text(&batch.body, buf_slice(&state->contents.text));
		add_record(&batch, STATE_RECORD_GROUPS);
	}
	while ((slot = hash_next(&state->contents.stored, &cursor)))
		((struct state_stored *)slot->value)->is_copied = false;
	for (size_t i = 0; i < state->contents.groups_count; i++) {
		add_snapshot(&batch, state->contents.groups[i].snapshot);
		copy_group(&batch, state->contents.groups[i].snapshot);
	}
	if (batch.error || journal_commit(state->journal, true))
		journal_abandon(state->journal);
	else
		state->compacted_bytes = journal_size(state->journal);
	buf_fini(&batch.body);
}

static bool same_text(const struct rcstr *a, const struct rcstr *b)
{
	if (!a || !b)
		return a == b;
	return slice_equal((struct slice){a->text, a->length}, (struct slice){b->text, b->length});
}

int state_sync(struct state *state)
{
	/* An empty batch: the journal has nothing to write, only to sync. */
	int error = state->is_unsynced ? journal_commit(state->journal, true) : 0;

	if (!error)
		state->is_unsynced = false;
	return error;
}

static int save(struct state *state, struct snapshot *snapshot, bool sync)
{
	struct slice name = {snapshot->group->text, snapshot->group->length};
	struct batch batch = {.state = state, .next_id = state->contents.next_id};
	struct state_group *held = state_contents_find(&state->contents, name);
	struct snapshot *former, *empty = NULL;
	int error = 0;

	former = held ? held->snapshot : (empty = snapshot_empty(snapshot->group));
	add_snapshot(&batch, snapshot);
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		resource_set_diff(former->sets[type], snapshot->sets[type], on_difference, &batch);
	snapshot_unref(empty);
	if (held && batch.count == 0 && former->is_bridge == snapshot->is_bridge &&
		same_text(former->source, snapshot->source)) {
		/* Nothing to write, but the older objects can go. */
		batch_end(&batch, false);
		error = sync ? state_sync(state) : 0;
	} else {
		error = batch_commit(&batch, sync);
	}
	if (error)
		return error;
	if (held) {
		held->snapshot = snapshot_ref(snapshot);
		snapshot_unref(former);
	} else {
		state_contents_add(&state->contents, snapshot_ref(snapshot));
	}
	compact(state);
	return 0;
}

int state_save(struct state *state, struct snapshot *snapshot)
{
	return save(state, snapshot, true);
}

int state_write(struct state *state, struct snapshot *snapshot)
{
	return save(state, snapshot, false);
}

int state_forget(struct state *state, struct slice group)
{
	struct batch batch = {.state = state, .next_id = state->contents.next_id};
	struct state_group *held = state_contents_find(&state->contents, group);
	int error;

	if (!held)
		return 0;
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		struct resource *resource;
		uint64_t at = 0;

		while ((resource = resource_set_next(held->snapshot->sets[type], &at)))
			batch_note(&batch,
				(struct change){state_contents_stored(&state->contents, resource),
					false, false});
	}
	record_put_text(&batch.body, group);
	add_record(&batch, STATE_RECORD_FORGET);
	error = batch_commit(&batch, true);
	if (error)
		return error;
	rcstr_unref(held->group);
	snapshot_unref(held->snapshot);
	*held = state->contents.groups[--state->contents.groups_count];
	compact(state);
	return 0;
}

int state_save_groups(struct state *state, struct slice text)
{
	struct batch batch = {.state = state, .next_id = state->contents.next_id};
	int error;

	if (slice_equal(text, buf_slice(&state->contents.text)))
		return 0;
	record_put_text(&batch.body, text);
	add_record(&batch, STATE_RECORD_GROUPS);
	error = batch_commit(&batch, true);
	if (error)
		return error;
	buf_reset(&state->contents.text);
	buf_append_slice(&state->contents.text, text);
	return buf_error(&state->contents.text);
}
