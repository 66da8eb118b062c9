/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The build thread: collects hints, waits until the tree has settled, compiles and hands the
 * outcome to `served`; keeps the times of bridges, retries and rescans. Hints come from any thread
 * and wake it directly.
 */
#ifndef XDSPUB_DAEMON_WORKER_H
#define XDSPUB_DAEMON_WORKER_H

#include "daemon/options.h"
#include "daemon/served.h"
#include "source/watch.h"

/* Called on the build thread after a turn that changed anything in the report. */
typedef void (*worker_news_cb)(void *ctx);

struct worker_options {
	const struct options *options; /* copied */
	const struct schema *schema;   /* borrowed, as all below */
	struct served *served;
	struct state *state; /* NULL: none */
	struct overview *report;
	const struct log *log;
	worker_news_cb on_news;
	void *ctx;
};

struct worker;

/* The thread starts with a look at the whole tree. */
int worker_start(const struct worker_options *options, struct worker **ret_worker);
void worker_stop(struct worker *worker); /* NULL is fine; ends what is going on first */
/* A watch_hint_cb: ctx is the worker; sources as in struct build.mounts. Any thread. */
void worker_hint(void *ctx, size_t source, const char *path);
void worker_hint_all(struct worker *worker); /* look at everything */
/* Takes other settings (copied) and looks at everything. `on_done` is called once that build is
 * over, instead of on_news. Any thread. */
void worker_reload(struct worker *worker, const struct options *options, worker_news_cb on_done);
/* Where to ask whether hints can be relied on; NULL: they cannot. Borrowed; replace it before it
 * goes. Any thread. */
void worker_set_watch(struct worker *worker, const struct watch *watch);

/* Calls back on the build thread, between builds, with the compiler as the last build left it;
 * waits for that. False: the build that is going on takes longer than that. One caller at a time,
 * not after worker_stop has begun. */
typedef void (*worker_question_cb)(void *ctx, const struct compiler *compiler);
bool worker_ask(struct worker *worker, worker_question_cb callback, void *ctx, int64_t patience_ms);

#endif
