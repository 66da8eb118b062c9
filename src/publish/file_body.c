/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "publish/file_body.h"

#include "publish/publish_job.h"

static void put_path(void *ctx, enum xds_type type, struct slice name, struct buf *out)
{
	const struct file_body *body = ctx;
	const struct xds_type_row *row = xds_type_row(type);
	char path[PUBLISH_PATH_BYTES];

	publish_file_path(type, row->files == XDS_FILE_SET ? SLICE("") : name, body->format, path);
	buf_printf(out, "%s/%.*s/%s/%s", body->seen_as, SLICE_ARG(body->group), row->stem, path);
}

int file_body_make(struct file_body *body, const struct resource *resource, struct slice *ret_bytes)
{
	*ret_bytes = resource->body;
	if (!resource->binding)
		return 0;
	buf_reset(&body->scratch);
	resource_file_body(resource, put_path, body, &body->scratch);
	*ret_bytes = buf_slice(&body->scratch);
	return buf_error(&body->scratch);
}

struct version file_body_stamp(const struct version *version, bool has_path, const char *seen_as)
{
	struct digest_context context;
	struct digest digest;

	if (!has_path)
		return *version;
	digest_begin(&context, "xdspub file with paths 1");
	digest_part(&context, slice_of(version->text));
	digest_part(&context, slice_of(seen_as));
	digest = digest_end(&context);
	return version_text(&digest);
}
