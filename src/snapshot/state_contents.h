/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the state journal amounts to, and how to read it: used by state.c alone.
 *
 * Records (numbers little-endian; text is u32 length and bytes):
 *   RESOURCE  u64 id, text stem of the type, text name, u64 TTL or 2^64-1, text path,
 *             u32 line, u32 column, u32 number of aliases, each as text, text body
 *   OPEN      the same, then: text of its config sources (config_sources.c), and where they are
 *             (open_body.h): a resource with open config sources
 *   SNAPSHOT  text group, u8 is_bridge, u64 built (ms), u8 has source, text source
 *   PUT       u64 id of the resource     both for the group of the last SNAPSHOT record
 *   REMOVE    text stem, text name
 *   FORGET    text group
 *   GROUPS    text
 * A resource that several groups hold is written once. It is forgotten with its last holder.
 */
#ifndef XDSPUB_SNAPSHOT_STATE_CONTENTS_H
#define XDSPUB_SNAPSHOT_STATE_CONTENTS_H

#include "base/hash.h"
#include "base/journal.h"
#include "snapshot/snapshot.h"

enum state_record {
	STATE_RECORD_RESOURCE = 1,
	STATE_RECORD_SNAPSHOT,
	STATE_RECORD_PUT,
	STATE_RECORD_REMOVE,
	STATE_RECORD_FORGET,
	STATE_RECORD_GROUPS,
	STATE_RECORD_OPEN
};

/* A resource that is in the journal. The snapshots hold the resource itself. */
struct state_stored {
	uint64_t id;
	struct digest digest;
	uint32_t uses;	/* by groups */
	bool is_copied; /* by the compaction that is going on */
	uint64_t bytes;
	struct resource *resource; /* only while the journal is being read */
};

struct state_group {
	struct rcstr *group;
	struct snapshot *snapshot;
};

struct state_replay;

struct state_contents {
	struct state_group *groups;
	size_t groups_count;
	size_t groups_capacity;
	struct hash stored; /* struct state_stored by digest */
	uint64_t next_id;
	uint64_t live_bytes;	     /* of the journal, about */
	struct buf text;	     /* the group configuration */
	struct state_replay *replay; /* only while the journal is being opened */
};

/* Reads the journal into empty contents. A whole journal with records that make no sense ends in
 * -EBADMSG. On error the contents hold what had been read. */
int state_contents_open(struct state_contents *contents, int folder_fd, const char *name,
	struct journal **ret_journal);
void state_contents_fini(struct state_contents *contents);
void state_contents_clear(struct state_contents *contents);

struct state_group *state_contents_find(const struct state_contents *contents, struct slice group);
void state_contents_add(
	struct state_contents *contents, struct snapshot *snapshot); /* taken over */
struct state_stored *state_contents_stored(
	const struct state_contents *contents, const struct resource *resource);
/* A new one, not yet in the contents. */
struct state_stored *state_stored_new(uint64_t id, const struct resource *resource);
void state_stored_free(struct state_stored *stored);
void state_contents_store(struct state_contents *contents, struct state_stored *stored);
/* One holder less; forgets and frees it with the last. */
void state_contents_release(struct state_contents *contents, struct state_stored *stored);

#endif
