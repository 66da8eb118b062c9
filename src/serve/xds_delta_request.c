/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_delta_request.h"

#include "serve/xds_draft.h"
#include "serve/xds_lane.h"
#include "serve/xds_resume.h"
#include "serve/xds_settle.h"

/* What the request says about one name. */
struct mention {
	struct slice name;
	bool is_added;
	bool is_dropped;
	const struct xds_version_pair *version; /* NULL: not mentioned */
};

static bool has_star(const struct slice *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (slice_is(names[i], "*"))
			return true;
	return false;
}

/* Whether the lane has the wildcard after the request. */
static bool wants_wildcard(
	const struct xds_lane *lane, const struct xds_request *request, bool is_first)
{
	bool is_wildcard = lane->table->whole.kind.is_wildcard;

	if (!xds_lane_row(lane)->is_delta_wildcard)
		return false;
	if (is_first && request->names_count == 0)
		is_wildcard = true;
	if (has_star(request->unsubscribe, request->unsubscribe_count))
		is_wildcard = false;
	return is_wildcard || has_star(request->names, request->names_count);
}

/* The table in the making, and what becomes of the old one's entries. */
struct editor {
	struct xds_stream *stream;
	struct xds_lane *lane;
	struct xds_draft draft;
	bool has_wildcard; /* the star is no name */
	bool is_wildcard;  /* afterwards */
	uint64_t lost;	   /* flags of what the client let go of */
	bool is_skipped;   /* something that was asked for need not be sent */
	bool is_naming;	   /* nothing but names that were not asked for before */
};

/* The client let go of an entry. What is still on its way reaches it all the same: should it ask
 * again before it answered, it may hold that. */
static uint64_t flags_left(const struct editor *editor, const struct xds_entry *entry)
{
	uint64_t unanswered = entry->flags & (XDS_PENDING | XDS_EARLIER);
	const struct xds_stream *stream = editor->stream;

	if (!unanswered || !(entry->flags & XDS_HELD) || (entry->flags & XDS_ALIAS) ||
		editor->lane->table->whole.count > stream->feed->hub->settings.names)
		return 0;
	return XDS_LEFT | unanswered;
}

/* A name that the client came with, or asks for, or lets go of. */
static void edit_name(struct editor *editor, const struct mention *mention)
{
	const struct xds_entry *entry = xds_table_find(editor->lane->table, mention->name);
	bool is_wildcard = editor->is_wildcard, may_skip = false;
	uint64_t flags = entry ? entry->flags : 0;
	struct digest digest = {.bytes = {0}};

	if (editor->has_wildcard && slice_is(mention->name, "*"))
		return;
	if (entry)
		digest = entry->digest;
	if (flags & XDS_LEFT)
		flags = mention->is_added ? XDS_HELD : 0;
	if (mention->version) {
		may_skip = xds_resume_read(editor->stream, editor->lane, mention->name,
			mention->version->version, &digest);
		flags |= XDS_HELD | XDS_RESUMED;
	}
	if (mention->is_dropped) {
		/* Under a wildcard the client still wants to know what is left of it (S.94). */
		if (is_wildcard && !(flags & XDS_ALIAS))
			flags = (flags & ~(uint64_t)(XDS_SUBSCRIBED | XDS_MISSING)) | XDS_OWED;
		else
			flags = 0; /* it forgets the resource */
	}
	if (mention->is_added) {
		flags &= ~(uint64_t)XDS_WAITED;
		flags |= XDS_SUBSCRIBED | (may_skip ? 0 : XDS_OWED);
		editor->is_skipped |= may_skip;
		editor->is_naming &= !entry && !mention->version;
	}
	if (!(flags & (XDS_SUBSCRIBED | XDS_TARGET)) && !is_wildcard)
		flags = 0;
	if (entry && !flags) {
		editor->lost |= entry->flags;
		flags = entry->flags & XDS_LEFT ? entry->flags : flags_left(editor, entry);
	}
	if (entry)
		xds_draft_put(
			&editor->draft, entry->name, flags & XDS_HELD ? &digest : NULL, flags);
	else if (flags)
		xds_draft_put_text(
			&editor->draft, mention->name, flags & XDS_HELD ? &digest : NULL, flags);
}

/* Whoever leaves the wildcard keeps what it named (S.93). */
static void leave_wildcard(struct editor *editor)
{
	const struct xds_entry *entry;
	size_t cursor = 0;

	while ((entry = xds_table_next(editor->lane->table, &cursor))) {
		if (entry->flags & XDS_SUBSCRIBED)
			continue;
		xds_draft_put(&editor->draft, entry->name, NULL, flags_left(editor, entry));
		editor->lost |= entry->flags;
	}
}

static void enter_wildcard(struct editor *editor)
{
	const struct xds_entry *entry;
	size_t cursor = 0;

	if (!(editor->lane->table->whole.flags & XDS_LEFT))
		return;
	while ((entry = xds_table_next(editor->lane->table, &cursor)))
		if (entry->flags & XDS_LEFT)
			xds_draft_put(
				&editor->draft, entry->name, &entry->digest, XDS_HELD | XDS_OWED);
}

/* What was refused together is offered again, if there is a reason for it and the client has
 * answered all: one that takes its time to refuse would be told the same for ever otherwise. */
static void retry(struct xds_stream *stream, struct xds_lane *lane)
{
	const struct xds_entry *entry;
	struct xds_draft draft;
	size_t cursor = 0;

	if (!lane->must_retry || lane->is_outstanding)
		return;
	lane->must_retry = false;
	xds_draft_begin(&draft, &stream->feed->hub->registry, lane->table, lane->table->whole.kind);
	while ((entry = xds_table_next(lane->table, &cursor)))
		if (entry->flags & XDS_REJECTED)
			xds_draft_put(&draft, entry->name,
				entry->flags & XDS_HELD ? &entry->digest : NULL,
				entry->flags | XDS_OWED);
	xds_lane_set_table(stream, lane, xds_draft_finish(&draft));
}

/* Each name once, with all that is said about it. A name said twice is edited twice, alike. */
static void edit_names(
	struct editor *editor, const struct xds_request *request, size_t versions_count)
{
	struct hash added, versions; /* only when lists have to be compared */

	hash_init(&added);
	hash_init(&versions);
	for (size_t i = 0;
		(request->unsubscribe_count || versions_count) && i < request->names_count; i++)
		hash_put(&added, request->names[i], (void *)&request->names[i]);
	for (size_t i = 0; i < versions_count; i++)
		hash_put(&versions, request->versions[i].name, (void *)&request->versions[i]);

	for (size_t i = 0; i < request->unsubscribe_count; i++) {
		struct mention mention = {.name = request->unsubscribe[i], .is_dropped = true};

		mention.is_added = hash_get(&added, mention.name) != NULL;
		mention.version = hash_get(&versions, mention.name);
		edit_name(editor, &mention);
		hash_put(&added, mention.name, editor); /* it has been dealt with */
	}
	for (size_t i = 0; i < request->names_count; i++) {
		struct mention mention = {.name = request->names[i], .is_added = true};

		if (hash_get(&added, mention.name) == editor)
			continue;
		mention.version = hash_get(&versions, mention.name);
		edit_name(editor, &mention);
	}
	for (size_t i = 0; i < versions_count; i++) {
		struct mention mention = {
			.name = request->versions[i].name, .version = &request->versions[i]};

		if (!hash_get(&added, mention.name))
			edit_name(editor, &mention);
	}
	hash_fini(&added);
	hash_fini(&versions);
}

/* Before the request there was nothing to say. */
static bool has_no_news(const struct xds_stream *stream, const struct xds_lane *lane)
{
	const struct xds_look *look = &lane->table->whole.look;

	return lane->table->whole.count == 0 ||
	       (look->stamp == stream->feed->generations[lane->type] && !look->has_news);
}

/* True: something that was asked for need not be sent. */
static bool apply_change(struct xds_stream *stream, struct xds_lane *lane,
	const struct xds_request *request, bool is_first)
{
	struct editor editor = {
		.stream = stream, .lane = lane, .is_naming = has_no_news(stream, lane)};
	struct xds_kind kind = lane->table->whole.kind;
	bool was_wildcard = kind.is_wildcard;

	editor.has_wildcard = xds_lane_row(lane)->is_delta_wildcard;
	editor.is_wildcard = kind.is_wildcard = wants_wildcard(lane, request, is_first);
	xds_draft_begin(&editor.draft, &stream->feed->hub->registry, lane->table, kind);
	if (was_wildcard && !editor.is_wildcard)
		leave_wildcard(&editor);
	else if (!was_wildcard && editor.is_wildcard)
		enter_wildcard(&editor);
	/* Only the first request says what the client holds from before. */
	edit_names(&editor, request, is_first ? request->versions_count : 0);
	xds_lane_set_table(stream, lane, xds_draft_finish(&editor.draft));
	/* Perhaps that was what it minded, or will have minded, in a response. */
	lane->must_retry |= editor.lost & (XDS_PENDING | XDS_EARLIER | XDS_REJECTED);
	retry(stream, lane);
	lane->is_naming = editor.is_naming;
	return editor.is_skipped;
}

/* ACK, NACK or neither. An older nonce says nothing any more, but a complaint is kept (S.95). */
static enum xds_event read_verdict(struct xds_stream *stream, struct xds_lane *lane,
	const struct xds_request *request, int64_t now_ms)
{
	struct xds_hub *hub = stream->feed->hub;
	bool is_last = xds_lane_has_nonce(lane, request->nonce);

	if (request->has_error && lane->nonce) {
		bool was_outstanding = lane->is_outstanding;

		xds_lane_reject(lane, request->error_code, request->error_message, now_ms);
		lane->is_outstanding = was_outstanding && !is_last;
		lane->must_retry |= !is_last;
		xds_lane_set_table(stream, lane,
			xds_settle(hub, lane->table, is_last ? XDS_REFUSED : XDS_REFUSED_EARLIER));
		retry(stream, lane);
		return XDS_EVENT_NACK;
	}
	if (!is_last || !lane->is_outstanding)
		return XDS_EVENT_REPEAT;
	xds_lane_acknowledge(lane, now_ms);
	xds_lane_set_table(stream, lane, xds_settle(hub, lane->table, XDS_ACCEPTED));
	retry(stream, lane);
	return XDS_EVENT_ACK;
}

enum xds_event xds_delta_apply(struct xds_stream *stream, struct xds_lane *lane,
	const struct xds_request *request, bool is_first, int64_t now_ms)
{
	bool was_wildcard = lane->table->whole.kind.is_wildcard, is_skipped;
	enum xds_event event = XDS_EVENT_REQUEST;

	if (request->nonce.length || request->has_error)
		event = read_verdict(stream, lane, request, now_ms);
	if (!is_first && request->names_count == 0 && request->unsubscribe_count == 0)
		return event == XDS_EVENT_REQUEST ? XDS_EVENT_REPEAT : event;

	is_skipped = apply_change(stream, lane, request, is_first);
	lane->is_owed = true;
	if (request->names_count)
		lane->awaited_ms = -1;
	if (is_skipped || (lane->table->whole.kind.is_wildcard && !was_wildcard))
		lane->must_answer = true;
	if (is_first && request->versions_count)
		lane->is_resumed = true;
	return event == XDS_EVENT_REPEAT ? XDS_EVENT_REQUEST : event;
}
