/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a compiler does from run to run: what it reads again, what it holds back, what it keeps. */
#include "compile_fixture.h"

#define CLUSTER_TYPE "type.googleapis.com/envoy.config.cluster.v3.Cluster"

static const char groups_two[] = "groups:\n"
				 "- name: prod\n"
				 "  match: {cluster: prod}\n"
				 "  layers: [common, prod]\n"
				 "- name: rest\n"
				 "  layers: [common]\n";

static void test_reads_only_what_changed(void **state)
{
	struct fixture f;
	struct snapshot *before;
	const struct resource *kept;

	open_tree(&f, *state);
	write_good(&f);
	run(&f);
	assert_int_equal(f.build->files_read, 3);
	assert_int_equal(f.build->resources, 4);
	assert_int_equal(f.build->resources_encoded, 4);
	assert_true(group(&f, "default")->is_changed);
	settle(&f);
	assert_int_equal(f.build->resources_encoded, 0);
	assert_false(group(&f, "default")->is_changed);

	/* Another time stamp, the same bytes: nothing is encoded, the very same snapshot stays. */
	before = group(&f, "default")->target;
	scratch_write(&f.scratch, "clusters/a.yaml", "name: a\nconnect_timeout: 1s\n");
	run_hint(&f, "clusters/a.yaml");
	assert_int_equal(f.build->files_read, 1);
	assert_int_equal(f.build->resources_encoded, 0);
	assert_ptr_equal(group(&f, "default")->target, before);
	settle(&f);

	/* One file, one read; what is the same stays the same object. */
	kept = find(&f, "default", XDS_CDS, "b");
	scratch_write(
		&f.scratch, "clusters/b.yaml", "- name: b\n- {name: c, connect_timeout: 2s}\n");
	run_hint(&f, "clusters/b.yaml");
	assert_int_equal(f.build->files_read, 1);
	assert_true(group(&f, "default")->is_changed);
	assert_ptr_equal(find(&f, "default", XDS_CDS, "b"), kept);
	settle(&f);

	/* Comments move places, not versions. */
	scratch_write(&f.scratch, "clusters/b.yaml",
		"# why\n- name: b\n- {name: c, connect_timeout: 2s}\n");
	run_hint(&f, "clusters/b.yaml");
	assert_false(group(&f, "default")->is_changed);
	assert_int_equal(find(&f, "default", XDS_CDS, "b")->at.line, 2);
	close_tree(&f);
}

static void test_error_holds_and_repair_releases(void **state)
{
	struct fixture f;
	struct version version;

	open_tree(&f, *state);
	scratch_write(&f.scratch, "groups.yaml", groups_two);
	scratch_write(&f.scratch, "common/listeners/l.yaml", "name: http\n");
	scratch_write(&f.scratch, "common/clusters/a.yaml", "name: a\n");
	scratch_write(&f.scratch, "prod/clusters/b.yaml", "name: b\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	version = *resource_set_version(group(&f, "prod")->target->sets[XDS_CDS]);

	scratch_write(&f.scratch, "prod/clusters/b.yaml", "nme: b\n");
	run(&f);
	assert_true(group(&f, "prod")->is_held);
	assert_null(group(&f, "prod")->target);
	assert_true(strstr(group(&f, "prod")->held_reason, "prod/clusters/b.yaml:1:1: error:"));
	assert_false(group(&f, "rest")->is_held);
	assert_false(group(&f, "rest")->is_changed);

	/* What happens meanwhile is there at once when the group is free again. */
	scratch_write(&f.scratch, "common/clusters/new.yaml", "name: new\n");
	run(&f);
	assert_non_null(find(&f, "rest", XDS_CDS, "new"));
	scratch_write(&f.scratch, "prod/clusters/b.yaml", "name: b\n");
	run_hint(&f, "prod/clusters/b.yaml");
	assert_int_equal(f.build->files_read, 1);
	assert_non_null(find(&f, "prod", XDS_CDS, "new"));
	scratch_remove(&f.scratch, "common/clusters/new.yaml");
	run(&f);
	assert_true(version_equal(
		&version, resource_set_version(group(&f, "prod")->target->sets[XDS_CDS])));
	close_tree(&f);
}

static void test_unreadable_is_no_removal(void **state)
{
	struct fixture f;

	open_tree(&f, *state);
	write_good(&f);
	run(&f);
	assert_false(group(&f, "default")->is_held);

	scratch_chmod(&f.scratch, "clusters/a.yaml", 0000);
	scratch_drop_root();
	run(&f);
	assert_true(group(&f, "default")->is_held);
	assert_string_equal(diags(&f),
		"clusters/a.yaml: error: cannot be read: Permission denied [unreadable]\n");
	scratch_regain_root();
	scratch_chmod(&f.scratch, "clusters/a.yaml", 0644);
	scratch_drop_root();
	run_hint(&f, "clusters/a.yaml");
	assert_false(group(&f, "default")->is_held);
	assert_non_null(find(&f, "default", XDS_CDS, "a"));

	scratch_regain_root();
	scratch_chmod(&f.scratch, "clusters", 0000);
	scratch_drop_root();
	run(&f);
	assert_true(group(&f, "default")->is_held);
	assert_said(&f, "clusters: error: cannot be looked into: Permission denied [unreadable]\n");
	scratch_regain_root();
	scratch_chmod(&f.scratch, "clusters", 0755);
	scratch_drop_root();
	run(&f);
	assert_string_equal(diags(&f), "");
	assert_int_equal(resource_set_count(group(&f, "default")->target->sets[XDS_CDS]), 3);
	scratch_regain_root();
	close_tree(&f);
}

/* What was in the way need not show in the file. */
static void test_unreadable_is_tried_again(void **state)
{
	struct fixture f;

	if (getuid() != 0)
		skip();
	open_tree(&f, *state);
	write_good(&f);
	scratch_write(&f.scratch, "_key", "k");
	scratch_write(&f.scratch, "secrets/s.yaml",
		"name: s\ngeneric_secret: {secret: {inline_string: !file ../_key}}\n");
	scratch_write(&f.scratch, "groups.yaml", "groups: [{name: all, layers: [.]}]\n");
	run(&f);
	settle(&f);
	restart(&f, &(struct compile_options){.root = f.scratch.root, .schema = f.schema});
	scratch_chmod(&f.scratch, "clusters/a.yaml", 0600);
	scratch_chmod(&f.scratch, "_key", 0600);
	scratch_chmod(&f.scratch, "groups.yaml", 0600);
	usleep(30000); /* older than what is read again for being too new */
	scratch_drop_root();
	run(&f);
	assert_int_equal(diag_list_level_count(f.build->diags, DIAG_ERROR), 3);
	scratch_regain_root();
	run_hint(&f, "clusters/b.yaml");
	assert_int_equal(diag_list_level_count(f.build->diags, DIAG_ERROR), 3);
	run(&f);
	assert_string_equal(diags(&f), "");
	assert_false(group(&f, "all")->is_held);
	close_tree(&f);
}

static void test_vanished_root_and_empty_checkout(void **state)
{
	struct fixture f;
	const struct build *build;

	open_tree(&f, *state);
	assert_null(compiler_build(f.compiler));
	run(&f);
	assert_true(group(&f, "default")->is_held);
	assert_said(&f, "error: there is no YAML or JSON file in this tree [empty-tree]\n");
	write_good(&f);
	run(&f);
	assert_false(group(&f, "default")->is_held);

	/* A root that is gone leaves the former build as it is. */
	scratch_fini(&f.scratch);
	assert_int_equal(compiler_run(f.compiler, NULL, 0, 8, NULL, &build), -ENOENT);
	assert_ptr_equal(compiler_build(f.compiler), f.build);
	assert_non_null(find(&f, "default", XDS_CDS, "a"));
	assert_int_equal(mkdir(f.scratch.root, 0755), 0);
	run(&f);
	assert_true(group(&f, "default")->is_held);
	write_good(&f);
	run(&f);
	assert_false(group(&f, "default")->is_held);
	close_tree(&f);
}

static void test_groups_yaml_that_vanishes(void **state)
{
	struct fixture f;
	struct compile_options options;
	char former[sizeof(groups_two)];

	open_tree(&f, *state);
	write_good(&f);
	run(&f);
	assert_int_equal(f.build->groups_count, 1);
	scratch_write(&f.scratch, "groups.yaml", "groups: [{name: all, layers: [.]}]\n");
	run_hint(&f, "groups.yaml");
	assert_string_equal(f.build->groups[0].name->text, "all");
	assert_false(f.build->groups[0].is_held);
	assert_int_equal(f.build->files_read, 0);

	scratch_remove(&f.scratch, "groups.yaml");
	run_hint(&f, "groups.yaml");
	assert_said(&f, "groups.yaml: error: groups.yaml was here and is gone");
	assert_false(f.build->groups_are_good);
	assert_string_equal(f.build->groups[0].name->text, "all");
	assert_true(f.build->groups[0].is_held);
	assert_non_null(f.build->selector);

	/* Back with the same words: nothing was lost. */
	scratch_write(&f.scratch, "groups.yaml", "groups: [{name: all, layers: [.]}]\n");
	run_hint(&f, "groups.yaml");
	assert_false(f.build->groups[0].is_held);
	assert_int_equal(f.build->files_read, 0);

	/* A restart knows it from the state folder. */
	scratch_remove(&f.scratch, "groups.yaml");
	options = options_of(&f);
	strcpy(former, groups_two);
	options.former_groups = slice_of(former);
	restart(&f, &options);
	run(&f);
	assert_said(&f, "[groups-missing]");
	assert_int_equal(f.build->groups_count, 0);
	close_tree(&f);
}

static void test_bad_groups_yaml_keeps_the_former(void **state)
{
	struct fixture f;
	struct selector *selector;
	json_t *node = json_pack("{s:s}", "cluster", "prod");

	open_tree(&f, *state);
	scratch_write(&f.scratch, "groups.yaml", groups_two);
	scratch_write(&f.scratch, "common/listeners/l.yaml", "name: http\n");
	scratch_write(&f.scratch, "common/clusters/a.yaml", "name: a\n");
	scratch_write(&f.scratch, "prod/clusters/b.yaml", "name: b\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	assert_int_equal(compile_selector(f.build->groups_text, &selector), 0);
	assert_int_equal(selector_select(selector, node), 0);
	assert_int_equal(selector_select(selector, NULL), -1);
	selector_unref(selector);

	scratch_write(&f.scratch, "groups.yaml", "groups:\n- name: prod\n\tlayers: [x]\n");
	run_hint(&f, "groups.yaml");
	assert_int_equal(f.build->groups_count, 2);
	assert_true(group(&f, "prod")->is_held && group(&f, "rest")->is_held);
	assert_true(strstr(group(&f, "rest")->held_reason, "1 error: groups.yaml:3:"));
	assert_int_equal(selector_select(f.build->selector, node), 0);
	assert_int_equal(compile_selector(SLICE("groups: 3"), &selector), -EBADMSG);
	json_decref(node);
	close_tree(&f);
}

static void test_file_tag_follows_its_file(void **state)
{
	struct fixture f;
	struct digest first;

	open_tree(&f, *state);
	write_good(&f);
	scratch_write(&f.scratch, "_tls/key.pem", "one");
	scratch_link(&f.scratch, "key.pem", "_tls/current.pem");
	scratch_write(&f.scratch, "secrets/s.yaml",
		"name: s\ngeneric_secret: {secret: {inline_bytes: !file ../_tls/current.pem}}\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	first = find(&f, "default", XDS_SDS, "s")->digest;

	scratch_write(&f.scratch, "_tls/key.pem", "two");
	run_hint(&f, "_tls/key.pem");
	assert_int_equal(f.build->files_read, 1);
	assert_false(digest_equal(&first, &find(&f, "default", XDS_SDS, "s")->digest));
	assert_true(group(&f, "default")->is_changed);

	scratch_remove(&f.scratch, "_tls/key.pem");
	run_hint(&f, "_tls/key.pem");
	assert_true(group(&f, "default")->is_held);
	assert_said(&f,
		"secrets/s.yaml:2:41: error: !file ../_tls/current.pem (_tls/current.pem in "
		"the tree) cannot be read: there is no such file");
	scratch_write(&f.scratch, "_tls/key.pem", "one");
	run_hint(&f, "_tls/key.pem");
	assert_true(digest_equal(&first, &find(&f, "default", XDS_SDS, "s")->digest));
	close_tree(&f);
}

static void test_links(void **state)
{
	struct fixture f;

	open_tree(&f, *state);
	write_good(&f);
	scratch_write(&f.scratch, "_shared/x.yaml", "name: x\n");
	scratch_link(&f.scratch, "../_shared/x.yaml", "clusters/x.yaml");
	run(&f);
	assert_string_equal(diags(&f), "");
	scratch_write(&f.scratch, "_shared/x.yaml", "name: y\n");
	run_hint(&f, "_shared/x.yaml");
	assert_null(find(&f, "default", XDS_CDS, "x"));
	assert_non_null(find(&f, "default", XDS_CDS, "y"));

	scratch_link(&f.scratch, "../..", "clusters/out");
	scratch_link(&f.scratch, "/etc/passwd", "clusters/etc.yaml");
	scratch_link(&f.scratch, "../clusters", "clusters/loop");
	scratch_link(&f.scratch, "a.yaml~", "clusters/gone.yaml");
	run(&f);
	assert_true(group(&f, "default")->is_held);
	assert_string_equal(diags(&f),
		"clusters/etc.yaml: error: cannot be read: the link leads out of the tree "
		"(absolute links always do) [unreadable]\n"
		"clusters/gone.yaml: error: cannot be read: it is a link to nothing, or was "
		"removed just now [unreadable]\n"
		"clusters/loop: error: this link leads to a folder it is in, or to itself "
		"[unreadable]\n"
		"clusters/out: error: this link leads out of the tree (absolute links always do) "
		"and is not followed [unreadable]\n");
	close_tree(&f);
}

static void test_hostile_files(void **state)
{
	struct fixture f;
	struct buf text = BUF_INIT;
	char full[4200];
	int fd;

	open_tree(&f, *state);
	write_good(&f);
	fd = open(scratch_path(&f.scratch, "clusters/big.yaml", full), O_CREAT | O_WRONLY, 0644);
	assert_int_equal(ftruncate(fd, 100000000), 0);
	close(fd);
	buf_fill(&text, '[', 100000);
	scratch_write(&f.scratch, "clusters/deep.yaml", buf_cstr(&text));
	scratch_write(&f.scratch, "clusters/deep.json", buf_cstr(&text));
	buf_reset(&text);
	buf_puts(&text, "a: &a [x, x, x, x, x, x, x, x, x, x]\n");
	for (char c = 'b'; c <= 'j'; c++) {
		buf_printf(&text, "%c: &%c [", c, c);
		for (int i = 0; i < 10; i++)
			buf_printf(&text, "%s*%c", i ? ", " : "", c - 1);
		buf_puts(&text, "]\n");
	}
	scratch_write(&f.scratch, "clusters/bomb.yaml", buf_cstr(&text));
	run(&f);
	assert_true(group(&f, "default")->is_held);
	assert_said(&f, "clusters/big.yaml: error: this file is larger than the limit of 67108864 "
			"bytes [file-too-large]\n");
	assert_said(&f, "clusters/bomb.yaml:");
	assert_said(&f, "clusters/deep.json:1:");
	assert_said(&f, "clusters/deep.yaml:1:");
	assert_int_equal(diag_list_level_count(f.build->diags, DIAG_ERROR), 4);
	buf_fini(&text);
	close_tree(&f);
}

static void test_only_groups(void **state)
{
	struct fixture f;
	static const char *const only[] = {"rest", "prd"};
	struct compile_options options;

	open_tree(&f, *state);
	scratch_write(&f.scratch, "groups.yaml", groups_two);
	scratch_write(&f.scratch, "common/listeners/l.yaml", "name: http\n");
	scratch_write(&f.scratch, "common/clusters/a.yaml", "name: a\n");
	scratch_write(&f.scratch, "prod/clusters/b.yaml", "broken: b\n");
	options = options_of(&f);
	options.only_groups = only;
	options.only_groups_count = 2;
	restart(&f, &options);
	run(&f);
	assert_int_equal(f.build->groups_count, 1);
	assert_false(group(&f, "rest")->is_held);
	assert_int_equal(f.build->files_read, 2);
	assert_int_equal(selector_count(f.build->selector), 2);
	assert_string_equal(diags(&f),
		"groups.yaml: error: there is no group \"prd\", which this host is configured to "
		"serve, did you mean \"prod\"? [unknown-group]\n");
	close_tree(&f);
}

static void test_limits(void **state)
{
	struct fixture f;
	struct limits limits = LIMITS_DEFAULT;
	struct compile_options options;

	open_tree(&f, *state);
	write_good(&f);
	limits.resources = 3;
	limits.resource_name_bytes = 3;
	options = options_of(&f);
	options.limits = &limits;
	restart(&f, &options);
	run(&f);
	assert_true(group(&f, "default")->is_held);
	assert_said(&f, "listeners/l.yaml:1:1: error: the name of this listener has 4 bytes, the "
			"limit is 3");
	scratch_write(&f.scratch, "listeners/l.yaml", "name: web\n");
	run(&f);
	assert_said(&f, "error: the tree has 4 resources, the limit is 3 [too-many-resources]");
	assert_true(group(&f, "default")->is_held);
	scratch_remove(&f.scratch, "clusters/a.yaml");
	run(&f);
	assert_string_equal(diags(&f), "");
	close_tree(&f);
}

static void test_many_threads_say_the_same(void **state)
{
	struct fixture f;
	struct buf one = BUF_INIT, many = BUF_INIT;
	struct compile_options options;

	open_tree(&f, *state);
	write_good(&f);
	for (int i = 0; i < 300; i++) {
		char path[64], text[128];

		snprintf(path, sizeof(path), "clusters/%d/%d.yaml", i % 7, i);
		snprintf(text, sizeof(text), i % 10 ? "name: c%d\n" : "nam: c%d\n", i / 2);
		scratch_write(&f.scratch, path, text);
	}
	run(&f);
	dump_diags(f.build, &one);
	options = options_of(&f);
	options.threads = 8;
	restart(&f, &options);
	run(&f);
	dump_diags(f.build, &many);
	assert_string_equal(buf_cstr(&one), buf_cstr(&many));
	assert_int_equal(diag_list_level_count(f.build->diags, DIAG_ERROR), 30 + 120);
	buf_fini(&one);
	buf_fini(&many);
	close_tree(&f);
}

static void test_type_moves_with_the_file(void **state)
{
	struct fixture f;

	open_tree(&f, *state);
	write_good(&f);
	scratch_write(&f.scratch, "clusters/typed.yaml", "\"@type\": " CLUSTER_TYPE "\nname: t\n");
	run(&f);
	assert_string_equal(diags(&f), "");
	scratch_rename(&f.scratch, "clusters/typed.yaml", "listeners/typed.yaml");
	run(&f);
	assert_said(&f, "listeners/typed.yaml:1:10: error: a cluster");
	scratch_rename(&f.scratch, "listeners/typed.yaml", "typed.yaml");
	run(&f);
	assert_string_equal(diags(&f), "");
	assert_string_equal(find(&f, "default", XDS_CDS, "t")->path->text, "typed.yaml");
	close_tree(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_only_what_changed),
		cmocka_unit_test(test_error_holds_and_repair_releases),
		cmocka_unit_test(test_unreadable_is_no_removal),
		cmocka_unit_test(test_unreadable_is_tried_again),
		cmocka_unit_test(test_vanished_root_and_empty_checkout),
		cmocka_unit_test(test_groups_yaml_that_vanishes),
		cmocka_unit_test(test_bad_groups_yaml_keeps_the_former),
		cmocka_unit_test(test_file_tag_follows_its_file),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_hostile_files),
		cmocka_unit_test(test_only_groups),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_many_threads_say_the_same),
		cmocka_unit_test(test_type_moves_with_the_file),
	};

	return cmocka_run_group_tests_name("compile", tests, setup_schema, teardown_schema);
}
