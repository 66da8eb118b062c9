/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "compile/last_good.h"
#include "daemon/arrivals.h"
#include "daemon/mount_settings.h"
#include "daemon/output.h"

#define DIAGS_LOGGED 10
/* After what mounts gave could not be written down. */
#define SAVE_RETRY_MS 5000

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
	struct arrivals arrivals;
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
	struct last_good *last_good; /* what mounts gave; NULL: is not kept */
	int last_good_error;	     /* of the last attempt to write it */
	int64_t check_at_ms;
	bool is_source_bad;
	bool was_looked; /* the compiler has looked at the root */
	bool *due;	 /* of each source, in this turn */
	char **reasons;	 /* why each mount is not good, as last logged; NULL */
	worker_news_cb on_done;
	struct digest diags_digest; /* of what was logged last */
};

/* ---- any thread ---- */

void worker_hint(void *ctx, size_t source, const char *path)
{
	struct worker *worker = ctx;

	pthread_mutex_lock(&worker->mutex);
	worker->was_hinted = true;
	if (!path || strcmp(path, WATCH_HOLD) != 0)
		arrivals_hint(&worker->arrivals, source, path, clock_monotonic_ms());
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->mutex);
}

void worker_hint_all(struct worker *worker)
{
	pthread_mutex_lock(&worker->mutex);
	worker->was_hinted = true;
	arrivals_hint_all(&worker->arrivals, clock_monotonic_ms(), false);
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

/* Mounts that are not configured any more are forgotten, too. */
static void open_last_good(struct worker *worker)
{
	const char *folder = worker->options.state, *problem = NULL;
	int error;

	if (!worker->given.state || (!worker->options.mounts && !last_good_is_there(folder)))
		return;
	error = last_good_open(folder, &worker->last_good, &problem);
	if (error)
		log_event(worker->given.log, LOG_LEVEL_ERROR, "failed",
			LOG_TEXT("what", "what mounts gave, in the state folder"),
			LOG_TEXT("path", folder), LOG_TEXT("error", strerror(-error)));
	else if (problem)
		log_event(worker->given.log, LOG_LEVEL_WARNING, "state-damaged",
			LOG_TEXT("path", folder), LOG_TEXT("problem", problem));
}

static void free_compiler(struct worker *worker)
{
	compiler_free(TAKE(worker->compiler));
	last_good_close(TAKE(worker->last_good));
	for (size_t i = 0; i < worker->arrivals.count; i++)
		free(worker->reasons[i]);
	free(TAKE(worker->reasons));
	free(TAKE(worker->due));
	arrivals_fini(&worker->arrivals);
}

/* With all that depends on which sources there are. */
static void make_compiler(struct worker *worker)
{
	struct compile_options compile =
		output_compile_options(&worker->options, worker->given.schema);

	open_last_good(worker);
	if (worker->given.state)
		compile.former_groups = state_groups(worker->given.state);
	compile.last_good = worker->last_good;
	worker->compiler = compiler_new(&compile);
	free((void *)compile.mounts);
	worker->was_looked = false;
	arrivals_init(&worker->arrivals, &worker->options);
	worker->due = xcalloc(worker->arrivals.count, sizeof(*worker->due));
	worker->reasons = xcalloc(worker->arrivals.count, sizeof(*worker->reasons));
}

/* What the compiler was made from. */
static bool needs_new_compiler(const struct options *a, const struct options *b)
{
	static const char *const keys[] = {"source.path", "groups", "build.threads",
		"limits.source_file", "limits.yaml_nodes", "limits.resources",
		"limits.resource_name"};
	size_t count;
	const struct option_row *rows = option_rows(&count);

	if (!mount_settings_equal(a->mounts, b->mounts))
		return true;
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
		free_compiler(worker);
		make_compiler(worker);
	}
	options_fini(&former);
	arrivals_retime(&worker->arrivals, &worker->options);
	arrivals_hint_all(&worker->arrivals, clock_monotonic_ms(), false);
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

static const char *state_text(const struct build_mount *mount)
{
	if (mount->state == BUILD_MOUNT_WAITING)
		return "waiting";
	return mount->state == BUILD_MOUNT_HELD || mount->error ? "held" : "good";
}

/* Once when a mount changes for the worse, or in another way than before, and once when it is good
 * again. */
static void log_mount(struct worker *worker, size_t index, const struct build_mount *mount)
{
	char **reason = &worker->reasons[index];

	if (mount->reason && (!*reason || strcmp(*reason, mount->reason) != 0))
		log_event(worker->given.log, LOG_LEVEL_ERROR, "mount", LOG_TEXT("at", mount->at),
			LOG_TEXT("state", state_text(mount)), LOG_TEXT("reason", mount->reason));
	else if (!mount->reason && *reason)
		log_event(worker->given.log, LOG_LEVEL_INFO, "mount", LOG_TEXT("at", mount->at),
			LOG_TEXT("state", state_text(mount)));
	free(*reason);
	*reason = mount->reason ? xstrdup(mount->reason) : NULL;
}

static void note_mounts(struct worker *worker, const struct build *build)
{
	struct overview_mount *shown = xcalloc(build->mounts_count, sizeof(*shown));

	for (size_t i = 0; i < build->mounts_count; i++) {
		const struct build_mount *mount = &build->mounts[i];

		log_mount(worker, i, mount);
		shown[i] = (struct overview_mount){.at = mount->at,
			.path = worker->arrivals.items[i].path,
			.state = state_text(mount),
			.reason = mount->reason	 ? mount->reason
				  : mount->error ? strerror(-mount->error)
						 : NULL,
			.files = mount->files,
			.errors = mount->errors,
			.is_accepted = mount->is_accepted};
	}
	overview_mounts(worker->given.report, shown, build->mounts_count);
	free(shown);
	if (build->last_good_error && build->last_good_error != worker->last_good_error)
		log_event(worker->given.log, LOG_LEVEL_ERROR, "state-failed",
			LOG_TEXT("what", "what mounts gave last"),
			LOG_TEXT("error", strerror(-build->last_good_error)));
	worker->last_good_error = build->last_good_error;
}

static void free_looks(struct compile_look *looks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < looks[i].count; k++)
			free((char *)looks[i].paths[k]);
		free((void *)looks[i].paths);
	}
	free(looks);
}

/* The outcome of each look at a source. Under the mutex. */
static void note_looks(struct worker *worker, const struct compile_look *looks, size_t count,
	int error, const struct build *outcome, int64_t now_ms)
{
	for (size_t i = 0; i < count; i++) {
		struct arrival *arrival = &worker->arrivals.items[i];

		if (looks[i].is_wanted)
			arrivals_note(arrival, error ? error : outcome->mounts[i].error, now_ms);
	}
	/* The next look writes again. */
	if (!error && outcome->last_good_error &&
		worker->arrivals.items[0].rescan_at_ms > now_ms + SAVE_RETRY_MS)
		worker->arrivals.items[0].rescan_at_ms = now_ms + SAVE_RETRY_MS;
}

/* Under the mutex, which it leaves while it works. */
static void build(struct worker *worker)
{
	int64_t started_us = clock_monotonic_us(), now_ms = clock_monotonic_ms();
	size_t count = worker->arrivals.count, changed;
	struct compile_look *looks = xcalloc(count, sizeof(*looks));
	const struct build *outcome = NULL;
	int error;

	for (size_t i = 0; i < count; i++) {
		if (!worker->due[i])
			continue;
		looks[i].is_wanted = true;
		looks[i].error = worker->arrivals.items[i].error;
		looks[i].paths = (const char *const *)arrivals_take(
			&worker->arrivals.items[i], &looks[i].count);
	}
	overview_pending(worker->given.report, "the build that is going on");
	pthread_mutex_unlock(&worker->mutex);
	error = compiler_look(worker->compiler, looks, clock_wall_ms(), NULL, &outcome);
	if (looks[0].is_wanted)
		note_source(worker, error ? error : outcome->mounts[0].error);
	if (!error) {
		worker->was_looked = true;
		changed = served_apply(worker->given.served, outcome,
			clock_monotonic_ms(), /* not since the start */
			worker->options.grace_ms);
		note_build(worker, outcome, changed, started_us);
		note_mounts(worker, outcome);
	}
	pthread_mutex_lock(&worker->mutex);
	note_looks(worker, looks, count, error, outcome, now_ms);
	free_looks(looks, count);
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

static void tell_pending(struct worker *worker)
{
	overview_pending(worker->given.report, arrivals_pending(&worker->arrivals));
	for (size_t i = 1; i < worker->arrivals.count; i++)
		overview_mount_pending(worker->given.report, worker->arrivals.items[i].at,
			worker->arrivals.items[i].pending);
}

static bool is_any_due(const struct worker *worker)
{
	for (size_t i = 0; i < worker->arrivals.count; i++) {
		if (worker->due[i])
			return true;
	}
	return false;
}

/* Under the mutex, which it leaves while it works. Returns when it is worth looking again. */
static int64_t turn_build(struct worker *worker, int64_t now_ms)
{
	struct arrivals *arrivals = &worker->arrivals;
	worker_news_cb on_done;
	int64_t wait_ms;
	bool is_any;

	worker->was_hinted = false;
	if (!arrivals_begin(arrivals)) {
		overview_pending(worker->given.report, NULL);
		return -1;
	}
	pthread_mutex_unlock(&worker->mutex);
	arrivals_ask(arrivals);
	pthread_mutex_lock(&worker->mutex);
	/* Nothing can be said about a tree without its root. */
	wait_ms = arrivals_due(arrivals, now_ms, !worker->was_looked, worker->due);
	tell_pending(worker);
	is_any = is_any_due(worker);
	on_done = worker->on_done;
	/* A held tree must not hold up who waits for a reload. */
	if (arrivals->items[0].was_held || worker->due[0])
		worker->on_done = NULL;
	else
		on_done = NULL;
	if (on_done && !worker->due[0]) {
		on_done(worker->given.ctx);
		on_done = NULL;
	}
	if (!is_any)
		return wait_ms < 0 ? -1 : now_ms + wait_ms;
	build(worker);
	tell_pending(worker);
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
	int64_t next_ms;

	if (!arrivals_rescan(&worker->arrivals, worker->watch, &worker->options, now_ms, &next_ms))
		return next_ms;
	pthread_mutex_unlock(&worker->mutex);
	arrivals_locate(&worker->arrivals);
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
	pthread_mutex_lock(&worker->mutex);
	arrivals_hint_all(&worker->arrivals, now_ms, true);
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
	free_compiler(worker);
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
