/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile/virtual_hosts.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "compile/folder.h"

/* Fields of envoy.config.route.v3.RouteConfiguration and VirtualHost. */
enum {
	ROUTES_VIRTUAL_HOSTS = 2,
	ROUTES_VHDS = 9,
	HOST_NAME = 1,
	HOST_DOMAINS = 2
};

#define WIRE_LENGTH 2 /* the wire type of what has a length */

/* --- encoded messages, our own and therefore sound ------------------------------------------- */

struct field {
	uint32_t number;
	struct slice value; /* of WIRE_LENGTH ones */
};

static uint64_t take_varint(struct slice *rest)
{
	uint64_t value = 0;
	unsigned shift = 0;
	unsigned char byte;

	do {
		assert(rest->length && shift < 64);
		byte = (unsigned char)*rest->data;
		*rest = (struct slice){rest->data + 1, rest->length - 1};
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static bool next_field(struct slice *rest, struct field *field)
{
	uint64_t tag, length;

	if (rest->length == 0)
		return false;
	tag = take_varint(rest);
	*field = (struct field){.number = (uint32_t)(tag >> 3)};
	switch (tag & 7) {
	case 0:
		take_varint(rest);
		return true;
	case 1:
		length = 8;
		break;
	case 5:
		length = 4;
		break;
	default:
		assert((tag & 7) == WIRE_LENGTH);
		length = take_varint(rest);
		break;
	}
	assert(length <= rest->length);
	field->value = (struct slice){rest->data, (size_t)length};
	*rest = (struct slice){rest->data + length, rest->length - (size_t)length};
	return true;
}

static void put_varint(struct buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_putc(out, (char)(value | 0x80));
	buf_putc(out, (char)value);
}

static size_t varint_size(uint64_t value)
{
	size_t size = 1;

	for (; value >= 0x80; value >>= 7)
		size++;
	return size;
}

static void put_bytes(struct buf *out, uint32_t number, struct slice bytes)
{
	put_varint(out, number << 3 | WIRE_LENGTH);
	put_varint(out, bytes.length);
	buf_append_slice(out, bytes);
}

/* --- names ----------------------------------------------------------------------------------- */

struct slice virtual_hosts_prefix(struct slice name)
{
	const char *slash = name.length ? memrchr(name.data, '/', name.length) : NULL;

	return (struct slice){name.data, slash ? (size_t)(slash - name.data) + 1 : 0};
}

struct slice virtual_hosts_folder(struct slice path)
{
	struct slice folder, rest;
	const struct xds_type_row *row = folder_type(path, &folder);
	const char *slash;

	if (!row || row->type != XDS_VHDS)
		return (struct slice){path.data, 0};
	rest = (struct slice){path.data + folder.length + 1, path.length - folder.length - 1};
	slash = memchr(rest.data, '/', rest.length);
	return (struct slice){rest.data, slash ? (size_t)(slash - rest.data) : 0};
}

/* Behind the route configuration's. */
static struct slice own_name(const struct resource *host)
{
	size_t prefix = virtual_hosts_prefix(host->name).length;

	return (struct slice){host->name.data + prefix, host->name.length - prefix};
}

/* --- parts ----------------------------------------------------------------------------------- */

static void part_free(struct virtual_hosts_part *part)
{
	for (size_t i = 0; i < part->problems_count; i++) {
		resource_unref(part->problems[i].host);
		resource_unref(part->problems[i].other);
		free((void *)part->problems[i].text.data);
	}
	for (size_t i = 0; i < part->count; i++)
		resource_unref(part->hosts[i]);
	resource_unref(part->routes);
	resource_unref(part->whole);
	free(part->problems);
	free(part->hosts);
	free(part);
}

void virtual_hosts_free(struct virtual_hosts *hosts)
{
	if (!hosts)
		return;
	for (size_t i = 0; i < hosts->count; i++) {
		if (hosts->parts[i])
			part_free(hosts->parts[i]);
	}
	resource_set_unref(hosts->all_routes);
	resource_set_unref(hosts->all_hosts);
	resource_set_unref(hosts->routes);
	resource_set_unref(hosts->hosts);
	free(hosts->parts);
	free(hosts);
}

static void add_problem(struct virtual_hosts_part *part, enum virtual_hosts_trouble trouble,
	struct resource *host, struct resource *other, struct slice text)
{
	struct virtual_hosts_problem *problem;

	array_reserve(part->problems, part->problems_capacity, part->problems_count + 1);
	problem = &part->problems[part->problems_count++];
	*problem = (struct virtual_hosts_problem){.trouble = trouble,
		.host = resource_ref(host),
		.other = other ? resource_ref(other) : NULL};
	problem->text = (struct slice){xstrndup(text.data, text.length), text.length};
}

/* --- checking -------------------------------------------------------------------------------- */

/* Which resource has a domain, or a name, so far. */
struct taken {
	struct hash domains, names;
	struct arena *arena;
};

/* Envoy compares domains without case. */
static struct slice lower(struct arena *arena, struct slice text)
{
	struct slice copy = arena_copy(arena, text.data, text.length);

	assert(copy.data);
	for (size_t i = 0; i < copy.length; i++) {
		char *c = (char *)copy.data + i;

		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c + ('a' - 'A'));
	}
	return copy;
}

static void check_host(struct virtual_hosts_part *part, struct taken *taken, struct slice body,
	struct resource *host)
{
	struct field field;

	while (next_field(&body, &field)) {
		struct slice domain;
		struct resource *other;

		if (field.number == HOST_NAME && host == part->routes)
			hash_put(&taken->names, field.value, host);
		if (field.number != HOST_DOMAINS)
			continue;
		domain = lower(taken->arena, field.value);
		other = hash_get(&taken->domains, domain);
		if (!other)
			hash_put(&taken->domains, domain, host);
		else if (host != part->routes && other != host)
			add_problem(part, VIRTUAL_HOSTS_DOMAIN, host, other, field.value);
	}
}

static void check_part(struct virtual_hosts_part *part)
{
	struct taken taken = {.arena = arena_new(0)};
	struct slice body = part->routes->body;
	struct field field;

	hash_init(&taken.domains);
	hash_init(&taken.names);
	while (next_field(&body, &field)) {
		if (field.number == ROUTES_VIRTUAL_HOSTS)
			check_host(part, &taken, field.value, part->routes);
	}
	for (size_t i = 0; i < part->count; i++) {
		struct resource *host = part->hosts[i];

		if (hash_get(&taken.names, own_name(host)))
			add_problem(part, VIRTUAL_HOSTS_NAME, host, part->routes, own_name(host));
		check_host(part, &taken, host->body, host);
	}
	hash_fini(&taken.domains);
	hash_fini(&taken.names);
	arena_free(taken.arena);
}

/* --- putting together ------------------------------------------------------------------------ */

/* The host's own message, without the route configuration in its name. */
static void put_host(struct buf *out, struct open_builder *open, const struct resource *host)
{
	size_t at;
	struct slice rest = host->body, name = own_name(host);
	struct field field;
	bool has_name = next_field(&rest, &field);

	assert(has_name && field.number == HOST_NAME);
	(void)has_name;
	put_varint(out, ROUTES_VIRTUAL_HOSTS << 3 | WIRE_LENGTH);
	at = out->length;
	put_varint(out, 1 + varint_size(name.length) + name.length + rest.length);
	if (host->open)
		open_builder_mark(open, (struct open_mark){.at = (uint32_t)at,
						.start = (uint32_t)out->length,
						.outer = -1,
						.place = -1});
	put_bytes(out, HOST_NAME, name);
	if (host->open) {
		size_t former = (size_t)(rest.data - host->body.data);
		int32_t mark = (int32_t)open->marks_count - 1;

		open->marks[mark].end = (uint32_t)(out->length + rest.length);
		open_builder_take(open, host->open, former, host->body.length,
			(int64_t)out->length - (int64_t)former, mark);
	}
	buf_append_slice(out, rest);
}

static struct resource *put_together(const struct virtual_hosts_part *part)
{
	const struct resource *routes = part->routes;
	struct slice rest = routes->body, tail = rest;
	struct resource_spec spec = {.type = XDS_RDS,
		.name = routes->name,
		.ttl_ms = routes->ttl_ms,
		.aliases = routes->aliases,
		.aliases_count = routes->aliases_count,
		.path = routes->path,
		.at = routes->at};
	struct config_sources *sources = resource_sources(routes);
	struct open_builder open = {0};
	struct buf body = BUF_INIT;
	struct resource *whole;
	struct field field;
	size_t before;

	/* Fields are encoded by number: the new ones go behind those of theirs. */
	while (next_field(&rest, &field) && field.number <= ROUTES_VIRTUAL_HOSTS)
		tail = rest;
	before = (size_t)(tail.data - routes->body.data);
	buf_append(&body, routes->body.data, before);
	open_builder_take(&open, routes->open, 0, before, 0, -1);
	for (size_t i = 0; i < part->count; i++) {
		put_host(&body, &open, part->hosts[i]);
		if (!sources)
			sources = resource_sources(part->hosts[i]);
	}
	open_builder_take(&open, routes->open, before, routes->body.length,
		(int64_t)body.length - (int64_t)before, -1);
	buf_append_slice(&body, tail);
	spec.body = buf_slice(&body);
	spec.open = open_builder_finish(&open);
	spec.sources = sources; /* of all: they come from one stack */
	whole = resource_new(&spec);
	open_body_unref(spec.open);
	buf_fini(&body);
	return whole;
}

static bool has_vhds(const struct resource *routes)
{
	struct slice rest = routes->body;
	struct field field;

	while (next_field(&rest, &field)) {
		if (field.number == ROUTES_VHDS)
			return true;
	}
	return false;
}

static bool is_same(const struct virtual_hosts_part *a, const struct virtual_hosts_part *b)
{
	return a->routes == b->routes && a->count == b->count &&
	       memcmp(a->hosts, b->hosts, a->count * sizeof(a->hosts[0])) == 0;
}

/* The part of that name, or NULL; for ascending names. */
static struct virtual_hosts_part **find_part(
	struct virtual_hosts *hosts, struct slice name, size_t *place)
{
	while (hosts && *place < hosts->count &&
		slice_compare(hosts->parts[*place]->name, name) < 0)
		++*place;
	if (!hosts || *place == hosts->count || !slice_equal(hosts->parts[*place]->name, name))
		return NULL;
	return &hosts->parts[(*place)++];
}

static void finish_part(struct virtual_hosts_part *part)
{
	if (!part->routes) {
		for (size_t i = 0; i < part->count; i++)
			add_problem(part, VIRTUAL_HOSTS_NO_ROUTES, part->hosts[i], NULL,
				(struct slice){part->name.data, part->name.length - 1});
		return;
	}
	check_part(part);
	if (!has_vhds(part->routes))
		part->whole = put_together(part);
}

static int compare_parts(const void *a, const void *b)
{
	const struct virtual_hosts_part *one = *(struct virtual_hosts_part *const *)a;
	const struct virtual_hosts_part *two = *(struct virtual_hosts_part *const *)b;

	return slice_compare(one->name, two->name);
}

static void sort_hosts(struct virtual_hosts *hosts)
{
	struct hash by_name;
	size_t count;
	struct resource **sorted = resource_set_sorted(hosts->all_hosts, &count);

	hash_init(&by_name);
	for (size_t i = 0; i < count; i++) {
		struct slice path = {sorted[i]->path->text, sorted[i]->path->length};
		struct slice name = virtual_hosts_prefix(sorted[i]->name);
		struct virtual_hosts_part *part;

		/* The others name themselves: they are for VHDS, whoever asks. */
		if (virtual_hosts_folder(path).length == 0)
			continue;
		part = hash_get(&by_name, name);
		if (!part) {
			part = xcalloc(1, sizeof(*part));
			part->name = name;
			hash_put(&by_name, name, part);
			array_reserve(hosts->parts, hosts->capacity, hosts->count + 1);
			hosts->parts[hosts->count++] = part;
		}
		array_reserve(part->hosts, part->capacity, part->count + 1);
		part->hosts[part->count++] = resource_ref(sorted[i]);
	}
	hash_fini(&by_name);
	free(sorted);
	if (hosts->count > 1)
		qsort(hosts->parts, hosts->count, sizeof(struct virtual_hosts_part *),
			compare_parts);
}

struct virtual_hosts *virtual_hosts_new(struct resource_set *all_routes,
	struct resource_set *all_hosts, struct virtual_hosts *former)
{
	struct virtual_hosts *hosts = xcalloc(1, sizeof(*hosts));
	struct resource_set_builder *routes = resource_set_edit(all_routes);
	struct resource_set_builder *left = resource_set_edit(all_hosts);
	size_t place = 0;

	hosts->all_routes = resource_set_ref(all_routes);
	hosts->all_hosts = resource_set_ref(all_hosts);
	sort_hosts(hosts);
	for (size_t i = 0; i < hosts->count; i++) {
		struct virtual_hosts_part *part = hosts->parts[i], **before;
		struct slice name = {part->name.data, part->name.length - 1};
		struct resource *found = resource_set_find(all_routes, name);

		part->routes = found ? resource_ref(found) : NULL;
		before = find_part(former, part->name, &place);
		if (before && is_same(*before, part)) {
			part_free(part);
			part = hosts->parts[i] = TAKE(*before);
		} else {
			finish_part(part);
		}
		hosts->problems_count += part->problems_count;
		if (!part->whole)
			continue;
		resource_set_put(routes, part->whole);
		for (size_t k = 0; k < part->count; k++)
			resource_set_remove(left, part->hosts[k]->name);
	}
	hosts->routes = resource_set_finish(routes);
	hosts->hosts = resource_set_finish(left);
	if (former && hosts->routes != all_routes)
		hosts->routes = resource_set_share(hosts->routes, former->routes);
	if (former && hosts->hosts != all_hosts)
		hosts->hosts = resource_set_share(hosts->hosts, former->hosts);
	return hosts;
}
