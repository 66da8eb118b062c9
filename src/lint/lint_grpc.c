/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_grpc.h"

#include <string.h>

#define AGGREGATE "envoy.extensions.clusters.aggregate.v3.ClusterConfig"

/* --- grpc-config-source (S.125) ------------------------------------------------------------- */

static bool is_aggregated(const struct message *source)
{
	return lint_field(source, "ads") || lint_field(source, "self");
}

static void look_at_source(struct lint_look *look, const struct message *message,
	const struct message *holder, const char *field)
{
	const struct message *source = lint_message(holder, field);

	if (source && !is_aggregated(source))
		lint_say(look, message, NULL,
			"%s: gRPC libraries take it only from where the rest comes from: ads or "
			"self",
			field);
}

static void look_for_sources(struct lint_look *look, const struct message *message)
{
	const struct message *eds = lint_message(message, "eds_cluster_config");

	if (eds)
		look_at_source(look, message, eds, "eds_config");
	else
		look_at_source(look, message, message, "config_source");
}

/* --- grpc-cluster --------------------------------------------------------------------------- */

static void look_at_cluster(struct lint_look *look, const struct message *cluster)
{
	static const char *const policies[] = {"ROUND_ROBIN", "LEAST_REQUEST", "RING_HASH"};
	const struct message *custom = lint_message(cluster, "cluster_type");
	const struct message *config = lint_message(custom, "typed_config");
	bool is_known = lint_field(cluster, "load_balancing_policy") || custom;

	if (custom ? !config || strcmp(config->type->full_name, AGGREGATE) != 0
		   : !lint_is_enum(cluster, "type", "EDS") &&
				!lint_is_enum(cluster, "type", "LOGICAL_DNS"))
		lint_say(look, cluster, custom ? "cluster_type" : "type",
			"gRPC libraries know EDS, LOGICAL_DNS and the aggregate cluster");
	for (size_t i = 0; !is_known && i < sizeof(policies) / sizeof(policies[0]); i++)
		is_known = lint_is_enum(cluster, "lb_policy", policies[i]);
	if (!is_known)
		lint_say(look, cluster, "lb_policy",
			"gRPC libraries know ROUND_ROBIN, LEAST_REQUEST and RING_HASH; for others "
			"there is load_balancing_policy");
}

/* --- grpc-http-filter ----------------------------------------------------------------------- */

static bool is_known_filter(const struct message *config)
{
	static const char *const known[] = {"envoy.extensions.filters.http.router.v3.Router",
		"envoy.extensions.filters.http.fault.v3.HTTPFault",
		"envoy.extensions.filters.http.rbac.v3.RBAC",
		"envoy.extensions.filters.http.stateful_session.v3.StatefulSession",
		"envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(config->type->full_name, known[i]) == 0)
			return true;
	/* Somebody's own may be registered with the library. */
	return strncmp(config->type->full_name, "envoy.", strlen("envoy.")) != 0;
}

static void look_at_filters(struct lint_look *look, const struct message *manager)
{
	const struct message_field *filters = lint_field(manager, "http_filters");

	for (uint32_t i = 0; filters && i < filters->count; i++) {
		const struct message *filter = filters->items[i].message;
		const struct message *config = lint_message(filter, "typed_config");

		if (config && !is_known_filter(config) && !lint_flag(filter, "is_optional", false))
			lint_say_item(look, manager, "http_filters", i,
				"gRPC libraries don't know the filter \"%.*s\"; with is_optional: "
				"true they pass it by",
				SLICE_ARG(lint_text(filter, "name")));
	}
}

static const char *const sources[] = {"envoy.config.cluster.v3.Cluster",
	"envoy.extensions.filters.network.http_connection_manager.v3.Rds", NULL};
static const char *const clusters[] = {"envoy.config.cluster.v3.Cluster", NULL};
static const char *const managers[] = {
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", NULL};

const struct lint lint_grpc[] = {
	{.rule = "grpc-config-source",
		.level = DIAG_ERROR,
		.profile = LINT_PROFILE_GRPC,
		.types = sources,
		.look = look_for_sources},
	{.rule = "grpc-cluster",
		.level = DIAG_ERROR,
		.profile = LINT_PROFILE_GRPC,
		.types = clusters,
		.look = look_at_cluster},
	{.rule = "grpc-http-filter",
		.level = DIAG_ERROR,
		.profile = LINT_PROFILE_GRPC,
		.types = managers,
		.look = look_at_filters},
	{0},
};
