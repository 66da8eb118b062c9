/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "serve/rest/json_indent.h"
#include "serve/rest/rest_core.h"

static struct slice slice_of_rcstr(const struct rcstr *string)
{
	return (struct slice){string->text, string->length};
}

/* The group's snapshot, a new reference; NULL: answered. */
static struct snapshot *find_snapshot(
	struct rest_server *server, struct http_client *client, struct slice group)
{
	struct selector *selector = server->nodes.selector;
	struct snapshot *snapshot = NULL;
	struct buf name = BUF_INIT;

	if (selector && selector_find(selector, group) >= 0)
		snapshot = store_acquire(server->options.store, group);
	if (snapshot)
		return snapshot;
	text_quote(&name, group, 200);
	if (!selector || selector_find(selector, group) >= 0)
		rest_answer_error(server, client, REST_UNAVAILABLE,
			"group \"%s\" serves nothing yet", buf_cstr(&name));
	else
		rest_answer_error(server, client, REST_NOT_FOUND,
			"there is no group \"%s\"; GET /v3/groups lists them", buf_cstr(&name));
	buf_fini(&name);
	return NULL;
}

static json_t *describe_group(struct rest_server *server, const struct rcstr *group)
{
	struct snapshot *snapshot = store_acquire(server->options.store, slice_of_rcstr(group));
	json_t *object = json_pack("{s:s}", "name", group->text);
	char *url = xasprintf("/v3/groups/%s", group->text);

	if (snapshot) {
		json_object_set_new(
			object, "resources", json_integer((json_int_t)snapshot_count(snapshot)));
		json_object_set_new(object, "bridge", json_boolean(snapshot->is_bridge));
	} else {
		json_object_set_new(object, "resources", json_null());
	}
	json_object_set_new(object, "url", json_string(url));
	free(url);
	snapshot_unref(snapshot);
	return object;
}

void rest_people_groups(struct rest_server *server, struct http_client *client)
{
	struct selector *selector = server->nodes.selector;
	json_t *groups;

	if (!selector) {
		rest_answer_error(server, client, REST_UNAVAILABLE, "nothing has been built yet");
		return;
	}
	groups = json_array();
	for (size_t i = 0; i < selector_count(selector); i++)
		json_array_append_new(groups, describe_group(server, selector_group(selector, i)));
	rest_answer(server, client, REST_OK,
		http_reply_json(200, json_pack("{s:o}", "groups", groups)));
}

static json_t *describe_type(const struct snapshot *snapshot, enum xds_type type)
{
	const struct xds_type_row *row = xds_type_row(type);
	const struct resource_set *set = snapshot->sets[type];
	json_t *object = json_pack("{s:s,s:s,s:I}", "type", row->stem, "type_url", row->type_url,
		"resources", (json_int_t)resource_set_count(set));
	char *url;

	if (row->is_secret) {
		json_object_set_new(object, "note", json_string("secrets are not shown"));
		return object;
	}
	url = xasprintf("/v3/groups/%s/%s", snapshot->group->text, row->stem);
	json_object_set_new(object, "version", json_string(resource_set_version(set)->text));
	json_object_set_new(object, "url", json_string(url));
	free(url);
	return object;
}

void rest_people_group(struct rest_server *server, struct http_client *client, struct slice group)
{
	struct snapshot *snapshot = find_snapshot(server, client, group);
	json_t *types, *object;
	char built[25];

	if (!snapshot)
		return;
	clock_format_utc(snapshot->built_wall_ms, built);
	types = json_array();
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		json_array_append_new(types, describe_type(snapshot, type));
	object = json_pack("{s:s,s:b,s:s}", "group", snapshot->group->text, "bridge",
		snapshot->is_bridge, "built", built);
	if (snapshot->source)
		json_object_set_new(object, "source", json_string(snapshot->source->text));
	json_object_set_new(object, "types", types);
	rest_answer(server, client, REST_OK, http_reply_json(200, object));
	snapshot_unref(snapshot);
}

/* Does If-None-Match list this entity tag? Weak ones compare equal. */
static bool lists_tag(struct slice header, const char *tag)
{
	const char *at = header.data, *end = header.data + header.length;

	while (at && at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		struct slice item = {at, (size_t)((comma ? comma : end) - at)};

		while (item.length && (*item.data == ' ' || *item.data == '\t'))
			item.data++, item.length--;
		while (item.length &&
			(item.data[item.length - 1] == ' ' || item.data[item.length - 1] == '\t'))
			item.length--;
		if (item.length > 2 && strncmp(item.data, "W/", 2) == 0)
			item.data += 2, item.length -= 2;
		if (slice_is(item, tag) || slice_is(item, "*"))
			return true;
		at = comma ? comma + 1 : NULL;
	}
	return false;
}

static void show_set(struct rest_server *server, struct http_client *client,
	const struct resource_set *set, const char *tag)
{
	const struct version *version = resource_set_version(set);
	struct buf line = BUF_INIT, text = BUF_INIT;
	struct http_reply *reply;
	size_t count;
	struct resource **resources = resource_set_sorted(set, &count);
	int rc = server->options.encode(server->options.encode_ctx, resource_set_type(set), version,
		resources, count, &line);

	free(resources);
	if (!rc)
		json_indent(buf_slice(&line), &text);
	buf_fini(&line);
	if (rc || buf_error(&text)) {
		buf_fini(&text);
		rest_answer_error(server, client, REST_FAILED, "the set could not be encoded");
		return;
	}
	reply = http_reply_new(200, "application/json", &text);
	http_reply_header(reply, "ETag", tag);
	http_reply_header(reply, "Cache-Control", "no-cache");
	rest_answer(server, client, REST_OK, reply);
}

void rest_people_set(struct rest_server *server, struct http_client *client, struct slice group,
	const struct xds_type_row *row)
{
	struct snapshot *snapshot;
	char *tag;

	if (row->is_secret) {
		rest_answer_error(server, client, REST_FORBIDDEN,
			"secrets are only given to the proxies that ask for them by name");
		return;
	}
	snapshot = find_snapshot(server, client, group);
	if (!snapshot)
		return;
	tag = xasprintf("\"%s\"", resource_set_version(snapshot->sets[row->type])->text);
	if (lists_tag(http_client_header(client, "If-None-Match"), tag)) {
		struct http_reply *reply = http_reply_new(304, NULL, NULL);

		http_reply_header(reply, "ETag", tag);
		rest_answer(server, client, REST_NOT_MODIFIED, reply);
	} else {
		show_set(server, client, snapshot->sets[row->type], tag);
	}
	free(tag);
	snapshot_unref(snapshot);
}
