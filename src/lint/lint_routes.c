/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_routes.h"

#include <ctype.h>

#include "base/arena.h"
#include "base/hash.h"

#define VIRTUAL_HOST "envoy.config.route.v3.VirtualHost"
#define ROUTES	     "envoy.config.route.v3.RouteConfiguration"

/* Without case, as Envoy compares domains. */
static struct slice lower(struct arena *arena, struct slice text)
{
	struct slice copy = arena_copy(arena, text.data, text.length);

	for (size_t i = 0; i < copy.length; i++)
		((char *)(uintptr_t)copy.data)[i] = (char)tolower((unsigned char)copy.data[i]);
	return copy;
}

/* --- duplicate-domain ----------------------------------------------------------------------- */

struct domains {
	struct arena *arena;
	struct hash hosts; /* by domain: the virtual host that has it */
};

static void look_at_domains_of(
	const struct lint_look *look, const struct message *host, struct domains *domains)
{
	const struct message_field *entry = lint_field(host, "domains");

	for (uint32_t i = 0; entry && i < entry->count; i++) {
		struct slice domain = lower(domains->arena, entry->items[i].bytes);
		const struct message *other = hash_get(&domains->hosts, domain);
		char place[256];

		if (!other) {
			hash_put(&domains->hosts, domain, (struct message *)(uintptr_t)host);
			continue;
		}
		if (other == host)
			lint_say_at(look, look->step, entry->at,
				"virtual host \"%.*s\" has the domain \"%.*s\" twice",
				SLICE_ARG(lint_text(host, "name")),
				SLICE_ARG(entry->items[i].bytes));
		else
			lint_say_at(look, look->step, entry->at,
				"the domain \"%.*s\" of virtual host \"%.*s\" belongs to \"%.*s\" "
				"already, at %s",
				SLICE_ARG(entry->items[i].bytes),
				SLICE_ARG(lint_text(host, "name")),
				SLICE_ARG(lint_text(other, "name")),
				lint_place(look, lint_field(other, "domains")->at, place));
	}
}

static void look_at_domains(struct lint_look *look, const struct message *message)
{
	struct domains domains = {.arena = arena_new(0)};
	const struct message_field *hosts;

	hash_init(&domains.hosts);
	if (lint_is(message, ROUTES)) {
		hosts = lint_field(message, "virtual_hosts");
		for (uint32_t i = 0; hosts && i < hosts->count; i++)
			look_at_domains_of(look, hosts->items[i].message, &domains);
	} else if (!look->step) {
		look_at_domains_of(look, message, &domains); /* one of VHDS */
	}
	hash_fini(&domains.hosts);
	arena_free(domains.arena);
}

/* --- shadowed-route ------------------------------------------------------------------------- */

/* What else than the path a route may ask for; one with any of it leaves requests to later ones. */
static const char *const conditions[] = {"runtime_fraction", "headers", "query_parameters",
	"cookies", "grpc", "tls_context", "dynamic_metadata", "filter_state", NULL};

/* The routes so far that take all requests of some paths, by prefix and path. */
struct taken {
	struct arena *arena;
	struct hash prefixes;	 /* prefix: "/a" has "/ab", too */
	struct hash separated;	 /* path_separated_prefix: "/a" has "/a" and "/a/b" */
	struct hash paths;	 /* path */
	struct hash any_case[3]; /* the same in this order, for case_sensitive: false; lower case */
};

static bool is_conditional(const struct message *match)
{
	for (const char *const *name = conditions; *name; name++)
		if (lint_field(match, *name))
			return true;
	return false;
}

static const struct message *find_prefix(const struct hash *prefixes, struct slice path)
{
	/* Longest first costs the same, and the shortest has been there for most. */
	for (size_t length = 0; prefixes->count && length <= path.length; length++) {
		const struct message *route = hash_get(prefixes, (struct slice){path.data, length});

		if (route)
			return route;
	}
	return NULL;
}

/* Who has all that begins with the path, or, when it is_whole, the path itself. */
static const struct message *find_separated(
	const struct hash *separated, struct slice path, bool is_whole)
{
	for (size_t length = 1; separated->count && length <= path.length; length++) {
		bool is_end = length == path.length ? is_whole : path.data[length] == '/';
		const struct message *route =
			is_end ? hash_get(separated, (struct slice){path.data, length}) : NULL;

		if (route)
			return route;
	}
	return NULL;
}

static const struct message *find_taker(
	const struct hash sets[3], struct slice path, bool is_whole, bool is_exact)
{
	const struct message *route = find_prefix(&sets[0], path);

	if (!route)
		route = find_separated(&sets[1], path, is_whole);
	if (!route && is_exact)
		route = hash_get(&sets[2], path);
	return route;
}

struct paths {
	struct slice path;
	unsigned form; /* 0: prefix, 1: path_separated_prefix, 2: path, 3: any other way */
	bool is_any_case;
};

static struct paths paths_of(const struct message *match)
{
	static const char *const forms[] = {"prefix", "path_separated_prefix", "path"};
	struct paths paths = {.form = 3, .is_any_case = !lint_flag(match, "case_sensitive", true)};

	for (unsigned i = 0; i < 3; i++) {
		if (!lint_field(match, forms[i]))
			continue;
		paths.form = i;
		paths.path = lint_text(match, forms[i]);
	}
	/* Every path that a request has begins like this; CONNECT requests have none. */
	if (lint_field(match, "safe_regex")) {
		paths.form = 0;
		paths.path = SLICE("/");
	}
	return paths;
}

static const struct message *taker_of(const struct taken *taken, const struct paths *paths)
{
	bool is_whole = paths->form != 0, is_exact = paths->form == 2;
	const struct hash exact[3] = {taken->prefixes, taken->separated, taken->paths};
	const struct message *route = NULL;

	/* What ignores case is only taken by what does, too, or by what has every path. */
	if (!paths->is_any_case)
		route = find_taker(exact, paths->path, is_whole, is_exact);
	else if (paths->path.length)
		route = find_prefix(&taken->prefixes, (struct slice){paths->path.data, 1});
	if (!route)
		route = find_taker(
			taken->any_case, lower(taken->arena, paths->path), is_whole, is_exact);
	return route;
}

static void take(struct taken *taken, const struct paths *paths, const struct message *route)
{
	struct hash *exact[3] = {&taken->prefixes, &taken->separated, &taken->paths};
	struct slice path = paths->is_any_case ? lower(taken->arena, paths->path) : paths->path;
	struct hash *set = paths->is_any_case ? &taken->any_case[paths->form] : exact[paths->form];

	if (!hash_get(set, path))
		hash_put(set, path, (struct message *)(uintptr_t)route);
}

static void look_at_route(const struct lint_look *look, struct taken *taken,
	const struct message *host, uint32_t index)
{
	const struct message *route = lint_field(host, "routes")->items[index].message;
	const struct message *match = lint_message(route, "match"), *taker;
	struct paths paths;
	char place[256];

	if (!match || lint_field(match, "connect_matcher"))
		return;
	paths = paths_of(match);
	if (paths.form == 3)
		return;
	taker = taker_of(taken, &paths);
	if (taker)
		lint_say_item(look, host, "routes", index,
			"no request gets to this route: the one at %s takes them all",
			lint_place(look, lint_position(taker, host->at), place));
	else if (!is_conditional(match) && !lint_field(match, "safe_regex"))
		take(taken, &paths, route);
}

static void look_for_shadows(struct lint_look *look, const struct message *host)
{
	const struct message_field *routes = lint_field(host, "routes");
	struct taken taken = {.arena = NULL};

	if (!routes || routes->count < 2)
		return;
	taken.arena = arena_new(0);
	for (uint32_t i = 0; i < routes->count; i++)
		look_at_route(look, &taken, host, i);
	hash_fini(&taken.prefixes);
	hash_fini(&taken.separated);
	hash_fini(&taken.paths);
	for (unsigned i = 0; i < 3; i++)
		hash_fini(&taken.any_case[i]);
	arena_free(taken.arena);
}

/* --- bad-weights ---------------------------------------------------------------------------- */

static void look_at_weights(struct lint_look *look, const struct message *message)
{
	const struct message_field *clusters = lint_field(message, "clusters");
	uint64_t sum = 0;

	for (uint32_t i = 0; clusters && i < clusters->count; i++) {
		const struct message *weight = lint_message(clusters->items[i].message, "weight");
		const struct message_field *value = weight ? message_find(weight, 1) : NULL;

		if (!weight) {
			lint_say_item(look, message, "clusters", i, "a weight is missing");
			return;
		}
		sum += value ? value->one.uint32 : 0;
	}
	if (!clusters)
		return;
	if (sum == 0)
		lint_say(look, message, "clusters", "the weights add up to nothing");
	else if (sum > UINT32_MAX)
		lint_say(look, message, "clusters", "the weights add up to more than 4294967295");
}

static const char *const tables[] = {ROUTES, VIRTUAL_HOST, NULL};
static const char *const hosts[] = {VIRTUAL_HOST, NULL};
static const char *const weighted[] = {"envoy.config.route.v3.WeightedCluster", NULL};

const struct lint lint_routes[] = {
	{.rule = "duplicate-domain", .level = DIAG_ERROR, .types = tables, .look = look_at_domains},
	{.rule = "shadowed-route", .level = DIAG_WARNING, .types = hosts, .look = look_for_shadows},
	{.rule = "bad-weights", .level = DIAG_ERROR, .types = weighted, .look = look_at_weights},
	{0},
};
