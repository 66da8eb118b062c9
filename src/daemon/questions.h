/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `xdspub why` and `status --layers` ask a running daemon: worked out on the build thread from
 * what it has. Threads: admin; waits for the build thread for a bounded time.
 */
#ifndef XDSPUB_DAEMON_QUESTIONS_H
#define XDSPUB_DAEMON_QUESTIONS_H

#include "daemon/worker.h"
#include "serve/admin/admin_server.h"

/* See struct admin_source.answer. worker NULL: it does not run yet. */
unsigned questions_answer(struct worker *worker, struct store *store,
	const struct admin_question *question, json_t **ret_document);

#endif
