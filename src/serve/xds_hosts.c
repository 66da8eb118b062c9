/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_hosts.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/mem.h"
#include "serve/xds_wire.h"

#define VIRTUAL_HOST_DOMAINS 2 /* of envoy.config.route.v3.VirtualHost */

/* Keys are the route configuration, '/' and the domain without its star. */
enum form {
	SAME,
	ENDS_WITH,   /* "*.example.org" */
	BEGINS_WITH, /* "www.*" */
	FORMS
};

/* How long the wildcard domains of one route configuration are: only those are tried. */
struct lengths {
	size_t *values; /* descending, each once */
	size_t count;
	size_t capacity;
};

struct scope {
	struct slice name; /* of the route configuration, with the '/' */
	struct lengths lengths[FORMS];
};

struct xds_hosts {
	struct arena *arena; /* keys and scopes */
	struct hash aliases;
	struct hash scopes;
	struct hash domains[FORMS];
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The route configuration with its '/'; empty when there is none. */
static struct slice scope_of(struct slice name)
{
	while (name.length && name.data[name.length - 1] != '/')
		name.length--;
	return name;
}

static struct slice after(struct slice whole, size_t start)
{
	return (struct slice){whole.data + start, whole.length - start};
}

/* The first by name keeps the key. The key must live as long as the index. */
static void claim(struct hash *hash, struct slice key, struct resource *resource)
{
	const struct resource *rival = hash_get(hash, key);

	if (!rival || slice_compare(resource->name, rival->name) < 0)
		hash_put(hash, key, resource);
}

static void note_length(struct lengths *lengths, size_t length)
{
	size_t place = 0;

	while (place < lengths->count && lengths->values[place] > length)
		place++;
	if (place < lengths->count && lengths->values[place] == length)
		return;
	array_reserve(lengths->values, lengths->capacity, lengths->count + 1);
	memmove(lengths->values + place + 1, lengths->values + place,
		(lengths->count - place) * sizeof(lengths->values[0]));
	lengths->values[place] = length;
	lengths->count++;
}

static struct scope *scope_get(struct xds_hosts *hosts, struct slice name)
{
	struct scope *scope = hash_get(&hosts->scopes, name);

	if (!scope) {
		scope = arena_zalloc(hosts->arena, sizeof(*scope));
		scope->name = name;
		hash_put(&hosts->scopes, name, scope);
	}
	return scope;
}

static void add_domain(struct xds_hosts *hosts, struct scope *scope, struct slice domain,
	struct resource *resource)
{
	enum form form = SAME;
	struct slice key;
	char *text;

	if (domain.length == 0)
		return;
	if (domain.data[0] == '*') {
		form = ENDS_WITH; /* "*" is the shortest of them */
		domain = after(domain, 1);
	} else if (domain.data[domain.length - 1] == '*') {
		form = BEGINS_WITH;
		domain.length--;
	}
	text = arena_alloc(hosts->arena, scope->name.length + domain.length);
	key = (struct slice){text, scope->name.length + domain.length};
	memcpy(text, scope->name.data, scope->name.length);
	for (size_t i = 0; i < domain.length; i++)
		text[scope->name.length + i] = lower(domain.data[i]);
	claim(&hosts->domains[form], key, resource);
	if (form != SAME)
		note_length(&scope->lengths[form], domain.length);
}

struct xds_hosts *xds_hosts_new(const struct resource_set *set)
{
	struct xds_hosts *hosts = xcalloc(1, sizeof(*hosts));
	struct resource *resource;
	uint64_t cursor = 0;

	hosts->arena = arena_new(0);
	while ((resource = resource_set_next(set, &cursor))) {
		struct slice scope = scope_of(resource->name), rest = resource->body;
		struct xds_field field;

		for (size_t i = 0; i < resource->aliases_count; i++)
			claim(&hosts->aliases, resource->aliases[i], resource);
		while (scope.length && xds_wire_next(&rest, &field))
			if (field.number == VIRTUAL_HOST_DOMAINS && field.wire == XDS_WIRE_BYTES)
				add_domain(hosts, scope_get(hosts, scope), field.bytes, resource);
	}
	return hosts;
}

static void free_lengths(struct hash *scopes)
{
	struct hash_entry *entry;
	size_t cursor = 0;

	while ((entry = hash_next(scopes, &cursor))) {
		struct scope *scope = entry->value;

		for (int form = 0; form < FORMS; form++)
			free(scope->lengths[form].values);
	}
}

void xds_hosts_free(struct xds_hosts *hosts)
{
	if (!hosts)
		return;
	free_lengths(&hosts->scopes);
	for (int form = 0; form < FORMS; form++)
		hash_fini(&hosts->domains[form]);
	hash_fini(&hosts->scopes);
	hash_fini(&hosts->aliases);
	arena_free(hosts->arena);
	free(hosts);
}

/* The longest wildcard domain first. A star stands for one letter at the least, "*" for any host:
 * so Envoy has it. */
static struct resource *find_wildcard(const struct xds_hosts *hosts, const struct scope *scope,
	enum form form, struct slice host, char *key)
{
	const struct lengths *lengths = &scope->lengths[form];

	for (size_t i = 0; i < lengths->count; i++) {
		size_t length = lengths->values[i];
		struct resource *resource;

		if (length >= host.length || (length == 0 && form == ENDS_WITH))
			continue;
		memcpy(key + scope->name.length,
			form == ENDS_WITH ? host.data + host.length - length : host.data, length);
		resource = hash_get(
			&hosts->domains[form], (struct slice){key, scope->name.length + length});
		if (resource)
			return resource;
	}
	return NULL;
}

struct resource *xds_hosts_find(const struct xds_hosts *hosts, struct slice name)
{
	struct resource *resource = hash_get(&hosts->aliases, name);
	const struct scope *scope;
	AUTO_FREE char *memory = NULL;
	struct slice host, key;

	if (resource)
		return resource;
	scope = hash_get(&hosts->scopes, scope_of(name));
	if (!scope || name.length == scope->name.length)
		return NULL;
	/* The name in small letters, and behind it room for the keys that are tried. */
	memory = xmalloc(2 * name.length);
	for (size_t i = 0; i < name.length; i++)
		memory[i] = i < scope->name.length ? name.data[i] : lower(name.data[i]);
	memcpy(memory + name.length, memory, name.length);
	key = (struct slice){memory, name.length};
	host = after(key, scope->name.length);
	resource = hash_get(&hosts->domains[SAME], key);
	for (int form = ENDS_WITH; !resource && form < FORMS; form++)
		resource = find_wildcard(hosts, scope, (enum form)form, host, memory + name.length);
	if (!resource)
		resource = hash_get(&hosts->domains[ENDS_WITH], scope->name);
	return resource;
}
