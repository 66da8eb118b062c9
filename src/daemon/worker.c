/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "daemon/hints.h"
#include "daemon/output.h"
#include "source/hold.h"

/* Where no events come: look again this often. */
#define BLIND_RESCAN_MS 5000
/* While .xdspub-hold is there; its end is a hint, too, where events come. */
#define HELD_LOOK_MS 1000
/* After the source could not be looked at. */
#define SOURCE_RETRY_MS 1000
#define DIAGS_LOGGED	10

/* Somebody waits for an answer. */
struct question {
	worker_question_cb callback;
	void *ctx;
	bool is_taken, is_answered;
};

struct worker {
	struct worker_options given;
	pthread_t thread;

	/* Under the mutex. */
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	struct settle settle;
	struct hints hints;
	const struct watch *watch;
	bool is_stopping;
	bool was_hinted; /* since the last look at the hold files */
	bool has_fresh;
	struct options fresh; /* a reload's settings, not yet taken */
	worker_news_cb on_reloaded;
	struct question *question; /* NULL: none */
	pthread_cond_t answered;

	/* Build thread only. */
	struct options options;
	struct compiler *compiler;
	struct hold hold;
	int64_t rescan_at_ms, check_at_ms;
	bool is_source_bad;
	bool must_look; /* the last look failed: everything, next time */
	bool was_held;	/* by .xdspub-hold, when last looked at */
	worker_news_cb on_done;
	struct digest diags_digest; /* of what was logged last */
};

/* ---- any thread ---- */

void worker_hint(void *ctx, const char *path)
{
	struct worker *worker = ctx;

	pthread_mutex_lock(&worker->mutex);
	worker->was_hinted = true;
	if (!path || strcmp(path, WATCH_HOLD) != 0) {
		hints_add(&worker->hints, path);
		settle_hint(&worker->settle, clock_monotonic_ms());
	}
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->mutex);
}

void worker_reload(struct worker *worker, const struct options *options, worker_news_cb on_done)
{
	pthread_mutex_lock(&worker->mutex);
	if (worker->has_fresh)
		options_fini(&worker->fresh);
	options_copy(&worker->fresh, options);
	worker->has_fresh = true;
	worker->on_reloaded = on_done;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->mutex);
}

void worker_set_watch(struct worker *worker, const struct watch *watch)
{
	pthread_mutex_lock(&worker->mutex);
	worker->watch = watch;
	pthread_mutex_unlock(&worker->mutex);
}

bool worker_ask(struct worker *worker, worker_question_cb callback, void *ctx, int64_t patience_ms)
{
	struct question question = {.callback = callback, .ctx = ctx};
	int64_t at_ms = clock_monotonic_ms() + patience_ms;
	struct timespec deadline = {.tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000};
	int error = 0;

	pthread_mutex_lock(&worker->mutex);
	worker->question = &question;
	pthread_cond_signal(&worker->wake);
	/* Once it is taken the answer comes, and needs the question till then. */
	while (!question.is_answered && (question.is_taken || !error))
		error = pthread_cond_timedwait(&worker->answered, &worker->mutex, &deadline);
	worker->question = NULL;
	pthread_mutex_unlock(&worker->mutex);
	return question.is_answered;
}

/* ---- build thread ---- */

static void make_compiler(struct worker *worker)
{
	struct compile_options compile =
		output_compile_options(&worker->options, worker->given.schema);

	if (worker->given.state)
		compile.former_groups = state_groups(worker->given.state);
	worker->compiler = compiler_new(&compile);
}

/* What the compiler was made from. */
static bool needs_new_compiler(const struct options *a, const struct options *b)
{
	static const char *const keys[] = {"source.path", "groups", "build.threads",
		"limits.source_file", "limits.yaml_nodes", "limits.resources",
		"limits.resource_name"};
	size_t count;
	const struct option_row *rows = option_rows(&count);

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < sizeof(keys) / sizeof(keys[0]); j++)
			if (strcmp(rows[i].key, keys[j]) == 0 && !options_equal(a, b, &rows[i]))
				return true;
	return false;
}

/* Under the mutex. */
static void take_fresh(struct worker *worker)
{
	struct options former = worker->options;

	worker->options = worker->fresh;
	worker->fresh = (struct options){0};
	worker->has_fresh = false;
	worker->on_done = worker->on_reloaded;
	if (needs_new_compiler(&former, &worker->options)) {
		compiler_free(worker->compiler);
		make_compiler(worker);
		hold_fini(&worker->hold);
		hold_init(&worker->hold, worker->options.source);
	}
	options_fini(&former);
	worker->settle.quiet_ms = worker->options.quiet_ms;
	worker->settle.limit_ms = worker->options.limit_ms;
	hints_add(&worker->hints, NULL);
	settle_hint(&worker->settle, clock_monotonic_ms());
}

static void tell(struct worker *worker)
{
	worker->given.on_news(worker->given.ctx);
}

/* One line for each of the first few, and only when they are others than before. */
static void log_diags(struct worker *worker, const struct diag_list *diags)
{
	struct digest_context context;
	struct digest digest;
	struct buf line = BUF_INIT;
	size_t count = diag_list_count(diags);

	digest_begin(&context, "diags");
	for (size_t i = 0; i < count; i++) {
		buf_reset(&line);
		diag_format(diag_list_get(diags, i), &line);
		digest_part(&context, buf_slice(&line));
	}
	digest = digest_end(&context);
	for (size_t i = 0;
		!digest_equal(&digest, &worker->diags_digest) && i < count && i < DIAGS_LOGGED;
		i++) {
		const struct diag *diag = diag_list_get(diags, i);

		if (diag->level == DIAG_NOTE)
			continue;
		buf_reset(&line);
		diag_format(diag, &line);
		log_event(worker->given.log,
			diag->level == DIAG_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING,
			"diagnostic", LOG_SLICE("text", buf_slice(&line)));
	}
	worker->diags_digest = digest;
	buf_fini(&line);
}

static void note_source(struct worker *worker, int error)
{
	overview_source(worker->given.report, error ? strerror(-error) : NULL);
	if (error && !worker->is_source_bad)
		log_event(worker->given.log, LOG_LEVEL_ERROR, "source-unavailable",
			LOG_TEXT("path", worker->options.source),
			LOG_TEXT("error", strerror(-error)),
			LOG_TEXT("what", "serving what was good before"));
	else if (!error && worker->is_source_bad)
		log_event(worker->given.log, LOG_LEVEL_INFO, "source-available",
			LOG_TEXT("path", worker->options.source));
	worker->is_source_bad = error != 0;
}

static void note_build(
	struct worker *worker, const struct build *build, size_t changed, int64_t started_us)
{
	int64_t took_us = clock_monotonic_us() - started_us;
	size_t errors = diag_list_level_count(build->diags, DIAG_ERROR);
	struct overview_build report = {
		.duration_ms = took_us / 1000,
		.files = build->files,
		.files_read = build->files_read,
		.resources = build->resources,
		.resources_encoded = build->resources_encoded,
		.diags = build->diags,
	};

	overview_build(worker->given.report, &report);
	log_diags(worker, build->diags);
	log_event(worker->given.log,
		changed || build->files_read ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG, "built",
		LOG_NUMBER("files", (int64_t)build->files),
		LOG_NUMBER("read", (int64_t)build->files_read),
		LOG_NUMBER("resources", (int64_t)build->resources),
		LOG_NUMBER("encoded", (int64_t)build->resources_encoded),
		LOG_NUMBER("groups", (int64_t)changed), LOG_NUMBER("errors", (int64_t)errors),
		LOG_NUMBER("us", took_us));
}

static void build(struct worker *worker, const struct hints *hints)
{
	int64_t started_us = clock_monotonic_us(), now_ms = clock_monotonic_ms();
	const struct build *outcome = NULL;
	size_t count, changed;
	AUTO_FREE const char **paths = worker->must_look ? NULL : hints_list(hints, &count);
	int error;

	if (!paths)
		count = 0;
	error = compiler_run(worker->compiler, paths, count, clock_wall_ms(), NULL, &outcome);
	worker->must_look = error != 0;
	note_source(worker, error);
	if (error) {
		worker->rescan_at_ms = now_ms + SOURCE_RETRY_MS;
	} else {
		changed = served_apply(
			worker->given.served, outcome, now_ms, worker->options.grace_ms);
		note_build(worker, outcome, changed, started_us);
	}
}

static int64_t rescan_pause(const struct worker *worker, const struct watch *watch)
{
	const char *reason;
	bool is_seeing = watch && watch_is_working(watch, &reason);

	return is_seeing || worker->options.rescan_ms < BLIND_RESCAN_MS ? worker->options.rescan_ms
									: BLIND_RESCAN_MS;
}

static int64_t earlier(int64_t a, int64_t b) /* -1: never */
{
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

/* Under the mutex; until the time, or a signal. */
static void wait_until(struct worker *worker, int64_t at_ms)
{
	struct timespec deadline = {.tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000};

	if (at_ms < 0)
		pthread_cond_wait(&worker->wake, &worker->mutex);
	else
		pthread_cond_timedwait(&worker->wake, &worker->mutex, &deadline);
}

/* Under the mutex, which it leaves while it works. Returns when it is worth looking again. */
static int64_t turn_build(struct worker *worker, int64_t now_ms)
{
	struct settle_facts facts = {false, false};
	struct hints hints;
	worker_news_cb on_done;
	int64_t wait_ms;

	worker->was_hinted = false;
	if (!settle_is_pending(&worker->settle)) {
		overview_pending(worker->given.report, NULL);
		return -1;
	}
	facts = hold_look(&worker->hold);
	/* What was edited under a hold is in the next build, though news of it may still come. */
	if (worker->was_held && !facts.is_held)
		hints_add(&worker->hints, NULL);
	worker->was_held = facts.is_held;
	wait_ms = settle_wait_ms(&worker->settle, now_ms, &facts);
	overview_pending(worker->given.report, facts.is_held	   ? "the file " WATCH_HOLD
					       : facts.is_changing ? "git to finish"
								   : "the tree to settle");
	on_done = worker->on_done;
	/* A held tree must not hold up who waits for a reload. */
	if (facts.is_held || wait_ms == 0)
		worker->on_done = NULL;
	if (facts.is_held && on_done)
		on_done(worker->given.ctx);
	if (wait_ms != 0)
		return now_ms + (wait_ms < 0 ? HELD_LOOK_MS : wait_ms);
	settle_done(&worker->settle);
	hints_move(&hints, &worker->hints);
	overview_pending(worker->given.report, "the build that is going on");
	pthread_mutex_unlock(&worker->mutex);
	build(worker, &hints);
	hints_fini(&hints);
	pthread_mutex_lock(&worker->mutex);
	if (!settle_is_pending(&worker->settle))
		overview_pending(worker->given.report, NULL);
	if (on_done)
		on_done(worker->given.ctx);
	tell(worker);
	return now_ms;
}

/* Under the mutex, which it leaves while it works. */
static int64_t turn_served(struct worker *worker, int64_t now_ms)
{
	int64_t next = served_next_ms(worker->given.served);

	if (next < 0 || next > now_ms)
		return next;
	pthread_mutex_unlock(&worker->mutex);
	served_on_time(worker->given.served, now_ms, worker->options.grace_ms);
	tell(worker);
	pthread_mutex_lock(&worker->mutex);
	return now_ms;
}

/* Under the mutex, which it leaves while it works. */
static int64_t turn_rescan(struct worker *worker, int64_t now_ms)
{
	int64_t pause_ms = rescan_pause(worker, worker->watch);

	/* Events may have ceased since the time was set. */
	if (worker->rescan_at_ms > now_ms + pause_ms)
		worker->rescan_at_ms = now_ms + pause_ms;
	if (now_ms < worker->rescan_at_ms)
		return worker->rescan_at_ms;
	worker->rescan_at_ms = now_ms + pause_ms;
	hints_add(&worker->hints, NULL);
	settle_hint(&worker->settle, now_ms);
	pthread_mutex_unlock(&worker->mutex);
	hold_locate(&worker->hold);
	/* Published files are not looked at more often where the tree has to be. */
	if (now_ms >= worker->check_at_ms) {
		worker->check_at_ms = now_ms + worker->options.rescan_ms;
		served_check_files(worker->given.served);
	}
	pthread_mutex_lock(&worker->mutex);
	return now_ms;
}

/* Under the mutex, which it leaves while it works. */
static void turn_question(struct worker *worker)
{
	struct question *question = worker->question;

	if (!question || question->is_taken)
		return;
	question->is_taken = true;
	pthread_mutex_unlock(&worker->mutex);
	question->callback(question->ctx, worker->compiler);
	pthread_mutex_lock(&worker->mutex);
	question->is_answered = true;
	worker->question = NULL;
	pthread_cond_signal(&worker->answered);
}

static void *worker_main(void *argument)
{
	struct worker *worker = argument;
	int64_t now_ms = clock_monotonic_ms();

	(void)pthread_setname_np(pthread_self(), "build");
	served_publish_loaded(worker->given.served, now_ms);
	worker->rescan_at_ms = now_ms + worker->options.rescan_ms;
	pthread_mutex_lock(&worker->mutex);
	hints_add(&worker->hints, NULL);
	settle_hint(&worker->settle, now_ms - worker->settle.quiet_ms);
	while (!worker->is_stopping) {
		int64_t next_ms;

		if (worker->has_fresh)
			take_fresh(worker);
		now_ms = clock_monotonic_ms();
		next_ms = turn_build(worker, now_ms);
		next_ms = earlier(next_ms, turn_served(worker, now_ms));
		next_ms = earlier(next_ms, turn_rescan(worker, now_ms));
		turn_question(worker);
		if (!worker->is_stopping && !worker->has_fresh && !worker->was_hinted &&
			next_ms > now_ms)
			wait_until(worker, next_ms);
	}
	pthread_mutex_unlock(&worker->mutex);
	return NULL;
}

/* ---- life ---- */

static void free_worker(struct worker *worker)
{
	compiler_free(worker->compiler);
	hold_fini(&worker->hold);
	hints_fini(&worker->hints);
	options_fini(&worker->options);
	if (worker->has_fresh)
		options_fini(&worker->fresh);
	pthread_cond_destroy(&worker->wake);
	pthread_cond_destroy(&worker->answered);
	pthread_mutex_destroy(&worker->mutex);
	free(worker);
}

int worker_start(const struct worker_options *options, struct worker **ret_worker)
{
	struct worker *worker = xcalloc(1, sizeof(*worker));
	pthread_condattr_t attributes;
	sigset_t all, before;
	int error;

	worker->given = *options;
	options_copy(&worker->options, options->options);
	pthread_mutex_init(&worker->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->wake, &attributes);
	pthread_cond_init(&worker->answered, &attributes);
	pthread_condattr_destroy(&attributes);
	settle_init(&worker->settle, worker->options.quiet_ms, worker->options.limit_ms);
	hints_init(&worker->hints);
	hold_init(&worker->hold, worker->options.source);
	make_compiler(worker);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = -pthread_create(&worker->thread, NULL, worker_main, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		free_worker(worker);
		return error;
	}
	*ret_worker = worker;
	return 0;
}

void worker_stop(struct worker *worker)
{
	if (!worker)
		return;
	pthread_mutex_lock(&worker->mutex);
	worker->is_stopping = true;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->mutex);
	pthread_join(worker->thread, NULL);
	free_worker(worker);
}
