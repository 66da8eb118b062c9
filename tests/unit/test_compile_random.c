/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random edits of random trees with layers: after each step the compiler that saw every edit must
 * say exactly what a new one says that sees the tree for the first time. SEED and STEPS choose.
 */
#include "compile_dump.h"

#include "base/clock.h"

#define TREES 12
#define STEPS 60

struct random_test {
	struct schema *schema;
	struct scratch scratch;
	uint64_t state;
	unsigned held, good; /* groups seen so */
};

static unsigned pick(struct random_test *test, unsigned below)
{
	test->state = test->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(test->state >> 33) % below;
}

static const char *const folders[] = {"clusters", "a/clusters", "a/b/clusters", "b/clusters",
	"a/endpoints", "endpoints", "b/c/endpoints", "listeners", "a/listeners", "b/listeners",
	"secrets", "routes", "a/routes", "virtual-hosts/n1", "virtual-hosts/n2",
	"a/virtual-hosts/n1", "b/virtual-hosts/n1/deep", "b/virtual-hosts", "_x/clusters", "b", "a",
	"clustres", "b/endpoint"};
#define GOOD_FOLDERS	18 /* the first of them */
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static void write_resource(struct random_test *test, const char *folder, struct buf *out)
{
	unsigned name = pick(test, 50);

	switch (pick(test, 40)) {
	case 0:
	case 4:
	case 5:
		buf_printf(out, "- !delete {name: n%u}\n", name);
		return;
	case 1:
		buf_printf(out, "- unknown%u: x\n", name);
		return;
	case 2:
		buf_printf(out,
			"- \"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\n"
			"  name: n%u\n",
			name);
		return;
	case 3:
		buf_printf(out, "# nothing\n");
		return;
	case 6:
	case 7:
		buf_printf(out, "- {<<: !include %s/_x/part%u.yaml, name: n%u}\n",
			strstr(folder, "/") ? "../.." : "..", pick(test, 2), name);
		return;
	default:
		break;
	}
	if (strstr(folder, "endpoint"))
		buf_printf(out, "- {cluster_name: n%u, policy: {overprovisioning_factor: %u}}\n",
			name, 100 + pick(test, 3));
	else if (strstr(folder, "listener"))
		buf_printf(out, "- {name: n%u, stat_prefix: p%u}\n", name, pick(test, 3));
	else if (strstr(folder, "routes"))
		buf_printf(out, "- {name: n%u%s}\n", name % 4,
			pick(test, 3) ? "" : ", vhds: {config_source: {ads: {}}}");
	else if (strstr(folder, "virtual-hosts"))
		buf_printf(
			out, "- {name: n%u, domains: [d%u.example]}\n", name % 20, pick(test, 200));
	else if (strstr(folder, "secret"))
		buf_printf(out,
			"- {name: n%u, generic_secret: {secret: {inline_string: !file %s}}}\n",
			name, pick(test, 2) ? "../_x/key" : "key.txt");
	else
		buf_printf(out, "- {name: n%u, connect_timeout: %us}\n", name, 1 + pick(test, 3));
}

static void write_groups(struct random_test *test)
{
	static const char *const layers[] = {".", "a", "b", "a/b", "b/c", "b/clusters"};
	struct buf text = BUF_INIT;
	unsigned count = 1 + pick(test, 3);

	buf_puts(&text, "groups:\n");
	for (unsigned i = 0; i < count; i++) {
		unsigned first = pick(test, pick(test, 3) ? 3 : COUNT_OF(layers));

		buf_printf(&text, "- name: g%u\n  layers: [%s", i, layers[first]);
		for (unsigned k = pick(test, 3); k > 0; k--) {
			first = (first + 1) % COUNT_OF(layers);
			buf_printf(&text, ", %s", layers[first]);
		}
		buf_printf(&text, "]\n  allow_empty: %s\n", pick(test, 8) ? "true" : "false");
		if (i + 1 < count)
			buf_printf(&text, "  match: {cluster: c%u}\n", i);
	}
	if (pick(test, 3) == 0)
		buf_printf(&text,
			"- each: %s\n  name: e-{1}\n  match: {id: \"{1}\"}\n  layers: [., \"%s\"]\n"
			"  allow_empty: true\n  at_least: {clusters: %u}\n",
			pick(test, 2) ? "a/*" : "\"*\"", pick(test, 2) ? "a/{1}" : "{1}",
			1 + pick(test, 3));
	if (pick(test, 4) == 0)
		buf_puts(&text, "isolate: tree\n");
	scratch_write(&test->scratch, "groups.yaml", buf_cstr(&text));
	buf_fini(&text);
}

/* One edit; the paths that a watcher would name go to `hints`, each with its NUL. */
static void edit(struct random_test *test, struct buf *hints)
{
	const char *folder = folders[pick(test, pick(test, 12) ? GOOD_FOLDERS : COUNT_OF(folders))];
	struct buf text = BUF_INIT, path = BUF_INIT;
	char full[4200];

	/* Most virtual hosts hold their group: nobody has the route configuration. */
	if (strstr(folder, "virtual-hosts") && pick(test, 6))
		folder = pick(test, 2) ? "a/routes" : "routes";
	buf_printf(&path, "%s/f%u.yaml", folder, pick(test, 3));
	scratch_path(&test->scratch, buf_cstr(&path), full);
	switch (pick(test, 12)) {
	case 0:
		if (pick(test, 3) == 0) {
			write_groups(test);
			buf_reset(&path);
			buf_puts(&path, "groups.yaml");
		}
		break;
	case 1:
		if (access(full, F_OK) == 0)
			scratch_remove(&test->scratch, buf_cstr(&path));
		break;
	case 2: /* a whole folder goes */
		scratch_path(&test->scratch, folder, full);
		if (access(full, F_OK) == 0)
			scratch_remove(&test->scratch, folder);
		buf_reset(&path);
		buf_puts(&path, folder);
		break;
	case 3:
		buf_reset(&path);
		if (pick(test, 2)) {
			buf_printf(&path, "_x/part%u.yaml", pick(test, 2));
			scratch_write(&test->scratch, buf_cstr(&path),
				pick(test, 3)	? pick(test, 2) ? "{}\n" : "cluster_name: x\n"
				: pick(test, 2) ? "!include part1.yaml\n"
						: "connect_timeout: 9s\n");
			break;
		}
		buf_puts(&path, pick(test, 2) ? "_x/key" : "secrets/key.txt");
		scratch_path(&test->scratch, buf_cstr(&path), full);
		if (access(full, F_OK) == 0 && pick(test, 3) == 0)
			scratch_remove(&test->scratch, buf_cstr(&path));
		else
			scratch_write(&test->scratch, buf_cstr(&path), pick(test, 2) ? "k" : "kk");
		break;
	case 4: /* now and then a link to another folder's file */
		if (access(full, F_OK) != 0 && !strchr(folder, '/') && pick(test, 3) == 0) {
			scratch_mkdir(&test->scratch, folder);
			buf_printf(&text, "../%s/f0.yaml", folders[pick(test, COUNT_OF(folders))]);
			scratch_link(&test->scratch, buf_cstr(&text), buf_cstr(&path));
		}
		break;
	default:
		for (unsigned i = 1 + pick(test, 3); i > 0; i--)
			write_resource(test, folder, &text);
		scratch_write(&test->scratch, buf_cstr(&path), buf_cstr(&text));
		break;
	}
	buf_append(hints, buf_cstr(&path), strlen(buf_cstr(&path)) + 1);
	buf_fini(&text);
	buf_fini(&path);
}

static void dump(const struct build *build, struct buf *out)
{
	buf_reset(out);
	dump_diags(build, out);
	dump_groups(build, true, out);
	buf_printf(out, "files %zu resources %zu\n", build->files, build->resources);
}

static void compare(
	struct random_test *test, const struct build *seen, uint64_t seed, unsigned step)
{
	struct compile_options options = {
		.root = test->scratch.root, .schema = test->schema, .threads = 2};
	struct compiler *fresh = compiler_new(&options);
	const struct build *build;
	struct buf one = BUF_INIT, two = BUF_INIT;

	assert_int_equal(compiler_run(fresh, NULL, 0, 0, NULL, &build), 0);
	assert_int_equal(seen->groups_are_good, build->groups_are_good);
	/* Without a good groups.yaml one keeps what it had, and the other has nothing. */
	if (build->groups_are_good) {
		dump(seen, &one);
		dump(build, &two);
	}
	if (strcmp(buf_cstr(&one), buf_cstr(&two)) != 0) {
		fprintf(stderr, "--- edit by edit\n%s--- from scratch\n%s", buf_cstr(&one),
			buf_cstr(&two));
		fail_msg("SEED=%llu STEPS=%u", (unsigned long long)seed, step + 1);
	}
	compiler_free(fresh);
	buf_fini(&one);
	buf_fini(&two);
}

static void run_tree(struct random_test *test, uint64_t seed, unsigned steps)
{
	struct compile_options options = {
		.root = test->scratch.root, .schema = test->schema, .threads = 1};
	struct compiler *compiler;
	const struct build *build;

	test->state = seed * 0x9e3779b97f4a7c15u + 1;
	scratch_init(&test->scratch);
	compiler = compiler_new(&options);
	write_groups(test);
	assert_int_equal(compiler_run(compiler, NULL, 0, 0, NULL, &build), 0);
	for (unsigned step = 0; step < steps; step++) {
		struct buf hints = BUF_INIT;
		const char *paths[8];
		size_t count = 0;
		const char *hint;

		for (unsigned i = 1 + pick(test, 4); i > 0; i--)
			edit(test, &hints);
		for (hint = hints.data; hint < hints.data + hints.length; hint += strlen(hint) + 1)
			paths[count++] = hint;
		assert_int_equal(compiler_run(compiler, pick(test, 4) ? paths : NULL, count, 0,
					 NULL, &build),
			0);
		compare(test, build, seed, step);
		for (size_t i = 0; i < build->groups_count; i++)
			*(build->groups[i].is_held ? &test->held : &test->good) += 1;
		buf_fini(&hints);
	}
	compiler_free(compiler);
	scratch_fini(&test->scratch);
}

static void test_edit_by_edit_is_from_scratch(void **state)
{
	struct random_test *test = *state;
	const char *seed = getenv("SEED"), *steps = getenv("STEPS");

	if (seed) {
		run_tree(test, strtoull(seed, NULL, 10), steps ? (unsigned)atoi(steps) : STEPS);
		return;
	}
	for (uint64_t i = 0; i < TREES; i++)
		run_tree(test, i, STEPS);
	/* And one nobody has seen yet; its number is in the message when it fails. */
	run_tree(test, (uint64_t)clock_wall_ms(), STEPS);
	/* The test says something only when both happen. */
	print_message("# %u groups held, %u good\n", test->held, test->good);
	assert_true(test->held > 100 && test->good > 100);
}

static int setup(void **state)
{
	struct random_test *test = calloc(1, sizeof(*test));

	test->schema = dump_load_schema();
	*state = test;
	return 0;
}

static int teardown(void **state)
{
	struct random_test *test = *state;

	schema_free(test->schema);
	free(test);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edit_by_edit_is_from_scratch),
	};

	return cmocka_run_group_tests_name("compile_random", tests, setup, teardown);
}
