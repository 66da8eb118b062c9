/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compile_fixture.h"

#include "base/arena.h"
#include "base/mem.h"
#include "compile/fence.h"
#include "compile/last_good.h"
#include "message/yaml_read.h"

#define GROUPS                                                                                     \
	"groups:\n"                                                                                \
	"- {name: edge, match: {id: edge}, layers: [common, live/eds]}\n"                          \
	"- {name: tls, match: {id: tls}, layers: [common, live/tls]}\n"                            \
	"- {name: plain, layers: [common]}\n"

/* A tree of a root and two mounts, all below one scratch folder. */
struct mounted {
	struct fixture base; /* compiler and build */
	char root[4200], eds[4200], tls[4200], state[4200];
	struct fence *fence; /* of live/eds */
	struct last_good *last_good;
	bool is_kept;
};

static void start(struct mounted *m)
{
	const struct compile_mount mounts[] = {
		{m->eds, "live/eds", m->fence}, {m->tls, "live/tls", NULL}};
	struct compile_options options = {.root = m->root,
		.mounts = mounts,
		.mounts_count = 2,
		.schema = m->base.schema,
		.threads = 2};
	const char *problem;

	if (m->is_kept)
		assert_int_equal(last_good_open(m->state, &m->last_good, &problem), 0);
	options.last_good = m->last_good;
	m->base.compiler = compiler_new(&options);
}

static void stop(struct mounted *m)
{
	compiler_free(TAKE(m->base.compiler));
	last_good_close(TAKE(m->last_good));
}

static void restart_mounted(struct mounted *m)
{
	stop(m);
	start(m);
}

static struct fence *read_fence(const char *text)
{
	struct arena *arena = arena_new(0);
	struct diag_list *diags = diag_list_new(0);
	struct documents documents = {0};
	const struct read_options options = {.path = "xdspub.yaml"};
	struct fence *fence;

	assert_int_equal(yaml_read(&options, slice_of(text), arena, diags, &documents), 0);
	fence = fence_read(documents.roots[0], "xdspub.yaml", diags);
	assert_true((fence != NULL) == (diag_list_level_count(diags, DIAG_ERROR) == 0));
	diag_list_free(diags);
	arena_free(arena);
	return fence;
}

static void init(struct mounted *m, void **state, bool is_kept)
{
	*m = (struct mounted){.base = {.schema = *state}, .is_kept = is_kept};
	scratch_init(&m->base.scratch);
	scratch_path(&m->base.scratch, "root", m->root);
	scratch_path(&m->base.scratch, "eds", m->eds);
	scratch_path(&m->base.scratch, "tls", m->tls);
	scratch_path(&m->base.scratch, "state", m->state);
	scratch_write(&m->base.scratch, "root/groups.yaml", GROUPS);
	scratch_write(&m->base.scratch, "root/common/listeners/l.yaml", "name: http\n");
	scratch_write(&m->base.scratch, "root/common/clusters/a.yaml", "name: a\n");
	start(m);
}

static void write_mounts(struct mounted *m)
{
	scratch_write(&m->base.scratch, "eds/endpoints/a.yaml", "cluster_name: a\n");
	scratch_write(&m->base.scratch, "eds/endpoints/b.yaml", "cluster_name: b\n");
	scratch_write(&m->base.scratch, "tls/secrets/s.yaml", "name: s\ngeneric_secret: {}\n");
}

static void fini(struct mounted *m)
{
	stop(m);
	fence_free(m->fence);
	buf_fini(&m->base.text);
	scratch_fini(&m->base.scratch);
}

static const struct build_mount *mount(const struct mounted *m, const char *at)
{
	for (size_t i = 0; i < m->base.build->mounts_count; i++) {
		if (strcmp(m->base.build->mounts[i].at, at) == 0)
			return &m->base.build->mounts[i];
	}
	fail_msg("no mount %s", at);
	return NULL;
}

static void assert_state(const struct mounted *m, const char *at, enum build_mount_state state)
{
	const struct build_mount *found = mount(m, at);

	if (found->state != state)
		fail_msg("%s is in state %d: %s", at, found->state,
			found->reason ? found->reason : "");
	assert_true((found->reason != NULL) == (state != BUILD_MOUNT_GOOD));
}

static size_t count(const struct mounted *m, const char *name, enum xds_type type)
{
	assert_non_null(group(&m->base, name)->target);
	return resource_set_count(group(&m->base, name)->target->sets[type]);
}

static void test_first_start_waits(void **state)
{
	struct mounted m;

	init(&m, state, false);
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_WAITING);
	assert_int_equal(mount(&m, "live/eds")->error, -ENOENT);
	assert_true(group(&m.base, "edge")->is_held);
	assert_true(group(&m.base, "tls")->is_held);
	assert_non_null(group(&m.base, "plain")->target);
	assert_said(&m.base, "live/eds: error: the mount from ");
	assert_non_null(strstr(group(&m.base, "edge")->held_reason, "cannot be looked at"));

	/* Empty is no better. */
	scratch_mkdir(&m.base.scratch, "eds/endpoints");
	scratch_write(&m.base.scratch, "eds/README", "nothing here yet\n");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_WAITING);
	assert_int_equal(mount(&m, "live/eds")->error, 0);
	assert_true(group(&m.base, "edge")->is_held);
	assert_said(&m.base, "has no YAML or JSON file");

	/* Nor is an error. */
	scratch_write(&m.base.scratch, "eds/endpoints/a.yaml", "cluster_name: a\nnonsense: 1\n");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_WAITING);
	assert_true(group(&m.base, "edge")->is_held);
	assert_non_null(strstr(group(&m.base, "edge")->held_reason, "live/eds/endpoints/a.yaml:2"));

	write_mounts(&m);
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_GOOD);
	assert_true(mount(&m, "live/eds")->is_accepted);
	assert_int_equal(mount(&m, "live/eds")->files, 2);
	assert_int_equal(count(&m, "edge", XDS_EDS), 2);
	assert_int_equal(count(&m, "tls", XDS_SDS), 1);
	assert_string_equal(diags(&m.base), "");
	run(&m.base);
	assert_false(mount(&m, "live/eds")->is_accepted);
	fini(&m);
}

/* Every way to be broken: what was good counts, all else goes on. */
static void break_and_check(struct mounted *m, const char *what)
{
	struct snapshot *before = snapshot_ref(group(&m->base, "edge")->target);
	char text[200];
	static int serial;

	snprintf(text, sizeof(text), "name: s\ngeneric_secret: {secret: {inline_string: v%d}}\n",
		++serial);
	scratch_write(&m->base.scratch, "tls/secrets/s.yaml", text);
	run(&m->base);
	assert_state(m, "live/eds", BUILD_MOUNT_HELD);
	if (!strstr(diags(&m->base), what))
		fail_msg("wanted %s, got %s", what, diags(&m->base));
	assert_false(group(&m->base, "edge")->is_held);
	assert_true(snapshot_same_content(before, group(&m->base, "edge")->target));
	assert_state(m, "live/tls", BUILD_MOUNT_GOOD);
	assert_true(mount(m, "live/tls")->is_accepted);
	assert_true(group(&m->base, "tls")->is_changed);

	/* The root goes on, too, and what is good of both comes together. */
	snprintf(text, sizeof(text), "name: a\nconnect_timeout: %ds\n", serial);
	scratch_write(&m->base.scratch, "root/common/clusters/a.yaml", text);
	run(&m->base);
	assert_true(group(&m->base, "edge")->is_changed);
	assert_int_equal(count(m, "edge", XDS_EDS), 2);
	snapshot_unref(before);
}

static void repair(struct mounted *m)
{
	scratch_mkdir(&m->base.scratch, "eds");
	scratch_remove(&m->base.scratch, "eds");
	write_mounts(m);
	run(&m->base);
	assert_state(m, "live/eds", BUILD_MOUNT_GOOD);
	assert_int_equal(count(m, "edge", XDS_EDS), 2);
	assert_string_equal(diags(&m->base), "");
}

static void break_in_every_way(struct mounted *m, void (*between)(struct mounted *m))
{
	scratch_rename(&m->base.scratch, "eds", "away");
	between(m);
	break_and_check(m, "No such file or directory");
	repair(m);

	scratch_remove(&m->base.scratch, "eds/endpoints");
	between(m);
	break_and_check(m, "has no YAML or JSON file");
	repair(m);

	scratch_write(&m->base.scratch, "eds/endpoints/b.yaml", "cluster_name: b\nendpoints: [{\n");
	scratch_write(&m->base.scratch, "eds/endpoints/c.yaml", "cluster_name: c\n");
	scratch_remove(&m->base.scratch, "eds/endpoints/a.yaml");
	between(m);
	break_and_check(m, "live/eds/endpoints/b.yaml:3:1: error: ");
	repair(m);

	/* As files are while they are written. */
	scratch_write(&m->base.scratch, "eds/endpoints/a.yaml", "");
	between(m);
	break_and_check(m, "live/eds/endpoints/a.yaml: error: this file is empty");
	repair(m);

	scratch_write(&m->base.scratch, "eds/endpoints/c.yaml", "cluster_name: a\n");
	between(m);
	break_and_check(m, "in one layer");
	repair(m);

	scratch_link(&m->base.scratch, "../outside.yaml", "eds/endpoints/a.yaml");
	between(m);
	break_and_check(m, "live/eds/endpoints/a.yaml: error: cannot be read");
	repair(m);

	/* Not a folder at all. */
	scratch_remove(&m->base.scratch, "eds");
	scratch_write(&m->base.scratch, "eds", "text\n");
	between(m);
	break_and_check(m, "Not a directory");
	scratch_remove(&m->base.scratch, "eds");
	repair(m);
}

static void do_nothing(struct mounted *m)
{
	(void)m;
}

static void test_broken_holds_only_itself(void **state)
{
	struct mounted m;

	init(&m, state, false);
	write_mounts(&m);
	run(&m.base);
	assert_int_equal(count(&m, "edge", XDS_EDS), 2);
	break_in_every_way(&m, do_nothing);
	fini(&m);
}

/* What a mount gave last keeps its open config sources: over starts, while it is held, and when
 * groups.yaml says meanwhile what stands in them. */
static void test_open_config_sources(void **state)
{
	static const char *const says[] = {"config_sources: {rest: {ads: {}}}\n", ""};
	const struct resource *cluster;
	struct digest digest, first;
	struct mounted m;

	init(&m, state, true);
	write_mounts(&m);
	scratch_write(&m.base.scratch, "eds/clusters/open.yaml",
		"name: open\ntype: EDS\neds_cluster_config: {eds_config: {self: {}}}\n");
	run(&m.base);
	first = digest = find(&m.base, "edge", XDS_CDS, "open")->digest;
	for (size_t i = 0; i < 2; i++) {
		struct buf text = BUF_INIT;

		if (i == 0)
			scratch_write(&m.base.scratch, "eds/clusters/open.yaml",
				"name: open\nnonsense: 1\n");
		restart_mounted(&m);
		run(&m.base);
		assert_state(&m, "live/eds", BUILD_MOUNT_HELD);
		cluster = find(&m.base, "edge", XDS_CDS, "open");
		assert_int_equal(cluster->open->places_count, 1);
		assert_true(digest_equal(&cluster->digest, &digest));
		buf_printf(&text, "%s%s", says[i], GROUPS);
		scratch_write(&m.base.scratch, "root/groups.yaml", buf_cstr(&text));
		run(&m.base);
		buf_fini(&text);
		cluster = find(&m.base, "edge", XDS_CDS, "open");
		assert_int_equal(digest_equal(&cluster->digest, &first), i == 1);
		digest = cluster->digest;
		assert_true(slice_equal(resource_body(cluster, SOURCE_ADS),
				    resource_body(cluster, SOURCE_REST)) == (i == 0));
	}
	/* A draft with the same resource among others waits for another file. */
	scratch_write(&m.base.scratch, "eds/clusters/open.yaml",
		"name: open\ntype: EDS\neds_cluster_config: {eds_config: {}}\n---\nname: more\n");
	scratch_write(&m.base.scratch, "eds/clusters/bad.yaml", "name: open\nnonsense: 1\n");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_HELD);
	scratch_write(&m.base.scratch, "root/groups.yaml",
		"groups:\n"
		"- {name: edge, match: {id: edge}, layers: [common, live/eds],\n"
		"   config_sources: {rest: {ads: {}}}}\n"
		"- {name: tls, layers: [common, live/tls]}\n");
	/* The sources have other numbers by now. */
	run(&m.base);
	scratch_remove(&m.base.scratch, "eds/clusters/bad.yaml");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_GOOD);
	assert_non_null(find(&m.base, "edge", XDS_CDS, "more"));
	cluster = find(&m.base, "edge", XDS_CDS, "open");
	assert_false(digest_equal(&cluster->digest, &digest));
	assert_true(slice_equal(
		resource_body(cluster, SOURCE_ADS), resource_body(cluster, SOURCE_REST)));
	fini(&m);
}

/* The same with a start in between: what was good is on disk. */
static void test_last_good_over_restarts(void **state)
{
	struct mounted m;

	init(&m, state, true);
	write_mounts(&m);
	run(&m.base);
	assert_int_equal(m.base.build->last_good_error, 0);
	restart_mounted(&m);
	run(&m.base);
	/* Nothing is new, and nothing is written again. */
	assert_false(mount(&m, "live/eds")->is_accepted);
	assert_int_equal(count(&m, "edge", XDS_EDS), 2);
	scratch_rename(&m.base.scratch, "eds", "away");
	restart_mounted(&m);
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_HELD);
	assert_int_equal(count(&m, "edge", XDS_EDS), 2);
	repair(&m);
	scratch_remove(&m.base.scratch, "away");

	/* The first look after a start finds it broken; break_and_check wants a former build. */
	scratch_write(&m.base.scratch, "eds/endpoints/a.yaml", "cluster_name: a\nnonsense: 1\n");
	scratch_remove(&m.base.scratch, "eds/endpoints/b.yaml");
	for (int i = 0; i < 3; i++) {
		restart_mounted(&m);
		run(&m.base);
		assert_state(&m, "live/eds", BUILD_MOUNT_HELD);
		assert_int_equal(count(&m, "edge", XDS_EDS), 2);
		assert_false(group(&m.base, "edge")->is_held);
	}
	break_and_check(&m, "live/eds/endpoints/a.yaml:2");
	/* What went while nobody looked has gone once the rest is good. */
	scratch_write(&m.base.scratch, "eds/endpoints/a.yaml", "cluster_name: a\n");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_GOOD);
	assert_int_equal(count(&m, "edge", XDS_EDS), 1);
	restart_mounted(&m);
	run(&m.base);
	assert_int_equal(count(&m, "edge", XDS_EDS), 1);
	fini(&m);
}

static void test_fence(void **state)
{
	struct mounted m;

	assert_null(read_fence("[]"));
	assert_null(read_fence("{type: EDS}"));
	assert_null(read_fence("[{type: XDS}]"));
	assert_null(read_fence("[{kind: EDS}]"));
	assert_null(read_fence("[{type: EDS, name: {start: a}}]"));
	init(&m, state, false);
	m.fence = read_fence("[{type: EDS, name: [{prefix: pay-}, a]}, {type: RDS}]");
	assert_non_null(m.fence);
	assert_true(fence_allows(m.fence, XDS_EDS, SLICE("pay-x")));
	assert_true(fence_allows(m.fence, XDS_EDS, SLICE("a")));
	assert_false(fence_allows(m.fence, XDS_EDS, SLICE("ab")));
	assert_false(fence_allows(m.fence, XDS_CDS, SLICE("pay-x")));
	assert_true(fence_allows(m.fence, XDS_RDS, SLICE("any")));
	assert_true(fence_allows(NULL, XDS_SDS, SLICE("any")));
	restart_mounted(&m);
	write_mounts(&m);
	scratch_remove(&m.base.scratch, "eds/endpoints/b.yaml");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_GOOD);
	scratch_write(&m.base.scratch, "eds/clusters/evil.yaml", "- name: pay-x\n- name: a\n");
	scratch_write(&m.base.scratch, "eds/endpoints/b.yaml", "cluster_name: pay-b\n");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_HELD);
	assert_said(&m.base, "live/eds/clusters/evil.yaml:2:3: error: this mount (live/eds) may "
			     "not define cluster \"a\": it is limited to EDS with name prefix "
			     "\"pay-\" or \"a\"; RDS [mount-fence]");
	assert_int_equal(count(&m, "edge", XDS_CDS), 1);
	assert_int_equal(count(&m, "edge", XDS_EDS), 1);
	scratch_write(&m.base.scratch, "eds/clusters/evil.yaml", "!delete {name: a}\n");
	run(&m.base);
	assert_said(&m.base, "may not delete cluster");
	scratch_remove(&m.base.scratch, "eds/clusters");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_GOOD);
	assert_int_equal(count(&m, "edge", XDS_EDS), 2);
	fini(&m);
}

static void test_files_stay_in_their_mount(void **state)
{
	struct mounted m;

	init(&m, state, false);
	write_mounts(&m);
	scratch_write(&m.base.scratch, "root/common/secret.txt", "text\n");
	scratch_write(&m.base.scratch, "root/common/_part.yaml", "1s\n");
	scratch_write(&m.base.scratch, "tls/secrets/s.yaml",
		"name: s\ngeneric_secret: {secret: {inline_string: !file "
		"../../../common/secret.txt}}\n");
	scratch_write(&m.base.scratch, "eds/endpoints/a.yaml",
		"cluster_name: a\npolicy: {endpoint_stale_after: !include "
		"../../../common/_part.yaml}\n");
	scratch_write(&m.base.scratch, "root/common/clusters/a.yaml",
		"name: a\nalt_stat_name: !file ../../live/tls/here.txt\n");
	scratch_write(&m.base.scratch, "tls/here.txt", "text\n");
	run(&m.base);
	assert_said(&m.base, "!file ../../../common/secret.txt: the path leads out of the mount");
	assert_said(
		&m.base, "!include ../../../common/_part.yaml: the path leads out of the mount");
	assert_said(&m.base, "!file ../../live/tls/here.txt: the path leads into a mount");

	/* Inside it works, and follows. */
	scratch_write(&m.base.scratch, "tls/secrets/s.yaml",
		"name: s\ngeneric_secret: {secret: {inline_string: !file ../here.txt}}\n");
	scratch_write(&m.base.scratch, "eds/endpoints/a.yaml",
		"cluster_name: a\npolicy: {endpoint_stale_after: !include ../_part.yaml}\n");
	scratch_write(&m.base.scratch, "eds/_part.yaml", "1s\n");
	scratch_write(&m.base.scratch, "root/common/clusters/a.yaml", "name: a\n");
	run(&m.base);
	assert_string_equal(diags(&m.base), "");
	scratch_write(&m.base.scratch, "tls/here.txt", "other\n");
	run_hint(&m.base, "live/tls/here.txt");
	assert_true(group(&m.base, "tls")->is_changed);

	/* A part that breaks who includes it holds the mount; the part comes back. */
	scratch_write(&m.base.scratch, "eds/_part.yaml", "[\n");
	run_hint(&m.base, "live/eds/_part.yaml");
	assert_state(&m, "live/eds", BUILD_MOUNT_HELD);
	assert_said(&m.base, "live/eds/_part.yaml:2:1: error: ");
	assert_false(group(&m.base, "edge")->is_held);
	scratch_write(&m.base.scratch, "eds/_part.yaml", "1s\n");
	run_hint(&m.base, "live/eds/_part.yaml");
	assert_state(&m, "live/eds", BUILD_MOUNT_GOOD);
	assert_false(group(&m.base, "edge")->is_changed);
	fini(&m);
}

static void test_conflicts_hold_the_newcomer(void **state)
{
	struct mounted m;

	init(&m, state, false);
	/* Both mounts and the root in one layer. */
	scratch_write(&m.base.scratch, "root/groups.yaml", "groups:\n- {name: all, layers: [.]}\n");
	write_mounts(&m);
	run(&m.base);
	assert_int_equal(count(&m, "all", XDS_EDS), 2);
	scratch_write(&m.base.scratch, "tls/endpoints/x.yaml", "cluster_name: a\n");
	scratch_write(&m.base.scratch, "eds/clusters/x.yaml", "name: a\n");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_HELD);
	assert_state(&m, "live/tls", BUILD_MOUNT_HELD);
	assert_false(group(&m.base, "all")->is_held);
	assert_false(group(&m.base, "all")->is_changed);
	assert_said(&m.base, "live/eds/clusters/x.yaml:1:1: error: cluster \"a\" is defined here "
			     "and also in common/clusters/a.yaml:1:1, in one layer");
	scratch_remove(&m.base.scratch, "root/common/clusters/a.yaml");
	scratch_remove(&m.base.scratch, "tls/endpoints");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_GOOD);
	assert_string_equal(diags(&m.base), "");

	/* One that would leave a group without what it must have. */
	scratch_write(&m.base.scratch, "eds/endpoints/a.yaml", "cluster_name: z\n");
	scratch_remove(&m.base.scratch, "eds/clusters");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_HELD);
	assert_said(&m.base, "what this mount has now would hold group \"all\": 1 error: ");
	assert_false(group(&m.base, "all")->is_held);
	assert_int_equal(count(&m, "all", XDS_CDS), 1);
	fini(&m);
}

/* What the root's files are for goes from a mount: it is the mount that is held. */
static void test_mount_that_breaks_the_root(void **state)
{
	struct mounted m;

	init(&m, state, false);
	write_mounts(&m);
	scratch_write(&m.base.scratch, "eds/routes/r.yaml", "- name: r\n- name: q\n");
	scratch_write(&m.base.scratch, "root/edge/virtual-hosts/r/v.yaml",
		"name: v\ndomains: [v.example]\n");
	scratch_write(&m.base.scratch, "root/groups.yaml",
		"groups:\n- {name: edge, match: {id: edge}, layers: [common, edge, live/eds]}\n"
		"- {name: plain, layers: [common]}\n");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_GOOD);
	assert_false(group(&m.base, "edge")->is_held);
	scratch_write(&m.base.scratch, "eds/routes/r.yaml", "- name: q\n");
	for (int i = 0; i < 2; i++) {
		run(&m.base);
		assert_state(&m, "live/eds", BUILD_MOUNT_HELD);
		assert_said(&m.base, "what this mount has now would hold group \"edge\"");
		assert_said(&m.base, "edge/virtual-hosts/r/v.yaml:1:1: error: ");
		assert_false(group(&m.base, "edge")->is_held);
		assert_non_null(find(&m.base, "edge", XDS_RDS, "r"));
	}
	/* The root does without it, and with that the mount may. */
	scratch_remove(&m.base.scratch, "root/edge/virtual-hosts");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_GOOD);
	assert_null(find(&m.base, "edge", XDS_RDS, "r"));
	fini(&m);
}

static void test_folders_of_a_mount_make_groups(void **state)
{
	struct mounted m;

	init(&m, state, true);
	scratch_write(&m.base.scratch, "root/groups.yaml",
		"groups:\n- {each: live/eds/*, name: \"edge-{1}\", match: {id: \"{1}\"}, layers: "
		"[common, \"live/eds/{1}\"]}\n- {name: rest, layers: [common]}\n");
	write_mounts(&m);
	scratch_remove(&m.base.scratch, "eds");
	run(&m.base);
	assert_false(m.base.build->groups_are_good);
	scratch_write(&m.base.scratch, "eds/eu/endpoints/a.yaml", "cluster_name: a\n");
	scratch_write(&m.base.scratch, "eds/us/endpoints/a.yaml", "cluster_name: a\n");
	run(&m.base);
	assert_true(m.base.build->groups_are_good);
	assert_int_equal(count(&m, "edge-eu", XDS_EDS), 1);
	assert_int_equal(count(&m, "edge-us", XDS_EDS), 1);

	/* A bad render takes no group away and adds none. */
	scratch_remove(&m.base.scratch, "eds/us");
	scratch_write(&m.base.scratch, "eds/as/endpoints/a.yaml", "cluster_name: a\n");
	scratch_write(&m.base.scratch, "eds/eu/endpoints/a.yaml", "cluster_name: a\nx: 1\n");
	for (int i = 0; i < 2; i++) {
		run(&m.base);
		assert_state(&m, "live/eds", BUILD_MOUNT_HELD);
		assert_int_equal(m.base.build->groups_count, 3);
		assert_int_equal(count(&m, "edge-us", XDS_EDS), 1);
		assert_int_equal(count(&m, "edge-eu", XDS_EDS), 1);
		restart_mounted(&m);
	}
	/* Nor does one that only shows when it is put together. */
	scratch_write(&m.base.scratch, "eds/eu/endpoints/a.yaml", "cluster_name: a\n");
	scratch_write(&m.base.scratch, "eds/as/endpoints/b.yaml", "cluster_name: a\n");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_HELD);
	assert_said(&m.base, "in one layer");
	assert_int_equal(m.base.build->groups_count, 3);
	assert_int_equal(count(&m, "edge-us", XDS_EDS), 1);
	scratch_remove(&m.base.scratch, "eds/as/endpoints/b.yaml");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_GOOD);
	assert_int_equal(count(&m, "edge-as", XDS_EDS), 1);
	assert_int_equal(m.base.build->groups_count, 3);
	restart_mounted(&m);
	run(&m.base);
	assert_int_equal(count(&m, "edge-as", XDS_EDS), 1);
	fini(&m);
}

/* One mount's folders are there, those of another are not known yet. */
static void test_groups_wait_for_folders(void **state)
{
	struct mounted m;

	init(&m, state, true);
	scratch_write(&m.base.scratch, "root/groups.yaml",
		"groups:\n- {each: live/*/*, name: \"{1}-{2}\", match: {id: \"{2}\"}, layers: "
		"[common, \"live/{1}/{2}\"]}\n- {name: rest, layers: [common]}\n");
	scratch_write(&m.base.scratch, "eds/eu/endpoints/a.yaml", "cluster_name: a\n");
	run(&m.base);
	assert_false(m.base.build->groups_are_good);
	assert_int_equal(m.base.build->groups_count, 0);
	assert_said(&m.base, "groups.yaml:2:10: error: each: live/*/* may match folders of the "
			     "mount at live/tls");
	scratch_write(&m.base.scratch, "tls/eu/secrets/s.yaml", "name: s\ngeneric_secret: {}\n");
	run(&m.base);
	assert_true(m.base.build->groups_are_good);
	assert_int_equal(m.base.build->groups_count, 3);
	scratch_rename(&m.base.scratch, "tls", "away");
	restart_mounted(&m);
	run(&m.base);
	assert_true(m.base.build->groups_are_good);
	assert_int_equal(count(&m, "tls-eu", XDS_SDS), 1);
	fini(&m);
}

static void test_hidden_files(void **state)
{
	struct mounted m;

	init(&m, state, false);
	write_mounts(&m);
	scratch_write(&m.base.scratch, "root/live/eds/endpoints/old.yaml", "cluster_name: old\n");
	run(&m.base);
	assert_said(&m.base, "live/eds/endpoints/old.yaml: warning: not used: the mount from ");
	assert_int_equal(count(&m, "edge", XDS_EDS), 2);
	scratch_remove(&m.base.scratch, "root/live");
	run(&m.base);
	assert_string_equal(diags(&m.base), "");
	assert_int_equal(count(&m, "edge", XDS_EDS), 2);
	/* A mount of the tree's own folder hides nothing: it fences it and lets it settle. */
	scratch_write(&m.base.scratch, "root/live/eds/endpoints/old.yaml", "cluster_name: old\n");
	scratch_path(&m.base.scratch, "root/live/eds", m.eds);
	restart_mounted(&m);
	run(&m.base);
	assert_string_equal(diags(&m.base), "");
	assert_int_equal(count(&m, "edge", XDS_EDS), 1);
	fini(&m);
}

static void test_root_that_vanishes(void **state)
{
	struct mounted m;

	init(&m, state, false);
	write_mounts(&m);
	run(&m.base);
	scratch_rename(&m.base.scratch, "root", "gone");
	scratch_write(&m.base.scratch, "eds/endpoints/c.yaml", "cluster_name: c\n");
	run(&m.base);
	assert_int_equal(m.base.build->mounts[0].error, -ENOENT);
	assert_int_equal(count(&m, "edge", XDS_EDS), 3);
	scratch_rename(&m.base.scratch, "gone", "root");
	run(&m.base);
	assert_int_equal(m.base.build->mounts[0].error, 0);
	assert_string_equal(diags(&m.base), "");
	fini(&m);
}

/* A change in a mount of many files costs the change, in memory and in the journal. */
static void test_costs_the_change(void **state)
{
	char path[64], text[64];
	struct stat before, after;
	struct mounted m;
	char journal[4300];

	init(&m, state, true);
	write_mounts(&m);
	for (int i = 0; i < 500; i++) {
		snprintf(path, sizeof(path), "eds/endpoints/n%d.yaml", i);
		snprintf(text, sizeof(text), "cluster_name: n%d\n", i);
		scratch_write(&m.base.scratch, path, text);
	}
	settle(&m.base);
	snprintf(journal, sizeof(journal), "%s/mounts", m.state);
	assert_int_equal(stat(journal, &before), 0);
	assert_int_equal(before.st_mode & 07777, 0600);
	scratch_write(&m.base.scratch, "eds/endpoints/n7.yaml", "cluster_name: changed\n");
	run_hint(&m.base, "live/eds/endpoints/n7.yaml");
	assert_int_equal(m.base.build->files_read, 1);
	assert_true(mount(&m, "live/eds")->is_accepted);
	assert_int_equal(stat(journal, &after), 0);
	assert_in_range(after.st_size - before.st_size, 50, 400);

	/* After a start, too, which itself writes nothing. */
	restart_mounted(&m);
	settle(&m.base);
	assert_int_equal(stat(journal, &before), 0);
	assert_int_equal(before.st_size, after.st_size);
	scratch_write(&m.base.scratch, "eds/endpoints/n7.yaml", "cluster_name: n7\n");
	run_hint(&m.base, "live/eds/endpoints/n7.yaml");
	assert_int_equal(stat(journal, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_in_range(after.st_size - before.st_size, 50, 400);
	fini(&m);
}

static void write_secret(struct mounted *m, int serial)
{
	static char text[40100];

	snprintf(text, sizeof(text),
		"name: s\ngeneric_secret: {secret: {inline_string: \"%0*d\"}}\n", 40000, serial);
	scratch_write(&m->base.scratch, "tls/secrets/s.yaml", text);
}

/* A journal that is mostly about the past is written anew, and says the same. */
static void test_journal_is_rewritten(void **state)
{
	struct digest digest;
	struct mounted m;
	struct stat status;
	char journal[4300];

	init(&m, state, true);
	write_mounts(&m);
	for (int i = 0; i < 80; i++) {
		write_secret(&m, i);
		run(&m.base);
		assert_int_equal(m.base.build->last_good_error, 0);
	}
	digest = find(&m.base, "tls", XDS_SDS, "s")->digest;
	snprintf(journal, sizeof(journal), "%s/mounts", m.state);
	assert_int_equal(stat(journal, &status), 0);
	assert_in_range(status.st_size, 40000, 1500000);
	scratch_rename(&m.base.scratch, "eds", "away");
	scratch_rename(&m.base.scratch, "tls", "gone");
	for (int i = 0; i < 2; i++) {
		restart_mounted(&m);
		run(&m.base);
		assert_state(&m, "live/tls", BUILD_MOUNT_HELD);
		assert_true(digest_equal(&digest, &find(&m.base, "tls", XDS_SDS, "s")->digest));
		assert_int_equal(count(&m, "edge", XDS_EDS), 2);
	}
	fini(&m);
}

static void damage(const char *path, off_t at)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "\xff\xff\xff", 3, at), 3);
	assert_int_equal(close(fd), 0);
}

/* What is lost is told, and made again from what is there. */
static void test_damaged_journal(void **state)
{
	static const off_t places[] = {0, 9, 20, 200};
	struct mounted m;
	char journal[4300];
	const char *problem;

	init(&m, state, true);
	write_mounts(&m);
	run(&m.base);
	snprintf(journal, sizeof(journal), "%s/mounts", m.state);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		stop(&m);
		damage(journal, places[i]);
		assert_int_equal(last_good_open(m.state, &m.last_good, &problem), 0);
		assert_non_null(problem);
		last_good_close(TAKE(m.last_good));
		start(&m);
		run(&m.base);
		assert_state(&m, "live/eds", BUILD_MOUNT_GOOD);
		assert_int_equal(count(&m, "edge", XDS_EDS), 2);
		assert_int_equal(m.base.build->last_good_error, 0);
	}
	scratch_rename(&m.base.scratch, "eds", "away");
	restart_mounted(&m);
	run(&m.base);
	assert_int_equal(count(&m, "edge", XDS_EDS), 2);
	fini(&m);
}

/* Groups that are not built here cost nothing; when they are, they wait for what never was. */
static void test_only_what_is_used(void **state)
{
	struct mounted m;

	init(&m, state, true);
	scratch_write(&m.base.scratch, "root/groups.yaml",
		"groups:\n- {name: tls, match: {id: tls}, layers: [common, live/tls]}\n");
	write_mounts(&m);
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_GOOD);
	assert_int_equal(m.base.build->resources, 3);
	scratch_write(&m.base.scratch, "eds/endpoints/a.yaml", "cluster_name: a\nx: 1\n");
	run(&m.base);
	assert_state(&m, "live/eds", BUILD_MOUNT_GOOD);
	/* Now it is wanted, and broken: it has never given what is wanted. */
	scratch_write(&m.base.scratch, "root/groups.yaml", GROUPS);
	for (int i = 0; i < 2; i++) {
		run(&m.base);
		assert_state(&m, "live/eds", BUILD_MOUNT_HELD);
		assert_true(group(&m.base, "edge")->is_held);
		assert_non_null(strstr(group(&m.base, "edge")->held_reason, "a.yaml:2"));
		assert_false(group(&m.base, "plain")->is_held);
		restart_mounted(&m);
	}
	scratch_write(&m.base.scratch, "eds/endpoints/a.yaml", "cluster_name: a\n");
	run(&m.base);
	assert_int_equal(count(&m, "edge", XDS_EDS), 2);
	assert_string_equal(diags(&m.base), "");
	fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_start_waits),
		cmocka_unit_test(test_broken_holds_only_itself),
		cmocka_unit_test(test_last_good_over_restarts),
		cmocka_unit_test(test_open_config_sources),
		cmocka_unit_test(test_fence),
		cmocka_unit_test(test_files_stay_in_their_mount),
		cmocka_unit_test(test_conflicts_hold_the_newcomer),
		cmocka_unit_test(test_mount_that_breaks_the_root),
		cmocka_unit_test(test_folders_of_a_mount_make_groups),
		cmocka_unit_test(test_groups_wait_for_folders),
		cmocka_unit_test(test_hidden_files),
		cmocka_unit_test(test_root_that_vanishes),
		cmocka_unit_test(test_costs_the_change),
		cmocka_unit_test(test_journal_is_rewritten),
		cmocka_unit_test(test_damaged_journal),
		cmocka_unit_test(test_only_what_is_used),
	};

	return cmocka_run_group_tests(tests, setup_schema, teardown_schema);
}
