/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/output.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "daemon/mount_settings.h"
#include "source/probe.h"

static const struct position nowhere = {0};

/* For a mount to answer. */
#define PATIENCE_MS 1000

int output_load_schema(
	const struct options *options, struct diag_list *diags, struct schema **ret_schema)
{
	size_t count = options->add_schemas.count + 1;
	AUTO_FREE const char **paths = xcalloc(count, sizeof(*paths));
	int error;

	paths[0] = options_schema(options);
	for (size_t i = 1; i < count; i++)
		paths[i] = options->add_schemas.items[i - 1];
	error = schema_load(paths, count, diags, ret_schema);
	if (error == -ENOENT && access(paths[0], F_OK) < 0)
		diag_note(diags, paths[0], nowhere, "schema-missing",
			"name another descriptor set with --schema, schema.base in xdspub.yaml or "
			"$XDSPUB_SCHEMA");
	return error;
}

struct compile_options output_compile_options(
	const struct options *options, const struct schema *schema)
{
	return (struct compile_options){
		.root = options->source,
		.mounts = mount_settings_for_compiler(options->mounts),
		.mounts_count = options->mounts ? options->mounts->count : 0,
		.schema = schema,
		.limits = &options->limits,
		.threads = (unsigned)options->threads,
		.only_groups = (const char *const *)options->groups.items,
		.only_groups_count = options->groups.count,
		.has_files = options->publish[0] != '\0',
		.has_rest = options->rest.count > 0,
	};
}

/* A name, or a number. */
static int find_user(const char *name, uid_t *ret_user)
{
	struct passwd entry, *found = NULL;
	char buffer[4096];
	uint64_t number;

	if (text_parse_u64(slice_of(name), &number) == 0 && number < (uid_t)-1) {
		*ret_user = (uid_t)number;
		return 0;
	}
	if (getpwnam_r(name, &entry, buffer, sizeof(buffer), &found) || !found)
		return -ENOENT;
	*ret_user = found->pw_uid;
	return 0;
}

static int find_group(const char *name, gid_t *ret_group)
{
	struct group entry, *found = NULL;
	char buffer[16384];
	uint64_t number;

	if (text_parse_u64(slice_of(name), &number) == 0 && number < (gid_t)-1) {
		*ret_group = (gid_t)number;
		return 0;
	}
	if (getgrnam_r(name, &entry, buffer, sizeof(buffer), &found) || !found)
		return -ENOENT;
	*ret_group = found->gr_gid;
	return 0;
}

static int find_owner(
	const struct options *options, struct diag_list *diags, struct publisher_options *publisher)
{
	int error = 0;

	publisher->owner = (uid_t)-1;
	publisher->group = (gid_t)-1;
	if (options->file_owner[0] && find_user(options->file_owner, &publisher->owner) < 0) {
		diag_error(diags, "", nowhere, "unknown-user", "publish.owner: no user \"%s\"",
			options->file_owner);
		error = -EINVAL;
	}
	if (options->file_group[0] && find_group(options->file_group, &publisher->group) < 0) {
		diag_error(diags, "", nowhere, "unknown-group", "publish.group: no group \"%s\"",
			options->file_group);
		error = -EINVAL;
	}
	return error;
}

/* Without slashes at the end, on the heap; NULL: not set, or a diagnostic. */
static int read_seen_as(const struct options *options, struct diag_list *diags, char **ret_path)
{
	size_t length = strlen(options->seen_as);

	*ret_path = NULL;
	if (length == 0)
		return 0;
	if (options->seen_as[0] != '/') {
		diag_error(diags, "", nowhere, "bad-value",
			"publish.seen_as: \"%s\" must begin with \"/\": it is where Envoy finds "
			"the "
			"files",
			options->seen_as);
		return -EINVAL;
	}
	while (length > 1 && options->seen_as[length - 1] == '/')
		length--;
	*ret_path = xstrndup(options->seen_as, length == 1 ? 0 : length);
	return 0;
}

int output_open_publisher(const struct options *options, struct encoder *encoder,
	const struct log *log, struct diag_list *diags, struct publisher **ret_publisher)
{
	struct publisher_options publisher = {
		.path = options->publish,
		.mode = (mode_t)options->file_mode,
		.secret_mode = (mode_t)options->secret_mode,
		.folder_mode = (mode_t)options->folder_mode,
		.encoder = encoder_for_files(encoder),
		.log = log,
	};
	size_t sources_count;
	AUTO_FREE const char **sources = output_answering_sources(options, &sources_count);
	size_t before = diag_list_level_count(diags, DIAG_ERROR);
	int error = find_owner(options, diags, &publisher);
	AUTO_FREE char *seen_as = NULL;

	if (!error)
		error = read_seen_as(options, diags, &seen_as);
	if (error)
		return error;
	publisher.seen_as = seen_as;
	for (size_t i = 0; i < options->formats.count; i++) {
		enum file_format format = FILE_FORMAT_YAML;

		(void)file_format_parse(slice_of(options->formats.items[i]), &format);
		publisher.formats[format] = true;
	}
	error = publisher_open(&publisher, sources, sources_count, diags, ret_publisher);
	if (error && diag_list_level_count(diags, DIAG_ERROR) == before)
		diag_error(diags, options->publish, nowhere, "publish-folder",
			error == -EBUSY ? "another instance publishes here"
					: "cannot be used for publishing: %s",
			strerror(-error));
	return error;
}

const char **output_sources(const struct options *options, size_t *ret_count)
{
	size_t count = 1 + (options->mounts ? options->mounts->count : 0);
	const char **sources = xcalloc(count, sizeof(*sources));

	sources[0] = options->source;
	for (size_t i = 1; i < count; i++)
		sources[i] = options->mounts->items[i - 1].path;
	*ret_count = count;
	return sources;
}

const char **output_answering_sources(const struct options *options, size_t *ret_count)
{
	size_t count, kept = 1;
	const char **sources = output_sources(options, &count);

	for (size_t i = 1; i < count; i++) {
		struct probe *probe = probe_new(sources[i]);

		if (probe_ask(probe, PATIENCE_MS) != -ETIMEDOUT)
			sources[kept++] = sources[i];
		probe_free(probe);
	}
	*ret_count = kept;
	return sources;
}

/* The path with links resolved as far as it exists, the rest as it is. */
static char *resolve(const char *path)
{
	AUTO_FREE char *head = xstrdup(path);
	size_t length = strlen(head);
	char *whole;

	while (!(whole = realpath(length ? head : ".", NULL))) {
		while (length > 0 && head[length - 1] == '/')
			head[--length] = '\0';
		while (length > 0 && head[length - 1] != '/')
			head[--length] = '\0';
		if (length == 0 && path[0] == '/')
			return xstrdup(path);
	}
	if (path[length]) {
		char *joined = xasprintf("%s/%s", whole, path + length);

		free(whole);
		whole = joined;
	}
	return whole;
}

bool output_is_inside(const char *path, const char *folder)
{
	AUTO_FREE char *inner = resolve(path);
	AUTO_FREE char *outer = resolve(folder);
	size_t length = strlen(outer);

	while (length > 1 && outer[length - 1] == '/')
		length--;
	if (length == 1) /* everything is in "/" */
		return true;
	return strncmp(inner, outer, length) == 0 &&
	       (inner[length] == '/' || inner[length] == '\0');
}
