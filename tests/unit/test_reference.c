/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of references against the schema: a newer API shows here what is new. */
#include "compile_dump.h"

#include "lint/reference.h"

static const struct reference *find_row(const struct schema_field *field)
{
	for (const struct reference *row = references; row->message; row++) {
		if (strcmp(row->message, field->parent->full_name) == 0 &&
			strcmp(row->field, field->name) == 0)
			return row;
	}
	return NULL;
}

/* Every text field that speaks of clusters is in the table, as a reference or as none; and so is
 * every place of a config source. */
static void test_is_complete(void **state)
{
	size_t count, seen = 0;
	const struct schema_message *const *types = schema_messages(*state, &count);

	for (size_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < types[i]->fields_count; k++) {
			const struct schema_field *field = &types[i]->fields[k];

			/* What the admin interface prints is no configuration. */
			if (field->type != SCHEMA_STRING || !strstr(field->name, "cluster") ||
				strncmp(types[i]->full_name, "envoy.admin.", 12) == 0)
				continue;
			seen++;
			if (!find_row(field))
				fail_msg("%s.%s: is it a reference? Give it a row in "
					 "src/lint/reference.c",
					types[i]->full_name, field->name);
		}
	}
	assert_true(seen > 40);
}

/* A row's field is there when its message is, and it can hold a name. */
static void test_is_true(void **state)
{
	size_t found = 0;

	for (const struct reference *row = references; row->message; row++) {
		const struct schema_message *type =
			schema_find_message(*state, slice_of(row->message));
		const struct schema_field *field;

		assert_true(row->source && row->source[0]);
		if (!type)
			continue;
		found++;
		field = schema_field_by_name(type, slice_of(row->field));
		if (!field)
			fail_msg("%s has no field %s", row->message, row->field);
		if (row->meaning == REFERENCE_NAME)
			assert_int_equal(field->type, SCHEMA_STRING);
		assert_ptr_equal(find_row(field), row);
	}
	assert_true(found > 50);
}

/* What points to a discovery service names a resource in a field that the table has: this list is
 * what is known about it. */
static void test_config_sources(void **state)
{
	static const char *const known[] = {
		/* references: by a field of the same message, or of the one that holds it */
		"envoy.config.cluster.v3.Cluster.EdsClusterConfig",
		"envoy.config.core.v3.ExtensionConfigSource",
		"envoy.extensions.filters.network.http_connection_manager.v3.Rds",
		"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes",
		"envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig",
		/* whole sets, or names that only a request has */
		"envoy.config.route.v3.Vhds",
		"envoy.extensions.filters.http.on_demand.v3.OnDemandCds",
		"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds",
		"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand",
		"envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config",
		/* types that are no resources of a tree */
		"envoy.config.listener.v3.Listener.FcdsConfig",
		"envoy.extensions.access_loggers.filters.process_ratelimit.v3.DynamicTokenBucket",
		"envoy.extensions.clusters.aggregate.v3.AggregateClusterResource",
		"envoy.extensions.filters.network.generic_proxy.v3.GenericRds",
		"envoy.config.cluster.v3.Cluster",
		"envoy.config.endpoint.v3.LedsClusterLocalityConfig",
		"envoy.extensions.filters.network.dubbo_proxy.v3.Drds",
		"envoy.extensions.filters.network.thrift_proxy.v3.Trds",
		/* the bootstrap */
		"envoy.config.bootstrap.v3.Bootstrap",
		"envoy.config.bootstrap.v3.Bootstrap.DynamicResources",
		"envoy.config.bootstrap.v3.RuntimeLayer.RtdsLayer",
	};
	size_t count;
	const struct schema_message *const *types = schema_messages(*state, &count);

	for (size_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < types[i]->fields_count; k++) {
			const struct schema_field *field = &types[i]->fields[k];
			bool is_known = false;

			if (!field->message || strcmp(field->message->full_name,
						       "envoy.config.core.v3.ConfigSource") != 0)
				continue;
			for (size_t n = 0; n < sizeof(known) / sizeof(*known); n++)
				is_known = is_known || strcmp(known[n], types[i]->full_name) == 0;
			if (!is_known)
				fail_msg("%s.%s: what does it ask for?", types[i]->full_name,
					field->name);
		}
	}
}

static int setup(void **state)
{
	*state = dump_load_schema();
	return 0;
}

static int teardown(void **state)
{
	schema_free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_complete),
		cmocka_unit_test(test_is_true),
		cmocka_unit_test(test_config_sources),
	};

	return cmocka_run_group_tests_name("reference", tests, setup, teardown);
}
