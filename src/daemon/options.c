/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "daemon/mount_settings.h"

#define AT(field_) offsetof(struct options, field_)
#define HOUR	   INT64_C(3600000)
#define GIB	   (INT64_C(1) << 30)

static const struct option_row rows[] = {
	{"source.path", "source", "DIR", OPTION_PATH, false, AT(source), NULL, NULL, 0, 0,
		OPTION_RELOAD_NOW, OPTIONS_SERVE, "the tree of YAML to compile"},
	{"groups", "group", "NAME", OPTION_TEXT, true, AT(groups), NULL, NULL, 0, 0,
		OPTION_RELOAD_NOW, OPTIONS_SERVE | OPTIONS_BUILD | OPTIONS_CHECK,
		"only this group; may be repeated (default: all)"},
	{"schema.base", "schema", "FILE", OPTION_PATH, false, AT(schema), NULL, NULL, 0, 0,
		OPTION_RELOAD_RESTART,
		OPTIONS_SERVE | OPTIONS_BUILD | OPTIONS_CHECK | OPTIONS_SCHEMA,
		"descriptor set of the Envoy API (default: $XDSPUB_SCHEMA,\n"
		"else " XDSPUB_DATADIR "/envoy.pb)"},
	{"schema.add", "add-schema", "FILE", OPTION_PATH, true, AT(add_schemas), NULL, NULL, 0, 0,
		OPTION_RELOAD_RESTART,
		OPTIONS_SERVE | OPTIONS_BUILD | OPTIONS_CHECK | OPTIONS_SCHEMA,
		"a further descriptor set, for extensions; may be repeated"},
	{"state", "state", "DIR", OPTION_PATH, false, AT(state), NULL, NULL, 0, 0,
		OPTION_RELOAD_RESTART, OPTIONS_SERVE,
		"keeps the last good snapshots over a restart"},
	{"publish.path", "publish", "DIR", OPTION_PATH, false, AT(publish), NULL, NULL, 0, 0,
		OPTION_RELOAD_RESTART, OPTIONS_SERVE, "publish files below this folder"},
	{"publish.seen_as", "seen-as", "DIR", OPTION_TEXT, false, AT(seen_as), NULL, NULL, 0, 0,
		OPTION_RELOAD_RESTART, OPTIONS_SERVE | OPTIONS_BUILD,
		"the path of that folder as Envoy sees it, for files that\n"
		"name other files (default: as it is here)"},
	{"publish.formats", "format", "FORMAT", OPTION_CHOICE, true, AT(formats), "yaml",
		"yaml json pb pb_text", 0, 0, OPTION_RELOAD_RESTART, OPTIONS_SERVE | OPTIONS_BUILD,
		"yaml, json, pb or pb_text; may be repeated"},
	{"publish.mode", "file-mode", "MODE", OPTION_MODE, false, AT(file_mode), "0644", NULL, 0,
		07777, OPTION_RELOAD_RESTART, OPTIONS_SERVE | OPTIONS_BUILD,
		"mode of published files"},
	{"publish.secret_mode", "secret-mode", "MODE", OPTION_MODE, false, AT(secret_mode), "0640",
		NULL, 0, 07777, OPTION_RELOAD_RESTART, OPTIONS_SERVE | OPTIONS_BUILD,
		"mode of published secrets"},
	{"publish.folder_mode", "folder-mode", "MODE", OPTION_MODE, false, AT(folder_mode), "0755",
		NULL, 0, 07777, OPTION_RELOAD_RESTART, OPTIONS_SERVE | OPTIONS_BUILD,
		"mode of published folders"},
	{"publish.owner", "file-owner", "USER", OPTION_TEXT, false, AT(file_owner), NULL, NULL, 0,
		0, OPTION_RELOAD_RESTART, OPTIONS_SERVE | OPTIONS_BUILD,
		"owner of published files"},
	{"publish.group", "file-group", "GROUP", OPTION_TEXT, false, AT(file_group), NULL, NULL, 0,
		0, OPTION_RELOAD_RESTART, OPTIONS_SERVE | OPTIONS_BUILD,
		"group of published files, for example envoy"},
	{"rest.listen", "rest", "ADDR", OPTION_ADDRESS, true, AT(rest), NULL, NULL, 0, 0,
		OPTION_RELOAD_NOW, OPTIONS_SERVE,
		"serve REST here: host:port, [v6]:port or unix:/path;\nmay be repeated"},
	{"grpc.listen", "grpc", "ADDR", OPTION_ADDRESS, true, AT(grpc), NULL, NULL, 0, 0,
		OPTION_RELOAD_NOW, OPTIONS_SERVE,
		"serve gRPC here, ADS and each type, state of the world and\n"
		"delta; as --rest, may be repeated"},
	{"grpc.threads", "grpc-threads", "N", OPTION_NUMBER, false, AT(grpc_threads), "0", NULL, 0,
		64, OPTION_RELOAD_RESTART, OPTIONS_SERVE,
		"threads that serve gRPC; 0: one per processor, up to 4"},
	{"grpc.pace", "grpc-pace", "TIME", OPTION_DURATION, false, AT(grpc_pace_ms), "5s", NULL, 0,
		HOUR, OPTION_RELOAD_RESTART, OPTIONS_SERVE,
		"a push waits so long for the ACK of an earlier one"},
	{"grpc.drain", "grpc-drain", "TIME", OPTION_DURATION, false, AT(grpc_drain_ms), "30s", NULL,
		0, HOUR, OPTION_RELOAD_RESTART, OPTIONS_SERVE,
		"a removal on an aggregated stream waits so long for the ACKs\n"
		"of what used it"},
	{"grpc.keepalive", "grpc-keepalive", "TIME", OPTION_DURATION, false, AT(grpc_keepalive_ms),
		"1m", NULL, 100, 24 * HOUR, OPTION_RELOAD_RESTART, OPTIONS_SERVE,
		"ping a connection that was silent for so long"},
	{"grpc.keepalive_timeout", "grpc-keepalive-timeout", "TIME", OPTION_DURATION, false,
		AT(grpc_keepalive_timeout_ms), "20s", NULL, 100, HOUR, OPTION_RELOAD_RESTART,
		OPTIONS_SERVE, "and close it when no answer came for so long"},
	{"admin.listen", "admin", "ADDR", OPTION_ADDRESS, true, AT(admin), NULL, NULL, 0, 0,
		OPTION_RELOAD_NOW, OPTIONS_SERVE,
		"serve /healthz, /readyz and /status here; may be repeated"},
	{"settle.quiet", "settle", "TIME", OPTION_DURATION, false, AT(quiet_ms), "50ms", NULL, 0,
		HOUR, OPTION_RELOAD_NOW, OPTIONS_SERVE,
		"build once the tree was quiet for so long"},
	{"settle.limit", "settle-limit", "TIME", OPTION_DURATION, false, AT(limit_ms), "5s", NULL,
		0, HOUR, OPTION_RELOAD_NOW, OPTIONS_SERVE,
		"but at the latest so long after the first change"},
	{"settle.rescan", "rescan", "TIME", OPTION_DURATION, false, AT(rescan_ms), "60s", NULL, 100,
		24 * HOUR, OPTION_RELOAD_NOW, OPTIONS_SERVE,
		"look at the whole tree and the output this often;\n"
		"every 5s where no events come"},
	{"watch", "watch", "auto|off", OPTION_CHOICE, false, AT(watch), "auto", "auto off", 0, 0,
		OPTION_RELOAD_NOW, OPTIONS_SERVE, "whether to ask the kernel about changes"},
	{"grace", "grace", "TIME", OPTION_DURATION, false, AT(grace_ms), "30s", NULL, 0, 24 * HOUR,
		OPTION_RELOAD_NOW, OPTIONS_SERVE, "what is removed stays in a bridge for so long"},
	{"route_delay", "route-delay", "TIME", OPTION_DURATION, false, AT(route_delay_ms), "1s",
		NULL, 0, HOUR, OPTION_RELOAD_RESTART, OPTIONS_SERVE,
		"listeners and routes follow new clusters so much later, over\n"
		"REST and gRPC streams of one type, which know no order"},
	{"log.level", "log-level", "LEVEL", OPTION_CHOICE, false, AT(log_level), "info",
		"error warning info debug", 0, 0, OPTION_RELOAD_NOW, OPTIONS_SERVE,
		"error, warning, info or debug"},
	{"build.threads", "threads", "N", OPTION_NUMBER, false, AT(threads), "0", NULL, 0, 64,
		OPTION_RELOAD_NOW, OPTIONS_SERVE | OPTIONS_BUILD | OPTIONS_CHECK,
		"threads that read files; 0: one per processor, up to 8"},
	{"limits.source_file", NULL, "SIZE", OPTION_SIZE, false, AT(limits.source_file_bytes),
		"64MiB", NULL, 1, 4 * GIB, OPTION_RELOAD_NOW, 0, "largest source file"},
	{"limits.yaml_nodes", NULL, "N", OPTION_NUMBER, false, AT(limits.yaml_nodes), "10000000",
		NULL, 1, INT64_C(1000000000), OPTION_RELOAD_NOW, 0,
		"nodes of a source file after its aliases are expanded"},
	{"limits.resources", NULL, "N", OPTION_NUMBER, false, AT(limits.resources), "1000000", NULL,
		1, INT64_C(100000000), OPTION_RELOAD_NOW, 0, "resources in the tree"},
	{"limits.resource_name", NULL, "SIZE", OPTION_SIZE, false, AT(limits.resource_name_bytes),
		"1KiB", NULL, 1, 65536, OPTION_RELOAD_NOW, 0, "longest resource name"},
	{"limits.rest_body", NULL, "SIZE", OPTION_SIZE, false, AT(limits.rest_body_bytes), "4MiB",
		NULL, 1024, GIB, OPTION_RELOAD_RESTART, 0, "largest REST request"},
	{"limits.request_names", NULL, "N", OPTION_NUMBER, false, AT(limits.request_names),
		"100000", NULL, 1, INT64_C(10000000), OPTION_RELOAD_RESTART, 0,
		"resource names in a request"},
	{"limits.hold", NULL, "TIME", OPTION_DURATION, false, AT(limits.hold_ms), "5m", NULL, 1000,
		HOUR, OPTION_RELOAD_RESTART, 0, "longest long poll"},
	{"limits.connections", NULL, "N", OPTION_NUMBER, false, AT(limits.connections), "0", NULL,
		0, INT64_C(10000000), OPTION_RELOAD_RESTART, 0,
		"REST connections; 0: as many as there are descriptors for"},
	{"limits.grpc_message", NULL, "SIZE", OPTION_SIZE, false, AT(limits.grpc_message_bytes),
		"4MiB", NULL, 1024, GIB, OPTION_RELOAD_RESTART, 0, "largest gRPC request message"},
	{"limits.grpc_connections", NULL, "N", OPTION_NUMBER, false, AT(limits.grpc_connections),
		"0", NULL, 0, INT64_C(10000000), OPTION_RELOAD_RESTART, 0,
		"gRPC connections; 0: as many as there are descriptors for"},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

const struct option_row *option_rows(size_t *ret_count)
{
	*ret_count = ROWS;
	return rows;
}

const struct option_row *option_by_flag(const char *flag)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].flag && strcmp(rows[i].flag, flag) == 0)
			return &rows[i];
	return NULL;
}

static bool is_text(const struct option_row *row)
{
	return row->type == OPTION_TEXT || row->type == OPTION_PATH ||
	       row->type == OPTION_ADDRESS || row->type == OPTION_CHOICE;
}

static void *field(struct options *options, const struct option_row *row)
{
	return (char *)options + row->offset;
}

static const void *field_const(const struct options *options, const struct option_row *row)
{
	return (const char *)options + row->offset;
}

static int parse_choice(const struct option_row *row, struct slice text, struct buf *problem)
{
	struct suggestion suggestion;
	char phrase[256];
	AUTO_FREE char *choices = xstrdup(row->choices);
	char *rest = choices, *choice;

	suggestion_init(&suggestion, text);
	while ((choice = strsep(&rest, " "))) {
		if (slice_is(text, choice))
			return 0;
		suggestion_offer(&suggestion, choice);
	}
	buf_puts(problem, "\"");
	text_quote(problem, text, 64);
	buf_printf(problem, "\" is none of: %s%s", row->choices,
		suggestion_phrase(&suggestion, phrase));
	return -EINVAL;
}

static int parse_mode(struct slice text, int64_t *ret_value)
{
	int64_t value = 0;

	if (text.length == 0 || text.length > 5)
		return -EINVAL;
	for (size_t i = 0; i < text.length; i++) {
		if (text.data[i] < '0' || text.data[i] > '7')
			return -EINVAL;
		value = value * 8 + (text.data[i] - '0');
	}
	*ret_value = value;
	return 0;
}

static void explain_number(const struct option_row *row, struct slice text, struct buf *problem)
{
	static const char *const kinds[] = {
		[OPTION_DURATION] = "a time such as 50ms, 5s or 1m",
		[OPTION_SIZE] = "a size such as 4MiB or 1000",
		[OPTION_NUMBER] = "a whole number",
		[OPTION_MODE] = "an octal mode such as 0644",
	};

	buf_puts(problem, "\"");
	text_quote(problem, text, 64);
	buf_printf(problem, "\" is not %s", kinds[row->type]);
}

static void format_number(const struct option_row *row, int64_t value, struct buf *out)
{
	if (row->type == OPTION_DURATION)
		text_format_duration_ms(out, value);
	else if (row->type == OPTION_MODE)
		buf_printf(out, "%04" PRIo64, (uint64_t)value);
	else
		buf_printf(out, "%" PRId64, value);
}

static int parse_number(
	const struct option_row *row, struct slice text, int64_t *ret_value, struct buf *problem)
{
	int64_t value = 0;
	uint64_t bytes = 0;
	int error;

	if (row->type == OPTION_DURATION) {
		error = text_parse_duration_ms(text, &value);
	} else if (row->type == OPTION_SIZE) {
		error = text_parse_size(text, &bytes);
		value = bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
	} else if (row->type == OPTION_MODE) {
		error = parse_mode(text, &value);
	} else {
		error = text_parse_i64(text, &value);
	}
	if (error) {
		explain_number(row, text, problem);
		return -EINVAL;
	}
	if (value < row->minimum || value > row->maximum) {
		buf_puts(problem, "must be from ");
		format_number(row, row->minimum, problem);
		buf_puts(problem, " to ");
		format_number(row, row->maximum, problem);
		return -EINVAL;
	}
	*ret_value = value;
	return 0;
}

static char *absolute(struct slice path, const char *folder)
{
	if (folder && path.length > 0 && path.data[0] != '/')
		return xasprintf("%s/%.*s", folder, SLICE_ARG(path));
	return xstrndup(path.data, path.length);
}

static char *make_text(const struct option_row *row, struct slice text, const char *folder)
{
	const struct slice unix_prefix = SLICE("unix:");

	if (row->type == OPTION_PATH)
		return absolute(text, folder);
	if (row->type == OPTION_ADDRESS && text.length > unix_prefix.length &&
		memcmp(text.data, unix_prefix.data, unix_prefix.length) == 0) {
		struct slice path = {
			text.data + unix_prefix.length, text.length - unix_prefix.length};
		AUTO_FREE char *whole = absolute(path, folder);

		return xasprintf("unix:%s", whole);
	}
	return xstrndup(text.data, text.length);
}

int options_set(struct options *options, const struct option_row *row, struct slice text,
	const char *folder, struct buf *problem)
{
	if (!is_text(row))
		return parse_number(row, text, field(options, row), problem);
	if (text.length == 0) {
		buf_puts(problem, "is empty");
		return -EINVAL;
	}
	if (memchr(text.data, '\0', text.length)) {
		buf_puts(problem, "contains a NUL byte");
		return -EINVAL;
	}
	if (row->type == OPTION_CHOICE && parse_choice(row, text, problem))
		return -EINVAL;
	if (row->is_list) {
		struct texts *list = field(options, row);

		array_reserve(list->items, list->capacity, list->count + 1);
		list->items[list->count++] = make_text(row, text, folder);
	} else {
		char **value = field(options, row);

		free(*value);
		*value = make_text(row, text, folder);
	}
	return 0;
}

static void texts_clear(struct texts *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	list->count = 0;
}

void options_clear(struct options *options, const struct option_row *row)
{
	if (row->is_list)
		texts_clear(field(options, row));
}

void options_init(struct options *options)
{
	struct buf problem = BUF_INIT;

	*options = (struct options){.limits = LIMITS_DEFAULT};
	for (size_t i = 0; i < ROWS; i++) {
		if (is_text(&rows[i]) && !rows[i].is_list)
			*(char **)field(options, &rows[i]) = xstrdup("");
		if (rows[i].preset)
			(void)options_set(
				options, &rows[i], slice_of(rows[i].preset), NULL, &problem);
	}
	buf_fini(&problem);
}

void options_fini(struct options *options)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (rows[i].is_list) {
			struct texts *list = field(options, &rows[i]);

			texts_clear(list);
			free(list->items);
		} else if (is_text(&rows[i])) {
			free(*(char **)field(options, &rows[i]));
		}
	}
	mount_settings_unref(options->mounts);
	*options = (struct options){0};
}

void options_copy(struct options *to, const struct options *from)
{
	*to = *from;
	(void)mount_settings_ref(to->mounts);
	for (size_t i = 0; i < ROWS; i++) {
		if (rows[i].is_list) {
			const struct texts *list = field_const(from, &rows[i]);
			struct texts *copy = field(to, &rows[i]);

			*copy = (struct texts){0};
			array_reserve(copy->items, copy->capacity, list->count);
			while (copy->count < list->count) {
				copy->items[copy->count] = xstrdup(list->items[copy->count]);
				copy->count++;
			}
		} else if (is_text(&rows[i])) {
			*(char **)field(to, &rows[i]) =
				xstrdup(*(char *const *)field_const(from, &rows[i]));
		}
	}
}

bool options_equal(const struct options *a, const struct options *b, const struct option_row *row)
{
	struct buf of_a = BUF_INIT, of_b = BUF_INIT;
	bool equal;

	options_format(a, row, &of_a);
	options_format(b, row, &of_b);
	equal = slice_equal(buf_slice(&of_a), buf_slice(&of_b));
	buf_fini(&of_a);
	buf_fini(&of_b);
	return equal;
}

void options_format(const struct options *options, const struct option_row *row, struct buf *out)
{
	if (row->is_list) {
		const struct texts *list = field_const(options, row);

		for (size_t i = 0; i < list->count; i++)
			buf_printf(out, "%s%s", i ? ", " : "", list->items[i]);
	} else if (is_text(row)) {
		buf_puts(out, *(char *const *)field_const(options, row));
	} else {
		format_number(row, *(const int64_t *)field_const(options, row), out);
	}
}

const char *options_schema(const struct options *options)
{
	const char *schema;

	if (options->schema[0])
		return options->schema;
	schema = getenv("XDSPUB_SCHEMA");
	return schema && schema[0] ? schema : XDSPUB_DATADIR "/envoy.pb";
}
