/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_listeners.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"

#define HTTP_FILTERS "envoy.extensions.filters.http."
#define ROUTER	     "envoy.extensions.filters.http.router.v3.Router"

/* --- duplicate-address ---------------------------------------------------------------------- */

/* One spelling for each IP address; a name stays as it is. */
static void write_ip(struct slice text, struct buf *out)
{
	char given[INET6_ADDRSTRLEN], plain[INET6_ADDRSTRLEN];
	unsigned char bytes[sizeof(struct in6_addr)];

	if (text.length < sizeof(given)) {
		memcpy(given, text.data, text.length);
		given[text.length] = '\0';
		if (inet_pton(AF_INET6, given, bytes) == 1 &&
			inet_ntop(AF_INET6, bytes, plain, sizeof(plain))) {
			buf_printf(out, "[%s]", plain);
			return;
		}
	}
	buf_append(out, text.data, text.length);
}

/* "tcp 127.0.0.1:80"; nothing for what two listeners may share. */
static void write_address(const struct message *address, struct buf *out)
{
	const struct message *on_ip = lint_message(address, "socket_address");
	const struct message *on_pipe = lint_message(address, "pipe");
	const struct message_field *port = lint_field(on_ip, "port_value");

	if (on_pipe) {
		buf_printf(out, "pipe %.*s", SLICE_ARG(lint_text(on_pipe, "path")));
	} else if (on_ip && port && port->one.uint32) {
		buf_puts(out, lint_is_enum(on_ip, "protocol", "UDP") ? "udp " : "tcp ");
		write_ip(lint_text(on_ip, "address"), out);
		buf_printf(out, ":%u", port->one.uint32);
		/* Each network namespace has addresses of its own. */
		if (lint_text(on_ip, "network_namespace_filepath").length)
			buf_printf(out, " in %.*s",
				SLICE_ARG(lint_text(on_ip, "network_namespace_filepath")));
	}
}

static void keep_address(const struct lint_look *look, const struct message *listener,
	const char *field, const struct message *address)
{
	struct buf key = BUF_INIT;

	write_address(address, &key);
	if (key.length)
		lint_keep(look, listener, field, FACT_LISTENS_ON, 0, buf_slice(&key));
	buf_fini(&key);
}

static void look_at_addresses(struct lint_look *look, const struct message *listener)
{
	const struct message_field *more = lint_field(listener, "additional_addresses");

	keep_address(look, listener, "address", lint_message(listener, "address"));
	for (uint32_t i = 0; more && i < more->count; i++)
		keep_address(look, listener, "additional_addresses",
			lint_message(more->items[i].message, "address"));
}

static void judge_address(
	struct lint_judge *judge, struct slice name, const struct lint_user *users, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		/* Envoy lets a listener name an address twice. */
		if (users[i].resource == users[0].resource)
			continue;
		lint_judge_say(judge, &users[i], "%.*s is what the listener \"%.*s\" listens on",
			SLICE_ARG(name), SLICE_ARG(users[0].resource->name));
	}
}

/* --- equal-filter-chains -------------------------------------------------------------------- */

static bool texts_meet(struct slice a, struct slice b)
{
	return a.length == b.length && strncasecmp(a.data, b.data, a.length) == 0;
}

/* Whether two lists of strings have an item in common, or both have none. */
static bool lists_meet(const struct message *a, const struct message *b, const char *field)
{
	const struct message_field *x = lint_field(a, field), *y = lint_field(b, field);

	if (!x || !y)
		return !x && !y;
	for (uint32_t i = 0; i < x->count; i++)
		for (uint32_t j = 0; j < y->count; j++)
			if (texts_meet(x->items[i].bytes, y->items[j].bytes))
				return true;
	return false;
}

static bool ports_meet(const struct message *a, const struct message *b)
{
	const struct message_field *x = lint_field(a, "source_ports");
	const struct message_field *y = lint_field(b, "source_ports");

	if (!x || !y)
		return !x && !y;
	for (uint32_t i = 0; i < x->count; i++)
		for (uint32_t j = 0; j < y->count; j++)
			if (x->items[i].uint32 == y->items[j].uint32)
				return true;
	return false;
}

static uint32_t number_of(const struct message *message, const char *name, uint32_t unset)
{
	const struct message *wrapper = lint_message(message, name);
	const struct message_field *value = wrapper ? message_find(wrapper, 1) : NULL;

	return value ? value->one.uint32 : wrapper ? 0 : unset;
}

/* Whether two CidrRanges are the same: the bits behind the length don't count. */
static bool ranges_equal(const struct message *a, const struct message *b)
{
	unsigned char bytes[2][sizeof(struct in6_addr)] = {{0}, {0}};
	const struct message *ranges[2] = {a, b};
	uint32_t length = number_of(a, "prefix_len", 0);
	int families[2];

	if (length != number_of(b, "prefix_len", 0) || length > 128)
		return false;
	for (unsigned i = 0; i < 2; i++) {
		struct slice text = lint_text(ranges[i], "address_prefix");
		char address[INET6_ADDRSTRLEN];

		if (text.length >= sizeof(address))
			return false;
		memcpy(address, text.data, text.length);
		address[text.length] = '\0';
		families[i] = strchr(address, ':') ? AF_INET6 : AF_INET;
		if (inet_pton(families[i], address, bytes[i]) != 1)
			return false;
	}
	return families[0] == families[1] && memcmp(bytes[0], bytes[1], length / 8) == 0 &&
	       (length % 8 == 0 ||
		       (bytes[0][length / 8] ^ bytes[1][length / 8]) >> (8 - length % 8) == 0);
}

static bool ranges_meet(const struct message *a, const struct message *b, const char *field)
{
	const struct message_field *x = lint_field(a, field), *y = lint_field(b, field);

	if (!x || !y)
		return !x && !y;
	for (uint32_t i = 0; i < x->count; i++)
		for (uint32_t j = 0; j < y->count; j++)
			if (ranges_equal(x->items[i].message, y->items[j].message))
				return true;
	return false;
}

static int32_t source_type_of(const struct message *match)
{
	const struct message_field *entry = lint_field(match, "source_type");

	return entry ? entry->one.int32 : 0;
}

/* Envoy takes a match apart into all combinations of its lists; none may be there twice. NULL, too,
 * is a match: for whatever no other one wants. */
static bool matches_meet(const struct message *a, const struct message *b)
{
	return number_of(a, "destination_port", 0) == number_of(b, "destination_port", 0) &&
	       ranges_meet(a, b, "prefix_ranges") && lists_meet(a, b, "server_names") &&
	       texts_meet(lint_text(a, "transport_protocol"), lint_text(b, "transport_protocol")) &&
	       lists_meet(a, b, "application_protocols") &&
	       ranges_meet(a, b, "direct_source_prefix_ranges") &&
	       source_type_of(a) == source_type_of(b) &&
	       ranges_meet(a, b, "source_prefix_ranges") && ports_meet(a, b);
}

/* Pairs of chains are compared; beyond this many chains nobody waits for it. */
#define CHAINS_MOST 2000

static void look_at_chains(struct lint_look *look, const struct message *listener)
{
	const struct message_field *chains = lint_field(listener, "filter_chains");
	uint32_t count = chains ? chains->count : 0;
	char place[256];

	if (lint_field(listener, "filter_chain_matcher"))
		return; /* it chooses by name */
	for (uint32_t i = 1; i < count && i < CHAINS_MOST; i++) {
		const struct message *chain = chains->items[i].message;
		const struct message *match = lint_message(chain, "filter_chain_match");

		for (uint32_t j = 0; j < i; j++) {
			const struct message *other = chains->items[j].message;

			if (!matches_meet(match, lint_message(other, "filter_chain_match")))
				continue;
			lint_say_item(look, listener, "filter_chains", i,
				"this filter chain matches some of what the one at %s matches",
				lint_place(look, lint_position(other, listener->at), place));
			break;
		}
	}
}

/* --- HTTP filters --------------------------------------------------------------------------- */

static const char *filter_type(const struct message *filter)
{
	const struct message *config = lint_message(filter, "typed_config");

	return config && config->type ? config->type->full_name : "";
}

static bool is_router(const struct message *filter)
{
	return strcmp(filter_type(filter), ROUTER) == 0;
}

static void look_for_router(struct lint_look *look, const struct message *manager)
{
	const struct message_field *filters = lint_field(manager, "http_filters");
	const struct message *last;
	const char *type;

	if (!filters)
		return;
	last = filters->items[filters->count - 1].message;
	type = filter_type(last);
	for (uint32_t i = 0; i < filters->count; i++)
		if (is_router(filters->items[i].message))
			return;
	/* One of somebody else's, or one that is still to be discovered, may be an end, too. */
	if (strncmp(type, HTTP_FILTERS, strlen(HTTP_FILTERS)) == 0)
		lint_say_item(look, manager, "http_filters", filters->count - 1,
			"the last filter has to be envoy.filters.http.router; \"%.*s\" passes "
			"requests on",
			SLICE_ARG(lint_text(last, "name")));
}

static void look_for_early_router(struct lint_look *look, const struct message *manager)
{
	const struct message_field *filters = lint_field(manager, "http_filters");

	for (uint32_t i = 0; filters && i + 1 < filters->count; i++)
		if (is_router(filters->items[i].message))
			lint_say_item(look, manager, "http_filters", i,
				"the router has to be the last filter, and %u come%s after it",
				filters->count - 1 - i, filters->count - 2 == i ? "s" : "");
}

static void look_for_filters(struct lint_look *look, const struct message *manager)
{
	if (!lint_field(manager, "http_filters"))
		lint_say(look, manager, "http_filters",
			"without a filter nothing answers requests; envoy.filters.http.router "
			"does");
}

static void look_at_filter_names(struct lint_look *look, const struct message *manager)
{
	const struct message_field *filters = lint_field(manager, "http_filters");
	struct hash names;

	hash_init(&names);
	for (uint32_t i = 0; filters && i < filters->count; i++) {
		struct message *filter = filters->items[i].message;
		struct slice name = lint_text(filter, "name");
		const struct message *other = hash_get(&names, name);
		char place[256];

		if (!other)
			hash_put(&names, name, filter);
		else
			lint_say_item(look, manager, "http_filters", i,
				"another filter has the name \"%.*s\", at %s; settings of routes "
				"go by names",
				SLICE_ARG(name),
				lint_place(look, lint_position(other, manager->at), place));
	}
	hash_fini(&names);
}

static const char *const listeners[] = {"envoy.config.listener.v3.Listener", NULL};
static const char *const managers[] = {
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", NULL};

const struct lint lint_listeners[] = {
	{.rule = "duplicate-address",
		.level = DIAG_ERROR,
		.types = listeners,
		.look = look_at_addresses,
		.kind = FACT_LISTENS_ON,
		.judge = judge_address},
	{.rule = "equal-filter-chains",
		.level = DIAG_ERROR,
		.types = listeners,
		.look = look_at_chains},
	{.rule = "router-missing", .level = DIAG_ERROR, .types = managers, .look = look_for_router},
	{.rule = "router-not-last",
		.level = DIAG_ERROR,
		.types = managers,
		.look = look_for_early_router},
	{.rule = "no-http-filters",
		.level = DIAG_WARNING,
		.types = managers,
		.look = look_for_filters},
	{.rule = "duplicate-filter-name",
		.level = DIAG_WARNING,
		.types = managers,
		.look = look_at_filter_names},
	{0},
};
