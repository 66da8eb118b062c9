/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drives a publisher for tests: options as arguments (-P: items are their bodies, no schema), then
 * one command per line on standard input, one line of answer each:
 *
 *   publish GROUP [@SOURCE] TYPE:NAME[=HEX][^TTL][&ALIAS] ... [; GROUP ...]
 *     publishes exactly these, groups together; a body is the name in field 1, then HEX; %XX in
 * NAME; TTL in ms check lists files that someone else changed version GROUP TYPE arm faults are
 * counted from here on instead of from opening on
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/encoder.h"
#include "message/wire_write.h"

/* Only in the program that is linked with fault.c. */
void fault_arm(void) __attribute__((weak));
unsigned fault_calls(void) __attribute__((weak));

/* A file format that needs no schema, for tests that start this program a thousand times. */
static int plain_begin(void *ctx, enum file_format format, enum xds_type type,
	const struct version *version, size_t count, struct buf *out)
{
	(void)ctx;
	(void)format;
	buf_printf(out, "%s %s %zu\n", version->text, xds_type_row(type)->stem, count);
	return 0;
}

static int plain_item(void *ctx, enum file_format format, const struct resource *resource,
	struct slice body, struct buf *out)
{
	(void)ctx;
	(void)format;
	(void)resource;
	buf_append_slice(out, body);
	buf_putc(out, '\n');
	return 0;
}

static int plain_end(void *ctx, enum file_format format, enum xds_type type, size_t count,
	struct slice source, struct buf *out)
{
	(void)ctx;
	(void)format;
	(void)type;
	buf_printf(out, "%zu %.*s\n", count, SLICE_ARG(source));
	return 0;
}

static struct slice plain_separator(void *ctx, enum file_format format)
{
	(void)ctx;
	(void)format;
	return SLICE("--\n");
}

static int open_encoder(struct publisher_options *options, const char *schema_path,
	struct diag_list *diags, struct schema **ret_schema, struct encoder **ret_encoder)
{
	if (!schema_path) {
		options->encoder = (struct publish_encoder){
			NULL, plain_begin, plain_item, plain_end, plain_separator};
		return 0;
	}
	if (schema_load(&schema_path, 1, diags, ret_schema) ||
		encoder_new(*ret_schema, ret_encoder))
		return -1;
	options->encoder = encoder_for_files(*ret_encoder);
	return 0;
}

static void add_hex(struct buf *out, const char *hex)
{
	for (; hex[0] && hex[1]; hex += 2) {
		char digits[3] = {hex[0], hex[1], '\0'};

		buf_putc(out, (char)strtol(digits, NULL, 16));
	}
}

static void add_resource(struct resource_set_builder **builders, char *word)
{
	char *name = strchr(word, ':'), *alias = strchr(word, '&'), *ttl, *hex;
	struct buf plain = BUF_INIT, body = BUF_INIT;
	struct resource_spec spec = {.ttl_ms = -1};
	struct resource *resource;

	struct slice alias_text;

	if (alias)
		*alias++ = '\0';
	ttl = strchr(word, '^');
	if (ttl)
		*ttl++ = '\0';
	hex = strchr(word, '=');
	if (hex)
		*hex++ = '\0';
	*name++ = '\0';
	for (; *name; name++) {
		if (name[0] == '%') {
			char digits[3] = {name[1], name[2], '\0'};

			add_hex(&plain, digits);
			name += 2;
		} else {
			buf_putc(&plain, *name);
		}
	}
	spec.type = xds_type_by_name(slice_of(word))->type;
	spec.name = buf_slice(&plain);
	wire_put_bytes(&body, 1, spec.name);
	if (hex)
		add_hex(&body, hex);
	spec.body = buf_slice(&body);
	if (ttl)
		spec.ttl_ms = atoi(ttl);
	if (alias) {
		alias_text = slice_of(alias);
		spec.aliases = &alias_text;
		spec.aliases_count = 1;
	}
	resource = resource_new(&spec);
	resource_set_put(builders[spec.type], resource);
	resource_unref(resource);
	buf_fini(&plain);
	buf_fini(&body);
}

static struct snapshot *read_snapshot(char *words)
{
	struct resource_set_builder *builders[XDS_TYPE_COUNT];
	struct resource_set *sets[XDS_TYPE_COUNT];
	char *word = strsep(&words, " ");
	struct rcstr *group = rcstr_new(word, strlen(word)), *source = NULL;
	struct snapshot *empty = snapshot_empty(group), *snapshot;

	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		builders[type] = resource_set_edit(empty->sets[type]);
	while ((word = strsep(&words, " "))) {
		if (word[0] == '@')
			source = rcstr_new(word + 1, strlen(word + 1));
		else if (word[0])
			add_resource(builders, word);
	}
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		sets[type] = resource_set_finish(builders[type]);
	snapshot = snapshot_new(group, sets, false, source, 0);
	snapshot_unref(empty);
	rcstr_unref(group);
	rcstr_unref(source);
	return snapshot;
}

static void on_modified(void *ctx, struct slice group, const char *path)
{
	(void)ctx;
	printf("modified %.*s %s ", SLICE_ARG(group), path);
}

#define GROUPS_MAX 64

/* As a compiler does: what is equal is the same. */
static void share_sets(const struct snapshot *first, struct snapshot *snapshot)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		if (snapshot == first || !version_equal(resource_set_version(first->sets[type]),
						 resource_set_version(snapshot->sets[type])))
			continue;
		resource_set_unref(snapshot->sets[type]);
		snapshot->sets[type] = resource_set_ref(first->sets[type]);
	}
}

static void publish(struct publisher *publisher, char *rest)
{
	struct snapshot *snapshots[GROUPS_MAX];
	struct publish_result results[GROUPS_MAX], sum = {0};
	int errors[GROUPS_MAX], error = 0;
	size_t count = 0;

	while (rest && count < GROUPS_MAX) {
		char *next = strstr(rest, " ; ");

		if (next)
			*next = '\0';
		snapshots[count] = read_snapshot(rest);
		share_sets(snapshots[0], snapshots[count]);
		count++;
		rest = next ? next + 3 : NULL;
	}
	publisher_publish_many(publisher, snapshots, count, results, errors);
	for (size_t i = 0; i < count; i++) {
		error = errors[i] ? errors[i] : error;
		sum.written += results[i].written;
		sum.removed += results[i].removed;
		sum.unchanged += results[i].unchanged;
		sum.bytes += results[i].bytes;
		snapshot_unref(snapshots[i]);
	}
	if (error)
		printf("error %s\n", strerror(-error));
	else
		printf("ok written=%zu removed=%zu unchanged=%zu bytes=%llu\n", sum.written,
			sum.removed, sum.unchanged, (unsigned long long)sum.bytes);
}

static void run(struct publisher *publisher, char *line)
{
	char *rest = line, *verb = strsep(&rest, " ");

	if (strcmp(verb, "publish") == 0) {
		publish(publisher, rest);
	} else if (strcmp(verb, "check") == 0) {
		printf("%d\n", publisher_check(publisher, on_modified, NULL));
	} else if (strcmp(verb, "arm") == 0) {
		fault_arm();
		printf("armed\n");
	} else if (strcmp(verb, "version") == 0) {
		char *group = strsep(&rest, " ");
		struct version version;

		printf("%s\n", publisher_version(publisher, slice_of(group),
				       xds_type_by_name(slice_of(rest))->type, &version)
				       ? version.text
				       : "none");
	}
	fflush(stdout);
}

static void parse_formats(const char *text, bool *formats)
{
	AUTO_FREE char *copy = xstrdup(text);
	char *rest = copy, *word;
	enum file_format format;

	while ((word = strsep(&rest, ",")))
		if (file_format_parse(slice_of(word), &format) == 0)
			formats[format] = true;
}

int main(int argc, char **argv)
{
	struct publisher_options options = {.mode = 0644,
		.secret_mode = 0640,
		.folder_mode = 0755,
		.owner = (uid_t)-1,
		.group = (gid_t)-1};
	const char *sources[8], *schema_path = getenv("XDSPUB_SCHEMA");
	struct diag_list *diags = diag_list_new(0);
	struct publisher *publisher;
	struct encoder *encoder = NULL;
	struct schema *schema = NULL;
	char line[65536];
	size_t count = 0;
	struct log log;
	int option, error;

	while ((option = getopt(argc, argv, "o:f:s:u:g:m:x:S:P")) >= 0) {
		switch (option) {
		case 'o':
			options.path = optarg;
			break;
		case 'f':
			parse_formats(optarg, options.formats);
			break;
		case 's':
			sources[count++] = optarg;
			break;
		case 'u':
			options.owner = (uid_t)atoi(optarg);
			break;
		case 'g':
			options.group = (gid_t)atoi(optarg);
			break;
		case 'm':
			options.mode = (mode_t)strtol(optarg, NULL, 8);
			break;
		case 'x':
			options.secret_mode = (mode_t)strtol(optarg, NULL, 8);
			break;
		case 'S':
			schema_path = optarg;
			break;
		case 'P':
			schema_path = NULL;
			break;
		default:
			return 2;
		}
	}
	log_init(&log, 2, LOG_LEVEL_INFO);
	options.log = &log;
	if (!options.path || open_encoder(&options, schema_path, diags, &schema, &encoder))
		return 2;
	if (fault_arm && !getenv("FAULT_LATER"))
		fault_arm();
	error = publisher_open(&options, sources, count, diags, &publisher);
	if (error) {
		for (size_t i = 0; i < diag_list_count(diags); i++)
			printf("refused: %s\n", diag_list_get(diags, i)->text);
		printf("error %s\n", strerror(-error));
	} else {
		printf("open\n");
		fflush(stdout);
		while (fgets(line, sizeof(line), stdin)) {
			line[strcspn(line, "\n")] = '\0';
			run(publisher, line);
		}
		publisher_close(publisher);
	}
	if (fault_calls)
		printf("calls %u\n", fault_calls());
	encoder_free(encoder);
	schema_free(schema);
	diag_list_free(diags);
	return error ? 1 : 0;
}
