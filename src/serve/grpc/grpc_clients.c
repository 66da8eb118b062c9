/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_clients.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "serve/xds_blame.h"

#define TEXT_SHOWN   400	       /* bytes of a refusal in a log line */
#define NAMES_SHOWN  5		       /* in the status */
#define LIBRARY_MOST ((size_t)4 << 20) /* what gRPC libraries receive unless told otherwise */

static struct slice group_of(const struct grpc_stream *stream)
{
	const struct rcstr *group = xds_feed_group(xds_stream_feed(stream->stream));

	return (struct slice){group->text, group->length};
}

/* "path:line", or nothing when it is unknown. */
static void put_source(const struct resource *resource, struct buf *out)
{
	if (resource->path && resource->at.line)
		buf_printf(out, "%s:%u", resource->path->text, resource->at.line);
	else if (resource->path)
		buf_puts(out, resource->path->text);
}

/* ---- log ---- */

void grpc_clients_joined(struct grpc_stream *stream, int64_t now_ms)
{
	struct grpc_node *node = stream->node;

	if (stream->form == XDS_FETCH || node->streams++)
		return;
	grpc_log_event(&stream->base.dispatch->log, now_ms, GRPC_LOG_JOINED,
		LOG_TEXT("node", node->id), LOG_TEXT("cluster", node->cluster),
		LOG_SLICE("group", group_of(stream)),
		LOG_TEXT("address", grpc_call_peer(stream->base.call)));
}

void grpc_clients_left(struct grpc_stream *stream, int64_t now_ms)
{
	struct grpc_node *node = stream->node;

	if (stream->form == XDS_FETCH || --node->streams)
		return;
	grpc_log_event(&stream->base.dispatch->log, now_ms, GRPC_LOG_LEFT,
		LOG_TEXT("node", node->id), LOG_TEXT("cluster", node->cluster),
		LOG_SLICE("group", group_of(stream)),
		LOG_TEXT("address", grpc_call_peer(stream->base.call)));
}

void grpc_clients_moved(struct grpc_stream *stream, int64_t now_ms)
{
	const struct grpc_node *node = stream->node;

	grpc_log_event(&stream->base.dispatch->log, now_ms, GRPC_LOG_MOVED,
		LOG_TEXT("node", node->id), LOG_TEXT("cluster", node->cluster),
		LOG_SLICE("from", group_of(stream)), LOG_TEXT("group", node->group->text));
}

void grpc_clients_unknown_type(struct grpc_stream *stream, const char *problem, int64_t now_ms)
{
	grpc_log_event(&stream->base.dispatch->log, now_ms, GRPC_LOG_UNKNOWN_TYPE,
		LOG_TEXT("node", stream->node->id), LOG_TEXT("cluster", stream->node->cluster),
		LOG_TEXT("text", problem));
}

void grpc_clients_refused(struct grpc_stream *stream, const char *problem, int64_t now_ms)
{
	grpc_log_event(&stream->base.dispatch->log, now_ms, GRPC_LOG_REFUSED,
		LOG_TEXT("node", stream->node ? stream->node->id : ""),
		LOG_TEXT("cluster", stream->node ? stream->node->cluster : ""),
		LOG_TEXT("address", grpc_call_peer(stream->base.call)), LOG_TEXT("text", problem));
}

void grpc_clients_sent(struct grpc_stream *stream, enum xds_type type, size_t bytes, int64_t now_ms)
{
	bool *is_large = &stream->member.feed->is_large[type];

	if (bytes <= LIBRARY_MOST || *is_large)
		return;
	*is_large = true;
	grpc_log_event(&stream->base.dispatch->log, now_ms, GRPC_LOG_LARGE,
		LOG_TEXT("node", stream->node->id), LOG_TEXT("cluster", stream->node->cluster),
		LOG_SLICE("group", group_of(stream)), LOG_TEXT("type", xds_type_row(type)->name),
		LOG_NUMBER("bytes", (int64_t)bytes),
		LOG_TEXT("text", "gRPC libraries and Envoy's google_grpc refuse more than 4 MiB "
				 "unless their limit is raised; envoy_grpc does not"));
}

/* ---- refusals ---- */

/* The only resource of the type that the client has, if it is one. */
static struct resource *only_one(
	const struct grpc_stream *stream, enum xds_type type, const struct resource_set *set)
{
	struct xds_name_report name;
	struct resource *only = NULL;
	size_t cursor = 0;

	while (xds_stream_next_name(stream->stream, type, &cursor, &name)) {
		if (!name.is_held)
			continue;
		if (only)
			return NULL;
		only = resource_set_find(set, name.name);
		if (!only)
			return NULL;
	}
	return only;
}

size_t grpc_clients_blame(const struct grpc_stream *stream, enum xds_type type,
	const struct xds_type_report *report, struct resource **found)
{
	const struct snapshot *snapshot = xds_feed_snapshot(xds_stream_feed(stream->stream));
	size_t count;

	if (!snapshot || !report->last_nack)
		return 0;
	count = xds_blame_find(
		snapshot->sets[type], slice_of(report->last_nack), found, GRPC_BLAMED);
	if (count == 0) {
		found[0] = only_one(stream, type, snapshot->sets[type]);
		count = found[0] != NULL;
	}
	return count;
}

/* Of a secret "-": a digest over a short password gives it away. */
static const char *shown(const struct xds_type_row *row, const struct version *version)
{
	return row->is_secret ? "-" : version->text;
}

/* Once per group, type and version: one bad change must not fill the log with a line per client;
 * the status has them all. */
void grpc_clients_rejected(struct grpc_stream *stream, enum xds_type type, int64_t now_ms)
{
	struct grpc_dispatch *dispatch = stream->base.dispatch;
	const struct xds_type_row *row = xds_type_row(type);
	struct resource *found[GRPC_BLAMED];
	struct buf names = BUF_INIT, sources = BUF_INIT;
	struct xds_type_report report;
	struct version *reported = &stream->member.feed->reported[type];
	struct slice text;
	size_t count;

	if (!xds_stream_report(stream->stream, type, &report) || !report.last_nack)
		return;
	/* The text is what differs between clients that take only some names. */
	if (report.rejected.text[0] && version_equal(reported, &report.rejected)) {
		grpc_log_count(&dispatch->log, now_ms, GRPC_LOG_REJECTED);
		return;
	}
	*reported = report.rejected;
	count = grpc_clients_blame(stream, type, &report, found);
	for (size_t i = 0; i < count; i++) {
		buf_puts(&names, i ? ", " : "");
		buf_append_slice(&names, found[i]->name);
		buf_puts(&sources, i ? ", " : "");
		put_source(found[i], &sources);
	}
	text = slice_of(report.last_nack);
	if (text.length > TEXT_SHOWN)
		text.length = TEXT_SHOWN;
	grpc_log_event(&dispatch->log, now_ms, GRPC_LOG_REJECTED,
		LOG_TEXT("node", stream->node->id), LOG_TEXT("cluster", stream->node->cluster),
		LOG_SLICE("group", group_of(stream)), LOG_TEXT("type", row->name),
		LOG_TEXT("version", shown(row, &report.rejected)),
		LOG_TEXT("acknowledged", shown(row, &report.acknowledged)),
		LOG_TEXT("name", buf_cstr(&names)), LOG_TEXT("source", buf_cstr(&sources)),
		LOG_NUMBER("code", report.last_nack_code), LOG_SLICE("text", text));
	buf_fini(&names);
	buf_fini(&sources);
}

/* ---- nodes without a group ---- */

static void forget_unmatched(struct grpc_unmatched *entry)
{
	free(entry->id);
	free(entry->cluster);
	free(entry->address);
}

void grpc_clients_unmatched(struct grpc_dispatch *dispatch, const struct grpc_node_names *names,
	const char *address, int64_t now_ms)
{
	struct grpc_unmatched *list = dispatch->unmatched;
	struct grpc_unmatched entry = {0};
	size_t i = 0;

	dispatch->counters.unmatched++;
	while (i < dispatch->unmatched_count &&
		(strcmp(list[i].id, names->id) != 0 ||
			strcmp(list[i].cluster, names->cluster) != 0))
		i++;
	if (i < dispatch->unmatched_count) {
		entry = list[i];
	} else {
		grpc_log_event(&dispatch->log, now_ms, GRPC_LOG_NO_GROUP,
			LOG_TEXT("node", names->id), LOG_TEXT("cluster", names->cluster),
			LOG_TEXT("address", address));
		entry.id = xstrdup(names->id);
		entry.cluster = xstrdup(names->cluster);
		if (dispatch->unmatched_count == GRPC_UNMATCHED_MAX)
			forget_unmatched(&list[--i]);
		else
			dispatch->unmatched_count++;
	}
	memmove(list + 1, list, i * sizeof(*list));
	free(entry.address);
	entry.address = xstrdup(address);
	entry.count++;
	entry.last_wall_ms = clock_wall_ms();
	list[0] = entry;
}

void grpc_clients_fini(struct grpc_dispatch *dispatch)
{
	for (size_t i = 0; i < dispatch->unmatched_count; i++)
		forget_unmatched(&dispatch->unmatched[i]);
}

/* ---- status ---- */

static void set_text(json_t *object, const char *key, struct slice text)
{
	json_t *value = json_stringn(text.data ? text.data : "", text.length);

	json_object_set_new(object, key, value ? value : json_string("(not UTF-8)"));
}

static void set_wall(json_t *object, const char *key, int64_t wall_ms)
{
	char text[25];

	clock_format_utc(wall_ms, text);
	json_object_set_new(object, key, json_string(text));
}

/* at_ms of the monotonic clock; -1: never, then the key is absent. */
static void set_time(json_t *object, const char *key, int64_t at_ms, int64_t now_ms)
{
	if (at_ms >= 0)
		set_wall(object, key, clock_wall_ms() - (now_ms - at_ms));
}

static void set_version(json_t *object, const char *key, const struct xds_type_row *row,
	const struct version *version)
{
	if (version->text[0] && !row->is_secret)
		json_object_set_new(object, key, json_string(version->text));
}

static json_t *nack_json(const struct grpc_stream *stream, enum xds_type type,
	const struct xds_type_report *report, int64_t now_ms)
{
	json_t *object = json_object(), *list = json_array();
	struct resource *found[GRPC_BLAMED];
	size_t count = grpc_clients_blame(stream, type, report, found);
	struct buf source = BUF_INIT;

	set_text(object, "text", slice_of(report->last_nack));
	json_object_set_new(object, "code", json_integer(report->last_nack_code));
	set_time(object, "at", report->rejected_ms, now_ms);
	for (size_t i = 0; i < count; i++) {
		json_t *resource = json_object();

		buf_reset(&source);
		put_source(found[i], &source);
		set_text(resource, "name", found[i]->name);
		if (source.length)
			set_text(resource, "source", buf_slice(&source));
		json_array_append_new(list, resource);
	}
	json_object_set_new(object, "resources", list);
	buf_fini(&source);
	return object;
}

static json_t *names_json(const struct grpc_stream *stream, enum xds_type type)
{
	json_t *list = json_array();
	struct xds_name_report name;
	size_t cursor = 0;

	while (json_array_size(list) < NAMES_SHOWN &&
		xds_stream_next_name(stream->stream, type, &cursor, &name))
		if (name.is_subscribed)
			json_array_append_new(list, json_stringn(name.name.data, name.name.length));
	return list;
}

static json_t *type_json(const struct grpc_stream *stream, enum xds_type type,
	const struct xds_type_report *report, int64_t now_ms)
{
	const struct xds_type_row *row = xds_type_row(type);
	json_t *object = json_object();

	json_object_set_new(object, "subscribed",
		report->is_wildcard ? json_string("*") : json_integer((json_int_t)report->names));
	if (report->names)
		json_object_set_new(object, "names", names_json(stream, type));
	set_version(object, "sent", row, &report->sent);
	set_time(object, "sent_at", report->sent_ms, now_ms);
	set_version(object, "acknowledged", row, &report->acknowledged);
	set_time(object, "acknowledged_at", report->acknowledged_ms, now_ms);
	set_version(object, "rejected", row, &report->rejected);
	json_object_set_new(object, "is_outstanding", json_boolean(report->is_outstanding));
	if (report->rejected.text[0])
		json_object_set_new(object, "is_rejected", json_true());
	if (report->last_nack)
		json_object_set_new(object, "last_nack", nack_json(stream, type, report, now_ms));
	return object;
}

void grpc_clients_transport(const struct grpc_stream *stream, char out[static GRPC_TRANSPORT_SIZE])
{
	static const char *const forms[] = {
		[XDS_SOTW] = "sotw", [XDS_DELTA] = "delta", [XDS_FETCH] = "fetch"};

	snprintf(out, GRPC_TRANSPORT_SIZE, "grpc %s %s", forms[stream->form],
		stream->row ? stream->row->stem : "ads");
}

static json_t *client_json(const struct grpc_stream *stream, int64_t now_ms)
{
	json_t *object = json_object(), *types = json_object();
	char transport[GRPC_TRANSPORT_SIZE];

	grpc_clients_transport(stream, transport);
	json_object_set_new(object, "transport", json_string(transport));
	set_text(object, "node", slice_of(stream->node->id));
	set_text(object, "cluster", slice_of(stream->node->cluster));
	set_text(object, "address", slice_of(grpc_call_peer(stream->base.call)));
	set_text(object, "group", group_of(stream));
	set_wall(object, "since", grpc_call_began_ms(stream->base.call));
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		struct xds_type_report report;

		if (xds_stream_report(stream->stream, (enum xds_type)type, &report))
			json_object_set_new(types, xds_type_row((enum xds_type)type)->name,
				type_json(stream, (enum xds_type)type, &report, now_ms));
	}
	json_object_set_new(object, "types", types);
	return object;
}

static void add(json_t *counters, const char *key, uint64_t value)
{
	json_int_t former = json_integer_value(json_object_get(counters, key));

	json_object_set_new(counters, key, json_integer(former + (json_int_t)value));
}

static void add_unmatched(const struct grpc_dispatch *dispatch, json_t *counters)
{
	json_t *list = json_object_get(counters, "unmatched");

	if (!list) {
		list = json_array();
		json_object_set_new(counters, "unmatched", list);
	}
	for (size_t i = 0; i < dispatch->unmatched_count; i++) {
		const struct grpc_unmatched *entry = &dispatch->unmatched[i];
		json_t *object = json_object();

		json_object_set_new(object, "transport", json_string("grpc"));
		set_text(object, "node", slice_of(entry->id));
		set_text(object, "cluster", slice_of(entry->cluster));
		set_text(object, "address", slice_of(entry->address));
		json_object_set_new(object, "requests", json_integer((json_int_t)entry->count));
		set_wall(object, "last", entry->last_wall_ms);
		json_array_append_new(list, object);
	}
}

static void add_counters(const struct grpc_dispatch *dispatch, json_t *counters)
{
	const struct grpc_counters *own = &dispatch->counters;
	struct xds_hub_counts hub = xds_hub_count(dispatch->feeds.hub);

	add(counters, "streams", dispatch->streams_count);
	add(counters, "nodes", dispatch->nodes.nodes.count);
	add(counters, "requests", own->requests);
	add(counters, "responses", own->responses);
	add(counters, "pushes", own->pushes);
	add(counters, "acks", own->acks);
	add(counters, "nacks", own->nacks);
	add(counters, "stale", own->stale);
	add(counters, "unknown_types", own->unknown_types);
	add(counters, "refused_calls", own->refused);
	add(counters, "unmatched_requests", own->unmatched);
	add(counters, "names", hub.names);
	add(counters, "tables", hub.tables);
	add(counters, "answers", hub.answers);
	add(counters, "answers_computed", hub.computed);
}

void grpc_clients_status(struct grpc_dispatch *dispatch, json_t *clients, size_t limit,
	json_t *counters, int64_t now_ms)
{
	const struct grpc_stream *stream;

	LIST_FOREACH(stream, &dispatch->streams, link)
	{
		if (json_array_size(clients) >= limit)
			break;
		json_array_append_new(clients, client_json(stream, now_ms));
	}
	add_counters(dispatch, counters);
	add_unmatched(dispatch, counters);
}
