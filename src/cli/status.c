/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "cli/command.h"
#include "cli/daemon_ask.h"
#include "cli/given.h"
#include "daemon/config.h"

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static long long number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static bool is_set(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static void print_count(long long count, const char *noun, const char *rest)
{
	printf("%lld %s%s%s", count, noun, count == 1 ? "" : "s", rest);
}

/* Colours only where the answer needs eyes. */
static void print_state(const char *text, bool is_bad)
{
	bool is_coloured = given_is_coloured(stdout);

	printf("%s%s%s", is_coloured ? (is_bad ? "\033[31m" : "\033[32m") : "", text,
		is_coloured ? "\033[0m" : "");
}

static void print_types(const json_t *types)
{
	const char *name;
	json_t *type;

	json_object_foreach((json_t *)types, name, type)
	{
		const char *built = text_of(type, "built");
		const char *files = text_of(type, "files"), *rest = text_of(type, "rest");

		printf("    %-5s %6lld", name, number_of(type, "count"));
		if (rest[0])
			printf("  %s", rest);
		if (files[0] && rest[0] && strcmp(files, rest) != 0)
			printf("  files have %s", files);
		if (built[0] && rest[0] && strcmp(built, rest) != 0)
			printf("  built %s", built);
		putchar('\n');
	}
}

static void print_group(const json_t *group)
{
	bool is_held = is_set(group, "held"), is_serving = is_set(group, "serving");

	printf("  %s: ", text_of(group, "name"));
	print_state(is_held	 ? (is_serving ? "held, serves what was good before" : "held")
		    : is_serving ? "serving"
				 : "nothing to serve yet",
		is_held || !is_serving);
	putchar('\n');
	if (is_held)
		printf("    reason: %s\n", text_of(group, "reason"));
	if (text_of(group, "bridge_until")[0])
		printf("    what was removed goes at %s\n", text_of(group, "bridge_until"));
	if (is_set(group, "files_behind"))
		printf("    the published files are behind\n");
	if (number_of(group, "modified_files"))
		printf("    %lld published files were changed by someone else\n",
			number_of(group, "modified_files"));
	print_types(json_object_get(group, "types"));
}

static void print_source(const json_t *source)
{
	printf("source: %s", text_of(source, "path"));
	if (text_of(source, "error")[0])
		printf(", cannot be read: %s", text_of(source, "error"));
	if (text_of(source, "pending")[0])
		printf(", waiting for %s", text_of(source, "pending"));
	putchar('\n');
	if (text_of(source, "watch_problem")[0])
		printf("  no change events: %s\n", text_of(source, "watch_problem"));
	if (text_of(source, "last_scan")[0])
		printf("  last looked at %s\n", text_of(source, "last_scan"));
}

static void print_mounts(const json_t *mounts)
{
	json_t *mount;
	size_t i;

	json_array_foreach((json_t *)mounts, i, mount)
	{
		const char *state = text_of(mount, "state");
		bool is_good = strcmp(state, "good") == 0;

		printf("mount %s: %s, ", text_of(mount, "at"), text_of(mount, "path"));
		print_state(is_good			 ? "good"
			    : strcmp(state, "held") == 0 ? "held, what it gave last counts"
							 : "waiting, it has given nothing yet",
			!is_good);
		printf(", since %s", text_of(mount, "since"));
		if (text_of(mount, "pending")[0])
			printf(", waiting for %s", text_of(mount, "pending"));
		putchar('\n');
		if (text_of(mount, "reason")[0])
			printf("  reason: %s\n", text_of(mount, "reason"));
		if (text_of(mount, "watch_problem")[0])
			printf("  no change events: %s\n", text_of(mount, "watch_problem"));
	}
}

static void print_sinks(const json_t *sinks)
{
	const char *name;
	json_t *sink;

	json_object_foreach((json_t *)sinks, name, sink)
	{
		printf("%s: %s", name, text_of(sink, "path"));
		if (text_of(sink, "error")[0])
			printf(", failing: %s", text_of(sink, "error"));
		putchar('\n');
	}
}

static void print_listeners(const json_t *listeners)
{
	const char *name;
	json_t *list, *address;
	size_t i;

	json_object_foreach((json_t *)listeners, name, list)
	{
		if (json_array_size(list) == 0)
			continue;
		printf("%s:", name);
		json_array_foreach(list, i, address)
		{
			printf(" %s", json_string_value(address));
		}
		putchar('\n');
	}
}

static void print_diagnostics(const json_t *diagnostics)
{
	const json_t *shown = json_object_get(diagnostics, "shown");
	json_t *line;
	size_t i;

	printf("problems: ");
	print_count(number_of(diagnostics, "errors"), "error", ", ");
	print_count(number_of(diagnostics, "warnings"), "warning", "\n");
	json_array_foreach((json_t *)shown, i, line)
	{
		if (i == GIVEN_DIAGS)
			break;
		printf("  %s\n", json_string_value(line));
	}
	if (json_array_size(shown) > GIVEN_DIAGS)
		printf("  ... --json shows more\n");
}

#define CLIENTS_PRINTED 20

static void print_transports(const json_t *status)
{
	const json_t *rest = json_object_get(status, "rest");
	const json_t *grpc = json_object_get(status, "grpc");

	if (rest)
		printf("rest clients: %lld connected, %lld waiting for news, %lld rejections so "
		       "far\n",
			number_of(rest, "connections"), number_of(rest, "parked"),
			number_of(rest, "rejections"));
	if (grpc)
		printf("grpc clients: %lld connected, %lld discovery streams, %lld rejections so "
		       "far\n",
			number_of(grpc, "connections"), number_of(grpc, "streams"),
			number_of(grpc, "nacks"));
}

/* What it refused, and where that comes from. */
static void print_rejection(const json_t *client, const char *name, const json_t *type)
{
	const json_t *nack = json_object_get(type, "last_nack");
	json_t *resource;
	size_t i;

	printf("  node %s of cluster %s at %s (%s) rejected %s %s\n", text_of(client, "node"),
		text_of(client, "cluster"), text_of(client, "address"),
		text_of(client, "transport"), name, text_of(type, "rejected"));
	if (nack)
		printf("    %s\n", text_of(nack, "text"));
	json_array_foreach(json_object_get(nack, "resources"), i, resource)
	{
		printf("    %s is in %s\n", text_of(resource, "name"), text_of(resource, "source"));
	}
}

static void print_rejections(const json_t *client, size_t *printed)
{
	const char *name;
	json_t *type;

	json_object_foreach(json_object_get(client, "types"), name, type)
	{
		if (is_set(type, "is_rejected") && (*printed)++ < CLIENTS_PRINTED)
			print_rejection(client, name, type);
	}
}

/* One type that a client asked for: what of it, and whether it has the newest that it was sent. */
static void print_subscription(const char *name, const json_t *type)
{
	const json_t *subscribed = json_object_get(type, "subscribed");
	const char *sent = text_of(type, "sent"), *had = text_of(type, "acknowledged");

	printf("    %-5s ", name);
	if (json_is_integer(subscribed))
		print_count(json_integer_value(subscribed), "name", "");
	else
		printf("all");
	if (is_set(type, "is_rejected"))
		printf(", rejected %s", text_of(type, "rejected"));
	else if (is_set(type, "is_outstanding"))
		printf(", was sent %s and has not answered", sent);
	if (had[0])
		printf(", has %s", had);
	else if (sent[0] && !json_object_get(type, "is_outstanding"))
		printf(", was sent %s", sent);
	putchar('\n');
}

static void print_client_list(const json_t *clients)
{
	const char *name;
	json_t *client, *type;
	size_t i;

	json_array_foreach((json_t *)clients, i, client)
	{
		printf("  node %s of cluster %s at %s: group %s, %s, since %s\n",
			text_of(client, "node"), text_of(client, "cluster"),
			text_of(client, "address"), text_of(client, "group"),
			text_of(client, "transport"), text_of(client, "since"));
		json_object_foreach(json_object_get(client, "types"), name, type)
		{
			print_subscription(name, type);
		}
	}
}

/* Those that need eyes: who refused something, and who belongs to no group. */
static void print_clients(const json_t *status, bool with_all)
{
	json_t *client;
	size_t i, printed = 0;

	print_transports(status);
	if (with_all)
		print_client_list(json_object_get(status, "clients"));
	json_array_foreach(json_object_get(status, "clients"), i, client)
	{
		print_rejections(client, &printed);
	}
	json_array_foreach(json_object_get(status, "unmatched"), i, client)
	{
		if (i >= CLIENTS_PRINTED)
			break;
		printf("  node %s of cluster %s at %s belongs to no group, last asked at %s\n",
			text_of(client, "node"), text_of(client, "cluster"),
			text_of(client, "address"), text_of(client, "last"));
	}
}

/* {"adds": {"CDS": 3, "LDS": 1}, "replaces": {}, "deletes": {"EDS": 1}} */
static void print_layer(const json_t *layer)
{
	static const char *const verbs[] = {"adds", "replaces", "deletes"};
	bool has_any = false;

	printf("    %s:", text_of(layer, "layer"));
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		const char *type;
		json_t *count;
		bool is_first = true;

		json_object_foreach(json_object_get(layer, verbs[i]), type, count)
		{
			if (is_first)
				printf("%s %s", has_any ? ";" : "", verbs[i]);
			printf("%s %lld %s", is_first ? "" : ",", json_integer_value(count), type);
			is_first = false;
			has_any = true;
		}
	}
	puts(has_any ? "" : " nothing");
}

static void print_layers(const json_t *groups)
{
	json_t *group, *layer;
	size_t i, k;

	json_array_foreach((json_t *)groups, i, group)
	{
		printf("  %s:\n", text_of(group, "group"));
		json_array_foreach(json_object_get(group, "layers"), k, layer)
		{
			print_layer(layer);
		}
	}
}

static void print_people(const json_t *status, const json_t *layers, bool with_clients)
{
	const json_t *build = json_object_get(status, "build");
	json_t *group;
	size_t i;

	printf("%s %s, ", text_of(status, "program"), text_of(status, "version"));
	print_state(is_set(status, "ready") ? "ready" : "not ready", !is_set(status, "ready"));
	printf(", since %s, %s\n", text_of(status, "started"), text_of(status, "schema"));
	if (!is_set(status, "ready"))
		printf("  %s\n", text_of(status, "not_ready_reason"));
	print_source(json_object_get(status, "source"));
	print_mounts(json_object_get(status, "mounts"));
	if (number_of(build, "serial")) {
		printf("build %lld at %s: ", number_of(build, "serial"), text_of(build, "at"));
		print_count(number_of(build, "files"), "file", ", ");
		print_count(number_of(build, "resources"), "resource", ", ");
		printf("%lld ms\n", number_of(build, "ms"));
	}
	print_sinks(json_object_get(status, "sinks"));
	print_listeners(json_object_get(status, "listeners"));
	printf("groups:\n");
	json_array_foreach(json_object_get(status, "groups"), i, group)
	{
		print_group(group);
	}
	if (layers) {
		printf("layers, and what each does to those before it:\n");
		print_layers(layers);
	}
	print_clients(status, with_clients);
	print_diagnostics(json_object_get(status, "diagnostics"));
}

static int run(const struct args *args)
{
	struct buf problem = BUF_INIT;
	json_t *status = daemon_ask(args, "/status", &problem), *layers = NULL;
	bool wants_layers = args_has(args, "layers");
	int result = EXIT_UNREACHABLE;

	if (status && wants_layers)
		layers = daemon_ask(args, "/layers", &problem);
	if (status && (layers || !wants_layers)) {
		if (args_has(args, "json")) {
			if (layers)
				json_object_set(status, "layers", layers);
			given_print_json(json_incref(status));
		} else {
			print_people(status, layers, args_has(args, "clients"));
		}
		result = EXIT_FINE;
	} else {
		fprintf(stderr, "xdspub status: %s\n", buf_cstr(&problem));
	}
	json_decref(status);
	json_decref(layers);
	buf_fini(&problem);
	return result;
}

static const struct args_option status_options[] = {
	{"admin", 'a', "ADDR", false,
		"the daemon's admin listener (default: the configuration's,\n"
		"else " DAEMON_ASK_ADMIN ")"},
	{"config", 'c', "FILE", false, "take the address from here (default:\n" CONFIG_PATH ")"},
	{"clients", 'l', NULL, false, "list every client, too: what it was sent and has"},
	{"layers", 'y', NULL, false, "what each layer of a group adds, replaces and deletes"},
	{"json", 'j', NULL, false, "print the daemon's answer as it is"},
	{0},
};

const struct command command_status = {
	.name = "status",
	.synopsis = "[--admin ADDR] [OPTION]...",
	.summary = "Show what a running daemon serves, and what it holds back and why",
	.options = status_options,
	.operands_max = 0,
	.run = run,
};
