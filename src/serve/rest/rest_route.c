/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/rest/rest_route.h"

#include "base/text.h"

#define ALLOW_READ "GET, HEAD"

static struct rest_route no_path(struct slice path, struct buf *problem)
{
	struct suggestion suggestion;
	char phrase[256];

	suggestion_init(&suggestion, path);
	for (int type = 0; type < XDS_TYPE_COUNT; type++)
		if (xds_type_row(type)->rest_path)
			suggestion_offer(&suggestion, xds_type_row(type)->rest_path);
	buf_puts(problem, "there is nothing at ");
	text_quote(problem, path, 200);
	buf_puts(problem, suggestion_phrase(&suggestion, phrase));
	return (struct rest_route){.kind = REST_NO_PATH};
}

/* Envoy 1.17 and older ask the v2 paths, with v2 types. */
static struct rest_route no_v2(struct slice path, struct buf *problem)
{
	buf_puts(problem, "the v2 API is not served: set transport_api_version: V3 and ask ");
	buf_puts(problem, "/v3/");
	text_quote(problem, (struct slice){path.data + 4, path.length - 4}, 200);
	return (struct rest_route){.kind = REST_NO_PATH};
}

static bool is_read(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

static struct rest_route no_method(const char *method, const char *allow, struct buf *problem)
{
	text_quote(problem, slice_of(method), 32);
	buf_printf(problem, " is not allowed here, only %s", allow);
	if (strcmp(allow, "POST") == 0)
		buf_puts(problem, "; people can GET /v3/groups/<group>/<type>");
	return (struct rest_route){.kind = REST_NO_METHOD, .allow = allow};
}

/* Up to the next slash; moves `rest` behind it. */
static struct slice take_segment(struct slice *rest)
{
	const char *slash = memchr(rest->data, '/', rest->length);
	struct slice segment = *rest;

	if (slash)
		segment.length = (size_t)(slash - rest->data);
	rest->data += segment.length + (slash ? 1 : 0);
	rest->length -= segment.length + (slash ? 1 : 0);
	return segment;
}

static struct rest_route find_people(
	const char *method, struct slice path, struct slice rest, struct buf *problem)
{
	struct rest_route route = {.kind = REST_GROUPS};
	struct slice type;

	if (rest.length) {
		route.kind = REST_GROUP;
		route.group = take_segment(&rest);
	}
	if (rest.length) {
		route.kind = REST_SET;
		type = take_segment(&rest);
		route.row = xds_type_by_name(type);
		if (!route.row)
			route.row = xds_type_by_folder(type);
		if (!route.row || rest.length)
			return no_path(path, problem);
	}
	return is_read(method) ? route : no_method(method, ALLOW_READ, problem);
}

struct rest_route rest_route_find(const char *method, const char *path, struct buf *problem)
{
	static const char people[] = "/v3/groups";
	const size_t people_length = sizeof(people) - 1;
	struct slice text = slice_of(path);
	const struct xds_type_row *row = xds_type_by_rest_path(text);

	if (row) {
		if (strcmp(method, "POST") != 0)
			return no_method(method, "POST", problem);
		return (struct rest_route){.kind = REST_DISCOVERY, .row = row};
	}
	if (strncmp(path, people, people_length) == 0 &&
		(path[people_length] == '\0' || path[people_length] == '/')) {
		size_t skip = people_length + (path[people_length] == '/');

		return find_people(
			method, text, (struct slice){path + skip, text.length - skip}, problem);
	}
	if (strncmp(path, "/v2/", 4) == 0)
		return no_v2(text, problem);
	return no_path(text, problem);
}
