/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tree in a scratch folder with a compiler that follows it, for tests of what a run does. */
#ifndef XDSPUB_TESTS_COMPILE_FIXTURE_H
#define XDSPUB_TESTS_COMPILE_FIXTURE_H

#include "compile_dump.h"

#include <jansson.h>

struct fixture {
	struct scratch scratch;
	struct schema *schema;
	struct compiler *compiler;
	const struct build *build;
	struct buf text;
};

static inline int setup_schema(void **state)
{
	*state = dump_load_schema();
	return 0;
}

static inline int teardown_schema(void **state)
{
	schema_free(*state);
	return 0;
}

static inline struct compile_options options_of(const struct fixture *f)
{
	return (struct compile_options){.root = f->scratch.root, .schema = f->schema, .threads = 2};
}

static inline void open_tree(struct fixture *f, struct schema *schema)
{
	struct compile_options options;

	*f = (struct fixture){.schema = schema};
	scratch_init(&f->scratch);
	options = options_of(f);
	f->compiler = compiler_new(&options);
}

static inline void close_tree(struct fixture *f)
{
	compiler_free(f->compiler);
	buf_fini(&f->text);
	scratch_fini(&f->scratch);
}

static inline void restart(struct fixture *f, const struct compile_options *options)
{
	compiler_free(f->compiler);
	f->compiler = compiler_new(options);
}

static inline void write_good(struct fixture *f)
{
	scratch_write(&f->scratch, "listeners/l.yaml", "name: http\n");
	scratch_write(&f->scratch, "clusters/a.yaml", "name: a\nconnect_timeout: 1s\n");
	scratch_write(&f->scratch, "clusters/b.yaml", "- name: b\n- name: c\n");
}

static inline void run(struct fixture *f)
{
	assert_int_equal(compiler_run(f->compiler, NULL, 0, 7, NULL, &f->build), 0);
}

static inline void run_hint(struct fixture *f, const char *path)
{
	assert_int_equal(compiler_run(f->compiler, &path, 1, 7, NULL, &f->build), 0);
}

/* Until time stamps are old enough to be believed. */
static inline void settle(struct fixture *f)
{
	do {
		usleep(2000);
		run(f);
	} while (f->build->files_read);
}

static inline const char *diags(struct fixture *f)
{
	buf_reset(&f->text);
	dump_diags(f->build, &f->text);
	return buf_cstr(&f->text);
}

static inline void assert_said(struct fixture *f, const char *part)
{
	if (!strstr(diags(f), part)) {
		fprintf(stderr, "wanted: %s\ngot:\n%s", part, diags(f));
		fail();
	}
}

static inline const struct build_group *group(const struct fixture *f, const char *name)
{
	for (size_t i = 0; i < f->build->groups_count; i++) {
		if (strcmp(f->build->groups[i].name->text, name) == 0)
			return &f->build->groups[i];
	}
	fail_msg("no group %s", name);
	return NULL;
}

static inline const struct resource *find(
	const struct fixture *f, const char *name, enum xds_type type, const char *resource)
{
	assert_non_null(group(f, name)->target);
	return resource_set_find(group(f, name)->target->sets[type], slice_of(resource));
}

#endif
