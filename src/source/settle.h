/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When to build: a burst of hints becomes one build once it was quiet for `quiet_ms`, or `limit_ms`
 * after its first hint. A hold (the file .xdspub-hold; a git index.lock for at most the
 * limit) delays it. Pure: times and facts come in as arguments.
 */
#ifndef XDSPUB_SOURCE_SETTLE_H
#define XDSPUB_SOURCE_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

struct settle {
	int64_t quiet_ms;
	int64_t limit_ms;
	int64_t first_ms; /* of the pending burst; -1: none */
	int64_t last_ms;
};

void settle_init(struct settle *settle, int64_t quiet_ms, int64_t limit_ms);
void settle_hint(struct settle *settle, int64_t now_ms);
bool settle_is_pending(const struct settle *settle);
struct settle_facts {
	bool is_held;	  /* .xdspub-hold exists: wait until it is gone */
	bool is_changing; /* git's index.lock exists: wait, up to the limit */
};
/* Milliseconds until it is worth asking again; 0: build now; -1: nothing pending or held. */
int64_t settle_wait_ms(
	const struct settle *settle, int64_t now_ms, const struct settle_facts *facts);
void settle_done(struct settle *settle); /* a build has started: the burst is taken */

#endif
