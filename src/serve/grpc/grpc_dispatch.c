/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_dispatch.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "serve/grpc/grpc_clients.h"
#include "serve/grpc/grpc_csds.h"
#include "serve/grpc/grpc_discovery.h"
#include "serve/grpc/grpc_health.h"
#include "serve/grpc/grpc_reflection.h"
#include "serve/grpc/grpc_service.h"
#include "serve/grpc/grpc_services.h"

struct method {
	const char *path;
	void *(*open)(struct grpc_dispatch *dispatch, struct grpc_call *call);
	const struct grpc_handler *handler;
};

/* Besides those of discovery, which are rows of snapshot/types.c. */
static const struct method methods[] = {
	{"/" GRPC_HEALTH_SERVICE "/Check", grpc_health_open_check, &grpc_health_handler},
	{"/" GRPC_HEALTH_SERVICE "/Watch", grpc_health_open_watch, &grpc_health_handler},
	{"/" GRPC_REFLECTION_SERVICE "/ServerReflectionInfo", grpc_reflection_open,
		&grpc_reflection_handler},
	{"/" GRPC_REFLECTION_ALPHA "/ServerReflectionInfo", grpc_reflection_open,
		&grpc_reflection_handler},
	{"/" GRPC_CLIENT_STATUS_SERVICE "/StreamClientStatus", grpc_csds_open_stream,
		&grpc_csds_handler},
	{"/" GRPC_CLIENT_STATUS_SERVICE "/FetchClientStatus", grpc_csds_open_fetch,
		&grpc_csds_handler},
};

/* ---- calls ---- */

void grpc_service_call_init(
	struct grpc_service_call *base, struct grpc_dispatch *dispatch, struct grpc_call *call)
{
	base->dispatch = dispatch;
	base->call = call;
	LIST_INSERT_HEAD(&dispatch->calls, base, link);
}

void grpc_service_call_fini(struct grpc_service_call *base)
{
	LIST_REMOVE(base, link);
}

void grpc_service_call_refuse(
	struct grpc_service_call *base, enum grpc_status status, const char *text)
{
	base->dispatch->counters.refused++;
	grpc_call_finish(base->call, status, text);
}

void grpc_service_call_send(struct grpc_service_call *base, const ProtobufCMessage *message)
{
	struct grpc_body *body = grpc_body_new(protobuf_c_message_get_packed_size(message));

	protobuf_c_message_pack(message, body->bytes);
	grpc_call_send(base->call, body, SLICE(""));
	grpc_body_unref(body);
}

bool grpc_dispatch_open(struct grpc_dispatch *dispatch, struct slice path, struct grpc_call *call,
	const struct grpc_handler **ret_handler, void **ret_state, char *problem,
	size_t problem_size)
{
	struct xds_method method;

	if (xds_method_parse(path, &method) == 0) {
		*ret_handler = &grpc_discovery_handler;
		*ret_state = grpc_discovery_open(dispatch, call, method);
		return true;
	}
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (!slice_is(path, methods[i].path))
			continue;
		*ret_handler = methods[i].handler;
		*ret_state = methods[i].open(dispatch, call);
		return true;
	}
	grpc_services_explain(path, problem, problem_size);
	return false;
}

/* ---- life ---- */

struct grpc_dispatch *grpc_dispatch_new(const struct grpc_options *options, struct grpc_loop *loop)
{
	struct grpc_dispatch *dispatch = xcalloc(1, sizeof(*dispatch));

	dispatch->options = options;
	dispatch->loop = loop;
	LIST_INIT(&dispatch->calls);
	LIST_INIT(&dispatch->watches);
	LIST_INIT(&dispatch->streams);
	grpc_feeds_init(&dispatch->feeds, options->store, &options->settings);
	grpc_node_table_init(&dispatch->nodes, &options->schema);
	grpc_log_init(&dispatch->log, options->log);
	(void)grpc_node_table_set_selector(&dispatch->nodes, store_selector(options->store));
	return dispatch;
}

void grpc_dispatch_free(struct grpc_dispatch *dispatch)
{
	if (!dispatch)
		return;
	assert(LIST_EMPTY(&dispatch->calls));
	grpc_log_end(&dispatch->log);
	grpc_clients_fini(dispatch);
	grpc_node_table_fini(&dispatch->nodes);
	grpc_feeds_fini(&dispatch->feeds);
	free(dispatch);
}

void grpc_dispatch_store_changed(struct grpc_dispatch *dispatch, int64_t now_ms)
{
	/* First: nobody may get content of a group that is no longer theirs. */
	if (grpc_node_table_set_selector(
		    &dispatch->nodes, store_selector(dispatch->options->store)))
		grpc_discovery_admit_again(dispatch, now_ms);
	grpc_feeds_refresh(&dispatch->feeds);
	grpc_health_changed(dispatch);
}

int64_t grpc_dispatch_turn(struct grpc_dispatch *dispatch, int64_t now_ms)
{
	return grpc_log_turn(&dispatch->log, now_ms);
}

void grpc_dispatch_stop(struct grpc_dispatch *dispatch)
{
	struct grpc_service_call *base;

	dispatch->is_stopping = true;
	grpc_health_stop(dispatch);
	LIST_FOREACH(base, &dispatch->calls, link)
	grpc_call_finish(base->call, GRPC_UNAVAILABLE, GRPC_STOPPING);
}

void grpc_dispatch_status(struct grpc_dispatch *dispatch, json_t *clients, size_t limit,
	json_t *counters, int64_t now_ms)
{
	grpc_clients_status(dispatch, clients, limit, counters, now_ms);
}
