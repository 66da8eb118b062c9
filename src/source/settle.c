/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/settle.h"

/* How soon to look again whether git has finished; nothing tells us. */
#define RECHECK_MS 10

void settle_init(struct settle *settle, int64_t quiet_ms, int64_t limit_ms)
{
	*settle = (struct settle){
		.quiet_ms = quiet_ms, .limit_ms = limit_ms, .first_ms = -1, .last_ms = -1};
}

void settle_hint(struct settle *settle, int64_t now_ms)
{
	if (settle->first_ms < 0)
		settle->first_ms = now_ms;
	settle->last_ms = now_ms;
}

bool settle_is_pending(const struct settle *settle)
{
	return settle->first_ms >= 0;
}

int64_t settle_wait_ms(
	const struct settle *settle, int64_t now_ms, const struct settle_facts *facts)
{
	int64_t until_limit, until_quiet;

	if (!settle_is_pending(settle) || facts->is_held)
		return -1;
	until_limit = settle->first_ms + settle->limit_ms - now_ms;
	if (until_limit <= 0)
		return 0;
	until_quiet = settle->last_ms + settle->quiet_ms - now_ms;
	if (facts->is_changing && until_quiet < RECHECK_MS)
		until_quiet = RECHECK_MS;
	if (until_quiet <= 0)
		return 0;
	return until_quiet < until_limit ? until_quiet : until_limit;
}

void settle_done(struct settle *settle)
{
	settle->first_ms = -1;
	settle->last_ms = -1;
}
