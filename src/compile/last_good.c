/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/last_good.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/journal.h"
#include "base/mem.h"
#include "base/record.h"

#define FILE_NAME "mounts"
#define MAGIC	  "xdspubMt"
#define FORMAT	  1
/* A journal below this is never worth rewriting. */
#define REWRITE_BYTES (1u << 20)

enum record {
	RECORD_MOUNT = 1,
	RECORD_UNIT,
	RECORD_ITEM,
	RECORD_GONE,
	RECORD_FOLDER,
	RECORD_FORGET
};

struct kept_unit {
	struct rcstr *path;
	struct unit_content content;
	bool was_read;
	uint64_t bytes;
	uint32_t capacity; /* of content.items, while the journal is read */
};

struct kept_mount {
	struct rcstr *at;
	struct hash units;   /* struct kept_unit by path */
	struct hash folders; /* struct rcstr */
};

struct last_good {
	int folder_fd;
	struct journal *journal;
	struct hash mounts; /* struct kept_mount by at; only what was not taken yet */
	struct buf body;
	uint64_t live_bytes;
	bool is_rewriting;
	int error; /* some record could not be made: all has to be written anew */
	/* While the journal is read. */
	struct kept_mount *mount;
	struct kept_unit *unit;
};

static struct slice slice_of_rcstr(const struct rcstr *string)
{
	return (struct slice){string->text, string->length};
}

/* --- reading ------------------------------------------------------------------------------- */

static void kept_unit_free(struct kept_unit *unit)
{
	if (!unit)
		return;
	unit_content_fini(&unit->content);
	rcstr_unref(unit->path);
	free(unit);
}

static void kept_mount_free(struct kept_mount *mount)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	if (!mount)
		return;
	while ((slot = hash_next(&mount->units, &cursor)))
		kept_unit_free(slot->value);
	cursor = 0;
	while ((slot = hash_next(&mount->folders, &cursor)))
		rcstr_unref(slot->value);
	hash_fini(&mount->units);
	hash_fini(&mount->folders);
	rcstr_unref(mount->at);
	free(mount);
}

static struct kept_mount *need_mount(struct last_good *last_good, struct slice at)
{
	struct kept_mount *mount = hash_get(&last_good->mounts, at);

	if (mount)
		return mount;
	mount = xcalloc(1, sizeof(*mount));
	mount->at = rcstr_new(at.data, at.length);
	hash_init(&mount->units);
	hash_init(&mount->folders);
	hash_put(&last_good->mounts, slice_of_rcstr(mount->at), mount);
	return mount;
}

static void lose_unit(struct last_good *last_good, struct slice path)
{
	struct kept_unit *unit = hash_remove(&last_good->mount->units, path);

	if (unit)
		last_good->live_bytes -= unit->bytes;
	kept_unit_free(unit);
}

static void replay_unit(
	struct last_good *last_good, struct slice path, bool was_read, uint64_t bytes)
{
	struct kept_unit *unit = xcalloc(1, sizeof(*unit));

	lose_unit(last_good, path);
	unit->path = rcstr_new(path.data, path.length);
	unit->was_read = was_read;
	unit->bytes = bytes;
	last_good->live_bytes += bytes;
	hash_put(&last_good->mount->units, slice_of_rcstr(unit->path), unit);
	last_good->unit = unit;
}

static int replay_item(struct last_good *last_good, struct record_reader *reader, uint64_t bytes)
{
	struct kept_unit *unit = last_good->unit;
	struct resource_spec spec = {.path = unit->path};
	bool is_delete = record_number(reader, 1) != 0;
	const struct xds_type_row *row = xds_type_by_name(record_text(reader));
	AUTO_FREE struct slice *aliases = NULL;
	uint64_t ttl;

	spec.name = record_text(reader);
	ttl = record_number(reader, 8);
	spec.ttl_ms = ttl == UINT64_MAX ? -1 : (int64_t)ttl;
	spec.at.line = (uint32_t)record_number(reader, 4);
	spec.at.column = (uint32_t)record_number(reader, 4);
	spec.aliases_count = (size_t)record_number(reader, 4);
	if (reader->failed || spec.aliases_count > reader->rest.length / 4)
		return -EBADMSG;
	aliases = xcalloc(spec.aliases_count + 1, sizeof(*aliases));
	for (size_t i = 0; i < spec.aliases_count; i++)
		aliases[i] = record_text(reader);
	spec.aliases = aliases;
	spec.body = record_text(reader);
	if (reader->failed || !row || !spec.name.length)
		return -EBADMSG;
	spec.type = row->type;
	if (reader->rest.length) {
		spec.open = open_body_read(reader, spec.body.length);
		if (!spec.open)
			return -EBADMSG;
	}
	array_reserve(unit->content.items, unit->capacity, unit->content.items_count + 1);
	unit->content.items[unit->content.items_count++] =
		(struct unit_item){.resource = resource_new(&spec), .is_delete = is_delete};
	open_body_unref(spec.open);
	unit->bytes += bytes;
	last_good->live_bytes += bytes;
	return 0;
}

static void replay_folder(struct kept_mount *mount, struct slice path, bool is_there)
{
	struct rcstr *folder;

	if (!is_there) {
		rcstr_unref(hash_remove(&mount->folders, path));
	} else if (!hash_get(&mount->folders, path)) {
		folder = rcstr_new(path.data, path.length);
		hash_put(&mount->folders, slice_of_rcstr(folder), folder);
	}
}

static void discount_mount(struct last_good *last_good, const struct kept_mount *mount)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&mount->units, &cursor)))
		last_good->live_bytes -= ((struct kept_unit *)slot->value)->bytes;
}

static void forget_mount(struct last_good *last_good, struct slice at)
{
	struct kept_mount *mount = hash_remove(&last_good->mounts, at);

	if (mount)
		discount_mount(last_good, mount);
	kept_mount_free(mount);
}

/* About a mount that MOUNT named. */
static int replay_in_mount(
	struct last_good *last_good, uint8_t kind, struct record_reader *reader, uint64_t bytes)
{
	struct slice path = record_text(reader);
	bool flag = kind != RECORD_GONE && record_number(reader, 1) != 0;

	if (reader->failed || !path.length)
		return -EBADMSG;
	last_good->unit = NULL;
	if (kind == RECORD_UNIT)
		replay_unit(last_good, path, flag, bytes);
	else if (kind == RECORD_GONE)
		lose_unit(last_good, path);
	else
		replay_folder(last_good->mount, path, flag);
	return 0;
}

static int replay(void *ctx, uint8_t kind, struct slice body)
{
	struct last_good *last_good = ctx;
	struct record_reader reader = {.rest = body};
	struct slice at;

	switch ((enum record)kind) {
	case RECORD_MOUNT:
	case RECORD_FORGET:
		at = record_text(&reader);
		if (reader.failed || !at.length)
			return -EBADMSG;
		last_good->unit = NULL;
		last_good->mount = NULL;
		if (kind == RECORD_FORGET)
			forget_mount(last_good, at);
		else
			last_good->mount = need_mount(last_good, at);
		return 0;
	case RECORD_ITEM:
		return last_good->unit ? replay_item(last_good, &reader, body.length) : -EBADMSG;
	case RECORD_UNIT:
	case RECORD_GONE:
	case RECORD_FOLDER:
		return last_good->mount ? replay_in_mount(last_good, kind, &reader, body.length)
					: -EBADMSG;
	}
	return -EBADMSG;
}

static void forget_all(struct last_good *last_good)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&last_good->mounts, &cursor))) {
		discount_mount(last_good, slot->value);
		kept_mount_free(slot->value);
	}
	hash_fini(&last_good->mounts);
	hash_init(&last_good->mounts);
	last_good->mount = NULL;
	last_good->unit = NULL;
}

static int open_journal(struct last_good *last_good)
{
	return journal_open(last_good->folder_fd, FILE_NAME, 0600, MAGIC, FORMAT, replay, last_good,
		&last_good->journal);
}

int last_good_open(const char *folder, struct last_good **ret_last_good, const char **ret_problem)
{
	struct last_good *last_good = xcalloc(1, sizeof(*last_good));
	int error;

	*ret_problem = NULL;
	hash_init(&last_good->mounts);
	last_good->folder_fd = -1;
	error = file_make_directories(AT_FDCWD, folder, 0700);
	if (!error) {
		last_good->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		error = last_good->folder_fd < 0 ? -errno : open_journal(last_good);
	}
	if (error == -EBADMSG) {
		/* What cannot be understood is kept for whoever wants to look into it. */
		forget_all(last_good);
		*ret_problem = "what mounts gave last cannot be read; the file was put aside";
		error = renameat(last_good->folder_fd, FILE_NAME, last_good->folder_fd,
				FILE_NAME ".damaged") < 0
				? -errno
				: open_journal(last_good);
	} else if (!error && journal_dropped(last_good->journal)) {
		*ret_problem = "the end of what mounts gave last was damaged; what was whole is "
			       "kept";
	}
	if (error) {
		last_good_close(last_good);
		return error;
	}
	last_good->mount = NULL;
	last_good->unit = NULL;
	*ret_last_good = last_good;
	return 0;
}

bool last_good_is_there(const char *folder)
{
	AUTO_FREE char *path = xasprintf("%s/" FILE_NAME, folder);

	return access(path, F_OK) == 0;
}

void last_good_close(struct last_good *last_good)
{
	if (!last_good)
		return;
	if (last_good->journal)
		journal_close(last_good->journal);
	forget_all(last_good);
	hash_fini(&last_good->mounts);
	buf_fini(&last_good->body);
	if (last_good->folder_fd >= 0)
		close(last_good->folder_fd);
	free(last_good);
}

static bool may_have(const struct kept_mount *mount, const struct last_good_listener *listener)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&mount->units, &cursor))) {
		if (!listener->may_have(listener->ctx, &((struct kept_unit *)slot->value)->content))
			return false;
	}
	return true;
}

void last_good_take(
	struct last_good *last_good, struct slice at, const struct last_good_listener *listener)
{
	struct kept_mount *mount = hash_get(&last_good->mounts, at);
	struct hash_entry *slot;
	size_t cursor = 0;

	/* What is left here is forgotten with the mounts that nobody takes. */
	if (!mount || !may_have(mount, listener))
		return;
	hash_remove(&last_good->mounts, at);
	while ((slot = hash_next(&mount->units, &cursor))) {
		struct kept_unit *unit = slot->value;

		listener->on_unit(
			listener->ctx, unit->path, &unit->content, unit->was_read, unit->bytes);
		unit->content = (struct unit_content){0};
	}
	cursor = 0;
	while ((slot = hash_next(&mount->folders, &cursor)))
		listener->on_folder(listener->ctx, slot->value);
	kept_mount_free(mount);
}

/* --- writing ------------------------------------------------------------------------------- */

/* Adds what `body` holds and empties it. */
static uint64_t add_record(struct last_good *last_good, enum record kind)
{
	struct slice part = buf_slice(&last_good->body);

	if (!last_good->error)
		last_good->error = buf_error(&last_good->body);
	journal_add(last_good->journal, (uint8_t)kind, &part, 1);
	buf_reset(&last_good->body);
	return part.length;
}

void last_good_forget_others(struct last_good *last_good)
{
	struct hash_entry *slot;
	size_t cursor = 0;

	while ((slot = hash_next(&last_good->mounts, &cursor))) {
		record_put_text(&last_good->body, slot->key);
		add_record(last_good, RECORD_FORGET);
	}
	forget_all(last_good);
}

void last_good_begin(struct last_good *last_good, struct slice at)
{
	record_put_text(&last_good->body, at);
	add_record(last_good, RECORD_MOUNT);
}

static void put_item(struct last_good *last_good, const struct unit_item *item)
{
	const struct resource *resource = item->resource;
	struct buf *body = &last_good->body;

	record_put_number(body, item->is_delete, 1);
	record_put_text(body, slice_of(xds_type_row(resource->type)->stem));
	record_put_text(body, resource->name);
	record_put_number(body, resource->ttl_ms < 0 ? UINT64_MAX : (uint64_t)resource->ttl_ms, 8);
	record_put_number(body, resource->at.line, 4);
	record_put_number(body, resource->at.column, 4);
	record_put_number(body, resource->aliases_count, 4);
	for (size_t i = 0; i < resource->aliases_count; i++)
		record_put_text(body, resource->aliases[i]);
	record_put_text(body, resource->body);
	if (resource->open)
		open_body_write(resource->open, body);
}

void last_good_put_unit(struct last_good *last_good, struct unit *unit)
{
	last_good->live_bytes -= unit->kept_bytes;
	record_put_text(&last_good->body, slice_of(unit->path->text));
	record_put_number(&last_good->body, unit->was_read, 1);
	unit->kept_bytes = add_record(last_good, RECORD_UNIT);
	for (uint32_t i = 0; i < unit->content.items_count; i++) {
		put_item(last_good, &unit->content.items[i]);
		unit->kept_bytes += add_record(last_good, RECORD_ITEM);
	}
	last_good->live_bytes += unit->kept_bytes;
}

void last_good_remove_unit(struct last_good *last_good, struct unit *unit)
{
	last_good->live_bytes -= unit->kept_bytes;
	unit->kept_bytes = 0;
	record_put_text(&last_good->body, slice_of(unit->path->text));
	add_record(last_good, RECORD_GONE);
}

void last_good_folder(struct last_good *last_good, struct slice path, bool is_there)
{
	record_put_text(&last_good->body, path);
	record_put_number(&last_good->body, is_there, 1);
	add_record(last_good, RECORD_FOLDER);
}

int last_good_commit(struct last_good *last_good)
{
	int error = last_good->error;

	if (!error)
		error = journal_commit(last_good->journal, true);
	if (last_good->error || (error && last_good->is_rewriting))
		journal_abandon(last_good->journal);
	last_good->is_rewriting = false;
	return error;
}

bool last_good_wants_rewrite(const struct last_good *last_good)
{
	uint64_t size = journal_size(last_good->journal);

	return last_good->error || (size > REWRITE_BYTES && size / 2 > last_good->live_bytes);
}

int last_good_rewrite(struct last_good *last_good)
{
	int error = journal_rewrite_begin(last_good->journal);

	last_good->error = 0;
	last_good->is_rewriting = error == 0;
	return error;
}
