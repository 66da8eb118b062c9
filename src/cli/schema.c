/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xdspub schema: what the descriptor sets hold, and JSON Schemas made from them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "author/json_schema_file.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/authoring.h"
#include "cli/command.h"
#include "cli/given.h"

#define SHARED_FILE    "envoy.json" /* the definitions that the others refer to */
#define BOOTSTRAP_TYPE "envoy.config.bootstrap.v3.Bootstrap"

/* ---- what is there ---- */

static json_t *describe_sets(const struct options *options)
{
	json_t *list = json_array();

	for (size_t i = 0; i <= options->add_schemas.count; i++) {
		const char *path = i ? options->add_schemas.items[i - 1] : options_schema(options);
		struct stat status = {0};

		(void)stat(path, &status);
		json_array_append_new(list,
			json_pack("{ss sI}", "path", path, "bytes", (json_int_t)status.st_size));
	}
	return list;
}

static json_t *describe_resources(const struct schema *schema)
{
	json_t *list = json_array();

	for (int i = 0; i < XDS_TYPE_COUNT; i++) {
		const struct xds_type_row *row = xds_type_row((enum xds_type)i);

		json_array_append_new(
			list, json_pack("{ss ss ss sb}", "name", row->name, "folder", row->folder,
				      "message", row->message, "known",
				      schema_find_message(schema, slice_of(row->message)) != NULL));
	}
	return list;
}

static json_t *describe_messages(const struct authoring *authoring)
{
	json_t *list = json_array();
	size_t count;
	const struct schema_message *const *all = schema_messages(authoring->schema, &count);

	for (size_t i = 0; i < count; i++) {
		struct slice extension = names_extension_of(authoring->names, all[i]);
		json_t *one = json_pack("{ss}", "name", all[i]->full_name);

		if (all[i]->is_map_entry) {
			json_decref(one);
			continue;
		}
		if (extension.length)
			json_object_set_new(
				one, "extension", json_stringn(extension.data, extension.length));
		json_array_append_new(list, one);
	}
	return list;
}

static size_t count_files(const struct schema *schema)
{
	size_t cursor = 0, count = 0;
	struct slice bytes;

	while (schema_next_file(schema, &cursor, &bytes))
		count++;
	return count;
}

static json_t *describe(
	const struct authoring *authoring, const struct options *options, bool with_list)
{
	json_t *document = json_pack("{ss so sI sI so}", "label", schema_label(authoring->schema),
		"sets", describe_sets(options), "files", (json_int_t)count_files(authoring->schema),
		"comments", (json_int_t)comments_count(authoring->comments), "resources",
		describe_resources(authoring->schema));
	json_t *messages = describe_messages(authoring);

	json_object_set_new(
		document, "message_count", json_integer((json_int_t)json_array_size(messages)));
	if (with_list)
		json_object_set(document, "messages", messages);
	json_decref(messages);
	return document;
}

static const char *get(const json_t *from, const char *key)
{
	const char *text = json_string_value(json_object_get(from, key));

	return text ? text : "";
}

static long long number(const json_t *from, const char *key)
{
	return json_integer_value(json_object_get(from, key));
}

static void print_description(const json_t *document)
{
	const json_t *one;
	size_t i;

	if (json_object_get(document, "messages")) {
		json_array_foreach(json_object_get(document, "messages"), i, one)
		{
			printf("%s%s%s\n", get(one, "name"), get(one, "extension")[0] ? "  " : "",
				get(one, "extension"));
		}
		return;
	}
	printf("%s\n", get(document, "label"));
	json_array_foreach(json_object_get(document, "sets"), i, one)
	{
		printf("  %s, %lld bytes\n", get(one, "path"), number(one, "bytes"));
	}
	printf("  %lld files, %lld message types, %lld comments\n", number(document, "files"),
		number(document, "message_count"), number(document, "comments"));
	json_array_foreach(json_object_get(document, "resources"), i, one)
	{
		printf("  %-5s %-18s %s%s\n", get(one, "name"), get(one, "folder"),
			get(one, "message"),
			json_is_true(json_object_get(one, "known")) ? ""
								    : "  (not in this schema)");
	}
}

/* ---- JSON Schemas ---- */

/* Whole or not at all: an editor may be reading it. */
static int write_file(const char *folder, const char *name, json_t *document)
{
	AUTO_FREE char *path = xasprintf("%s/%s", folder, name);
	AUTO_FREE char *draft = xasprintf("%s/.%s.new", folder, name);
	char *text = json_dumps(document, JSON_COMPACT | JSON_SORT_KEYS);
	int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int error = fd < 0 ? -errno : 0;

	json_decref(document);
	if (!error && text)
		error = file_write_all(fd, text, strlen(text));
	if (!error)
		error = file_write_all(fd, "\n", 1);
	if (fd >= 0 && close(fd) && !error)
		error = -errno;
	if (!error && rename(draft, path))
		error = -errno;
	if (error) {
		fprintf(stderr, "xdspub schema: %s: %s\n", path, strerror(-error));
		(void)unlink(draft);
	}
	free(text);
	return error;
}

static int write_all(const struct authoring *authoring, const char *folder)
{
	struct explain_from from = authoring_from(authoring);
	struct json_schema *definitions = json_schema_new(&from);
	const struct schema_message *bootstrap =
		schema_find_message(authoring->schema, SLICE(BOOTSTRAP_TYPE));
	int error = file_make_directories(AT_FDCWD, folder, 0755);

	if (error)
		fprintf(stderr, "xdspub schema: %s: %s\n", folder, strerror(-error));
	for (int i = 0; i < XDS_TYPE_COUNT && !error; i++) {
		const struct xds_type_row *row = xds_type_row((enum xds_type)i);
		AUTO_FREE char *name = xasprintf("%s.json", row->folder);
		json_t *document = json_schema_file_of(definitions, row, SHARED_FILE);

		if (document)
			error = write_file(folder, name, document);
	}
	if (!error)
		error = write_file(
			folder, "resources.json", json_schema_file_any(definitions, SHARED_FILE));
	if (!error && bootstrap)
		error = write_file(folder, "bootstrap.json",
			json_schema_file_message(definitions, bootstrap, SHARED_FILE));
	if (!error)
		error = write_file(folder, "groups.json", json_schema_file_keys(authoring->groups));
	if (!error)
		error = write_file(
			folder, "xdspub.json", json_schema_file_keys(authoring->settings));
	if (!error)
		error = write_file(folder, SHARED_FILE, json_schema_file_defs(definitions));
	json_schema_free(definitions);
	return error ? EXIT_FINDINGS : EXIT_FINE;
}

/* "$defs" of the document, and those of the messages it refers to. */
static void put_defs(json_t *document, struct json_schema *definitions)
{
	json_t *defs = json_schema_take(definitions);

	json_object_update(defs, json_object_get(document, "$defs"));
	json_object_set_new(document, "$defs", defs);
}

static const struct xds_type_row *find_row(const struct schema_message *message)
{
	return xds_type_by_message(slice_of(message->full_name));
}

static json_t *make_one(const struct authoring *authoring, const char *name)
{
	struct explain_from from = authoring_from(authoring);
	struct json_schema *definitions;
	struct buf problem = BUF_INIT;
	struct path path;
	json_t *document = NULL;

	if (strcmp(name, keys_file(authoring->groups)) == 0 || strcmp(name, "groups") == 0)
		return json_schema_file_keys(authoring->groups);
	if (strcmp(name, keys_file(authoring->settings)) == 0)
		return json_schema_file_keys(authoring->settings);
	definitions = json_schema_new(&from);
	if (strcmp(name, "resources") == 0) {
		document = json_schema_file_any(definitions, "");
	} else if (path_resolve(
			   authoring->names, authoring->schema, slice_of(name), &path, &problem)) {
		fprintf(stderr, "xdspub schema: %s\n", buf_cstr(&problem));
	} else if (!path.message) {
		fprintf(stderr, "xdspub schema: \"%s\" is no message type\n", name);
	} else if (path.kind == PATH_MESSAGE && !path.field && find_row(path.message)) {
		document = json_schema_file_of(definitions, find_row(path.message), "");
	} else {
		document = json_schema_file_message(definitions, path.message, "");
	}
	if (document)
		put_defs(document, definitions);
	json_schema_free(definitions);
	buf_fini(&problem);
	return document;
}

/* ---- the command ---- */

static int refuse(const char *what)
{
	fprintf(stderr, "xdspub schema: %s\n", what);
	return EXIT_USAGE;
}

static int check_usage(const struct args *args)
{
	bool is_made = args_has(args, "json-schema"), is_all = args_has(args, "all");

	if (is_made && is_all != args_has(args, "out"))
		return refuse(
			"--all and -o DIR belong together: all schemas are files of a folder");
	if (is_made && !is_all && args->operands_count != 1)
		return refuse("--json-schema needs a type, or --all -o DIR");
	if (!is_made && (is_all || args_has(args, "out") || args->operands_count))
		return refuse("that goes with --json-schema; xdspub explain tells about a type");
	if (is_all && args->operands_count)
		return refuse("either a type or --all");
	return EXIT_FINE;
}

static int perform(
	const struct authoring *authoring, const struct options *options, const struct args *args)
{
	json_t *document;

	if (args_has(args, "all"))
		return write_all(authoring, args_get(args, "out"));
	if (args_has(args, "json-schema")) {
		document = make_one(authoring, args->operands[0]);
		if (!document)
			return EXIT_FINDINGS;
		json_dumpf(document, stdout, JSON_INDENT(1) | JSON_SORT_KEYS);
		putchar('\n');
		json_decref(document);
		return EXIT_FINE;
	}
	document = describe(authoring, options, args_has(args, "list"));
	if (args_has(args, "json")) {
		given_print_json(document);
		return EXIT_FINE;
	}
	print_description(document);
	json_decref(document);
	return EXIT_FINE;
}

static int run(const struct args *args)
{
	struct authoring authoring;
	struct diag_list *diags = diag_list_new(0);
	struct options options;
	int status = check_usage(args);

	authoring_init(&authoring);
	options_init(&options);
	if (!status && given_options(args, &options, diags) < 0)
		status = EXIT_USAGE;
	if (!status && authoring_load(&authoring, &options, diags) < 0)
		status = EXIT_FINDINGS;
	given_print_diags(stderr, diags, &(struct given_print){.notes = true});
	if (!status)
		status = perform(&authoring, &options, args);
	authoring_fini(&authoring);
	options_fini(&options);
	diag_list_free(diags);
	return status;
}

static const struct args_option schema_options[] = {
	{"list", 'l', NULL, false, "the message types in it, with the extensions they configure"},
	{"json", 'j', NULL, false, "print JSON"},
	{"json-schema", 0, NULL, false, "make a JSON Schema (2020-12) for editors: of TYPE"},
	{"all", 'a', NULL, false, "with it: of every resource type and every file of ours"},
	{"out", 'o', "DIR", false, "with --all: the folder to write them to"},
	{0},
};

const struct command command_schema = {
	.name = "schema",
	.synopsis = "[--list] [--json-schema TYPE | --json-schema --all -o DIR]",
	.summary = "What the schema holds, and JSON Schemas for editors",
	.details =
		"Without options: which Envoy API the schema is, from which files, and which\n"
		"resources it knows.\n\n"
		"A JSON Schema is for a file of the tree where TYPE is a resource (cluster), for\n"
		"the message itself where it is another type (Bootstrap), for groups.yaml or\n"
		"xdspub.yaml, or for files in no type folder (resources).\n\n"
		"  xdspub schema --json-schema --all -o .schemas\n\n"
		"writes clusters.json, listeners.json ..., resources.json, bootstrap.json,\n"
		"groups.json, xdspub.json, and envoy.json, which the others refer to.",
	.options = schema_options,
	.settings = OPTIONS_SCHEMA,
	.operands_min = 0,
	.operands_max = 1,
	.operands = OPERANDS_TYPES,
	.run = run,
};
