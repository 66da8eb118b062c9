/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/mount_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "compile/fence.h"
#include "compile/folder.h"
#include "source/tree.h"

#define SETTLE_MS_MAX INT64_C(3600000)

struct reader {
	const char *config, *folder;
	struct diag_list *diags;
	struct mount_settings *settings;
	char *root;
	bool is_bad;
};

#define FAIL(reader, at, ...)                                                                      \
	do {                                                                                       \
		diag_error((reader)->diags, (reader)->config, (at), "bad-mount", __VA_ARGS__);     \
		(reader)->is_bad = true;                                                           \
	} while (0)

static struct mount_settings *settings_new(void)
{
	struct mount_settings *settings = xcalloc(1, sizeof(*settings));

	settings->references = 1;
	settings->items = xcalloc(MOUNT_SETTINGS_MAX, sizeof(*settings->items));
	settings->root_quiet_ms = settings->root_limit_ms = -1;
	settings->text = xstrdup("");
	return settings;
}

/* Makes a place in the tree clean. NULL, or what is wrong with it. */
static const char *clean_place(struct slice at, char out[static PATH_MAX])
{
	if (folder_resolve(SLICE(""), at, out, PATH_MAX))
		return "must be a folder of the tree, relative to the root, such as live/eds";
	for (struct slice part = slice_of(out); part.length; part = folder_parent(part)) {
		struct slice name = folder_name(part);

		if (name.data[0] == '_' || tree_is_ignored(name))
			return "has a name in it that is never used: those that start with a dot "
			       "or \"_\", and leftovers of editors";
	}
	return NULL;
}

static const char *claim_place(const struct mount_settings *settings, const char *at)
{
	if (settings->count == MOUNT_SETTINGS_MAX)
		return "is one mount too many: there can be 64";
	for (size_t i = 0; i < settings->count; i++) {
		if (strcmp(settings->items[i].at, at) == 0)
			return "is the place of two mounts";
	}
	return NULL;
}

static void write_one(struct buf *out, const struct mount_setting *item)
{
	buf_printf(out, "%s%s=%s", out->length ? ", " : "", item->at, item->path);
	if (item->fence)
		buf_printf(out, " only %s", fence_whole_text(item->fence));
	if (item->quiet_ms >= 0 || item->limit_ms >= 0)
		buf_printf(out, " settle %" PRId64 "/%" PRId64, item->quiet_ms, item->limit_ms);
}

static void write_text(struct mount_settings *settings)
{
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < settings->count; i++)
		write_one(&out, &settings->items[i]);
	if (settings->root_quiet_ms >= 0 || settings->root_limit_ms >= 0)
		buf_printf(&out, "%sroot settle %" PRId64 "/%" PRId64, out.length ? ", " : "",
			settings->root_quiet_ms, settings->root_limit_ms);
	free(settings->text);
	settings->text = buf_take(&out, NULL);
	if (!settings->text)
		settings->text = xstrdup("");
}

/* --- the file ------------------------------------------------------------------------------ */

static const struct slice *read_path(
	struct reader *reader, const struct node_pair *pair, const char *key)
{
	const struct node *node = pair->value;

	if (node->kind == NODE_SCALAR && node->text.length &&
		!memchr(node->text.data, '\0', node->text.length))
		return &node->text;
	FAIL(reader, node->at, "source: %s must be a path", key);
	return NULL;
}

static void read_time(struct reader *reader, const struct node *node, const char *key, int64_t *out)
{
	if (node->kind == NODE_SCALAR && text_parse_duration_ms(node->text, out) == 0 &&
		*out >= 0 && *out <= SETTLE_MS_MAX)
		return;
	FAIL(reader, node->at, "source: settle.%s must be a time up to 1h, such as 50ms or 2s",
		key);
	*out = -1;
}

static void read_settle(struct reader *reader, const struct node *node, struct mount_setting *item)
{
	if (node->kind != NODE_MAP) {
		FAIL(reader, node->at, "source: settle is a mapping of quiet and limit");
		return;
	}
	for (size_t i = 0; i < node->pairs_count; i++) {
		const struct node_pair *pair = &node->pairs[i];

		if (slice_is(pair->key, "quiet"))
			read_time(reader, pair->value, "quiet", &item->quiet_ms);
		else if (slice_is(pair->key, "limit"))
			read_time(reader, pair->value, "limit", &item->limit_ms);
		else
			FAIL(reader, pair->key_at,
				"source: settle of a mount has quiet and limit, nothing else");
	}
}

static void fail_key(struct reader *reader, const struct node_pair *pair)
{
	static const char *const keys[] = {"path", "at", "only", "settle"};
	struct suggestion suggestion;
	struct buf quoted = BUF_INIT;
	char phrase[256];

	suggestion_init(&suggestion, pair->key);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		suggestion_offer(&suggestion, keys[i]);
	text_quote(&quoted, pair->key, 64);
	FAIL(reader, pair->key_at, "source: \"%s\" is no key of an entry: path, at, only, settle%s",
		buf_cstr(&quoted), suggestion_phrase(&suggestion, phrase));
	buf_fini(&quoted);
}

static void take_root(struct reader *reader, const struct node *node, struct mount_setting *item)
{
	if (reader->root)
		FAIL(reader, node->at,
			"source: two entries without at: exactly one is the root of the tree");
	if (item->fence)
		FAIL(reader, node->at,
			"source: only is for mounts; the root defines what it likes");
	reader->settings->root_quiet_ms = item->quiet_ms;
	reader->settings->root_limit_ms = item->limit_ms;
	free(reader->root);
	reader->root = TAKE(item->path);
	fence_free(TAKE(item->fence));
}

static void take_mount(
	struct reader *reader, struct slice at, struct position where, struct mount_setting *item)
{
	char place[PATH_MAX];
	struct buf quoted = BUF_INIT;
	const char *problem = clean_place(at, place);

	if (!problem)
		problem = claim_place(reader->settings, place);
	if (problem) {
		text_quote(&quoted, at, 100);
		FAIL(reader, where, "source: at: \"%s\" %s", buf_cstr(&quoted), problem);
		buf_fini(&quoted);
		return;
	}
	item->at = xstrdup(place);
	reader->settings->items[reader->settings->count++] = *item;
	*item = (struct mount_setting){0};
}

static void read_entry(struct reader *reader, const struct node *node)
{
	struct mount_setting item = {.quiet_ms = -1, .limit_ms = -1};
	const struct slice *path = NULL, *at = NULL;
	struct position at_where = node->at;
	bool has_at = false;

	if (node->kind != NODE_MAP) {
		FAIL(reader, node->at, "source: an entry is a mapping, such as {path: /srv/xds}");
		return;
	}
	for (size_t i = 0; i < node->pairs_count; i++) {
		const struct node_pair *pair = &node->pairs[i];

		if (slice_is(pair->key, "path")) {
			path = read_path(reader, pair, "path");
		} else if (slice_is(pair->key, "at")) {
			has_at = true;
			at_where = pair->value->at;
			at = read_path(reader, pair, "at");
		} else if (slice_is(pair->key, "only")) {
			fence_free(item.fence);
			item.fence = fence_read(pair->value, reader->config, reader->diags);
			reader->is_bad = reader->is_bad || !item.fence;
		} else if (slice_is(pair->key, "settle")) {
			read_settle(reader, pair->value, &item);
		} else {
			fail_key(reader, pair);
		}
	}
	if (!path && !reader->is_bad)
		FAIL(reader, node->at, "source: an entry needs a path");
	if (path) {
		item.path = path->data[0] == '/'
				    ? xstrndup(path->data, path->length)
				    : xasprintf("%s/%.*s", reader->folder, SLICE_ARG(*path));
		if (!has_at)
			take_root(reader, node, &item);
		else if (at)
			take_mount(reader, *at, at_where, &item);
	}
	free(item.path);
	free(item.at);
	fence_free(item.fence);
}

int mount_settings_read(const struct node *list, const char *config, const char *folder,
	struct diag_list *diags, char **ret_root, struct mount_settings **ret_settings)
{
	struct reader reader = {
		.config = config, .folder = folder, .diags = diags, .settings = settings_new()};

	for (size_t i = 0; i < list->items_count; i++)
		read_entry(&reader, list->items[i]);
	if (!reader.root && !reader.is_bad)
		FAIL(&reader, list->at,
			"source: one entry without at is the root of the tree, which has "
			"groups.yaml");
	if (reader.is_bad) {
		free(reader.root);
		mount_settings_unref(reader.settings);
		return -EBADMSG;
	}
	write_text(reader.settings);
	*ret_root = reader.root;
	*ret_settings = reader.settings;
	return 0;
}

/* --- the command line ---------------------------------------------------------------------- */

/* Diagnostics say where files are, wherever they are read. */
static char *whole_path(const char *path)
{
	AUTO_FREE char *folder = path[0] == '/' ? NULL : getcwd(NULL, 0);

	return folder ? xasprintf("%s/%s", folder, path) : xstrdup(path);
}

int mount_settings_add(struct mount_settings **settings, const char *text, struct buf *problem)
{
	const char *equals = strchr(text, '='), *trouble;
	char place[PATH_MAX];

	if (!equals || !equals[1]) {
		buf_puts(problem, "write AT=PATH, such as live/eds=/run/render/eds");
		return -EINVAL;
	}
	if (!*settings)
		*settings = settings_new();
	trouble = clean_place((struct slice){text, (size_t)(equals - text)}, place);
	if (!trouble)
		trouble = claim_place(*settings, place);
	if (trouble) {
		buf_printf(problem, "%.*s %s", (int)(equals - text), text, trouble);
		return -EINVAL;
	}
	(*settings)->items[(*settings)->count++] =
		(struct mount_setting){.path = whole_path(equals + 1),
			.at = xstrdup(place),
			.quiet_ms = -1,
			.limit_ms = -1};
	write_text(*settings);
	return 0;
}

/* --- sharing ------------------------------------------------------------------------------- */

struct mount_settings *mount_settings_ref(struct mount_settings *settings)
{
	if (settings)
		__atomic_fetch_add(&settings->references, 1, __ATOMIC_RELAXED);
	return settings;
}

void mount_settings_unref(struct mount_settings *settings)
{
	if (!settings || __atomic_fetch_sub(&settings->references, 1, __ATOMIC_ACQ_REL) != 1)
		return;
	for (size_t i = 0; i < settings->count; i++) {
		free(settings->items[i].path);
		free(settings->items[i].at);
		fence_free(settings->items[i].fence);
	}
	free(settings->items);
	free(settings->text);
	free(settings);
}

bool mount_settings_equal(const struct mount_settings *a, const struct mount_settings *b)
{
	return strcmp(a ? a->text : "", b ? b->text : "") == 0;
}

struct compile_mount *mount_settings_for_compiler(const struct mount_settings *settings)
{
	struct compile_mount *mounts;

	if (!settings || !settings->count)
		return NULL;
	mounts = xcalloc(settings->count, sizeof(*mounts));
	for (size_t i = 0; i < settings->count; i++) {
		const struct mount_setting *item = &settings->items[i];

		mounts[i] = (struct compile_mount){item->path, item->at, item->fence};
	}
	return mounts;
}
