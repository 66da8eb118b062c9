/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A compiler for tests, and its outcome as text: diagnostics, then each group with its resources.
 */
#ifndef XDSPUB_TESTS_COMPILE_DUMP_H
#define XDSPUB_TESTS_COMPILE_DUMP_H

#include "scratch.h"

#include "base/mem.h"
#include "compile/compile.h"

static inline struct schema *dump_load_schema(void)
{
	const char *path = getenv("XDSPUB_SCHEMA");
	struct diag_list *diags = diag_list_new(0);
	struct schema *schema = NULL;

	assert_non_null(path);
	assert_int_equal(schema_load(&path, 1, diags, &schema), 0);
	diag_list_free(diags);
	return schema;
}

static inline void dump_diags(const struct build *build, struct buf *out)
{
	for (size_t i = 0; i < diag_list_count(build->diags); i++) {
		diag_format(diag_list_get(build->diags, i), out);
		buf_putc(out, '\n');
	}
}

static inline void dump_snapshot(const struct snapshot *snapshot, bool with_places, struct buf *out)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		const struct resource_set *set = snapshot->sets[type];
		size_t count;
		struct resource **sorted = resource_set_sorted(set, &count);

		if (count)
			buf_printf(out, "  %s %s\n", xds_type_row((enum xds_type)type)->name,
				resource_set_version(set)->text);
		for (size_t i = 0; i < count; i++) {
			char digest[2 * DIGEST_LENGTH + 1];

			digest_hex(&sorted[i]->digest, digest);
			buf_printf(out, "    %.*s %s", SLICE_ARG(sorted[i]->name), digest);
			if (with_places)
				buf_printf(
					out, " %s:%u", sorted[i]->path->text, sorted[i]->at.line);
			if (sorted[i]->ttl_ms >= 0)
				buf_printf(out, " ttl=%lldms", (long long)sorted[i]->ttl_ms);
			for (size_t k = 0; k < sorted[i]->aliases_count; k++)
				buf_printf(out, " alias=%.*s", SLICE_ARG(sorted[i]->aliases[k]));
			buf_putc(out, '\n');
		}
		free(sorted);
	}
}

static inline void dump_groups(const struct build *build, bool with_places, struct buf *out)
{
	if (!build->groups_are_good)
		buf_puts(out, "groups.yaml is bad\n");
	for (size_t i = 0; i < build->groups_count; i++) {
		const struct build_group *group = &build->groups[i];

		buf_printf(out, "group %s", group->name->text);
		if (group->errors)
			buf_printf(out, " errors=%zu", group->errors);
		if (group->warnings)
			buf_printf(out, " warnings=%zu", group->warnings);
		if (group->is_held)
			buf_printf(out, " held: %s", group->held_reason);
		buf_putc(out, '\n');
		assert_true(group->is_held == (group->target == NULL));
		if (group->target)
			dump_snapshot(group->target, with_places, out);
	}
}

#endif
