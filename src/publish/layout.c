/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "publish/layout.h"

#include <stdlib.h>

#include "base/digest.h"
#include "base/mem.h"

static bool is_plain(char byte, bool is_first)
{
	return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
	       (byte >= '0' && byte <= '9') || byte == '_' || byte == '-' ||
	       (byte == '.' && !is_first);
}

/* The end of what is left out for the digest, on the boundary of a byte of the name. */
static size_t prefix_length(const char *text, size_t limit)
{
	if (limit >= 1 && text[limit - 1] == '%')
		return limit - 1;
	if (limit >= 2 && text[limit - 2] == '%')
		return limit - 2;
	return limit;
}

void layout_name(struct slice name, char out[static LAYOUT_NAME_BYTES + 1])
{
	static const char hex[] = "0123456789ABCDEF";
	char text[LAYOUT_NAME_BYTES + 4];
	size_t length = 0;
	struct digest_context context;
	struct digest digest;

	for (size_t i = 0; i < name.length && length <= LAYOUT_NAME_BYTES; i++) {
		unsigned char byte = (unsigned char)name.data[i];

		if (is_plain(name.data[i], i == 0)) {
			text[length++] = name.data[i];
		} else {
			text[length++] = '%';
			text[length++] = hex[byte >> 4];
			text[length++] = hex[byte & 15];
		}
	}
	/* No name becomes a lone '%', so the empty one may. */
	if (length == 0)
		text[length++] = '%';
	if (length <= LAYOUT_NAME_BYTES) {
		memcpy(out, text, length);
		out[length] = '\0';
		return;
	}
	length = prefix_length(text, LAYOUT_NAME_BYTES - 1 - 2 * DIGEST_LENGTH);
	memcpy(out, text, length);
	out[length++] = '~';
	digest_begin(&context, "xdspub file name 1");
	digest_part(&context, name);
	digest = digest_end(&context);
	digest_hex(&digest, out + length);
}

bool layout_group_is_valid(struct slice group)
{
	if (group.length == 0 || group.length > LAYOUT_NAME_BYTES)
		return false;
	for (size_t i = 0; i < group.length; i++) {
		char byte = group.data[i];

		if ((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9'))
			continue;
		if (i == 0 || (byte != '.' && byte != '_' && byte != '-'))
			return false;
	}
	return true;
}

void layout_plan_fini(struct layout_plan *plan)
{
	free(plan->steps);
	*plan = (struct layout_plan){0};
}

void layout_plan_add(struct layout_plan *plan, struct layout_step step)
{
	array_reserve(plan->steps, plan->capacity, plan->count + 1);
	plan->steps[plan->count++] = step;
}

static int add_difference(void *ctx, struct resource *old_resource, struct resource *new_resource)
{
	const struct resource *any = new_resource ? new_resource : old_resource;

	layout_plan_add(ctx, (struct layout_step){
				     .action = new_resource ? LAYOUT_WRITE : LAYOUT_REMOVE,
				     .type = any->type,
				     .name = any->name,
				     .resource = new_resource,
			     });
	return 0;
}

void layout_plan_difference(
	struct layout_plan *plan, const struct snapshot *published, const struct snapshot *target)
{
	for (int type = 0; type < XDS_TYPE_COUNT; type++) {
		const struct xds_type_row *row = xds_type_row((enum xds_type)type);
		const struct resource_set *old_set = published->sets[type];
		const struct resource_set *new_set = target->sets[type];

		switch (row->files) {
		case XDS_FILE_NONE:
			break;
		case XDS_FILE_SET:
			if (!version_equal(
				    resource_set_version(old_set), resource_set_version(new_set)))
				layout_plan_add(plan, (struct layout_step){LAYOUT_WRITE, row->type,
							      .resource = NULL});
			break;
		case XDS_FILE_EACH:
			resource_set_diff(old_set, new_set, add_difference, plan);
			break;
		}
	}
}

static int compare_steps(const void *a, const void *b)
{
	const struct layout_step *x = a, *y = b;
	int rank_x = xds_type_row(x->type)->publish_rank;
	int rank_y = xds_type_row(y->type)->publish_rank;

	if (x->action != y->action)
		return x->action == LAYOUT_WRITE ? -1 : 1;
	if (rank_x != rank_y)
		return (rank_x < rank_y) == (x->action == LAYOUT_WRITE) ? -1 : 1;
	return slice_compare(x->name, y->name);
}

void layout_plan_sort(struct layout_plan *plan)
{
	if (plan->count > 1)
		qsort(plan->steps, plan->count, sizeof(*plan->steps), compare_steps);
}
