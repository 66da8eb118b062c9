/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_health.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "grpc/health/v1/health.pb-c.h"
#include "serve/grpc/grpc_services.h"
#include "serve/grpc/grpc_wire.h"

#define ARENA_BYTES	(64u << 10)

#define SERVING		GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING
#define NOT_SERVING	GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING
#define SERVICE_UNKNOWN GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVICE_UNKNOWN
#define NOTHING		(-1)

struct health_call {
	struct grpc_service_call base;
	LIST_ENTRY(health_call) link; /* in dispatch->watches */
	bool is_watch;
	bool has_request;
	bool is_known; /* the service that it asks for */
	bool is_ended;
	int told; /* the status that was sent last */
};

static struct health_call *open_call(
	struct grpc_dispatch *dispatch, struct grpc_call *call, bool is_watch)
{
	struct health_call *health = xcalloc(1, sizeof(*health));

	grpc_service_call_init(&health->base, dispatch, call);
	health->is_watch = is_watch;
	health->told = NOTHING;
	if (is_watch)
		LIST_INSERT_HEAD(&dispatch->watches, health, link);
	return health;
}

void *grpc_health_open_check(struct grpc_dispatch *dispatch, struct grpc_call *call)
{
	return open_call(dispatch, call, false);
}

void *grpc_health_open_watch(struct grpc_dispatch *dispatch, struct grpc_call *call)
{
	return open_call(dispatch, call, true);
}

static void refuse(struct health_call *health, enum grpc_status status, const char *text)
{
	health->is_ended = true;
	grpc_service_call_refuse(&health->base, status, text);
}

static void on_message(void *state, struct slice message)
{
	struct health_call *health = state;
	struct arena *arena;
	Grpc__Health__V1__HealthCheckRequest *request;
	char problem[256];
	int error;

	if (health->is_ended)
		return;
	if (health->has_request) {
		refuse(health, GRPC_INVALID_ARGUMENT, "this is one request");
		return;
	}
	arena = arena_new(ARENA_BYTES);
	error = grpc_wire_unpack(&grpc__health__v1__health_check_request__descriptor, message,
		&health->base.dispatch->options->limits, arena, (ProtobufCMessage **)&request,
		problem, sizeof(problem));
	if (error) {
		refuse(health, error == -E2BIG ? GRPC_RESOURCE_EXHAUSTED : GRPC_INVALID_ARGUMENT,
			problem);
	} else {
		health->has_request = true;
		health->is_known =
			!request->service[0] || grpc_services_has(slice_of(request->service));
		if (!health->is_known && !health->is_watch)
			refuse(health, GRPC_NOT_FOUND, "there is no service of this name");
	}
	arena_free(arena);
}

static void on_half_closed(void *state)
{
	struct health_call *health = state;

	if (!health->is_ended && !health->has_request)
		refuse(health, GRPC_INVALID_ARGUMENT, "there is no request");
}

static int status_of(const struct health_call *health)
{
	const struct grpc_dispatch *dispatch = health->base.dispatch;
	const struct grpc_options *options = dispatch->options;

	if (!health->is_known)
		return SERVICE_UNKNOWN;
	return !dispatch->is_stopping && options->is_ready(options->ready_ctx) ? SERVING
									       : NOT_SERVING;
}

static void tell(struct health_call *health)
{
	Grpc__Health__V1__HealthCheckResponse response =
		GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;
	int status = status_of(health);

	if (!health->has_request || health->is_ended || status == health->told ||
		!grpc_call_can_send(health->base.call))
		return;
	response.status = (Grpc__Health__V1__HealthCheckResponse__ServingStatus)status;
	grpc_service_call_send(&health->base, &response.base);
	health->told = status;
	if (!health->is_watch) {
		health->is_ended = true;
		grpc_call_finish(health->base.call, GRPC_OK, NULL);
	}
}

static void on_ready(void *state, int64_t now_ms)
{
	(void)now_ms;
	tell(state);
}

static void on_closed(void *state)
{
	struct health_call *health = state;

	if (health->is_watch)
		LIST_REMOVE(health, link);
	grpc_service_call_fini(&health->base);
	free(health);
}

const struct grpc_handler grpc_health_handler = {
	.message = on_message,
	.half_closed = on_half_closed,
	.ready = on_ready,
	.closed = on_closed,
};

void grpc_health_changed(struct grpc_dispatch *dispatch)
{
	struct health_call *health;

	LIST_FOREACH(health, &dispatch->watches, link)
	if (!health->is_ended)
		grpc_call_wake(health->base.call);
}

void grpc_health_stop(struct grpc_dispatch *dispatch)
{
	struct health_call *health;

	LIST_FOREACH(health, &dispatch->watches, link)
	tell(health);
}
