/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Open config sources from files to what each transport is sent. */
#include "compile_fixture.h"

#include "message/wire_read.h"
#include "message/yaml_write.h"

#define HCM                                                                                        \
	"\"@type\": type.googleapis.com/envoy.extensions.filters.network."                         \
	"http_connection_manager.v3.HttpConnectionManager"
#define TLS                                                                                        \
	"\"@type\": "                                                                              \
	"type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"

static void put_path(void *ctx, enum xds_type type, struct slice name, struct buf *out)
{
	(void)ctx;
	buf_printf(out, "/%s/%.*s", xds_type_row(type)->stem, SLICE_ARG(name));
}

/* The message that a transport is sent, as YAML. */
static const char *sent(
	struct fixture *f, const struct resource *resource, enum source_transport transport)
{
	const struct wire_read_options read = {.schema = f->schema, .expand_any = true};
	const struct yaml_write_options write = {.schema = f->schema};
	const struct schema_message *type =
		schema_find_message(f->schema, slice_of(xds_type_row(resource->type)->message));
	struct arena *arena = arena_new(0);
	struct wire_read_error problem;
	struct buf body = BUF_INIT;
	struct message *message;
	const char *text;

	if (transport == SOURCE_FILES)
		resource_file_body(resource, put_path, NULL, &body);
	else
		buf_append_slice(&body, resource_body(resource, transport));
	assert_int_equal(wire_read(&read, type, buf_slice(&body), arena, &message, &problem), 0);
	buf_reset(&f->text);
	assert_int_equal(yaml_write(&write, message, &f->text, &text), 0);
	buf_fini(&body);
	arena_free(arena);
	return buf_cstr(&f->text);
}

static void assert_sent(struct fixture *f, const struct resource *resource,
	enum source_transport transport, const char *part)
{
	assert_non_null(resource);
	if (!strstr(sent(f, resource, transport), part))
		fail_msg(
			"transport %d: wanted:\n%s\ngot:\n%s", transport, part, buf_cstr(&f->text));
}

static void assert_not_sent(struct fixture *f, const struct resource *resource,
	enum source_transport transport, const char *part)
{
	if (strstr(sent(f, resource, transport), part))
		fail_msg("transport %d: not wanted:\n%s\ngot:\n%s", transport, part,
			buf_cstr(&f->text));
}

static void write_tree(struct fixture *f)
{
	scratch_write(&f->scratch, "groups.yaml", "groups:\n- {name: edge, layers: [.]}\n");
	scratch_write(&f->scratch, "listeners/l.yaml", "name: http\n");
	scratch_write(&f->scratch, "clusters/plain.yaml", "name: plain\n");
	scratch_write(&f->scratch, "clusters/a.yaml",
		"name: a\ntype: EDS\n"
		"eds_cluster_config: {eds_config: {self: {}, initial_fetch_timeout: 3s}}\n");
	scratch_write(&f->scratch, "clusters/b.yaml",
		"name: b\ntype: EDS\n"
		"eds_cluster_config: {eds_config: {}, service_name: b/1}\n"
		"transport_socket:\n"
		"  name: tls\n"
		"  typed_config:\n"
		"    " TLS "\n"
		"    common_tls_context:\n"
		"      tls_certificate_sds_secret_configs: [{name: cert, sds_config: {self: {}}}]\n"
		"      validation_context_sds_secret_config: {name: ca, sds_config: {ads: {}}}\n"
		"lrs_server: {self: {}}\n");
}

static void test_presets(void **state)
{
	struct fixture f;
	const struct resource *a, *b;

	open_tree(&f, *state);
	write_tree(&f);
	run(&f);
	assert_string_equal(diags(&f), "");
	a = find(&f, "edge", XDS_CDS, "a");
	b = find(&f, "edge", XDS_CDS, "b");
	assert_null(find(&f, "edge", XDS_CDS, "plain")->binding);
	/* Not the source that leads somewhere, and no lrs_server. */
	assert_int_equal(a->open->places_count, 1);
	assert_int_equal(b->open->places_count, 2);

	assert_sent(&f, a, SOURCE_ADS,
		"  eds_config:\n    ads: {}\n    initial_fetch_timeout: \"3s\"\n"
		"    resource_api_version: \"V3\"\n");
	assert_sent(&f, a, SOURCE_REST, "    self: {}\n    resource_api_version: \"V3\"\n");
	assert_sent(&f, a, SOURCE_GRPC, "    self: {}\n    resource_api_version: \"V3\"\n");
	assert_sent(&f, a, SOURCE_FILES,
		"    initial_fetch_timeout: \"3s\"\n    resource_api_version: \"V3\"\n"
		"    path_config_source:\n      path: /eds/a\n");
	assert_sent(&f, b, SOURCE_FILES, "path: /eds/b/1\n");
	assert_sent(&f, b, SOURCE_FILES, "path: /sds/cert\n");
	assert_sent(&f, b, SOURCE_FILES, "name: ca\n        sds_config:\n          ads: {}\n");
	for (int transport = 0; transport < SOURCE_TRANSPORTS; transport++)
		assert_sent(&f, b, (enum source_transport)transport, "lrs_server:\n  self: {}\n");
	close_tree(&f);
}

/* `{}` is another way to write `self: {}`; what leads somewhere is another version. */
static void test_one_form(void **state)
{
	static const char *const forms[] = {"{self: {}}", "{}",
		"{self: {transport_api_version: V3}}", "{resource_api_version: V3}",
		"{self: {}, resource_api_version: AUTO}", "{ads: {}}"};
	struct digest first;
	struct fixture f;

	open_tree(&f, *state);
	write_tree(&f);
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		char text[200];
		bool is_open = strstr(forms[i], "ads") == NULL;
		const struct resource *a;

		snprintf(text, sizeof(text),
			"name: a\ntype: EDS\neds_cluster_config: {eds_config: %s}\n", forms[i]);
		scratch_write(&f.scratch, "clusters/a.yaml", text);
		run_hint(&f, "clusters/a.yaml");
		assert_string_equal(diags(&f), "");
		a = find(&f, "edge", XDS_CDS, "a");
		if (i == 0)
			first = a->digest;
		assert_int_equal(digest_equal(&first, &a->digest), is_open);
		assert_int_equal(a->binding != NULL, is_open);
	}
	close_tree(&f);
}

static void test_groups_yaml(void **state)
{
	struct fixture f;
	const struct resource *b;

	open_tree(&f, *state);
	write_tree(&f);
	scratch_write(&f.scratch, "groups.yaml",
		"config_sources:\n"
		"  rest: {api_config_source: {cluster_names: [up], refresh_delay: 1s}}\n"
		"  grpc: {api_config_source: {grpc_services: [{envoy_grpc: {cluster_name: up}}]},\n"
		"    SDS: {self: {}}}\n"
		"  files: {SDS: {ads: {}, initial_fetch_timeout: 9s}}\n"
		"groups: [{name: edge, layers: [.]}]\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	b = find(&f, "edge", XDS_CDS, "b");
	/* S.129: the versions are explicit, and so is the type. */
	assert_sent(&f, b, SOURCE_REST,
		"    api_config_source:\n      api_type: REST\n      cluster_names:\n      - up\n"
		"      refresh_delay: \"1s\"\n      transport_api_version: \"V3\"\n"
		"    resource_api_version: \"V3\"\n");
	assert_sent(&f, b, SOURCE_GRPC, "api_type: GRPC\n");
	assert_sent(&f, b, SOURCE_DELTA_GRPC, "api_type: DELTA_GRPC\n");
	assert_sent(
		&f, b, SOURCE_DELTA_GRPC, "name: cert\n        sds_config:\n          self: {}\n");
	assert_sent(&f, b, SOURCE_ADS, "    ads: {}\n");
	assert_sent(&f, b, SOURCE_FILES, "path: /eds/b/1\n");
	assert_sent(&f, b, SOURCE_FILES,
		"        sds_config:\n          ads: {}\n          initial_fetch_timeout: "
		"\"9s\"\n");
	/* The place's own timeout stays. */
	assert_sent(
		&f, find(&f, "edge", XDS_CDS, "a"), SOURCE_REST, "initial_fetch_timeout: \"3s\"");
	close_tree(&f);
}

/* An edit of config_sources changes the versions of what has that kind of open source, and nothing
 * else; nothing is read again. */
static void test_an_edit_of_config_sources(void **state)
{
	static const char *const texts[] = {
		"config_sources: {files: {SDS: {ads: {}}}}\ngroups: [{name: edge, layers: [.]}]\n",
		"groups: [{name: edge, layers: [.]}]\n"};
	const struct resource *a, *b, *plain;
	struct resource_set *listeners;
	struct digest old_a, old_b;
	struct fixture f;

	open_tree(&f, *state);
	write_tree(&f);
	run(&f);
	settle(&f);
	a = find(&f, "edge", XDS_CDS, "a");
	plain = find(&f, "edge", XDS_CDS, "plain");
	old_a = a->digest;
	old_b = find(&f, "edge", XDS_CDS, "b")->digest;
	listeners = group(&f, "edge")->target->sets[XDS_LDS];
	for (size_t i = 0; i < 2; i++) {
		scratch_write(&f.scratch, "groups.yaml", texts[i]);
		run_hint(&f, "groups.yaml");
		assert_int_equal(f.build->resources_encoded, 0);
		b = find(&f, "edge", XDS_CDS, "b");
		assert_int_equal(digest_equal(&b->digest, &old_b), i == 1);
		assert_true(digest_equal(&find(&f, "edge", XDS_CDS, "a")->digest, &old_a));
		assert_ptr_equal(find(&f, "edge", XDS_CDS, "plain"), plain);
		assert_ptr_equal(group(&f, "edge")->target->sets[XDS_LDS], listeners);
		assert_true(group(&f, "edge")->is_changed);
	}
	/* The same again: the very same snapshot. */
	b = find(&f, "edge", XDS_CDS, "b");
	scratch_write(
		&f.scratch, "groups.yaml", "# a comment\ngroups: [{name: edge, layers: [.]}]\n");
	run_hint(&f, "groups.yaml");
	assert_ptr_equal(find(&f, "edge", XDS_CDS, "b"), b);
	assert_false(group(&f, "edge")->is_changed);
	close_tree(&f);
}

/* Groups with the same sources share what is bound to them; others only what has none. */
static void test_groups(void **state)
{
	const struct resource *one, *two, *other;
	struct fixture f;

	open_tree(&f, *state);
	write_tree(&f);
	scratch_mkdir(&f.scratch, "more/clusters");
	scratch_write(&f.scratch, "more/clusters/c.yaml",
		"name: c\ntype: EDS\neds_cluster_config: {eds_config: {}}\n");
	scratch_write(&f.scratch, "groups.yaml",
		"config_sources: {rest: {ads: {}}}\n"
		"groups:\n"
		"- {name: one, match: {cluster: one}, layers: [.]}\n"
		"- {name: two, match: {cluster: two}, layers: [., more],\n"
		"   config_sources: {rest: {EDS: {ads: {}}, SDS: {ads: {}}, ads: {}}}}\n"
		"- {name: other, layers: [.], config_sources: {rest: {self: {}}}}\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	one = find(&f, "one", XDS_CDS, "a");
	two = find(&f, "two", XDS_CDS, "a");
	other = find(&f, "other", XDS_CDS, "a");
	assert_ptr_equal(one, two);
	assert_ptr_not_equal(one, other);
	assert_false(digest_equal(&one->digest, &other->digest));
	assert_ptr_equal(one->body.data, other->body.data);
	assert_ptr_equal(find(&f, "one", XDS_CDS, "plain"), find(&f, "other", XDS_CDS, "plain"));
	assert_sent(&f, one, SOURCE_REST, "ads: {}");
	assert_sent(&f, other, SOURCE_REST, "self: {}");
	/* An edit reaches all of them. */
	scratch_write(&f.scratch, "clusters/a.yaml",
		"name: a\ntype: EDS\neds_cluster_config: {eds_config: {}, service_name: new}\n");
	run_hint(&f, "clusters/a.yaml");
	assert_int_equal(f.build->resources_encoded, 1);
	assert_sent(&f, find(&f, "one", XDS_CDS, "a"), SOURCE_FILES, "/eds/new");
	assert_sent(&f, find(&f, "other", XDS_CDS, "a"), SOURCE_FILES, "/eds/new");
	assert_ptr_equal(find(&f, "one", XDS_CDS, "a"), find(&f, "two", XDS_CDS, "a"));
	close_tree(&f);
}

/* What is put together of a route configuration and its virtual hosts stays open. */
static void test_virtual_hosts(void **state)
{
	static const char on_demand[] =
		"typed_per_filter_config:\n"
		"  od:\n"
		"    \"@type\": type.googleapis.com/envoy.extensions.filters.http.on_demand.v3."
		"PerRouteConfig\n"
		"    odcds: {source: {self: {}}, timeout: 5s}\n";
	const struct resource *routes;
	struct fixture f;
	char text[600];

	open_tree(&f, *state);
	write_tree(&f);
	scratch_mkdir(&f.scratch, "routes");
	scratch_mkdir(&f.scratch, "virtual-hosts/edge");
	snprintf(text, sizeof(text), "name: edge\nvirtual_hosts:\n- {name: x, domains: [x]}\n%s",
		on_demand);
	scratch_write(&f.scratch, "routes/edge.yaml", text);
	for (int i = 0; i < 3; i++) {
		char path[64];

		snprintf(path, sizeof(path), "virtual-hosts/edge/h%d.yaml", i);
		snprintf(text, sizeof(text), "name: h%d\ndomains: [h%d]\n%s", i, i,
			i == 1 ? "" : on_demand);
		scratch_write(&f.scratch, path, text);
	}
	run(&f);
	assert_string_equal(diags(&f), "");
	routes = find(&f, "edge", XDS_RDS, "edge");
	assert_int_equal(routes->open->places_count, 3);
	assert_true(open_body_fits(routes->open, routes->body.length));
	assert_sent(&f, routes, SOURCE_FILES, "path: /cds/");
	assert_not_sent(&f, routes, SOURCE_FILES, "self");
	assert_sent(&f, routes, SOURCE_ADS, "ads: {}");
	assert_not_sent(&f, routes, SOURCE_ADS, "self");
	assert_sent(&f, routes, SOURCE_ADS, "name: \"h2\"\n");
	assert_sent(&f, routes, SOURCE_REST, "self: {}");
	close_tree(&f);
}

static void test_what_leads_where(void **state)
{
	const struct resource *listener;
	struct fixture f;

	open_tree(&f, *state);
	write_tree(&f);
	scratch_mkdir(&f.scratch, "routes");
	scratch_write(&f.scratch, "routes/r.yaml", "name: r\nvhds: {config_source: {}}\n");
	scratch_write(&f.scratch, "listeners/l.yaml",
		"name: http\n"
		"listener_filters: [{name: lf, config_discovery: {config_source: {}, type_urls: "
		"[a.b/c]}}]\n"
		"filter_chains:\n"
		"- filters:\n"
		"  - name: hcm\n"
		"    typed_config:\n"
		"      " HCM "\n"
		"      stat_prefix: x\n"
		"      scoped_routes:\n"
		"        name: s\n"
		"        scope_key_builder: {fragments: [{header_value_extractor: {name: h, index: "
		"0}}]}\n"
		"        rds_config_source: {}\n"
		"        scoped_rds: {scoped_rds_config_source: {}}\n"
		"      http_filters: [{name: hf, config_discovery: {config_source: {}, type_urls: "
		"[a.b/c]}}]\n");
	run(&f);
	listener = find(&f, "edge", XDS_LDS, "http");
	assert_int_equal(listener->open->places_count, 4);
	assert_sent(&f, listener, SOURCE_FILES, "path: /ecds/lf");
	assert_sent(&f, listener, SOURCE_FILES, "path: /ecds/hf");
	assert_sent(&f, listener, SOURCE_FILES, "path: /srds/\n");
	/* Which one of the scopes' routes? */
	assert_sent(&f, listener, SOURCE_FILES, "rds_config_source:\n          self: {}\n");
	assert_sent(&f, find(&f, "edge", XDS_RDS, "r"), SOURCE_FILES, "self: {}\n");
	assert_sent(&f, find(&f, "edge", XDS_RDS, "r"), SOURCE_ADS, "ads: {}\n");
	close_tree(&f);
}

/* A warning where the transport is used, a note where not; once for all groups alike. */
static void test_open_ends_are_told(void **state)
{
	struct fixture f;
	struct compile_options options;

	open_tree(&f, *state);
	write_tree(&f);
	scratch_write(&f.scratch, "groups.yaml",
		"groups:\n- {name: one, match: {cluster: one}, layers: [.]}\n"
		"- {name: two, layers: [.]}\n");
	options = options_of(&f);
	options.has_rest = true;
	restart(&f, &options);
	run(&f);
	assert_said(
		&f, "groups.yaml:2:10: warning: open config sources (EDS, SDS) of group \"one\"");
	assert_null(strstr(diags(&f), "two"));
	assert_null(strstr(diags(&f), "streams"));
	assert_int_equal(group(&f, "one")->warnings, 1);
	/* It is meant. */
	scratch_write(&f.scratch, "groups.yaml",
		"config_sources: {rest: {EDS: {self: {}}}}\n"
		"groups:\n- {name: one, match: {cluster: one}, layers: [.]}\n"
		"- {name: two, layers: [.]}\n");
	run_hint(&f, "groups.yaml");
	assert_said(&f, "open config sources (SDS) of group \"one\"");
	/* The last one of its kind goes. */
	scratch_remove(&f.scratch, "clusters/b.yaml");
	run(&f);
	assert_string_equal(diags(&f), "");
	options.verbose = true;
	options.has_rest = false;
	restart(&f, &options);
	run(&f);
	assert_said(
		&f, "note: open config sources (EDS) of group \"one\" lead nowhere for streams");
	close_tree(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_presets),
		cmocka_unit_test(test_one_form),
		cmocka_unit_test(test_groups_yaml),
		cmocka_unit_test(test_an_edit_of_config_sources),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_virtual_hosts),
		cmocka_unit_test(test_what_leads_where),
		cmocka_unit_test(test_open_ends_are_told),
	};

	return cmocka_run_group_tests_name("compile_sources", tests, setup_schema, teardown_schema);
}
