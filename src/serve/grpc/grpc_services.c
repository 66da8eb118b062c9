/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/grpc/grpc_services.h"

#include <assert.h>
#include <stdio.h>

#include "base/text.h"

#define SHOWN_BYTES 120

static const char *const own[] = {
	XDS_ADS_SERVICE,
	GRPC_HEALTH_SERVICE,
	GRPC_REFLECTION_SERVICE,
	GRPC_REFLECTION_ALPHA,
	GRPC_CLIENT_STATUS_SERVICE,
};
#define OWN (sizeof(own) / sizeof(own[0]))

static const char *const own_methods[] = {
	"/" GRPC_HEALTH_SERVICE "/Check",
	"/" GRPC_HEALTH_SERVICE "/Watch",
	"/" GRPC_REFLECTION_SERVICE "/ServerReflectionInfo",
	"/" GRPC_REFLECTION_ALPHA "/ServerReflectionInfo",
	"/" GRPC_CLIENT_STATUS_SERVICE "/StreamClientStatus",
	"/" GRPC_CLIENT_STATUS_SERVICE "/FetchClientStatus",
};

size_t grpc_services_count(void)
{
	return OWN + XDS_TYPE_COUNT;
}

const char *grpc_services_name(size_t index)
{
	assert(index < grpc_services_count());
	return index < OWN ? own[index] : xds_type_row((enum xds_type)(index - OWN))->grpc_service;
}

bool grpc_services_has(struct slice name)
{
	for (size_t i = 0; i < grpc_services_count(); i++)
		if (slice_is(name, grpc_services_name(i)))
			return true;
	return false;
}

static void offer_type(
	struct suggestion *suggestion, const struct xds_type_row *row, struct buf *paths)
{
	for (int form = XDS_SOTW; form <= XDS_FETCH; form++) {
		const struct xds_method method = {.form = (enum xds_form)form, .row = row};
		size_t at = paths->length;

		if (xds_method_path(&method, paths))
			continue;
		buf_putc(paths, '\0');
		suggestion_offer(suggestion, paths->data + at);
	}
}

/* Types and services of the API's second version have "v2" where ours have "v3". */
static bool is_v2(struct slice path)
{
	return memmem(path.data, path.length, ".v2.", 4) != NULL &&
	       memmem(path.data, path.length, "envoy.", 6) != NULL;
}

void grpc_services_explain(struct slice path, char *problem, size_t problem_size)
{
	struct buf paths = BUF_INIT, shown = BUF_INIT;
	struct suggestion suggestion;
	char phrase[256];

	/* Room for every path, so that none moves while the suggestion points to it. */
	(void)buf_reserve(&paths, 256 * 3 * (XDS_TYPE_COUNT + 1));
	text_quote(&shown, path, SHOWN_BYTES);
	suggestion_init(&suggestion, path);
	offer_type(&suggestion, NULL, &paths);
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		offer_type(&suggestion, xds_type_row((enum xds_type)type), &paths);
	for (size_t i = 0; i < sizeof(own_methods) / sizeof(own_methods[0]); i++)
		suggestion_offer(&suggestion, own_methods[i]);
	if (is_v2(path))
		snprintf(problem, problem_size,
			"the v2 API is not served (%s): set transport_api_version: V3",
			buf_cstr(&shown));
	else
		snprintf(problem, problem_size, "there is no method %s%s", buf_cstr(&shown),
			suggestion_phrase(&suggestion, phrase));
	buf_fini(&shown);
	buf_fini(&paths);
}
