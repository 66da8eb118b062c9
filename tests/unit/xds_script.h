/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scripts of requests, snapshots and expected decisions for the protocol core. One line each:
 *   snapshot TYPE:name=value,... ...   what the group serves now; "none": nothing
 *       value: e1 an EDS cluster, e1>x one with service_name x, 1$x names secret x,
 *              1!2000 a TTL in ms, 1/x+y aliases x and y, 1#d#e domains d and e
 *   > TYPE WORD... [= EVENT]           a request; words:
 *       name  +name (delta: subscribe)  -name (delta: unsubscribe)
 *       name@value (delta: initial version of that content; "@?": somebody else's; "@": the
 *       version that came last for the name, on whatever stream)
 *       ack  nack  mismatch (NACK without error_detail)  repeat (ACK once more)
 *       late (NACK of the response before the last)
 *       stale (a nonce of another stream)  old (SotW: version of another stream)
 *   < TYPE ITEM...                     the next response is a reply with exactly these items
 *   << TYPE ITEM...                    the same for a push
 *       item: name  -name (removed)  [name] (wrapped)  ~name (heartbeat)  ?name (unresolved)
 *             name(alias,alias)
 *   .                                  nothing (more) to send now
 *   again                              a new stream of the same method
 *   at MS                              time
 *   deadline MS                        when to ask again; -1: never
 */
#ifndef XDSPUB_TESTS_XDS_SCRIPT_H
#define XDSPUB_TESTS_XDS_SCRIPT_H

#include "serve/xds_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"

#define SCRIPT_NAMES 64

/* What a client remembers of a resource. */
struct script_memory {
	enum xds_type type;
	char name[32];
	struct version version;
};

struct script {
	struct script_memory memories[SCRIPT_NAMES];
	size_t memories_count;
	struct xds_method method;
	struct xds_settings settings;
	struct xds_hub *hub;
	struct xds_feed *feed;
	struct xds_stream *stream;
	bool is_delta;
	int64_t now_ms;
	char nonces[XDS_TYPE_COUNT][XDS_NONCE_SIZE];
	char former[XDS_TYPE_COUNT][XDS_NONCE_SIZE];
	struct version sent[XDS_TYPE_COUNT];
	struct version held[XDS_TYPE_COUNT]; /* accepted last */
	const char *const *lines;
	size_t line;
	struct xds_outcome outcome;
};

static inline void body_string(struct buf *body, unsigned field, struct slice text)
{
	unsigned tag = field << 3 | 2;

	if (tag >= 128)
		buf_putc(body, (char)(tag | 0x80));
	buf_putc(body, (char)(tag >= 128 ? tag >> 7 : tag));
	buf_putc(body, (char)text.length);
	buf_append_slice(body, text);
}

/* A resource from "name" and "value" as the scripts have it. */
static inline struct resource *script_resource(
	enum xds_type type, struct slice name, const char *value)
{
	struct resource_spec spec = {.type = type, .name = name, .ttl_ms = -1};
	struct buf body = BUF_INIT, inner = BUF_INIT;
	struct slice aliases[8];
	struct resource *resource;
	const char *mark;

	body_string(&body, 1, name);
	if (value[0] == 'e')
		buf_append(&body, "\x10\x03", 2);
	mark = strchr(value, '>');
	if (mark) {
		body_string(&inner, 2, slice_of(mark + 1));
		body_string(&body, 3, buf_slice(&inner));
	}
	mark = strchr(value, '$');
	if (mark) {
		buf_reset(&inner);
		body_string(&inner, 1, slice_of(mark + 1));
		body_string(&body, 24, buf_slice(&inner));
	}
	for (mark = strchr(value, '#'); mark; mark = strchr(mark + 1, '#'))
		body_string(&body, 2, (struct slice){mark + 1, strcspn(mark + 1, "#/!")});
	body_string(&body, 28, slice_of(value));
	mark = strchr(value, '!');
	if (mark)
		spec.ttl_ms = atoi(mark + 1);
	for (mark = strchr(value, '/'); mark; mark = strchr(mark + 1, '+')) {
		size_t length = strcspn(mark + 1, "+");

		aliases[spec.aliases_count++] = (struct slice){mark + 1, length};
	}
	spec.aliases = aliases;
	spec.body = buf_slice(&body);
	resource = resource_new(&spec);
	buf_fini(&body);
	buf_fini(&inner);
	return resource;
}

static inline struct snapshot *script_snapshot(const char *text)
{
	struct resource_set *sets[XDS_TYPE_COUNT];
	struct rcstr *group = rcstr_new("g", 1), *source = rcstr_new("commit", 6);
	struct snapshot *snapshot;
	char *copy = xstrdup(text), *outer = NULL;

	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		sets[type] = resource_set_empty((enum xds_type)type);
	for (char *part = strtok_r(copy, " ", &outer); part; part = strtok_r(NULL, " ", &outer)) {
		char *colon = strchr(part, ':'), *inner = NULL;
		const struct xds_type_row *row;
		struct resource_set_builder *builder;

		*colon = '\0';
		row = xds_type_by_name(slice_of(part));
		builder = resource_set_edit(sets[row->type]);
		resource_set_unref(sets[row->type]);
		for (char *item = strtok_r(colon + 1, ",", &inner); item;
			item = strtok_r(NULL, ",", &inner)) {
			char *equals = strchr(item, '=');
			struct resource *resource;

			*equals = '\0';
			resource = script_resource(row->type, slice_of(item), equals + 1);
			resource_set_put(builder, resource);
			resource_unref(resource);
		}
		sets[row->type] = resource_set_finish(builder);
	}
	snapshot = snapshot_new(group, sets, false, source, 0);
	rcstr_unref(group);
	rcstr_unref(source);
	free(copy);
	return snapshot;
}

static inline void script_serve(struct script *script, const char *text)
{
	struct snapshot *snapshot = strcmp(text, "none") == 0 ? NULL : script_snapshot(text);

	xds_feed_set(script->feed, snapshot);
	snapshot_unref(snapshot);
}

#define script_fail(script_, format_, ...)                                                         \
	fail_msg("line %zu, \"%s\": " format_, (script_)->line, (script_)->lines[(script_)->line], \
		__VA_ARGS__)

static inline struct version *script_memory_of(
	struct script *script, enum xds_type type, struct slice name)
{
	struct script_memory *memory = script->memories;

	for (size_t i = 0; i < script->memories_count; i++, memory++)
		if (memory->type == type && slice_is(name, memory->name))
			return &memory->version;
	assert_true(script->memories_count < SCRIPT_NAMES && name.length < sizeof(memory->name));
	script->memories_count++;
	memory->type = type;
	memcpy(memory->name, name.data, name.length);
	return &memory->version;
}

static const char *const script_events[] = {
	"REQUEST", "ACK", "NACK", "STALE", "REPEAT", "UNKNOWN_TYPE", "REFUSED"};

static inline void script_request(struct script *script, char *text)
{
	struct slice names[16], dropped[16];
	struct xds_version_pair pairs[16];
	struct version versions[16];
	struct xds_request request = {.names = names, .unsubscribe = dropped, .versions = pairs};
	const struct xds_type_row *row = NULL;
	const char *event = NULL;
	char *rest = NULL;

	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *at = strchr(word, '@');

		if (!row) {
			row = xds_type_by_name(slice_of(word));
			request.type_url = slice_of(row->type_url);
		} else if (strcmp(word, "=") == 0) {
			event = strtok_r(NULL, " ", &rest);
		} else if (strcmp(word, "ack") == 0 || strcmp(word, "repeat") == 0) {
			request.nonce = slice_of(script->nonces[row->type]);
			script->held[row->type] = script->sent[row->type];
			request.version_info = slice_of(script->held[row->type].text);
		} else if (strcmp(word, "nack") == 0 || strcmp(word, "mismatch") == 0) {
			request.nonce = slice_of(script->nonces[row->type]);
			request.version_info = slice_of(script->held[row->type].text);
			request.has_error = word[0] == 'n';
			request.error_code = 13;
			request.error_message = SLICE("bad thing");
		} else if (strcmp(word, "late") == 0) {
			request.nonce = slice_of(script->former[row->type]);
			request.has_error = true;
		} else if (strcmp(word, "stale") == 0) {
			request.nonce = SLICE("999");
		} else if (strcmp(word, "old") == 0) {
			request.version_info = SLICE("a00000000000000000000000000000000");
		} else if (at) {
			struct resource *resource;

			*at = '\0';
			resource = script_resource(row->type, slice_of(word), at + 1);
			versions[request.versions_count] = version_text(&resource->digest);
			resource_unref(resource);
			pairs[request.versions_count].name = slice_of(word);
			if (!at[1])
				versions[request.versions_count] =
					*script_memory_of(script, row->type, slice_of(word));
			pairs[request.versions_count].version =
				at[1] == '?' ? SLICE("17")
					     : slice_of(versions[request.versions_count].text);
			request.versions_count++;
		} else if (script->is_delta && word[0] == '-') {
			dropped[request.unsubscribe_count++] = slice_of(word + 1);
		} else {
			names[request.names_count++] = slice_of(script->is_delta ? word + 1 : word);
		}
	}
	xds_stream_on_request(script->stream, &request, script->now_ms, &script->outcome);
	if (event && strcmp(event, script_events[script->outcome.event]) != 0)
		script_fail(script, "the event was %s (%s)", script_events[script->outcome.event],
			script->outcome.problem);
}

static inline void script_describe(const struct xds_response *response, struct buf *out)
{
	const struct xds_answer *answer = response->answer;

	buf_printf(out, "%s %s", response->is_push ? "<<" : "<", xds_type_row(answer->type)->name);
	for (size_t i = 0; i < answer->items_count; i++) {
		const struct xds_item *item = &answer->items[i];

		buf_putc(out, ' ');
		if (!item->resource)
			buf_putc(out, '?');
		if (item->is_heartbeat)
			buf_putc(out, '~');
		buf_puts(out, item->is_wrapped ? "[" : "");
		buf_append_slice(out, item->name);
		buf_puts(out, item->is_wrapped ? "]" : "");
		for (size_t k = 0; k < item->aliases_count; k++) {
			buf_putc(out, k ? ',' : '(');
			buf_append_slice(out, item->aliases[k]);
		}
		buf_puts(out, item->aliases_count ? ")" : "");
	}
	for (size_t i = 0; i < answer->removed_count; i++) {
		buf_puts(out, " -");
		buf_append_slice(out, answer->removed[i]);
	}
}

static inline void script_expect(struct script *script, const char *expected)
{
	struct xds_response response;
	struct buf text = BUF_INIT;

	if (xds_stream_next(script->stream, script->now_ms, &response)) {
		enum xds_type type = response.answer->type;

		script_describe(&response, &text);
		for (size_t i = 0; i < response.answer->items_count; i++)
			*script_memory_of(script, type, response.answer->items[i].name) =
				xds_item_version(&response.answer->items[i]);
		assert_int_equal(response.answer->is_delta, script->is_delta);
		assert_string_not_equal(response.nonce, "");
		assert_string_not_equal(response.nonce, script->nonces[type]); /* S.65 */
		assert_int_equal(strlen(response.answer->version.text), VERSION_TEXT_LENGTH);
		assert_string_equal(response.source->text, "commit");
		memcpy(script->former[type], script->nonces[type], XDS_NONCE_SIZE);
		memcpy(script->nonces[type], response.nonce, XDS_NONCE_SIZE);
		script->sent[type] = response.answer->version;
	} else {
		buf_puts(&text, ".");
	}
	if (strcmp(buf_cstr(&text), expected) != 0)
		script_fail(script, "got \"%s\"", buf_cstr(&text));
	buf_fini(&text);
}

static inline void script_begin(struct script *script, const char *path)
{
	struct rcstr *group = rcstr_new("g", 1);

	*script = (struct script){.settings = XDS_SETTINGS_DEFAULT};
	assert_int_equal(xds_method_parse(slice_of(path), &script->method), 0);
	script->hub = xds_hub_new(&script->settings);
	script->feed = xds_feed_new(script->hub, group);
	script->stream = xds_stream_new(
		script->feed, script->method, xds_client_of(SLICE("envoy"), NULL, 0));
	script->is_delta = script->method.form == XDS_DELTA;
	rcstr_unref(group);
}

static inline void script_reconnect(struct script *script)
{
	xds_stream_free(script->stream);
	memset(script->nonces, 0, sizeof(script->nonces));
	script->stream = xds_stream_new(
		script->feed, script->method, xds_client_of(SLICE("envoy"), NULL, 0));
}

static inline void script_end(struct script *script)
{
	xds_stream_free(script->stream);
	xds_feed_free(script->feed);
	xds_hub_free(script->hub); /* asserts that nothing is left */
}

static inline void script_play(struct script *script, const char *const *lines)
{
	script->lines = lines;
	for (script->line = 0; lines[script->line]; script->line++) {
		AUTO_FREE char *line = xstrdup(lines[script->line]);

		if (strncmp(line, "snapshot ", 9) == 0)
			script_serve(script, line + 9);
		else if (strncmp(line, "> ", 2) == 0)
			script_request(script, line + 2);
		else if (line[0] == '<' || line[0] == '.')
			script_expect(script, line);
		else if (strcmp(line, "again") == 0)
			script_reconnect(script);
		else if (strncmp(line, "at ", 3) == 0)
			script->now_ms = atoi(line + 3);
		else if (strncmp(line, "deadline ", 9) != 0)
			script_fail(script, "%s", "cannot read this line");
		else if (atoi(line + 9) != xds_stream_deadline(script->stream))
			script_fail(script, "it is %d", (int)xds_stream_deadline(script->stream));
	}
}

static inline void script_run(const char *path, const char *const *lines)
{
	struct script script;

	script_begin(&script, path);
	script_play(&script, lines);
	script_end(&script);
}

#define SCRIPT(path_, ...)                                                                         \
	do {                                                                                       \
		static const char *const lines_[] = {__VA_ARGS__, NULL};                           \
		(void)state;                                                                       \
		script_run(path_, lines_);                                                         \
	} while (0)

#define ADS_SOTW  "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"
#define ADS_DELTA "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources"
#define CDS_SOTW  "/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters"
#define EDS_SOTW  "/envoy.service.endpoint.v3.EndpointDiscoveryService/StreamEndpoints"
#define SDS_SOTW  "/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets"
#define CDS_DELTA "/envoy.service.cluster.v3.ClusterDiscoveryService/DeltaClusters"
#define EDS_DELTA "/envoy.service.endpoint.v3.EndpointDiscoveryService/DeltaEndpoints"
#define RDS_DELTA "/envoy.service.route.v3.RouteDiscoveryService/DeltaRoutes"
#define ECDS_DELTA                                                                                 \
	"/envoy.service.extension.v3.ExtensionConfigDiscoveryService/DeltaExtensionConfigs"
#define VHDS_DELTA "/envoy.service.route.v3.VirtualHostDiscoveryService/DeltaVirtualHosts"

#endif
