/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xdspub convert: any message of the schema from one format to another. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/given.h"
#include "message/bind.h"
#include "message/json_read.h"
#include "message/json_write.h"
#include "message/text_read.h"
#include "message/text_write.h"
#include "message/wire_read.h"
#include "message/wire_write.h"
#include "message/yaml_write.h"

#define TYPES_LISTED 8 /* of those with one short name */

enum format {
	FORMAT_YAML,
	FORMAT_JSON,
	FORMAT_PB,
	FORMAT_TEXT,
	FORMAT_NONE
};

static const struct {
	const char *name; /* in --from and --to, and as a suffix */
	enum format format;
} formats[] = {{"yaml", FORMAT_YAML}, {"json", FORMAT_JSON}, {"pb", FORMAT_PB},
	{"pb_text", FORMAT_TEXT}, {"yml", FORMAT_YAML}, {"text", FORMAT_TEXT},
	{"binary", FORMAT_PB}, {"txtpb", FORMAT_TEXT}, {"textproto", FORMAT_TEXT},
	{"bin", FORMAT_PB}};

struct conversion {
	struct options options;
	struct diag_list *diags;
	struct schema *schema;
	const char *path; /* for messages; NULL in `file`: standard input */
	const char *file;
	enum format from, to;
	bool is_lenient, is_camel_case;
	const struct schema_message *type; /* NULL: each document says it with "@type" */
	struct buf input, output;
	struct arena *arena;
	size_t count; /* messages written */
};

static enum format find_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (strcasecmp(name, formats[i].name) == 0)
			return formats[i].format;
	}
	return FORMAT_NONE;
}

static int usage_error(const char *format, const char *value, const char *more)
{
	fputs("xdspub convert: ", stderr);
	fprintf(stderr, "%s\"%s\"%s\n", format, value, more);
	return EXIT_USAGE;
}

static int choose_formats(struct conversion *conversion, const struct args *args)
{
	const char *from = args_get(args, "from"), *to = args_get(args, "to");
	const char *dot = conversion->file ? strrchr(conversion->file, '.') : NULL;
	const char *known = ": yaml, json, pb and pb_text are known";

	conversion->from = FORMAT_YAML; /* reads JSON as well */
	conversion->to = FORMAT_YAML;
	if (from) {
		conversion->from = find_format(from);
		if (conversion->from == FORMAT_NONE)
			return usage_error("no such format: ", from, known);
	} else if (conversion->file) {
		conversion->from = find_format(dot ? dot + 1 : "");
		if (conversion->from == FORMAT_NONE)
			return usage_error("the name of ", conversion->path,
				" does not tell its format: give --from");
	}
	if (to) {
		conversion->to = find_format(to);
		if (conversion->to == FORMAT_NONE)
			return usage_error("no such format: ", to, known);
	}
	if (conversion->to == FORMAT_PB && isatty(STDOUT_FILENO)) {
		fputs("xdspub convert: binary output is not for a terminal: redirect it\n", stderr);
		return EXIT_USAGE;
	}
	return EXIT_FINE;
}

/* What follows the package: "Cluster" of envoy.config.cluster.v3.Cluster; NULL for messages inside
 * of messages. */
static const char *short_name(const struct schema *schema, const struct schema_message *message)
{
	const char *dot = strrchr(message->full_name, '.');
	struct slice parent = {message->full_name, dot ? (size_t)(dot - message->full_name) : 0};

	if (!dot)
		return message->full_name;
	return schema_find_message(schema, parent) ? NULL : dot + 1;
}

static void explain_unknown_type(const struct conversion *conversion, const char *name)
{
	const struct schema *schema = conversion->schema;
	const struct schema_message *const *all;
	const char *nearest = schema_nearest_message(schema, slice_of(name));
	struct suggestion suggestion;
	struct buf quoted = BUF_INIT;
	char phrase[256];
	size_t count;

	suggestion_init(&suggestion, slice_of(name));
	if (nearest)
		suggestion_offer(&suggestion, nearest);
	all = schema_messages(schema, &count);
	for (size_t i = 0; i < count; i++) {
		const char *last = short_name(schema, all[i]);

		if (last)
			suggestion_offer(&suggestion, last);
	}
	text_quote(&quoted, slice_of(name), 200);
	fprintf(stderr, "xdspub convert: unknown type \"%s\" (%s)%s\n", buf_cstr(&quoted),
		schema_label(schema), suggestion_phrase(&suggestion, phrase));
	buf_fini(&quoted);
}

/* Full names, type URLs, and what follows the package where that is unique. */
static int choose_type(struct conversion *conversion, const char *name)
{
	const struct schema *schema = conversion->schema;
	const struct schema_message *const *all;
	struct buf matches = BUF_INIT;
	size_t count, found = 0;

	conversion->type = schema_find_type_url(schema, slice_of(name));
	if (!conversion->type)
		conversion->type = schema_find_message(schema, slice_of(name));
	if (conversion->type)
		return EXIT_FINE;
	all = schema_messages(schema, &count);
	for (size_t i = 0; i < count; i++) {
		const char *last = short_name(schema, all[i]);

		if (!last || strcmp(last, name) != 0)
			continue;
		if (found++ < TYPES_LISTED)
			buf_printf(&matches, "\n  %s", all[i]->full_name);
		conversion->type = all[i];
	}
	if (found > 1)
		fprintf(stderr, "xdspub convert: several types are called \"%s\":%s%s\n", name,
			buf_cstr(&matches), found > TYPES_LISTED ? "\n  ..." : "");
	else if (found == 0)
		explain_unknown_type(conversion, name);
	buf_fini(&matches);
	return found == 1 ? EXIT_FINE : EXIT_USAGE;
}

static int read_input(struct conversion *conversion)
{
	uint64_t limit = conversion->options.limits.source_file_bytes;
	int rc = conversion->file ? file_read(conversion->file, limit, &conversion->input)
				  : file_read_fd(STDIN_FILENO, limit, &conversion->input);

	if (rc == 0)
		return EXIT_FINE;
	fprintf(stderr, "xdspub convert: %s: %s\n", conversion->path,
		rc == -EFBIG ? "larger than the limit for source files" : strerror(-rc));
	return EXIT_FINDINGS;
}

static void separate(struct conversion *conversion)
{
	if (conversion->count++ == 0)
		return;
	if (conversion->to == FORMAT_YAML)
		buf_puts(&conversion->output, "---\n");
	else if (conversion->to != FORMAT_JSON)
		diag_error(conversion->diags, conversion->path, (struct position){0},
			"several-documents",
			"several documents do not go into one file of this format");
}

/* 0 or -EBADMSG with a diagnostic. */
static int write_message(struct conversion *conversion, struct message *message)
{
	const char *problem = NULL;
	int rc = 0;

	separate(conversion);
	switch (conversion->to) {
	case FORMAT_YAML:
		rc = yaml_write(&(struct yaml_write_options){.schema = conversion->schema,
					.camel_case = conversion->is_camel_case},
			message, &conversion->output, &problem);
		break;
	case FORMAT_JSON:
		rc = json_write(&(struct json_write_options){.schema = conversion->schema,
					.original_names = !conversion->is_camel_case,
					.pretty = true},
			message, &conversion->output, &problem);
		buf_putc(&conversion->output, '\n');
		break;
	case FORMAT_TEXT:
		rc = text_write(&(struct text_write_options){.schema = conversion->schema,
					.print_unknown = true},
			message, &conversion->output, &problem);
		break;
	case FORMAT_PB:
	case FORMAT_NONE:
		wire_write(message, &conversion->output);
		break;
	}
	if (rc)
		diag_error(conversion->diags, conversion->path, message->at, "not-writable",
			"cannot be written in this format: %s", problem ? problem : strerror(-rc));
	if (conversion->to <= FORMAT_JSON && message_has_unknown(message))
		diag_warning(conversion->diags, conversion->path, message->at, "unknown-field",
			"fields that the schema (%s) does not know are left out",
			schema_label(conversion->schema));
	return rc;
}

static int convert_document(struct conversion *conversion, const struct node *root)
{
	struct bind_options options = {
		.schema = conversion->schema,
		.path = conversion->path,
		.lenient = conversion->is_lenient,
	};
	const struct schema_message *type = conversion->type;
	struct message *message;
	int rc;

	if (type) {
		rc = bind_message(
			&options, type, root, conversion->arena, conversion->diags, &message);
	} else {
		rc = bind_find_type(&options, root, conversion->diags, &type);
		if (rc == 0 && !type) {
			diag_error(conversion->diags, conversion->path, root->at, "missing-type",
				"no \"@type\" here: give --type");
			rc = -EBADMSG;
		}
		if (rc == 0)
			rc = bind_typed(&options, type, root, conversion->arena, conversion->diags,
				&message);
	}
	return rc ? rc : write_message(conversion, message);
}

static int convert_tree(struct conversion *conversion)
{
	struct read_options options = {
		.path = conversion->path, .nodes_limit = conversion->options.limits.yaml_nodes};
	struct slice text = buf_slice(&conversion->input);
	struct documents documents = {0};
	struct node *root = NULL;
	int rc;

	if (conversion->from == FORMAT_JSON) {
		rc = json_read(&options, text, conversion->arena, conversion->diags, &root);
		if (root)
			documents = (struct documents){.roots = &root, .count = 1};
	} else {
		rc = yaml_read(&options, text, conversion->arena, conversion->diags, &documents);
	}
	if (rc == 0 && documents.count == 0) {
		diag_error(conversion->diags, conversion->path, (struct position){0}, "empty",
			"there is no document in it");
		return -EBADMSG;
	}
	for (size_t i = 0; i < documents.count; i++) {
		int one = convert_document(conversion, documents.roots[i]);

		rc = rc ? rc : one;
	}
	return rc;
}

static int convert_binary(struct conversion *conversion)
{
	struct wire_read_options options = {.schema = conversion->schema,
		.expand_any = true,
		.allow_partial = conversion->is_lenient};
	struct wire_read_error error = {0};
	struct message *message;
	int rc = wire_read(&options, conversion->type, buf_slice(&conversion->input),
		conversion->arena, &message, &error);

	if (rc == -EBADMSG)
		diag_error(conversion->diags, conversion->path, (struct position){0}, "not-binary",
			"no binary %s: %s at byte %zu%s%s%s", conversion->type->full_name,
			error.text, error.offset, error.field ? ", field \"" : "",
			error.field ? error.field->name : "", error.field ? "\"" : "");
	return rc ? rc : write_message(conversion, message);
}

static int convert_text(struct conversion *conversion)
{
	struct text_read_options options = {.schema = conversion->schema, .path = conversion->path};
	struct message *message;
	int rc = text_read(&options, conversion->type, buf_slice(&conversion->input),
		conversion->arena, conversion->diags, &message);

	return rc ? rc : write_message(conversion, message);
}

static int convert(struct conversion *conversion)
{
	int rc;

	if (conversion->from == FORMAT_PB)
		rc = convert_binary(conversion);
	else if (conversion->from == FORMAT_TEXT)
		rc = convert_text(conversion);
	else
		rc = convert_tree(conversion);
	if (rc == 0)
		rc = buf_error(&conversion->output);
	if (rc && rc != -EBADMSG) {
		fprintf(stderr, "xdspub convert: %s: %s\n", conversion->path, strerror(-rc));
		return EXIT_FINDINGS;
	}
	return diag_list_level_count(conversion->diags, DIAG_ERROR) ? EXIT_FINDINGS : EXIT_FINE;
}

static int prepare(struct conversion *conversion, const struct args *args)
{
	const char *type = args_get(args, "type");
	const char **paths;
	size_t count = 1 + conversion->options.add_schemas.count;
	int rc, status = choose_formats(conversion, args);

	if (status)
		return status;
	paths = calloc(count, sizeof(*paths));
	if (!paths)
		abort();
	paths[0] = options_schema(&conversion->options);
	for (size_t i = 1; i < count; i++)
		paths[i] = conversion->options.add_schemas.items[i - 1];
	rc = schema_load(paths, count, conversion->diags, &conversion->schema);
	free(paths);
	if (rc)
		return EXIT_FINDINGS;
	if (type)
		status = choose_type(conversion, type);
	else if (conversion->from == FORMAT_PB || conversion->from == FORMAT_TEXT)
		status = usage_error(
			"", conversion->path, " does not say what it holds: give --type");
	return status ? status : read_input(conversion);
}

static int run(const struct args *args)
{
	struct conversion conversion = {.diags = diag_list_new(0),
		.path = "standard input",
		.is_lenient = args_has(args, "lenient"),
		.is_camel_case = args_has(args, "camel-case"),
		.arena = arena_new(0)};
	int status;

	if (args->operands_count && strcmp(args->operands[0], "-") != 0)
		conversion.path = conversion.file = args->operands[0];
	options_init(&conversion.options);
	status =
		given_options(args, &conversion.options, conversion.diags) ? EXIT_USAGE : EXIT_FINE;
	if (!status)
		status = prepare(&conversion, args);
	if (!status)
		status = convert(&conversion);
	if (!status)
		fwrite(conversion.output.data, 1, conversion.output.length, stdout);
	diag_list_sort(conversion.diags);
	given_print_diags(stderr, conversion.diags, &(struct given_print){.notes = true});
	buf_fini(&conversion.input);
	buf_fini(&conversion.output);
	schema_free(conversion.schema);
	arena_free(conversion.arena);
	diag_list_free(conversion.diags);
	options_fini(&conversion.options);
	return status;
}

static const struct args_option options[] = {
	{"type", 't', "NAME", false, "the message: full name, type URL, or a unique short name"},
	{"from", 'f', "FORMAT", false, "yaml, json, pb or pb_text (default: by the file's name)"},
	{"to", 'o', "FORMAT", false, "yaml, json, pb or pb_text (default: yaml)"},
	{"lenient", 'l', NULL, false, "forgive what Envoy's own reader forgives"},
	{"camel-case", 'c', NULL, false, "write lowerCamelCase instead of names as declared"},
	{NULL, 0, NULL, false, NULL},
};

const struct command command_convert = {
	.name = "convert",
	.synopsis = "[OPTION]... [FILE|-]",
	.summary = "Turn a message from one format into another",
	.details =
		"Reads a message of the schema as YAML, JSON, proto text or binary and prints it\n"
		"in another format. Without --type a YAML or JSON document must say \"@type\".\n"
		"Strict: unknown fields and what only Envoy's reader accepts are reported.\n\n"
		"  xdspub convert -t DiscoveryResponse out/default/cds/cds.pb\n"
		"  xdspub convert -t Cluster --to json cluster.yaml",
	.options = options,
	.settings = OPTIONS_SCHEMA,
	.operands_min = 0,
	.operands_max = 1,
	.run = run,
};
