/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_delta.h"

#include <stdlib.h>

#include "base/mem.h"
#include "serve/longpoll.h"
#include "serve/xds_lane.h"
#include "serve/xds_step.h"

/* A request, sorted. */
struct change {
	struct slice *added;
	size_t added_count;
	struct slice *dropped;
	size_t dropped_count;
	struct xds_version_pair *versions;
	size_t versions_count;
	bool is_wildcard; /* afterwards */
};

static int by_name(const void *a, const void *b)
{
	const struct xds_version_pair *x = a, *y = b;

	return slice_compare(x->name, y->name);
}

static void take_out(struct slice *names, size_t *count, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++)
		if (!slice_is(names[i], name))
			names[kept++] = names[i];
	*count = kept;
}

static void read_change(const struct xds_lane *lane, const struct xds_request *request,
	bool is_first, struct change *change)
{
	*change = (struct change){.is_wildcard = lane->table->kind.is_wildcard};
	change->added = xds_names_sort(request->names, request->names_count, &change->added_count);
	change->dropped = xds_names_sort(
		request->unsubscribe, request->unsubscribe_count, &change->dropped_count);
	if (xds_lane_row(lane)->is_delta_wildcard) {
		size_t added = change->added_count, dropped = change->dropped_count;

		take_out(change->added, &change->added_count, "*");
		take_out(change->dropped, &change->dropped_count, "*");
		if (is_first && added == 0)
			change->is_wildcard = true;
		if (dropped > change->dropped_count)
			change->is_wildcard = false;
		if (added > change->added_count)
			change->is_wildcard = true;
	}
	/* Only the first request says what the client holds from before. */
	if (!is_first || request->versions_count == 0)
		return;
	change->versions = xmalloc(request->versions_count * sizeof(change->versions[0]));
	memcpy(change->versions, request->versions,
		request->versions_count * sizeof(change->versions[0]));
	change->versions_count = request->versions_count;
	qsort(change->versions, change->versions_count, sizeof(change->versions[0]), by_name);
}

/* A version of somebody else's making equals none of ours. */
static struct digest digest_of(struct slice version)
{
	static const struct digest none;
	struct held held = held_parse(version);

	return held.kind == HELD_NONE ? none : held.digest;
}

/* Goes through three sorted lists at once. */
struct merge {
	const struct xds_table *table;
	const struct change *change;
	size_t entry, added, dropped, version;
};

struct merged {
	struct slice name;
	const struct xds_entry *entry; /* NULL: not in the table */
	bool is_added;
	bool is_dropped;
	const struct xds_version_pair *version; /* NULL: not mentioned */
};

static bool merge_next(struct merge *merge, struct merged *ret)
{
	const struct change *change = merge->change;
	struct slice candidates[4];
	size_t count = 0;

	if (merge->entry < merge->table->count)
		candidates[count++] = xds_name_slice(merge->table->entries[merge->entry].name);
	if (merge->added < change->added_count)
		candidates[count++] = change->added[merge->added];
	if (merge->dropped < change->dropped_count)
		candidates[count++] = change->dropped[merge->dropped];
	if (merge->version < change->versions_count)
		candidates[count++] = change->versions[merge->version].name;
	if (count == 0)
		return false;
	*ret = (struct merged){.name = candidates[0]};
	for (size_t i = 1; i < count; i++)
		if (slice_compare(candidates[i], ret->name) < 0)
			ret->name = candidates[i];
	if (merge->entry < merge->table->count &&
		slice_equal(xds_name_slice(merge->table->entries[merge->entry].name), ret->name))
		ret->entry = &merge->table->entries[merge->entry++];
	if (merge->added < change->added_count &&
		slice_equal(change->added[merge->added], ret->name)) {
		ret->is_added = true;
		merge->added++;
	}
	if (merge->dropped < change->dropped_count &&
		slice_equal(change->dropped[merge->dropped], ret->name)) {
		ret->is_dropped = true;
		merge->dropped++;
	}
	/* A map has each key once, but who knows what was sent. */
	while (merge->version < change->versions_count &&
		slice_equal(change->versions[merge->version].name, ret->name))
		ret->version = &change->versions[merge->version++];
	return true;
}

/* The flags of a name after the change; 0: it leaves the table. */
static uint64_t flags_after(const struct merged *merged, bool is_wildcard)
{
	uint64_t flags = merged->entry ? merged->entry->flags : 0;

	if (merged->version)
		flags |= XDS_HELD;
	if (merged->is_dropped) {
		/* Under a wildcard the client still wants to know what is left of it (S.94). */
		flags &= ~(uint64_t)(XDS_SUBSCRIBED | XDS_MISSING);
		if (!is_wildcard)
			flags = 0; /* it forgets the resource */
		else
			flags |= XDS_OWED;
	}
	if (merged->is_added)
		flags |= XDS_SUBSCRIBED | XDS_OWED;
	if (!(flags & (XDS_SUBSCRIBED | XDS_TARGET)) && !is_wildcard)
		flags = 0;
	return flags;
}

/* The client lets go of something with one of these flags. */
static bool drops(const struct xds_lane *lane, const struct change *change, uint64_t flags)
{
	struct merge merge = {.table = lane->table, .change = change};
	struct merged merged;

	while (merge_next(&merge, &merged))
		if (merged.entry && (merged.entry->flags & flags) &&
			!flags_after(&merged, change->is_wildcard))
			return true;
	return false;
}

static void apply_change(
	struct xds_stream *stream, struct xds_lane *lane, const struct change *change)
{
	/* Perhaps that was what it minded, or will have minded, in a response. */
	bool is_again = lane->nacks && drops(lane, change, XDS_REJECTED);
	struct merge merge = {.table = lane->table, .change = change};
	struct xds_kind kind = lane->table->kind;
	struct merged merged;
	struct xds_draft draft;

	if (lane->is_outstanding && drops(lane, change, XDS_PENDING))
		lane->is_shrunk = true;
	kind.is_wildcard = change->is_wildcard;
	xds_draft_init(&draft, &stream->feed->hub->registry, kind,
		lane->table->count + change->added_count);
	while (merge_next(&merge, &merged)) {
		uint64_t flags = flags_after(&merged, change->is_wildcard);
		struct digest digest = {.bytes = {0}};

		if (!flags)
			continue;
		if (is_again && (flags & XDS_REJECTED))
			flags |= XDS_OWED;
		if (merged.version)
			digest = digest_of(merged.version->version);
		else if (merged.entry)
			digest = merged.entry->digest;
		if (merged.entry)
			xds_draft_add(&draft, merged.entry->name, flags & XDS_HELD ? &digest : NULL,
				flags);
		else
			xds_draft_add_text(
				&draft, merged.name, flags & XDS_HELD ? &digest : NULL, flags);
	}
	xds_lane_set_table(stream, lane, xds_draft_finish(&draft));
}

/* ACK, NACK or neither. An older nonce says nothing any more, but a complaint is kept (S.95). */
static enum xds_event read_verdict(struct xds_stream *stream, struct xds_lane *lane,
	const struct xds_request *request, int64_t now_ms)
{
	struct xds_hub *hub = stream->feed->hub;
	bool is_last = xds_lane_has_nonce(lane, request->nonce);

	if (request->has_error && lane->nonce) {
		enum xds_answered refused = lane->is_shrunk ? XDS_REFUSED_SHRUNK : XDS_REFUSED;
		bool was_outstanding = lane->is_outstanding;

		xds_lane_reject(lane, request->error_code, request->error_message, now_ms);
		lane->is_outstanding = was_outstanding && !is_last;
		xds_lane_set_table(stream, lane,
			xds_step_settle(hub, lane->table, is_last ? refused : XDS_REFUSED_EARLIER));
		return XDS_EVENT_NACK;
	}
	if (!is_last || !lane->is_outstanding)
		return XDS_EVENT_REPEAT;
	xds_lane_acknowledge(lane, now_ms);
	xds_lane_set_table(stream, lane, xds_step_settle(hub, lane->table, XDS_ACCEPTED));
	return XDS_EVENT_ACK;
}

enum xds_event xds_delta_apply(struct xds_stream *stream, struct xds_lane *lane,
	const struct xds_request *request, bool is_first, int64_t now_ms)
{
	bool was_wildcard = lane->table->kind.is_wildcard;
	enum xds_event event = XDS_EVENT_REQUEST;
	struct change change;

	if (request->nonce.length || request->has_error)
		event = read_verdict(stream, lane, request, now_ms);
	if (!is_first && request->names_count == 0 && request->unsubscribe_count == 0)
		return event == XDS_EVENT_REQUEST ? XDS_EVENT_REPEAT : event;

	read_change(lane, request, is_first, &change);
	apply_change(stream, lane, &change);
	lane->is_owed = true;
	if (change.is_wildcard && (!was_wildcard || is_first))
		lane->must_answer = true;
	if (is_first && request->versions_count)
		lane->is_resumed = true;
	free(change.added);
	free(change.dropped);
	free(change.versions);
	return event == XDS_EVENT_REPEAT ? XDS_EVENT_REQUEST : event;
}
