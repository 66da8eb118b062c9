/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A REST server for tests: real store, real snapshots, real sockets, and an encoder that writes a
 * resource's body as a JSON string. Commands on standard input, one answer line each on standard
 * output. Arguments: limits as name=value (body, names, hold, connections).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "serve/rest/rest_server.h"
#include "snapshot/store.h"

#define WORDS_MAX 16

struct group {
	char name[64];
	struct resource_set *sets[XDS_TYPE_COUNT];
};

struct tool {
	struct store *store;
	struct log log;
	struct limits limits;
	struct rest_server *rest;
	struct group groups[16];
	size_t groups_count;
	_Atomic bool encode_fails; /* set by the main thread, read by the server's */
};

static int encode(void *ctx, enum xds_type type, const struct version *version,
	struct resource *const *resources, size_t count, struct buf *out)
{
	const struct tool *tool = ctx;

	if (tool->encode_fails)
		return -1;
	buf_printf(out, "{\"version_info\":\"%s\",\"resources\":[", version->text);
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%s{\"@type\":\"%s\",\"name\":\"%.*s\",\"text\":\"%.*s\"}",
			i ? "," : "", xds_type_row(type)->type_url, SLICE_ARG(resources[i]->name),
			SLICE_ARG(resources[i]->body));
	buf_printf(out, "],\"type_url\":\"%s\"}", xds_type_row(type)->type_url);
	return 0;
}

static struct group *find_group(struct tool *tool, const char *name)
{
	struct group *group;

	for (size_t i = 0; i < tool->groups_count; i++)
		if (strcmp(tool->groups[i].name, name) == 0)
			return &tool->groups[i];
	group = &tool->groups[tool->groups_count++];
	snprintf(group->name, sizeof(group->name), "%s", name);
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		group->sets[type] = resource_set_empty(type);
	return group;
}

/* put GROUP TYPE NAME TEXT; remove GROUP TYPE NAME */
static void edit(struct tool *tool, char **words, bool put)
{
	struct group *group = find_group(tool, words[1]);
	enum xds_type type = xds_type_by_name(slice_of(words[2]))->type;
	struct resource_set_builder *builder = resource_set_edit(group->sets[type]);
	struct resource_set *old = group->sets[type];

	if (put) {
		struct resource_spec spec = {
			.type = type,
			.name = slice_of(words[3]),
			.body = slice_of(words[4]),
			.ttl_ms = -1,
		};
		struct resource *resource = resource_new(&spec);

		resource_set_put(builder, resource);
		resource_unref(resource);
	} else {
		resource_set_remove(builder, slice_of(words[3]));
	}
	group->sets[type] = resource_set_finish(builder);
	resource_set_unref(old);
}

/* many GROUP TYPE PREFIX COUNT TEXT: PREFIX0 ... in one go */
static void edit_many(struct tool *tool, char **words)
{
	struct group *group = find_group(tool, words[1]);
	enum xds_type type = xds_type_by_name(slice_of(words[2]))->type;
	struct resource_set *old = group->sets[type];
	struct resource_set_builder *builder = resource_set_edit(old);

	for (int i = 0; i < atoi(words[4]); i++) {
		char name[64];
		struct resource_spec spec = {
			.type = type, .body = slice_of(words[5]), .ttl_ms = -1};
		struct resource *resource;

		snprintf(name, sizeof(name), "%s%d", words[3], i);
		spec.name = slice_of(name);
		resource = resource_new(&spec);
		resource_set_put(builder, resource);
		resource_unref(resource);
	}
	group->sets[type] = resource_set_finish(builder);
	resource_set_unref(old);
}

static void publish(struct tool *tool, const char *name)
{
	struct group *group = find_group(tool, name);
	struct rcstr *text = rcstr_new(name, strlen(name));
	struct resource_set *sets[XDS_TYPE_COUNT];
	struct snapshot *snapshot;

	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		sets[type] = resource_set_ref(group->sets[type]);
	snapshot = snapshot_new(text, sets, false, NULL, 0);
	store_publish(tool->store, slice_of(name), snapshot);
	snapshot_unref(snapshot);
	rcstr_unref(text);
}

/* groups NAME[:CLUSTER] ...: in this order, a group with a cluster takes its nodes, one without
 * takes everyone. */
static void set_groups(struct tool *tool, char **words, size_t count)
{
	struct selector_builder *builder = selector_begin();
	struct selector *selector;

	for (size_t i = 1; i < count; i++) {
		char *colon = strchr(words[i], ':');
		struct match exact = {.kind = MATCH_EXACT};
		struct match field = {.kind = MATCH_FIELD,
			.text = SLICE("cluster"),
			.children = &exact,
			.children_count = 1};

		if (colon) {
			*colon = '\0';
			exact.text = slice_of(colon + 1);
		}
		selector_add(builder, words[i], colon ? &field : NULL);
	}
	selector = selector_finish(builder);
	store_set_selector(tool->store, selector);
	selector_unref(selector);
}

static void print_listeners(struct tool *tool)
{
	json_t *status = rest_server_status(tool->rest, 0);
	json_t *listeners = json_object_get(status, "listeners");
	size_t index;
	json_t *listener;

	printf("ok");
	json_array_foreach(listeners, index, listener)
		printf(" %s", json_string_value(json_object_get(listener, "bound")));
	printf("\n");
	json_decref(status);
}

static void set_listeners(struct tool *tool, char **words, size_t count)
{
	char *problem;

	if (rest_server_listen(tool->rest, (const char *const *)words + 1, count - 1, &problem)) {
		printf("error %s\n", problem);
		free(problem);
		return;
	}
	print_listeners(tool);
}

static void print_status(struct tool *tool, size_t clients)
{
	json_t *status = rest_server_status(tool->rest, clients);
	char *text = json_dumps(status, JSON_COMPACT);

	printf("%s\n", text);
	free(text);
	json_decref(status);
}

static void print_memory(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kib = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Rss: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	printf("ok %ld\n", kib);
}

static void print_cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("ok %lld\n", (long long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
				    usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* False: stop. */
static bool run(struct tool *tool, char **words, size_t count)
{
	const char *command = words[0];

	if (strcmp(command, "listen") == 0) {
		set_listeners(tool, words, count);
		return true;
	} else if (strcmp(command, "status") == 0) {
		print_status(tool, count > 1 ? strtoul(words[1], NULL, 10) : 100);
		return true;
	} else if (strcmp(command, "rss") == 0) {
		print_memory();
		return true;
	} else if (strcmp(command, "cpu") == 0) {
		print_cpu();
		return true;
	} else if (strcmp(command, "groups") == 0) {
		set_groups(tool, words, count);
	} else if (strcmp(command, "put") == 0 && count == 5) {
		edit(tool, words, true);
	} else if (strcmp(command, "many") == 0 && count == 6) {
		edit_many(tool, words);
	} else if (strcmp(command, "remove") == 0 && count == 4) {
		edit(tool, words, false);
	} else if (strcmp(command, "publish") == 0 && count == 2) {
		publish(tool, words[1]);
	} else if (strcmp(command, "drop") == 0 && count == 2) {
		store_publish(tool->store, slice_of(words[1]), NULL);
	} else if (strcmp(command, "encode-fails") == 0) {
		tool->encode_fails = true;
	} else if (strcmp(command, "stop") == 0) {
		rest_server_stop(tool->rest);
		printf("ok\n");
		return false;
	} else {
		printf("error unknown command\n");
		return true;
	}
	printf("ok\n");
	return true;
}

static size_t split(char *line, char **words)
{
	size_t count = 0;
	char *rest = line, *word;

	while (count < WORDS_MAX && (word = strsep(&rest, " \n")))
		if (*word)
			words[count++] = word;
	return count;
}

static void set_limit(struct limits *limits, const char *argument)
{
	unsigned long long value = strtoull(strchr(argument, '=') + 1, NULL, 10);

	if (strncmp(argument, "body=", 5) == 0)
		limits->rest_body_bytes = value;
	else if (strncmp(argument, "names=", 6) == 0)
		limits->request_names = value;
	else if (strncmp(argument, "hold=", 5) == 0)
		limits->hold_ms = (int64_t)value;
	else if (strncmp(argument, "connections=", 12) == 0)
		limits->connections = value;
}

int main(int argc, char **argv)
{
	struct tool tool = {.limits = LIMITS_DEFAULT};
	struct rest_options options = {.encode = encode, .encode_ctx = &tool, .log = &tool.log};
	char *line = NULL;
	size_t capacity = 0;
	bool runs = true;

	for (int i = 1; i < argc; i++)
		set_limit(&tool.limits, argv[i]);
	log_init(&tool.log, STDERR_FILENO, LOG_LEVEL_INFO);
	tool.store = store_new();
	options.store = tool.store;
	options.limits = tool.limits;
	if (rest_server_start(&options, &tool.rest))
		return 1;
	while (runs && getline(&line, &capacity, stdin) > 0) {
		char *words[WORDS_MAX + 1] = {0};
		size_t count = split(line, words);

		if (count)
			runs = run(&tool, words, count);
		fflush(stdout);
	}
	if (runs)
		rest_server_stop(tool.rest);
	free(line);
	for (size_t i = 0; i < tool.groups_count; i++)
		for (int type = 0; type < XDS_TYPE_COUNT; type++)
			resource_set_unref(tool.groups[i].sets[type]);
	store_free(tool.store);
	return 0;
}
