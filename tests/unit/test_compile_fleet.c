/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups per folder, shared sets, virtual hosts as files and parts, from run to run. */
#include "compile_fixture.h"

/* --- groups per folder ------------------------------------------------------------------- */

static const char groups_each[] = "groups:\n"
				  "- each: cars/*\n"
				  "  name: car-{1}\n"
				  "  match: {cluster: \"{1}\"}\n"
				  "  layers: [common, \"cars/{1}\"]\n"
				  "  at_least: {clusters: 2}\n";

/* The group that a selector gives a node of this cluster, or "none". */
static const char *select_group(const struct selector *selector, const char *cluster)
{
	json_t *node = json_pack("{ss}", "cluster", cluster);
	int index = selector_select(selector, node);

	json_decref(node);
	return index < 0 ? "none" : selector_group(selector, (size_t)index)->text;
}

static void groups_follow_folders(void **state)
{
	struct selector *selector;
	struct fixture f;
	struct snapshot *before;

	open_tree(&f, *state);
	scratch_write(&f.scratch, "groups.yaml", groups_each);
	scratch_write(&f.scratch, "common/clusters/c.yaml", "- name: a\n- name: b\n");
	scratch_write(&f.scratch, "cars/red/listeners/l.yaml", "name: red\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	assert_int_equal(f.build->groups_count, 1);
	settle(&f);
	before = snapshot_ref(group(&f, "car-red")->target);

	/* A folder appears: so does its group, and nothing is read or encoded twice. */
	scratch_write(&f.scratch, "cars/blue/listeners/l.yaml", "name: blue\n");
	run_hint(&f, "cars/blue");
	assert_string_equal(diags(&f), "");
	assert_int_equal(f.build->groups_count, 2);
	assert_int_equal(f.build->resources_encoded, 1);
	assert_true(group(&f, "car-blue")->is_changed);
	assert_false(group(&f, "car-red")->is_changed);
	assert_true(snapshot_same_content(before, group(&f, "car-red")->target));
	snapshot_unref(before);
	assert_string_equal(select_group(f.build->selector, "blue"), "car-blue");

	/* What the state folder keeps brings the same groups back without the tree. */
	assert_int_equal(compile_selector(f.build->groups_text, &selector), 0);
	assert_true(selector_equal(selector, f.build->selector));
	selector_unref(selector);

	/* A folder that is no candidate changes nothing. */
	scratch_write(&f.scratch, "cars/_draft/listeners/l.yaml", "name: draft\n");
	scratch_write(&f.scratch, "cars/clusters/c.yaml", "# for nobody\n");
	run(&f);
	assert_int_equal(f.build->groups_count, 2);
	scratch_remove(&f.scratch, "cars/clusters");
	run_hint(&f, "cars/clusters");

	/* A folder goes, and its group. */
	scratch_remove(&f.scratch, "cars/red");
	run_hint(&f, "cars/red");
	assert_string_equal(diags(&f), "");
	assert_int_equal(f.build->groups_count, 1);
	assert_string_equal(select_group(f.build->selector, "red"), "none");

	/* The last one does not: nothing at all is more likely a mistake. */
	scratch_remove(&f.scratch, "cars/blue");
	run_hint(&f, "cars/blue");
	assert_said(&f, "groups.yaml:2:9: error: each: cars/* matches no folder [each-empty]");
	assert_int_equal(f.build->groups_count, 1);
	assert_true(group(&f, "car-blue")->is_held);
	scratch_write(&f.scratch, "cars/blue/listeners/l.yaml", "name: blue\n");
	run_hint(&f, "cars/blue");
	assert_string_equal(diags(&f), "");
	assert_false(group(&f, "car-blue")->is_held);
	close_tree(&f);
}

static void a_floor_holds(void **state)
{
	struct fixture f;

	open_tree(&f, *state);
	scratch_write(&f.scratch, "groups.yaml", groups_each);
	scratch_write(&f.scratch, "common/clusters/c.yaml", "- name: a\n- name: b\n- name: c\n");
	scratch_write(&f.scratch, "cars/red/listeners/l.yaml", "name: red\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	scratch_write(&f.scratch, "common/clusters/c.yaml", "- name: a\n");
	run(&f);
	assert_true(group(&f, "car-red")->is_held);
	assert_said(&f, "groups.yaml:6:13: error: group \"car-red\" has 1 clusters where at_least "
			"says 2 [too-few]");
	scratch_write(&f.scratch, "common/clusters/c.yaml", "- name: a\n- name: d\n");
	run(&f);
	assert_false(group(&f, "car-red")->is_held);
	assert_non_null(find(&f, "car-red", XDS_CDS, "d"));
	close_tree(&f);
}

static struct resource_set *set_of(const struct fixture *f, const char *name, enum xds_type type)
{
	assert_non_null(group(f, name)->target);
	return group(f, name)->target->sets[type];
}

static void groups_share_sets(void **state)
{
	struct snapshot *before;
	struct fixture f;

	open_tree(&f, *state);
	scratch_write(&f.scratch, "groups.yaml", groups_each);
	scratch_write(&f.scratch, "common/clusters/c.yaml", "- name: a\n- name: b\n");
	scratch_write(&f.scratch, "cars/red/listeners/l.yaml", "name: red\n");
	scratch_write(&f.scratch, "cars/blue/listeners/l.yaml", "name: blue\n");
	scratch_write(&f.scratch, "cars/gold/clusters/c.yaml", "name: own\n");
	scratch_write(&f.scratch, "cars/gold/listeners/l.yaml", "name: gold\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	assert_ptr_equal(set_of(&f, "car-red", XDS_CDS), set_of(&f, "car-blue", XDS_CDS));
	assert_ptr_equal(set_of(&f, "car-red", XDS_EDS), set_of(&f, "car-gold", XDS_EDS));
	assert_int_equal(resource_set_count(set_of(&f, "car-gold", XDS_CDS)), 3);

	/* So they do after an edit of what is shared, and when one stops having its own. */
	scratch_write(&f.scratch, "common/clusters/c.yaml", "- name: a\n- name: d\n");
	run(&f);
	assert_int_equal(f.build->resources_encoded, 2);
	assert_ptr_equal(set_of(&f, "car-red", XDS_CDS), set_of(&f, "car-blue", XDS_CDS));
	assert_non_null(find(&f, "car-gold", XDS_CDS, "d"));
	assert_null(find(&f, "car-gold", XDS_CDS, "b"));
	scratch_write(&f.scratch, "cars/gold/clusters/c.yaml", "# none\n");
	run(&f);
	assert_ptr_equal(set_of(&f, "car-red", XDS_CDS), set_of(&f, "car-gold", XDS_CDS));
	scratch_write(&f.scratch, "cars/gold/clusters/c.yaml", "name: own\n");
	run(&f);
	assert_non_null(find(&f, "car-gold", XDS_CDS, "own"));
	assert_null(find(&f, "car-red", XDS_CDS, "own"));

	/* Another reading of groups.yaml keeps everything that stays the same. */
	before = snapshot_ref(group(&f, "car-gold")->target);
	scratch_write(&f.scratch, "cars/new/listeners/l.yaml", "name: new\n");
	run(&f);
	assert_ptr_equal(before, group(&f, "car-gold")->target);
	assert_ptr_equal(set_of(&f, "car-new", XDS_CDS), set_of(&f, "car-red", XDS_CDS));
	snapshot_unref(before);
	close_tree(&f);
}

/* --- virtual hosts ----------------------------------------------------------------------- */

static void virtual_hosts_follow_edits(void **state)
{
	const struct resource *edge, *other;
	struct fixture f;

	open_tree(&f, *state);
	write_good(&f);
	scratch_write(&f.scratch, "routes/r.yaml", "- name: edge\n- name: other\n");
	scratch_write(&f.scratch, "virtual-hosts/edge/a.yaml", "name: a\ndomains: [a.example]\n");
	scratch_write(&f.scratch, "virtual-hosts/other/b.yaml", "name: b\ndomains: [b.example]\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	edge = find(&f, "default", XDS_RDS, "edge");
	other = find(&f, "default", XDS_RDS, "other");
	assert_non_null(memmem(edge->body.data, edge->body.length, "a.example", 9));
	assert_int_equal(resource_set_count(set_of(&f, "default", XDS_VHDS)), 0);

	/* One virtual host: its route configuration and no other one. */
	scratch_write(&f.scratch, "virtual-hosts/edge/a.yaml", "name: a\ndomains: [c.example]\n");
	run_hint(&f, "virtual-hosts/edge/a.yaml");
	assert_int_equal(f.build->resources_encoded, 1);
	edge = find(&f, "default", XDS_RDS, "edge");
	assert_non_null(memmem(edge->body.data, edge->body.length, "c.example", 9));
	assert_ptr_equal(other, find(&f, "default", XDS_RDS, "other"));

	/* A domain twice, and then not. */
	scratch_write(&f.scratch, "virtual-hosts/edge/z.yaml", "name: z\ndomains: [C.example]\n");
	run_hint(&f, "virtual-hosts/edge/z.yaml");
	assert_said(&f, "virtual-hosts/edge/z.yaml:1:1: error: domain \"C.example\" is also in "
			"virtual-hosts/edge/a.yaml:1:1 [duplicate-domain]");
	assert_true(group(&f, "default")->is_held);
	scratch_write(&f.scratch, "virtual-hosts/edge/a.yaml", "name: a\ndomains: [d.example]\n");
	run_hint(&f, "virtual-hosts/edge/a.yaml");
	assert_string_equal(diags(&f), "");

	/* On demand from now on. */
	scratch_write(&f.scratch, "routes/r.yaml",
		"- {name: edge, vhds: {config_source: {ads: {}}}}\n- name: other\n");
	run_hint(&f, "routes/r.yaml");
	assert_string_equal(diags(&f), "");
	edge = find(&f, "default", XDS_RDS, "edge");
	assert_null(memmem(edge->body.data, edge->body.length, "d.example", 9));
	assert_non_null(find(&f, "default", XDS_VHDS, "edge/z"));
	assert_null(find(&f, "default", XDS_VHDS, "other/b"));

	/* Without the route configuration nobody would ever see them. */
	scratch_write(&f.scratch, "routes/r.yaml", "name: othr\n");
	run_hint(&f, "routes/r.yaml");
	assert_said(&f, "virtual-hosts/other/b.yaml:1:1: error: a virtual host of route "
			"configuration \"other\", which group \"default\" does not have, did you "
			"mean \"othr\"? [missing-routes]");
	scratch_remove(&f.scratch, "virtual-hosts");
	run(&f);
	assert_string_equal(diags(&f), "");
	close_tree(&f);
}

/* --- !include ------------------------------------------------------------------------------ */

static void an_included_file_rebuilds_what_includes_it(void **state)
{
	struct fixture f;
	const struct resource *before;

	open_tree(&f, *state);
	write_good(&f);
	scratch_write(&f.scratch, "_parts/eds.yaml", "lb_policy: !include policy.yaml\n");
	scratch_write(&f.scratch, "_parts/policy.yaml", "RANDOM\n");
	scratch_write(&f.scratch, "clusters/p.yaml", "<<: !include ../_parts/eds.yaml\nname: p\n");
	scratch_write(&f.scratch, "clusters/q.yaml", "<<: !include ../_parts/eds.yaml\nname: q\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	settle(&f);
	before = find(&f, "default", XDS_CDS, "p");
	scratch_write(&f.scratch, "_parts/policy.yaml", "MAGLEV\n");
	run_hint(&f, "_parts/policy.yaml");
	assert_int_equal(f.build->files_read, 2);
	assert_int_equal(f.build->resources_encoded, 2);
	assert_ptr_not_equal(before, find(&f, "default", XDS_CDS, "p"));
	/* A part that goes holds back who wants it; it may come back. */
	scratch_remove(&f.scratch, "_parts/policy.yaml");
	run_hint(&f, "_parts/policy.yaml");
	assert_true(group(&f, "default")->is_held);
	assert_said(&f, "_parts/eds.yaml:1:12: error: !include policy.yaml (_parts/policy.yaml in "
			"the tree) cannot be read: there is no such file (included by "
			"clusters/p.yaml:1:5 and 1 other place) [bad-include]");
	assert_non_null(strstr(group(&f, "default")->held_reason, "_parts/eds.yaml:1:12"));
	scratch_write(&f.scratch, "_parts/policy.yaml", "MAGLEV\n");
	run_hint(&f, "_parts/policy.yaml");
	assert_string_equal(diags(&f), "");
	/* One that nobody wants any more is nobody's business. */
	scratch_write(&f.scratch, "clusters/p.yaml", "name: p\n");
	scratch_write(&f.scratch, "clusters/q.yaml", "name: q\n");
	run(&f);
	settle(&f);
	scratch_write(&f.scratch, "_parts/policy.yaml", "RING_HASH\n");
	run_hint(&f, "_parts/policy.yaml");
	assert_int_equal(f.build->files_read, 0);
	close_tree(&f);
}

static void includes_have_limits(void **state)
{
	struct limits limits = LIMITS_DEFAULT;
	struct compile_options options;
	struct buf text = BUF_INIT;
	struct fixture f;
	char path[32];

	open_tree(&f, *state);
	write_good(&f);
	/* A chain that is too long, and one that is not. */
	for (unsigned i = 0; i <= LIMIT_INCLUDES; i++) {
		snprintf(path, sizeof(path), "_p/%u.yaml", i);
		buf_reset(&text);
		buf_printf(&text, "!include %u.yaml\n", i + 1);
		scratch_write(
			&f.scratch, path, i == LIMIT_INCLUDES ? "name: end\n" : buf_cstr(&text));
	}
	scratch_write(&f.scratch, "clusters/good.yaml", "!include ../_p/1.yaml\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	scratch_write(&f.scratch, "clusters/good.yaml", "!include ../_p/0.yaml\n");
	run(&f);
	assert_said(&f, "more than 16 files include each other in turn");
	/* Each file includes the next one ten times: a billion values. */
	scratch_write(&f.scratch, "_p/9.yaml", "x\n");
	for (unsigned i = 0; i < 9; i++) {
		snprintf(path, sizeof(path), "_p/%u.yaml", i);
		buf_reset(&text);
		for (unsigned k = 0; k < 10; k++)
			buf_printf(&text, "- !include %u.yaml\n", i + 1);
		scratch_write(&f.scratch, path, buf_cstr(&text));
	}
	scratch_write(&f.scratch, "clusters/good.yaml", "!include ../_p/0.yaml\n");
	run(&f);
	assert_said(&f, "too many values with all it includes (included by ");
	/* The limit is that of the file with all it includes. */
	limits.yaml_nodes = 30;
	options = options_of(&f);
	options.limits = &limits;
	scratch_write(&f.scratch, "_p/0.yaml", "[a, b, c, d, e, f, g, h, i, j, k, l]\n");
	scratch_write(&f.scratch, "clusters/good.yaml",
		"- !include ../_p/0.yaml\n- !include ../_p/0.yaml\n");
	restart(&f, &options);
	run(&f);
	assert_null(strstr(diags(&f), "too-many-nodes"));
	scratch_write(&f.scratch, "clusters/good.yaml",
		"- !include ../_p/0.yaml\n- !include ../_p/0.yaml\n- !include ../_p/0.yaml\n");
	run(&f);
	assert_said(&f, "too-many-nodes");
	/* Depth counts through. */
	buf_reset(&text);
	for (unsigned i = 0; i < 60; i++)
		buf_putc(&text, '[');
	buf_puts(&text, "!include 0.yaml");
	for (unsigned i = 0; i < 60; i++)
		buf_putc(&text, ']');
	scratch_write(&f.scratch, "_p/1.yaml", buf_cstr(&text));
	scratch_write(&f.scratch, "_p/2.yaml",
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[!include "
		"1.yaml]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n");
	scratch_write(&f.scratch, "clusters/good.yaml", "- !include ../_p/2.yaml\n");
	restart(&f, &(struct compile_options){
			    .root = f.scratch.root, .schema = f.schema, .threads = 1});
	run(&f);
	assert_said(&f, "nested more than 100 levels deep");
	buf_fini(&text);
	close_tree(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_included_file_rebuilds_what_includes_it),
		cmocka_unit_test(includes_have_limits),
		cmocka_unit_test(groups_follow_folders),
		cmocka_unit_test(a_floor_holds),
		cmocka_unit_test(groups_share_sets),
		cmocka_unit_test(virtual_hosts_follow_edits),
	};

	return cmocka_run_group_tests_name("compile_fleet", tests, setup_schema, teardown_schema);
}
