/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/app.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "daemon/grpc_part.h"
#include "daemon/mount_settings.h"
#include "daemon/notify.h"
#include "daemon/output.h"
#include "daemon/questions.h"
#include "daemon/served.h"
#include "daemon/worker.h"
#include "serve/admin/admin_server.h"
#include "serve/rest/rest_server.h"

struct app {
	app_load_cb load;
	void *load_ctx;
	const char *config;
	struct options options;
	struct log log;
	struct notify *notify;
	struct schema *schema;
	struct encoder *files_encoder, *rest_encoder; /* one per thread that encodes */
	struct store *store;
	struct state *state;
	struct publisher *publisher;
	struct overview *report;
	struct served *served;
	struct worker *worker;
	_Atomic(struct worker *) asked; /* the same for the admin thread; NULL: not yet */
	struct watch *watch;
	struct rest_server *rest;
	struct grpc_part *grpc; /* NULL: was never asked for */
	struct admin_server *admin;

	uv_loop_t loop;
	uv_async_t news;
	uv_signal_t signals[3];
	uv_timer_t watchdog;
	bool is_ready_told;
	atomic_bool is_reload_done;
};

static const struct position nowhere = {0};

static void log_failure(const struct app *app, const char *what, const char *path, int error)
{
	log_event(&app->log, LOG_LEVEL_ERROR, "failed", LOG_TEXT("what", what),
		LOG_TEXT("path", path), LOG_TEXT("error", strerror(-error)));
}

static void log_diags(const struct app *app, const char *event, const struct diag_list *diags)
{
	struct buf line = BUF_INIT;

	for (size_t i = 0; i < diag_list_count(diags); i++) {
		buf_reset(&line);
		diag_format(diag_list_get(diags, i), &line);
		log_event(&app->log, LOG_LEVEL_ERROR, event, LOG_SLICE("text", buf_slice(&line)));
	}
	buf_fini(&line);
}

/* ---- settings ---- */

static void check_state_folder(
	const struct options *options, const char *source, struct diag_list *diags)
{
	if (options->state[0] && source[0] && output_is_inside(options->state, source))
		diag_error(diags, "", nowhere, "folders",
			"the state folder %s lies in the source %s", options->state, source);
}

static int check_options(const struct options *options, struct diag_list *diags)
{
	size_t before = diag_list_level_count(diags, DIAG_ERROR), count;
	AUTO_FREE const char **sources = output_answering_sources(options, &count);

	if (!options->source[0])
		diag_error(diags, "", nowhere, "no-source",
			"no source: set source.path in xdspub.yaml or give --source TREE");
	if (!options->publish[0] && options->rest.count == 0 && options->grpc.count == 0)
		diag_error(diags, "", nowhere, "nothing-to-do",
			"nothing to do: give --publish DIR, --rest ADDR or --grpc ADDR, or several "
			"of them (publish.path, rest.listen and grpc.listen in xdspub.yaml)");
	for (size_t i = 0; i < count; i++)
		check_state_folder(options, sources[i], diags);
	if (options->state[0] && options->publish[0] &&
		output_is_inside(options->state, options->publish))
		diag_error(diags, "", nowhere, "folders",
			"the state folder %s lies in the published folder %s", options->state,
			options->publish);
	return diag_list_level_count(diags, DIAG_ERROR) == before ? 0 : -EINVAL;
}

static int load_options(struct app *app, struct options *options, struct diag_list *diags)
{
	int error;

	options_init(options);
	error = app->load(app->load_ctx, options, diags);
	if (!error)
		error = check_options(options, diags);
	if (error)
		options_fini(options);
	return error;
}

static void set_log_level(struct app *app, const struct options *options)
{
	enum log_level level = LOG_LEVEL_INFO;

	(void)log_level_parse(slice_of(options->log_level), &level);
	__atomic_store_n(&app->log.level, level, __ATOMIC_RELAXED);
}

static void tell_report(struct app *app)
{
	const struct options *options = &app->options;
	const struct overview_setup setup = {
		.config = app->config,
		.source = options->source,
		.schema = schema_label(app->schema),
		.state = options->state[0] ? options->state : NULL,
		.publish = options->publish[0] ? options->publish : NULL,
		.formats = (const char *const *)options->formats.items,
		.formats_count = options->formats.count,
	};

	overview_setup(app->report, &setup);
}

/* Long polls need a descriptor each. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- what others call ---- */

static int encode_rest(void *ctx, enum xds_type type, const struct version *version,
	struct resource *const *resources, size_t count, struct buf *out)
{
	return encoder_json(
		ctx, ENCODER_LINE, type, version, resources, count, (struct slice){"", 0}, out);
}

static json_t *on_status(void *ctx)
{
	struct app *app = ctx;

	return overview_json(app->report);
}

static bool on_is_ready(void *ctx, char **ret_reason)
{
	struct app *app = ctx;

	return overview_is_ready(app->report, ret_reason);
}

static unsigned on_question(void *ctx, const struct admin_question *question, json_t **ret_document)
{
	struct app *app = ctx;

	return questions_answer(atomic_load(&app->asked), app->store, question, ret_document);
}

static void on_worker_news(void *ctx)
{
	struct app *app = ctx;

	uv_async_send(&app->news);
}

static void on_worker_reloaded(void *ctx)
{
	struct app *app = ctx;

	atomic_store(&app->is_reload_done, true);
	uv_async_send(&app->news);
}

/* ---- listeners ---- */

static void log_listeners(const struct app *app, const char *what, const struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		log_event(&app->log, LOG_LEVEL_INFO, "listening", LOG_TEXT("what", what),
			LOG_TEXT("address", texts->items[i]));
}

static void log_listen_failure(const struct app *app, const char *what, int error, char *problem)
{
	log_event(&app->log, LOG_LEVEL_ERROR, "listen-failed", LOG_TEXT("what", what),
		LOG_TEXT("error", problem ? problem : strerror(-error)));
	free(problem);
}

static int listen_rest(struct app *app, const struct texts *addresses)
{
	const struct rest_options options = {
		.store = app->store,
		.limits = app->options.limits,
		.route_delay_ms = app->options.route_delay_ms,
		.encode = encode_rest,
		.encode_ctx = app->rest_encoder,
		.log = &app->log,
	};
	char *problem = NULL;
	bool is_new = !app->rest;
	int error;

	if (addresses->count == 0 && is_new)
		return 0;
	error = is_new ? rest_server_start(&options, &app->rest) : 0;
	if (!error)
		error = rest_server_listen(app->rest, (const char *const *)addresses->items,
			addresses->count, &problem);
	if (error) {
		log_listen_failure(app, "rest", error, problem);
		if (is_new && app->rest) {
			rest_server_stop(app->rest);
			app->rest = NULL;
		}
		return error;
	}
	overview_rest(app->report, app->rest);
	return 0;
}

static int listen_grpc(struct app *app, const struct texts *addresses)
{
	const struct grpc_part_setup setup = {
		.store = app->store,
		.schema = app->schema,
		.options = &app->options,
		.log = &app->log,
	};
	char *problem = NULL;
	char *reason = NULL;
	int error;

	if (addresses->count == 0 && !app->grpc)
		return 0;
	error = grpc_part_listen(&setup, addresses, &app->grpc, &problem);
	if (error) {
		log_listen_failure(app, "grpc", error, problem);
		return error;
	}
	overview_grpc(app->report, app->grpc);
	grpc_part_set_ready(app->grpc, overview_is_ready(app->report, &reason));
	free(reason);
	return 0;
}

static int listen_admin(struct app *app, const struct texts *addresses)
{
	const struct admin_source source = {app, on_status, on_is_ready, on_question};
	char *problem = NULL;
	bool is_new = !app->admin;
	int error;

	if (addresses->count == 0 && is_new)
		return 0;
	error = is_new ? admin_server_start(&source, &app->log, &app->admin) : 0;
	if (!error)
		error = admin_server_listen(app->admin, (const char *const *)addresses->items,
			addresses->count, &problem);
	if (error) {
		log_listen_failure(app, "admin", error, problem);
		if (is_new && app->admin) {
			admin_server_stop(app->admin);
			app->admin = NULL;
		}
	}
	return error;
}

/* All or none: when one cannot listen, those before it go back to what they had. */
static int listen_all(struct app *app, const struct options *options)
{
	int error = listen_rest(app, &options->rest);
	bool has_rest = error == 0, has_grpc = false;

	if (!error) {
		error = listen_grpc(app, &options->grpc);
		has_grpc = error == 0;
	}
	if (!error)
		error = listen_admin(app, &options->admin);
	if (error) {
		if (has_rest && options != &app->options)
			(void)listen_rest(app, &app->options.rest);
		if (has_grpc && options != &app->options)
			(void)listen_grpc(app, &app->options.grpc);
		return error;
	}
	overview_listeners(app->report, &options->rest, &options->grpc, &options->admin);
	return 0;
}

/* ---- watching ---- */

static void stop_watch(struct app *app)
{
	worker_set_watch(app->worker, NULL);
	overview_watch(app->report, NULL);
	watch_stop(app->watch);
	app->watch = NULL;
}

static void start_watch(struct app *app)
{
	size_t count;
	AUTO_FREE const char **sources = output_sources(&app->options, &count);
	int error;

	if (strcmp(app->options.watch, "off") == 0)
		return;
	error = watch_start(sources, count, &app->log, worker_hint, app->worker, &app->watch);
	if (error) {
		log_failure(app, "watch", app->options.source, error);
		return;
	}
	worker_set_watch(app->worker, app->watch);
	overview_watch(app->report, app->watch);
}

/* ---- reload ---- */

/* What only a restart can change; nothing of the new configuration is applied then. */
static int refuse_restart_only(
	const struct options *former, const struct options *fresh, struct diag_list *diags)
{
	size_t count;
	const struct option_row *rows = option_rows(&count);
	int error = 0;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].reload != OPTION_RELOAD_RESTART ||
			options_equal(former, fresh, &rows[i]))
			continue;
		diag_error(diags, "", nowhere, "restart-needed",
			"%s has changed: restart needed; nothing of the new configuration was "
			"applied",
			rows[i].key);
		error = -EINVAL;
	}
	return error;
}

static int refuse_sources(const struct options *fresh, struct diag_list *diags)
{
	size_t count;
	AUTO_FREE const char **sources = output_answering_sources(fresh, &count);
	int error = 0;

	for (size_t i = 0; fresh->publish[0] && i < count; i++) {
		if (!output_is_inside(sources[i], fresh->publish) &&
			!output_is_inside(fresh->publish, sources[i]))
			continue;
		diag_error(diags, "", nowhere, "folders",
			"the source %s and the published folder %s lie in each other", sources[i],
			fresh->publish);
		error = -EINVAL;
	}
	return error;
}

static void log_changes(
	const struct app *app, const struct options *former, const struct options *fresh)
{
	size_t count, changed = 0;
	const struct option_row *rows = option_rows(&count);
	struct buf value = BUF_INIT;

	for (size_t i = 0; i < count; i++) {
		if (options_equal(former, fresh, &rows[i]))
			continue;
		changed++;
		buf_reset(&value);
		options_format(fresh, &rows[i], &value);
		log_event(&app->log, LOG_LEVEL_INFO, "setting", LOG_TEXT("key", rows[i].key),
			LOG_SLICE("value", buf_slice(&value)));
	}
	if (!mount_settings_equal(former->mounts, fresh->mounts)) {
		changed++;
		log_event(&app->log, LOG_LEVEL_INFO, "setting", LOG_TEXT("key", "source"),
			LOG_TEXT("value", fresh->mounts ? fresh->mounts->text : ""));
	}
	log_event(&app->log, LOG_LEVEL_INFO, "reload", LOG_TEXT("result", "applied"),
		LOG_NUMBER("changed", (int64_t)changed));
	buf_fini(&value);
}

static void apply(struct app *app, struct options *fresh)
{
	bool is_elsewhere = strcmp(fresh->source, app->options.source) != 0 ||
			    !mount_settings_equal(fresh->mounts, app->options.mounts) ||
			    strcmp(fresh->watch, app->options.watch) != 0;
	struct options former = app->options;

	log_changes(app, &former, fresh);
	set_log_level(app, fresh);
	app->options = *fresh;
	if (is_elsewhere)
		stop_watch(app);
	tell_report(app);
	worker_reload(app->worker, &app->options, on_worker_reloaded);
	if (is_elsewhere)
		start_watch(app);
	options_fini(&former);
}

static void end_reload(struct app *app, const char *status)
{
	if (app->is_ready_told)
		notify_ready(app->notify, status);
	else
		notify_status(app->notify, status);
}

static void reload(struct app *app)
{
	struct options fresh;
	struct diag_list *diags = diag_list_new(0);
	int error;

	if (app->is_ready_told)
		notify_reloading(app->notify);
	error = load_options(app, &fresh, diags);
	if (!error) {
		error = refuse_restart_only(&app->options, &fresh, diags);
		if (!error)
			error = refuse_sources(&fresh, diags);
		if (!error)
			error = listen_all(app, &fresh);
		if (error)
			options_fini(&fresh);
	}
	if (error) {
		log_diags(app, "reload-refused", diags);
		log_event(&app->log, LOG_LEVEL_ERROR, "reload", LOG_TEXT("result", "refused"),
			LOG_TEXT("what", "going on with the former configuration"));
		/* Look at the tree all the same: that may be all that was wanted. */
		worker_hint_all(app->worker);
		end_reload(app, "reload refused: the log says why; the former configuration is "
				"still in use");
	} else {
		apply(app, &fresh);
	}
	diag_list_free(diags);
}

/* ---- the loop ---- */

static void on_news(uv_async_t *handle)
{
	struct app *app = handle->data;
	AUTO_FREE char *line = overview_line(app->report);
	char *reason = NULL;
	bool is_ready = overview_is_ready(app->report, &reason);

	free(reason);
	if (app->grpc)
		grpc_part_set_ready(app->grpc, is_ready);
	if ((is_ready && !app->is_ready_told) || atomic_exchange(&app->is_reload_done, false)) {
		if (is_ready && !app->is_ready_told)
			log_event(&app->log, LOG_LEVEL_INFO, "ready", LOG_TEXT("status", line));
		app->is_ready_told = app->is_ready_told || is_ready;
		end_reload(app, line);
	} else {
		notify_status(app->notify, line);
	}
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct app *app = handle->data;

	if (number == SIGHUP) {
		reload(app);
		return;
	}
	log_event(&app->log, LOG_LEVEL_INFO, "stopping",
		LOG_TEXT("signal", number == SIGTERM ? "SIGTERM" : "SIGINT"));
	notify_stopping(app->notify);
	uv_stop(&app->loop);
}

static void on_watchdog(uv_timer_t *handle)
{
	struct app *app = handle->data;

	notify_watchdog(app->notify);
}

static void open_loop(struct app *app)
{
	static const int numbers[] = {SIGHUP, SIGTERM, SIGINT};
	uint64_t watchdog_ms = notify_watchdog_ms(app->notify);

	uv_loop_init(&app->loop);
	app->news.data = app;
	uv_async_init(&app->loop, &app->news, on_news);
	for (size_t i = 0; i < 3; i++) {
		app->signals[i].data = app;
		uv_signal_init(&app->loop, &app->signals[i]);
		uv_signal_start(&app->signals[i], on_signal, numbers[i]);
	}
	app->watchdog.data = app;
	uv_timer_init(&app->loop, &app->watchdog);
	if (watchdog_ms)
		uv_timer_start(&app->watchdog, on_watchdog, 0, watchdog_ms);
}

static void close_handle(uv_handle_t *handle, void *unused)
{
	(void)unused;
	uv_close(handle, NULL);
}

static void close_loop(struct app *app)
{
	int error;

	uv_walk(&app->loop, close_handle, NULL);
	uv_run(&app->loop, UV_RUN_DEFAULT);
	error = uv_loop_close(&app->loop);
	assert(error == 0);
	(void)error;
}

/* ---- start and stop ---- */

static int open_state(struct app *app)
{
	const char *problem = NULL;
	int error;

	if (!app->options.state[0])
		return 0;
	error = state_open(app->options.state, &app->state, &problem);
	if (error) {
		log_event(&app->log, LOG_LEVEL_ERROR, "failed", LOG_TEXT("what", "state folder"),
			LOG_TEXT("path", app->options.state),
			LOG_TEXT("error",
				error == -EBUSY ? "in use by another instance" : strerror(-error)));
		return error;
	}
	if (problem)
		log_event(&app->log, LOG_LEVEL_WARNING, "state-damaged",
			LOG_TEXT("path", app->options.state), LOG_TEXT("problem", problem));
	return 0;
}

static int open_outputs(struct app *app, struct diag_list *diags)
{
	int error = output_load_schema(&app->options, diags, &app->schema);

	if (error)
		return error;
	error = encoder_new(app->schema, &app->files_encoder);
	if (!error)
		error = encoder_new(app->schema, &app->rest_encoder);
	if (error) {
		diag_error(diags, options_schema(&app->options), nowhere, "schema",
			"lacks google.protobuf.Any or envoy.service.discovery.v3.Resource");
		return error;
	}
	if (app->options.publish[0])
		error = output_open_publisher(
			&app->options, app->files_encoder, &app->log, diags, &app->publisher);
	return error;
}

static int start_parts(struct app *app)
{
	struct served_options served = {.store = app->store,
		.state = app->state,
		.publisher = app->publisher,
		.report = app->report,
		.log = &app->log};
	struct worker_options worker = {.options = &app->options,
		.schema = app->schema,
		.state = app->state,
		.report = app->report,
		.log = &app->log,
		.on_news = on_worker_news,
		.ctx = app};
	size_t loaded;
	int error;

	app->served = worker.served = served_new(&served);
	loaded = served_load(app->served, &app->options.groups);
	if (loaded)
		log_event(&app->log, LOG_LEVEL_INFO, "restored",
			LOG_NUMBER("groups", (int64_t)loaded));
	error = listen_all(app, &app->options);
	if (error)
		return error;
	log_listeners(app, "rest", &app->options.rest);
	log_listeners(app, "grpc", &app->options.grpc);
	log_listeners(app, "admin", &app->options.admin);
	error = worker_start(&worker, &app->worker);
	if (error) {
		log_failure(app, "build thread", "", error);
		return error;
	}
	atomic_store(&app->asked, app->worker);
	start_watch(app);
	on_worker_news(app); /* what was restored makes it ready at once */
	return 0;
}

static void stop_parts(struct app *app)
{
	if (app->watch)
		stop_watch(app);
	/* It asks the worker. */
	if (app->admin)
		admin_server_stop(app->admin);
	worker_stop(app->worker);
	overview_rest(app->report, NULL);
	overview_grpc(app->report, NULL);
	if (app->rest)
		rest_server_stop(app->rest);
	if (app->grpc)
		grpc_part_stop(app->grpc);
	if (app->served)
		served_free(app->served);
	if (app->publisher)
		publisher_close(app->publisher);
	if (app->state)
		state_close(app->state);
	encoder_free(app->files_encoder);
	encoder_free(app->rest_encoder);
	schema_free(app->schema);
}

static enum app_outcome run(struct app *app)
{
	struct diag_list *diags = diag_list_new(0);
	enum app_outcome outcome = APP_FAILED;
	int error = open_outputs(app, diags);

	if (error)
		log_diags(app, "failed", diags);
	else
		error = open_state(app);
	if (!error) {
		tell_report(app);
		error = start_parts(app);
	}
	if (!error) {
		uv_run(&app->loop, UV_RUN_DEFAULT);
		outcome = APP_FINE;
	}
	stop_parts(app);
	diag_list_free(diags);
	return outcome;
}

enum app_outcome app_run(app_load_cb load, void *ctx, const char *config, struct diag_list *diags)
{
	struct app app = {.load = load, .load_ctx = ctx, .config = config};
	enum app_outcome outcome;

	if (load_options(&app, &app.options, diags) < 0)
		return APP_BAD_OPTIONS;
	log_init(&app.log, STDERR_FILENO, LOG_LEVEL_INFO);
	set_log_level(&app, &app.options);
	(void)signal(SIGPIPE, SIG_IGN);
	raise_descriptors();
	log_event(&app.log, LOG_LEVEL_INFO, "started", LOG_TEXT("version", PACKAGE_VERSION),
		LOG_NUMBER("pid", getpid()), LOG_TEXT("source", app.options.source),
		LOG_TEXT("config", config ? config : "-"));
	app.notify = notify_new();
	notify_status(app.notify, "starting");
	app.store = store_new();
	app.report = overview_new();
	atomic_init(&app.is_reload_done, false);
	open_loop(&app);
	outcome = run(&app);
	close_loop(&app);
	overview_free(app.report);
	store_free(app.store);
	notify_free(app.notify);
	options_fini(&app.options);
	log_event(&app.log, LOG_LEVEL_INFO, "stopped",
		LOG_TEXT("result", outcome == APP_FINE ? "fine" : "failed"));
	return outcome;
}
