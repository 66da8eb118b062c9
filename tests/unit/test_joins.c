/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions about whole groups: single cases, and random trees against a slow model that looks at
 * every group by itself. SEED chooses others.
 */
#include "compile_fixture.h"

#include "compile/joins_index.h"

#define LAYERS 5
#define NAMES  4
#define TREES  25
#define EDITS  6

static void open_thorough(struct fixture *f, struct schema *schema)
{
	struct compile_options options;

	open_tree(f, schema);
	options = options_of(f);
	options.is_thorough = true;
	restart(f, &options);
}

#define LISTENER                                                                                   \
	"name: l\naddress: {socket_address: {address: 0.0.0.0, port_value: 1}}\n"                  \
	"filter_chains:\n- filters:\n  - name: tcp\n    typed_config:\n"                           \
	"      \"@type\": "                                                                        \
	"type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy\n"             \
	"      stat_prefix: x\n      cluster: %s\n"

static void write_listener(struct fixture *f, const char *path, const char *cluster)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, LISTENER, cluster);
	scratch_write(&f->scratch, path, buf_cstr(&text));
	buf_fini(&text);
}

/* What has errors is not missing, and who may hide in a file that cannot be read is not either. */
static void test_broken(void **state)
{
	struct fixture f;

	open_thorough(&f, *state);
	write_listener(&f, "listeners/l.yaml", "web");
	scratch_write(
		&f.scratch, "clusters/c.yaml", "- {name: web, no_such_field: 1}\n- {name: a}\n");
	run(&f);
	assert_said(&f, "no_such_field");
	assert_null(strstr(diags(&f), "missing-cluster"));
	/* Nor is there anything unused to speak of. */
	scratch_write(&f.scratch, "endpoints/e.yaml", "cluster_name: left-over\n");
	run(&f);
	assert_null(strstr(diags(&f), "unused-endpoints"));

	scratch_write(&f.scratch, "clusters/c.yaml", "- {name: a\n");
	run(&f);
	assert_null(strstr(diags(&f), "missing-cluster"));

	scratch_write(&f.scratch, "clusters/c.yaml", "- {name: a}\n- {name: wep}\n");
	run(&f);
	assert_said(&f, "listeners/l.yaml:9:7: warning: "
			"filter_chains[0].filters[0].typed_config.cluster: there is no cluster "
			"\"web\", did you mean \"wep\"? [missing-cluster]\n");
	assert_said(&f, "unused-endpoints");
	close_tree(&f);
}

/* Not thorough: nothing is asked. */
static void test_serve(void **state)
{
	struct fixture f;

	open_tree(&f, *state);
	write_listener(&f, "listeners/l.yaml", "web");
	scratch_write(&f.scratch, "clusters/c.yaml", "name: a\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	close_tree(&f);
}

static void test_silence(void **state)
{
	struct fixture f;

	open_thorough(&f, *state);
	scratch_write(&f.scratch, "groups.yaml",
		"groups:\n- {name: a, match: {id: a}, layers: [.], ignore: [missing-cluster]}\n"
		"- {name: b, layers: [.]}\n");
	write_listener(&f, "listeners/l.yaml", "web");
	scratch_write(&f.scratch, "clusters/c.yaml", "name: other\n");
	run(&f);
	assert_said(&f, "there is no cluster \"web\" (group \"b\") [missing-cluster]");
	assert_int_equal(group(&f, "a")->warnings, 0);
	assert_int_equal(group(&f, "b")->warnings, 1);
	write_listener(&f, "listeners/l.yaml", "web # xdspub: ignore missing-cluster");
	scratch_write(&f.scratch, "groups.yaml", "groups: [{name: b, layers: [.]}]\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	assert_int_equal(group(&f, "b")->warnings, 0);
	close_tree(&f);
}

/* What is an error for one group holds that one. */
static void test_held(void **state)
{
	struct fixture f;

	open_thorough(&f, *state);
	scratch_write(&f.scratch, "groups.yaml",
		"groups:\n"
		"- {name: a, match: {id: a}, layers: [.], external: {endpoints: []}}\n"
		"- {name: b, layers: [.]}\n");
	write_listener(&f, "listeners/l.yaml", "web");
	scratch_write(&f.scratch, "clusters/c.yaml",
		"name: web\ntype: EDS\neds_cluster_config: {eds_config: "
		"{path_config_source: {path: /x/eds/web/eds.yaml}, resource_api_version: V3}}\n");
	run(&f);
	assert_said(&f, "clusters/c.yaml:3:1: error: eds_cluster_config: there is no load "
			"assignment \"web\" (group \"a\") [missing-endpoints]\n");
	assert_true(group(&f, "a")->is_held);
	assert_non_null(strstr(group(&f, "a")->held_reason, "missing-endpoints"));
	assert_false(group(&f, "b")->is_held);
	close_tree(&f);
}

/* --- the model ------------------------------------------------------------------------------- */

enum saying {
	SAYS_NOTHING,
	SAYS_DELETE,
	SAYS_THIS
};

/* Types in an order in which each names the next one. */
static const enum xds_type types[] = {XDS_LDS, XDS_RDS, XDS_CDS, XDS_EDS};
#define TYPES 4

struct model_item {
	enum saying saying;
	unsigned names; /* which resource of the next type it refers to */
	bool is_used;
};

struct model_group {
	unsigned layers[LAYERS];
	unsigned count;
};

struct model {
	uint64_t state;
	struct model_item items[LAYERS][TYPES][NAMES];
	struct model_group groups[LAYERS];
	unsigned groups_count;
};

static unsigned pick(struct model *model, unsigned below)
{
	model->state = model->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(model->state >> 33) % below;
}

static const char *path_of(unsigned layer, unsigned type, unsigned name, char out[static 100])
{
	snprintf(out, 100, "y%u/%s/n%u.yaml", layer, xds_type_row(types[type])->folder, name);
	return out;
}

#define ADS "{ads: {}, resource_api_version: V3}"

static void write_item(const struct fixture *f, const struct model *model, unsigned layer,
	unsigned type, unsigned name)
{
	const struct model_item *item = &model->items[layer][type][name];
	struct buf text = BUF_INIT;
	char path[100];

	if (item->saying == SAYS_NOTHING)
		buf_puts(&text, "[]\n");
	else if (item->saying == SAYS_DELETE)
		buf_printf(&text, "!delete {name: n%u}\n", name);
	else if (types[type] == XDS_LDS)
		buf_printf(&text,
			"name: n%u\naddress: {socket_address: {address: 0.0.0.0, port_value: 1}}\n"
			"filter_chains: [{filters: [{name: h, typed_config: {\"@type\": "
			"type.googleapis.com/envoy.extensions.filters.network."
			"http_connection_manager.v3.HttpConnectionManager, stat_prefix: x, rds: "
			"{route_config_name: n%u, config_source: " ADS "}}}]}]\n",
			name, item->names);
	else if (types[type] == XDS_RDS)
		buf_printf(&text,
			"name: n%u\nvirtual_hosts: [{name: a, domains: ['*'], routes: [{match: "
			"{prefix: /}, route: {cluster: n%u}}]}]\n",
			name, item->names);
	else if (types[type] == XDS_CDS)
		buf_printf(&text,
			"name: n%u\ntype: EDS\neds_cluster_config: {service_name: n%u, "
			"eds_config: " ADS "}\n",
			name, item->names);
	else
		buf_printf(&text, "cluster_name: n%u\n", name);
	scratch_write(&f->scratch, path_of(layer, type, name, path), buf_cstr(&text));
	buf_fini(&text);
}

static void change_item(struct model *model, unsigned layer, unsigned type, unsigned name)
{
	struct model_item *item = &model->items[layer][type][name];
	unsigned number = pick(model, 8);

	item->saying = number < 4 ? SAYS_NOTHING : number == 4 ? SAYS_DELETE : SAYS_THIS;
	item->names = pick(model, NAMES);
}

static void write_groups(const struct fixture *f, struct model *model)
{
	struct buf text = BUF_INIT;

	buf_puts(&text, "groups:\n");
	model->groups_count = 1 + pick(model, LAYERS);
	for (unsigned i = 0; i < model->groups_count; i++) {
		struct model_group *group = &model->groups[i];

		group->count = 0;
		for (unsigned layer = 0; layer < LAYERS; layer++) {
			if (pick(model, 3) || (layer + 1 == LAYERS && group->count == 0))
				group->layers[group->count++] = layer;
		}
		buf_printf(&text, "- {name: g%u, match: {id: g%u}, allow_empty: true, layers: [", i,
			i);
		for (unsigned k = 0; k < group->count; k++)
			buf_printf(&text, "%sy%u", k ? ", " : "", group->layers[k]);
		buf_puts(&text, "]}\n");
	}
	scratch_write(&f->scratch, "groups.yaml", buf_cstr(&text));
	buf_fini(&text);
}

/* The layer whose item decides, of the first `count` layers of a group, or -1. */
static int decide(const struct model *model, const struct model_group *group, unsigned count,
	unsigned type, unsigned name)
{
	for (unsigned i = count; i > 0; i--) {
		if (model->items[group->layers[i - 1]][type][name].saying != SAYS_NOTHING)
			return (int)group->layers[i - 1];
	}
	return -1;
}

static bool has(const struct model *model, const struct model_group *group, unsigned count,
	unsigned type, unsigned name)
{
	int layer = decide(model, group, count, type, name);

	return layer >= 0 && model->items[layer][type][name].saying == SAYS_THIS;
}

static unsigned count_of(const struct model *model, const struct model_group *group, unsigned type)
{
	unsigned count = 0;

	for (unsigned name = 0; name < NAMES; name++)
		count += has(model, group, group->count, type, name);
	return count;
}

/* In every group and every prefix of its layers: what is named is used. */
static void mark_used(struct model *model, const struct model_group *group, unsigned count)
{
	for (unsigned type = 0; type + 1 < TYPES; type++) {
		for (unsigned name = 0; name < NAMES; name++) {
			int layer = decide(model, group, count, type, name);
			unsigned names;

			if (!has(model, group, count, type, name))
				continue;
			names = model->items[layer][type][name].names;
			if (has(model, group, count, type + 1, names))
				model->items[decide(model, group, count, type + 1, names)][type + 1]
					    [names]
						    .is_used = true;
		}
	}
}

static bool is_missing(const struct model *model, unsigned layer, unsigned type, unsigned name)
{
	unsigned names = model->items[layer][type][name].names;

	for (unsigned i = 0; i < model->groups_count; i++) {
		const struct model_group *group = &model->groups[i];

		/* A group without clusters may get them from elsewhere. */
		if (types[type] == XDS_RDS && count_of(model, group, type + 1) == 0)
			continue;
		if (decide(model, group, group->count, type, name) == (int)layer &&
			!has(model, group, group->count, type + 1, names))
			return true;
	}
	return false;
}

static bool can_tell(const struct model *model, const struct model_group *group, unsigned type)
{
	if (types[type] == XDS_EDS)
		return count_of(model, group, 2) > 0;
	return count_of(model, group, 0) > 0;
}

static bool is_unused(const struct model *model, unsigned layer, unsigned type, unsigned name)
{
	bool lives = false;

	for (unsigned i = 0; i < model->groups_count; i++) {
		const struct model_group *group = &model->groups[i];

		if (decide(model, group, group->count, type, name) != (int)layer)
			continue;
		lives = true;
		if (!can_tell(model, group, type))
			return false;
	}
	return lives && !model->items[layer][type][name].is_used;
}

static void write_wanted(struct model *model, struct buf *out)
{
	static const char *const missing[] = {
		"missing-route-config", "missing-cluster", "missing-endpoints"};
	static const char *const unused[] = {NULL, "unused-route-config", NULL, "unused-endpoints"};

	for (unsigned i = 0; i < LAYERS * TYPES * NAMES; i++)
		(&model->items[0][0][0])[i].is_used = false;
	for (unsigned i = 0; i < model->groups_count; i++) {
		for (unsigned count = 1; count <= model->groups[i].count; count++)
			mark_used(model, &model->groups[i], count);
	}
	for (unsigned layer = 0; layer < LAYERS; layer++) {
		for (unsigned i = 0; i < TYPES * NAMES; i++) {
			/* Folders in the order of their names: paths are sorted. */
			static const unsigned order[] = {2, 3, 0, 1};
			unsigned type = order[i / NAMES], name = i % NAMES;
			char path[100];

			if (model->items[layer][type][name].saying != SAYS_THIS)
				continue;
			path_of(layer, type, name, path);
			if (type + 1 < TYPES && is_missing(model, layer, type, name))
				buf_printf(out, "%s %s\n", path, missing[type]);
			if (unused[type] && is_unused(model, layer, type, name))
				buf_printf(out, "%s %s\n", path, unused[type]);
		}
	}
}

static void write_said(const struct fixture *f, struct buf *out)
{
	for (size_t i = 0; i < diag_list_count(f->build->diags); i++) {
		const struct diag *diag = diag_list_get(f->build->diags, i);

		if (strncmp(diag->rule, "missing-", 8) == 0 && strcmp(diag->rule, "missing-layer"))
			buf_printf(out, "%s %s\n", diag->path, diag->rule);
	}
	for (size_t i = 0; i < diag_list_count(f->build->diags); i++) {
		const struct diag *diag = diag_list_get(f->build->diags, i);

		if (strncmp(diag->rule, "unused-", 7) == 0 && strcmp(diag->rule, "unused-file"))
			buf_printf(out, "%s %s\n", diag->path, diag->rule);
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_lines(struct buf *text)
{
	char *copy = xstrdup(buf_cstr(text)), *save = NULL;
	char *lines[LAYERS * TYPES * NAMES * 4];
	size_t count = 0;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		lines[count++] = line;
	qsort(lines, count, sizeof(*lines), compare_lines);
	buf_reset(text);
	for (size_t i = 0; i < count; i++)
		buf_printf(text, "%s\n", lines[i]);
	free(copy);
}

/* How many different names the live items of a type refer to. */
static size_t count_names(const struct model *model, const struct model_group *group, unsigned type)
{
	bool is_named[NAMES] = {false};
	size_t count = 0;

	for (unsigned name = 0; name < NAMES; name++) {
		int layer = decide(model, group, group->count, type, name);

		if (has(model, group, group->count, type, name))
			is_named[model->items[layer][type][name].names] = true;
	}
	for (unsigned name = 0; name < NAMES; name++)
		count += is_named[name];
	return count;
}

static void compare_counts(const struct fixture *f, const struct model *model)
{
	const struct layering *layering = f->compiler->layering;
	struct joins_index index;

	joins_index_init(&index, f->compiler);
	for (unsigned i = 0; i < model->groups_count; i++) {
		for (unsigned type = 0; type + 1 < TYPES; type++) {
			struct slice first = {0};
			size_t count = joins_count(&index, layering->built[i]->stack,
				(enum fact_kind)types[type + 1], &first);

			assert_int_equal(count, count_names(model, &model->groups[i], type));
			assert_true(!count == !first.data);
		}
	}
	joins_index_fini(&index);
}

static size_t compare(struct fixture *f, struct model *model, uint64_t seed)
{
	struct buf wanted = BUF_INIT, said = BUF_INIT;
	size_t length;

	run(f);
	write_wanted(model, &wanted);
	write_said(f, &said);
	sort_lines(&wanted);
	sort_lines(&said);
	if (strcmp(buf_cstr(&wanted), buf_cstr(&said)) != 0) {
		fprintf(stderr, "--- wanted\n%s--- said\n%s", buf_cstr(&wanted), diags(f));
		fail_msg("SEED=%llu", (unsigned long long)seed);
	}
	compare_counts(f, model);
	length = wanted.length;
	buf_fini(&wanted);
	buf_fini(&said);
	return length;
}

static void test_random(void **state)
{
	uint64_t seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 10) : 1;
	size_t found = 0;

	for (unsigned tree = 0; tree < TREES; tree++, seed++) {
		struct model model = {.state = seed * 2654435761u};
		struct fixture f;

		open_thorough(&f, *state);
		for (unsigned layer = 0; layer < LAYERS; layer++) {
			for (unsigned i = 0; i < TYPES * NAMES; i++) {
				change_item(&model, layer, i / NAMES, i % NAMES);
				write_item(&f, &model, layer, i / NAMES, i % NAMES);
			}
		}
		write_groups(&f, &model);
		found += compare(&f, &model, seed);
		for (unsigned edit = 0; edit < EDITS; edit++) {
			unsigned layer = pick(&model, LAYERS), type = pick(&model, TYPES),
				 name = pick(&model, NAMES);

			change_item(&model, layer, type, name);
			write_item(&f, &model, layer, type, name);
			if (edit % 3 == 2)
				write_groups(&f, &model);
			found += compare(&f, &model, seed);
		}
		close_tree(&f);
	}
	assert_true(found > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_serve),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("joins", tests, setup_schema, teardown_schema);
}
