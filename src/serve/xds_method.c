/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_method.h"

#include <assert.h>
#include <errno.h>

#define ADS_STEM "AggregatedResources"

static const char *const prefixes[] = {
	[XDS_SOTW] = "Stream",
	[XDS_DELTA] = "Delta",
	[XDS_FETCH] = "Fetch",
};

static bool exists(const struct xds_method *method)
{
	if (!method->row)
		return method->form != XDS_FETCH;
	return method->form == XDS_DELTA || !method->row->is_delta_only;
}

int xds_method_parse(struct slice path, struct xds_method *ret_method)
{
	const char *slash = path.length ? memchr(path.data + 1, '/', path.length - 1) : NULL;
	struct slice service, name;
	struct xds_method method = {.row = NULL};
	const char *stem = ADS_STEM;

	if (!slash || path.data[0] != '/')
		return -ENOENT;
	service = (struct slice){path.data + 1, (size_t)(slash - path.data) - 1};
	name = (struct slice){slash + 1, path.length - (size_t)(slash - path.data) - 1};
	if (!slice_is(service, XDS_ADS_SERVICE)) {
		method.row = xds_type_by_grpc_service(service);
		if (!method.row)
			return -ENOENT;
		stem = method.row->grpc_stem;
	}
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t length = strlen(prefixes[i]);

		if (name.length <= length || memcmp(name.data, prefixes[i], length) != 0 ||
			!slice_is((struct slice){name.data + length, name.length - length}, stem))
			continue;
		method.form = (enum xds_form)i;
		if (!exists(&method))
			return -ENOENT;
		*ret_method = method;
		return 0;
	}
	return -ENOENT;
}

int xds_method_path(const struct xds_method *method, struct buf *out)
{
	assert((unsigned)method->form <= XDS_FETCH);
	if (!exists(method))
		return -ENOENT;
	buf_printf(out, "/%s/%s%s", method->row ? method->row->grpc_service : XDS_ADS_SERVICE,
		prefixes[method->form], method->row ? method->row->grpc_stem : ADS_STEM);
	return 0;
}
