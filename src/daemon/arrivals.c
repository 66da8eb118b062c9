/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/arrivals.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/mount_settings.h"

/* Where no events come: look again this often. */
#define BLIND_RESCAN_MS 5000
/* While .xdspub-hold is there; its end is a hint, too, where events come. */
#define HELD_LOOK_MS 1000
/* After a source could not be looked at. */
#define RETRY_FIRST_MS	 1000
#define RETRY_LONGEST_MS 30000
/* A folder that does not answer for so long holds nobody else up. */
#define PATIENCE_MS 1000

static void arrival_init(struct arrival *arrival, const char *at, const char *path)
{
	*arrival = (struct arrival){.at = xstrdup(at), .path = xstrdup(path), .rescan_at_ms = -1};
	hints_init(&arrival->hints);
	settle_init(&arrival->settle, 0, 0);
}

void arrivals_init(struct arrivals *arrivals, const struct options *options)
{
	const struct mount_settings *mounts = options->mounts;

	arrivals->count = 1 + (mounts ? mounts->count : 0);
	arrivals->items = xcalloc(arrivals->count, sizeof(*arrivals->items));
	arrival_init(&arrivals->items[0], "", options->source);
	for (size_t i = 1; i < arrivals->count; i++)
		arrival_init(
			&arrivals->items[i], mounts->items[i - 1].at, mounts->items[i - 1].path);
	for (size_t i = 0; i < arrivals->count; i++) {
		struct arrival *arrival = &arrivals->items[i];

		/* One source alone holds nobody up. */
		if (arrivals->count > 1)
			arrival->probe = probe_new(arrival->path);
		if (!arrival->probe || probe_ask(arrival->probe, PATIENCE_MS) == 0)
			hold_init(&arrival->hold, arrival->path);
	}
	arrivals_retime(arrivals, options);
}

void arrivals_fini(struct arrivals *arrivals)
{
	for (size_t i = 0; i < arrivals->count; i++) {
		struct arrival *arrival = &arrivals->items[i];

		free(arrival->at);
		free(arrival->path);
		hints_fini(&arrival->hints);
		hold_fini(&arrival->hold);
		probe_free(arrival->probe);
	}
	free(arrivals->items);
	*arrivals = (struct arrivals){0};
}

static int64_t own_or(int64_t own, int64_t common)
{
	return own >= 0 ? own : common;
}

void arrivals_retime(struct arrivals *arrivals, const struct options *options)
{
	const struct mount_settings *mounts = options->mounts;

	for (size_t i = 0; i < arrivals->count; i++) {
		struct settle *settle = &arrivals->items[i].settle;
		int64_t quiet_ms = !mounts ? -1
				   : i	   ? mounts->items[i - 1].quiet_ms
					   : mounts->root_quiet_ms;
		int64_t limit_ms = !mounts ? -1
				   : i	   ? mounts->items[i - 1].limit_ms
					   : mounts->root_limit_ms;

		settle->quiet_ms = own_or(quiet_ms, options->quiet_ms);
		settle->limit_ms = own_or(limit_ms, options->limit_ms);
	}
}

void arrivals_hint(struct arrivals *arrivals, size_t index, const char *path, int64_t now_ms)
{
	/* A watch of former settings may still have something to say. */
	if (index >= arrivals->count)
		return;
	hints_add(&arrivals->items[index].hints, path);
	settle_hint(&arrivals->items[index].settle, now_ms);
}

void arrivals_hint_all(struct arrivals *arrivals, int64_t now_ms, bool at_once)
{
	for (size_t i = 0; i < arrivals->count; i++)
		arrivals_hint(arrivals, i, NULL,
			now_ms - (at_once ? arrivals->items[i].settle.quiet_ms : 0));
}

/* --- when ---------------------------------------------------------------------------------- */

bool arrivals_begin(struct arrivals *arrivals)
{
	bool is_any = false;

	for (size_t i = 0; i < arrivals->count; i++) {
		struct arrival *arrival = &arrivals->items[i];

		arrival->is_asked = settle_is_pending(&arrival->settle);
		if (!arrival->is_asked)
			arrival->pending = NULL;
		is_any = is_any || arrival->is_asked;
	}
	return is_any;
}

void arrivals_ask(struct arrivals *arrivals)
{
	for (size_t i = 0; i < arrivals->count; i++) {
		struct arrival *arrival = &arrivals->items[i];

		if (!arrival->is_asked)
			continue;
		arrival->facts = (struct settle_facts){false, false};
		arrival->error = arrival->probe ? probe_ask(arrival->probe, PATIENCE_MS) : 0;
		if (arrival->error)
			continue;
		if (!arrival->hold.root)
			hold_init(&arrival->hold, arrival->path);
		arrival->facts = hold_look(&arrival->hold);
	}
}

static int64_t sooner(int64_t a, int64_t b) /* -1: never */
{
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

static int64_t look_when(struct arrival *arrival, int64_t now_ms)
{
	int64_t wait_ms;

	if (!arrival->is_asked || !settle_is_pending(&arrival->settle))
		return -1;
	/* What was edited under a hold is in the next build, though news of it may still come. */
	if (arrival->was_held && !arrival->facts.is_held)
		hints_add(&arrival->hints, NULL);
	arrival->was_held = arrival->facts.is_held;
	arrival->pending = arrival->facts.is_held	? "the file " WATCH_HOLD
			   : arrival->facts.is_changing ? "git to finish"
							: "the tree to settle";
	if (arrival->error)
		return 0;
	wait_ms = settle_wait_ms(&arrival->settle, now_ms, &arrival->facts);
	return wait_ms < 0 ? HELD_LOOK_MS : wait_ms;
}

int64_t arrivals_due(struct arrivals *arrivals, int64_t now_ms, bool with_root, bool *due)
{
	int64_t next_ms = -1;

	for (size_t i = 0; i < arrivals->count; i++) {
		struct arrival *arrival = &arrivals->items[i];
		int64_t wait_ms = look_when(arrival, now_ms);

		due[i] = wait_ms == 0;
		if (with_root && i > 0)
			due[i] = due[0] && (wait_ms >= 0 && !arrival->was_held);
		if (!due[i] && wait_ms >= 0)
			next_ms = sooner(next_ms, wait_ms > 0 ? wait_ms : HELD_LOOK_MS);
	}
	return next_ms;
}

const char *arrivals_pending(const struct arrivals *arrivals)
{
	for (size_t i = 0; i < arrivals->count; i++) {
		if (arrivals->items[i].pending)
			return arrivals->items[i].pending;
	}
	return NULL;
}

/* --- what ---------------------------------------------------------------------------------- */

char **arrivals_take(struct arrival *arrival, size_t *ret_count)
{
	struct hints hints;
	const char **list;
	char **paths = NULL;
	size_t count = 0;

	settle_done(&arrival->settle);
	hints_move(&hints, &arrival->hints);
	arrival->pending = "the build that is going on";
	list = arrival->must_look ? NULL : hints_list(&hints, &count);
	*ret_count = list ? count : 0;
	if (list) {
		paths = xcalloc(count + 1, sizeof(*paths));
		for (size_t i = 0; i < count; i++)
			paths[i] = arrival->at[0] ? xasprintf("%s/%s", arrival->at, list[i])
						  : xstrdup(list[i]);
	}
	free(list);
	hints_fini(&hints);
	return paths;
}

void arrivals_note(struct arrival *arrival, int error, int64_t now_ms)
{
	if (!settle_is_pending(&arrival->settle))
		arrival->pending = NULL;
	arrival->must_look = error != 0;
	if (!error) {
		arrival->retry_ms = 0;
		return;
	}
	arrival->retry_ms = arrival->retry_ms ? arrival->retry_ms * 2 : RETRY_FIRST_MS;
	if (arrival->retry_ms > RETRY_LONGEST_MS)
		arrival->retry_ms = RETRY_LONGEST_MS;
	if (arrival->rescan_at_ms > now_ms + arrival->retry_ms)
		arrival->rescan_at_ms = now_ms + arrival->retry_ms;
}

/* --- from time to time --------------------------------------------------------------------- */

bool arrivals_rescan(struct arrivals *arrivals, const struct watch *watch,
	const struct options *options, int64_t now_ms, int64_t *ret_next_ms)
{
	bool is_any = false;

	*ret_next_ms = -1;
	for (size_t i = 0; i < arrivals->count; i++) {
		struct arrival *arrival = &arrivals->items[i];
		const char *reason;
		bool is_seeing = watch && watch_is_working(watch, i, &reason);
		int64_t pause_ms = is_seeing || options->rescan_ms < BLIND_RESCAN_MS
					   ? options->rescan_ms
					   : BLIND_RESCAN_MS;

		/* Events may have ceased since the time was set. */
		if (arrival->rescan_at_ms < 0 || arrival->rescan_at_ms > now_ms + pause_ms)
			arrival->rescan_at_ms = now_ms + pause_ms;
		if (now_ms >= arrival->rescan_at_ms) {
			arrival->rescan_at_ms = now_ms + pause_ms;
			arrivals_hint(arrivals, i, NULL, now_ms);
			is_any = true;
		}
		*ret_next_ms = sooner(*ret_next_ms, arrival->rescan_at_ms);
	}
	return is_any;
}

void arrivals_locate(struct arrivals *arrivals)
{
	for (size_t i = 0; i < arrivals->count; i++) {
		struct arrival *arrival = &arrivals->items[i];

		if (arrival->hold.root &&
			(!arrival->probe || probe_ask(arrival->probe, PATIENCE_MS) == 0))
			hold_locate(&arrival->hold);
	}
}
