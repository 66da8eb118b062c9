/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/authoring.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "daemon/output.h"

#define SET_LIMIT_BYTES (64u << 20)

/* "envoy.doc.pb" beside "envoy.pb", else the set itself. */
static char *comments_path(const char *set)
{
	size_t length = strlen(set);
	char *path;

	if (length > 3 && strcmp(set + length - 3, ".pb") == 0)
		length -= 3;
	path = xasprintf("%.*s.doc.pb", (int)length, set);
	if (access(path, F_OK) == 0)
		return path;
	mem_auto_free(&path);
	return xstrdup(set);
}

static void add_comments(struct authoring *authoring, const char *set, struct diag_list *diags)
{
	AUTO_FREE char *path = comments_path(set);
	struct buf bytes = BUF_INIT;
	int error = file_read(path, SET_LIMIT_BYTES, &bytes);

	/* Comments are no reason to fail: the rest is as good without them. */
	if (error)
		diag_warning(diags, path, (struct position){0}, "schema-unreadable",
			"no comments: %s", strerror(-error));
	else
		(void)comments_add(authoring->comments, buf_slice(&bytes), path, diags);
	buf_fini(&bytes);
}

static enum key_shape shape_of(const struct option_row *row)
{
	switch ((int)row->type) {
	case OPTION_PATH:
		return KEY_PATH;
	case OPTION_ADDRESS:
		return KEY_ADDRESS;
	case OPTION_CHOICE:
		return KEY_CHOICE;
	case OPTION_DURATION:
		return KEY_DURATION;
	case OPTION_SIZE:
		return KEY_SIZE;
	case OPTION_NUMBER:
		return KEY_NUMBER;
	case OPTION_MODE:
		return KEY_MODE;
	case OPTION_TEXT:
		return KEY_TEXT;
	default:
		return KEY_OPEN;
	}
}

/* `source` as a list: a root and mounts (daemon/mount_settings). */
static void add_mounts(struct keys *keys)
{
	static const struct key_row rows[] = {
		{.path = "source.at",
			.shape = KEY_FOLDER,
			.text = "In a list: the folder of the tree that this source is mounted at. "
				"The one without it is the root."},
		{.path = "source.only",
			.shape = KEY_MAP,
			.is_list = true,
			.text = "In a list: what this mount may define and delete."},
		{.path = "source.only.type",
			.shape = KEY_CHOICE,
			.choices = "CDS EDS SDS RTDS ECDS LDS RDS SRDS VHDS",
			.text = "The type of resources."},
		{.path = "source.only.name", .shape = KEY_CONDITION, .text = "Their names."},
		{.path = "source.settle.quiet",
			.shape = KEY_DURATION,
			.text = "In a list: settle.quiet of this mount."},
		{.path = "source.settle.limit",
			.shape = KEY_DURATION,
			.text = "In a list: settle.limit of this mount."},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		keys_add(keys, &rows[i]);
}

struct keys *authoring_settings(void)
{
	struct keys *keys = keys_new("xdspub.yaml");
	size_t count;
	const struct option_row *rows = option_rows(&count);

	keys_add(keys, &(struct key_row){.path = "source",
			       .shape = KEY_MAP,
			       .may_be_list = true,
			       .text = "The tree to compile; in a list, the root and the mounts of "
				       "a tree."});
	for (size_t i = 0; i < count; i++)
		keys_add(keys, &(struct key_row){
				       .path = rows[i].key,
				       .shape = shape_of(&rows[i]),
				       .is_list = rows[i].is_list,
				       .may_be_list = rows[i].is_list,
				       .choices = rows[i].choices,
				       .preset = rows[i].preset,
				       .minimum = rows[i].minimum,
				       .maximum = rows[i].maximum,
				       .text = rows[i].text,
				       .flag = rows[i].flag,
				       .reload = rows[i].reload == OPTION_RELOAD_NOW
							 ? "are taken over on SIGHUP"
							 : "need a restart",
			       });
	add_mounts(keys);
	return keys;
}

void authoring_init(struct authoring *authoring)
{
	*authoring = (struct authoring){
		.groups = keys_of_groups(NULL), .settings = authoring_settings()};
}

int authoring_load(
	struct authoring *authoring, const struct options *options, struct diag_list *diags)
{
	int error = output_load_schema(options, diags, &authoring->schema);

	if (error)
		return error;
	authoring->comments = comments_new();
	add_comments(authoring, options_schema(options), diags);
	for (size_t i = 0; i < options->add_schemas.count; i++)
		add_comments(authoring, options->add_schemas.items[i], diags);
	authoring->names = names_new(authoring->schema, authoring->comments);
	authoring->book = rules_book_new(authoring->schema);
	keys_free(authoring->groups);
	authoring->groups = keys_of_groups(authoring->comments);
	return 0;
}

void authoring_fini(struct authoring *authoring)
{
	names_free(authoring->names);
	rules_book_free(authoring->book);
	comments_free(authoring->comments);
	keys_free(authoring->groups);
	keys_free(authoring->settings);
	schema_free(authoring->schema);
	*authoring = (struct authoring){0};
}

struct explain_from authoring_from(const struct authoring *authoring)
{
	return (struct explain_from){
		authoring->schema, authoring->comments, authoring->names, authoring->book};
}
