/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_step.h"

#include <assert.h>

#include "serve/xds_delta_answer.h"
#include "serve/xds_sotw_answer.h"

#define RECENT_ITEMS 2 /* answers with as many items, or bytes, are kept for the next stream */
#define RECENT_BYTES 4096

/* Equal versions mean equal content: the bytes that one client got do for all. */
static struct xds_answer *share_sotw(
	struct xds_hub *hub, struct xds_answer *answer, bool is_wrapping)
{
	struct xds_answer_private *memory = answer->private;
	struct slice key = {memory->key, sizeof(memory->key)};
	struct xds_answer *known;

	memory->key[0] = (char)(1 + answer->type);
	memory->key[1] = is_wrapping;
	memcpy(memory->key + 2, answer->version.text, VERSION_TEXT_LENGTH);
	known = hash_get(&hub->answers, key);
	if (!known) {
		hash_put(&hub->answers, key, answer);
		return answer;
	}
	memory->key[0] = 0;
	xds_answer_unref(answer);
	return xds_answer_ref(known);
}

/* The next stream in this state shall find what was made, though nobody is in it any more. */
static void remember(struct xds_hub *hub, struct xds_table *table, const struct xds_answer *answer)
{
	struct xds_table *former = hub->recent[hub->recent_next];

	if (answer->items_count < RECENT_ITEMS && answer->body_bytes < RECENT_BYTES)
		return;
	hub->recent[hub->recent_next] = xds_table_ref(table);
	hub->recent_next = (hub->recent_next + 1) % XDS_RECENT;
	xds_table_unref(&hub->registry, former);
}

/* A memo has no reference to its own table. */
static struct xds_table *other_than(
	struct xds_hub *hub, struct xds_table *table, struct xds_table *after)
{
	if (after != table)
		return after;
	xds_table_unref(&hub->registry, after);
	return NULL;
}

struct xds_answer *xds_step_take(
	struct xds_feed *feed, struct xds_table *table, unsigned form, struct xds_table **ret_after)
{
	const struct xds_kind *kind = &table->whole.kind;
	struct xds_hub *hub = feed->hub;
	struct xds_memo *memo = xds_table_memo(&hub->registry, table);
	struct xds_table *after;

	assert(table->whole.look.stamp == feed->generations[kind->type]);
	form = kind->is_delta ? form : 0;
	if (!memo->answers[form]) {
		struct xds_answer *answer;

		if (kind->is_delta)
			answer = xds_delta_answer(feed, table, form, &after);
		else
			answer = share_sotw(
				hub, xds_sotw_answer(feed, table, &after), kind->is_wrapping);
		memo->answers[form] = answer;
		memo->tables[form] = other_than(hub, table, after);
		remember(hub, table, answer);
	}
	*ret_after = memo->tables[form] ? memo->tables[form] : table;
	return memo->answers[form];
}

struct xds_answer *xds_step_refresh(
	struct xds_feed *feed, struct xds_table *table, struct xds_table **ret_after)
{
	struct xds_memo *memo = xds_table_memo(&feed->hub->registry, table);
	struct xds_table *after;

	/* To a state-of-the-world client everything is said each time. */
	if (!table->whole.kind.is_delta)
		return xds_step_take(feed, table, XDS_STEP_WITH_GONE, ret_after);
	if (!memo->refresh) {
		memo->refresh = xds_delta_refresh(feed, table, &after);
		memo->after_refresh = other_than(feed->hub, table, after);
	}
	*ret_after = memo->after_refresh ? memo->after_refresh : table;
	return memo->refresh;
}
