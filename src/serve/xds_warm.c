/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_warm.h"

#include <stdlib.h>

#include "base/mem.h"

/* Numbers of envoy.config.cluster.v3.Cluster. */
#define CLUSTER_TYPE		   2
#define CLUSTER_EDS_CONFIG	   3
#define CLUSTER_DISCOVERY_TYPE_EDS 3
#define EDS_CONFIG_SERVICE_NAME	   2

#define WIRE_VARINT		   0
#define WIRE_64			   1
#define WIRE_BYTES		   2
#define WIRE_32			   5

struct field {
	uint64_t number;
	unsigned wire;
	uint64_t value;
	struct slice bytes;
};

static bool read_varint(struct slice *rest, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && rest->length; shift += 7) {
		uint8_t byte = (uint8_t)rest->data[0];

		rest->data++;
		rest->length--;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

static bool read_field(struct slice *rest, struct field *field)
{
	uint64_t tag, skip = 0;

	*field = (struct field){0};
	if (!read_varint(rest, &tag))
		return false;
	field->number = tag >> 3;
	field->wire = tag & 7;
	switch (field->wire) {
	case WIRE_VARINT:
		return read_varint(rest, &field->value);
	case WIRE_BYTES:
		if (!read_varint(rest, &skip))
			return false;
		break;
	case WIRE_64:
		skip = 8;
		break;
	case WIRE_32:
		skip = 4;
		break;
	default:
		return false;
	}
	if (skip > rest->length)
		return false;
	field->bytes = (struct slice){rest->data, (size_t)skip};
	rest->data += skip;
	rest->length -= (size_t)skip;
	return true;
}

bool xds_warm_eds_name(const struct resource *cluster, struct slice *ret_name)
{
	struct slice rest = cluster->body, config = {NULL, 0};
	bool is_eds = false;
	struct field field;

	while (read_field(&rest, &field)) {
		if (field.number == CLUSTER_TYPE && field.wire == WIRE_VARINT)
			is_eds = field.value == CLUSTER_DISCOVERY_TYPE_EDS;
		else if (field.number == CLUSTER_EDS_CONFIG && field.wire == WIRE_BYTES)
			config = field.bytes;
	}
	if (!is_eds)
		return false;
	*ret_name = cluster->name;
	while (read_field(&config, &field))
		if (field.number == EDS_CONFIG_SERVICE_NAME && field.wire == WIRE_BYTES &&
			field.bytes.length)
			*ret_name = field.bytes;
	return true;
}

/* Which entries of a table were found, by index. */
struct found {
	struct hash entries; /* by name; only what the client holds by its own wish */
	bool *is_found;
	const struct xds_table *table;
	bool any;
};

static void note(struct found *found, struct slice name)
{
	const struct xds_entry *entry = hash_get(&found->entries, name);

	if (!entry)
		return;
	found->is_found[entry - found->table->entries] = true;
	found->any = true;
}

/* Secrets are named somewhere in nested messages, always as a string in field 1. Whatever looks
 * like one and is a name that the client holds counts: at worst a secret is sent once more. */
static void find_strings(struct found *found, struct slice body)
{
	const char *at = body.data, *end = body.data + body.length;

	while (at < end && (at = memchr(at, 0x0a, (size_t)(end - at)))) {
		struct slice rest = {at + 1, (size_t)(end - at) - 1};
		uint64_t length;

		if (read_varint(&rest, &length) && length <= rest.length)
			note(found, (struct slice){rest.data, (size_t)length});
		at++;
	}
}

static struct xds_table *owe(struct xds_hub *hub, const struct found *found)
{
	const struct xds_table *table = found->table;
	struct xds_draft draft;

	xds_draft_init(&draft, &hub->registry, table->kind, table->count);
	for (size_t i = 0; i < table->count; i++) {
		const struct xds_entry *entry = &table->entries[i];

		xds_draft_add(&draft, entry->name, entry->flags & XDS_HELD ? &entry->digest : NULL,
			entry->flags | (found->is_found[i] ? XDS_OWED : 0));
	}
	return xds_draft_finish(&draft);
}

struct xds_table *xds_warm_owe(
	struct xds_hub *hub, struct xds_table *table, struct xds_answer *answer)
{
	struct xds_answer_private *private = answer->private;
	unsigned slot = table->kind.type == XDS_SDS;
	struct found found = {.table = table};
	struct xds_table *after;

	if (private->warm_from[slot] == table)
		return xds_table_ref(private->warm_to[slot]);
	hash_init(&found.entries);
	found.is_found = xcalloc(table->count + 1, sizeof(bool));
	for (size_t i = 0; i < table->count; i++) {
		const struct xds_entry *entry = &table->entries[i];

		if ((entry->flags & XDS_SUBSCRIBED) && (entry->flags & XDS_HELD))
			hash_put(&found.entries, xds_name_slice(entry->name), (void *)entry);
	}
	for (size_t i = 0; found.entries.count && i < answer->items_count; i++) {
		const struct xds_item *item = &answer->items[i];
		struct slice name;

		if (!item->resource || item->is_heartbeat)
			continue;
		if (table->kind.type == XDS_SDS)
			find_strings(&found, item->resource->body);
		else if (xds_warm_eds_name(item->resource, &name))
			note(&found, name);
	}
	after = found.any ? owe(hub, &found) : xds_table_ref(table);
	hash_fini(&found.entries);
	free(found.is_found);
	xds_table_unref(&hub->registry, private->warm_from[slot]);
	xds_table_unref(&hub->registry, private->warm_to[slot]);
	private->warm_from[slot] = xds_table_ref(table);
	private->warm_to[slot] = xds_table_ref(after);
	return after;
}
