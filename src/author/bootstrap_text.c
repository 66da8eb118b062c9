/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/bootstrap_text.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "message/yaml_write.h"

#define HTTP_OPTIONS "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"

bool bootstrap_mode_by_name(const char *name, enum bootstrap_mode *ret_mode)
{
	static const char *const names[] = {"file", "rest", "grpc", "ads", "delta-ads"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(name, names[i]) == 0) {
			*ret_mode = (enum bootstrap_mode)i;
			return true;
		}
	}
	return false;
}

/* host:port; the host without brackets, malloc'ed. */
static char *split_address(const char *address, uint64_t *ret_port)
{
	const char *colon = strrchr(address, ':');

	if (!colon || colon == address || text_parse_u64(slice_of(colon + 1), ret_port) < 0 ||
		*ret_port == 0 || *ret_port > 65535)
		return NULL;
	if (address[0] == '[' && colon[-1] == ']' && colon - address > 2)
		return xstrndup(address + 1, (size_t)(colon - address) - 2);
	if (memchr(address, ':', (size_t)(colon - address)))
		return NULL;
	return xstrndup(address, (size_t)(colon - address));
}

bool bootstrap_address_is_good(const char *address)
{
	AUTO_FREE char *host = NULL;
	uint64_t port;

	if (strncmp(address, "unix:", 5) == 0)
		return address[5] != '\0';
	host = split_address(address, &port);
	return host != NULL;
}

static bool is_ip(const char *host)
{
	struct in6_addr address;

	return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

static void put_file(struct buf *out, const struct bootstrap_spec *spec, const char *stem)
{
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/%s/%s/%s.%s", spec->out, spec->group, stem, stem, spec->extension);
	buf_printf(out,
		"  %s_config:\n    resource_api_version: V3\n    path_config_source:\n      path: ",
		stem);
	yaml_write_string(out, buf_slice(&path));
	buf_puts(out, "\n");
	buf_fini(&path);
}

static void put_api(struct buf *out, const struct bootstrap_spec *spec, const char *stem)
{
	buf_printf(out, "  %s_config:\n    resource_api_version: V3\n", stem);
	buf_puts(out, "    initial_fetch_timeout: 0s\n    api_config_source:\n");
	if (spec->mode == BOOTSTRAP_REST) {
		buf_puts(out, "      api_type: REST\n      transport_api_version: V3\n"
			      "      cluster_names: [");
		yaml_write_string(out, slice_of(spec->cluster));
		buf_puts(out, "]\n      refresh_delay: 0.5s\n      request_timeout: 60s\n");
	} else {
		buf_puts(out, "      api_type: GRPC\n      transport_api_version: V3\n"
			      "      set_node_on_first_message_only: true\n"
			      "      grpc_services:\n      - envoy_grpc: {cluster_name: ");
		yaml_write_string(out, slice_of(spec->cluster));
		buf_puts(out, "}\n");
	}
}

static void put_ads(struct buf *out, const struct bootstrap_spec *spec)
{
	bool is_delta = spec->mode == BOOTSTRAP_DELTA_ADS;

	buf_puts(out,
		"  # One stream for all types, so that a change arrives in the order that breaks "
		"nothing.\n"
		"  # Resources in the tree refer to it with {ads: {}, resource_api_version: "
		"V3}.\n");
	buf_printf(out, "  ads_config:\n    api_type: %s\n",
		is_delta ? "DELTA_GRPC # only what changed is sent"
			 : "GRPC # DELTA_GRPC: only what changed is sent");
	buf_puts(out, "    transport_api_version: V3\n    set_node_on_first_message_only: true\n"
		      "    grpc_services:\n    - envoy_grpc: {cluster_name: ");
	yaml_write_string(out, slice_of(spec->cluster));
	buf_puts(out,
		"}\n"
		"  # Without a timeout Envoy waits for the first answer instead of starting with "
		"nothing.\n"
		"  cds_config: {ads: {}, resource_api_version: V3, initial_fetch_timeout: 0s}\n"
		"  lds_config: {ads: {}, resource_api_version: V3, initial_fetch_timeout: 0s}\n");
}

void bootstrap_put_dynamic(struct buf *out, const struct bootstrap_spec *spec)
{
	buf_puts(out, "dynamic_resources:\n");
	switch (spec->mode) {
	case BOOTSTRAP_FILE:
		buf_puts(out, "  # Envoy watches the folders of these files; xdspub moves new ones "
			      "into their place.\n"
			      "  # They must be there when Envoy starts.\n");
		put_file(out, spec, "cds");
		put_file(out, spec, "lds");
		break;
	case BOOTSTRAP_REST:
		buf_puts(out, "  # xdspub answers when something has changed, at the latest before "
			      "request_timeout;\n"
			      "  # refresh_delay is how soon (up to twice that) Envoy asks again. "
			      "Without\n"
			      "  # initial_fetch_timeout it waits for the first answer instead of "
			      "starting with nothing.\n");
		put_api(out, spec, "cds");
		put_api(out, spec, "lds");
		break;
	case BOOTSTRAP_GRPC:
		buf_puts(out,
			"  # A stream for each type. Without initial_fetch_timeout Envoy waits "
			"for the first answer\n  # instead of starting with nothing.\n");
		put_api(out, spec, "cds");
		put_api(out, spec, "lds");
		break;
	case BOOTSTRAP_ADS:
	case BOOTSTRAP_DELTA_ADS:
		put_ads(out, spec);
		break;
	}
}

void bootstrap_put_address(struct buf *out, const char *address)
{
	AUTO_FREE char *host = NULL;
	uint64_t port = 0;

	if (strncmp(address, "unix:", 5) == 0) {
		buf_puts(out, "{pipe: {path: ");
		yaml_write_string(out, slice_of(address + 5));
		buf_puts(out, "}}");
		return;
	}
	host = split_address(address, &port);
	assert(host);
	buf_puts(out, "{socket_address: {address: ");
	yaml_write_string(out, slice_of(host));
	buf_printf(out, ", port_value: %u}}", (unsigned)port);
}

void bootstrap_put_cluster(struct buf *out, const struct bootstrap_spec *spec)
{
	AUTO_FREE char *host = NULL;
	uint64_t port;
	bool has_name;

	if (spec->mode == BOOTSTRAP_FILE)
		return;
	host = strncmp(spec->address, "unix:", 5) == 0 ? NULL : split_address(spec->address, &port);
	has_name = host && !is_ip(host);
	buf_puts(out, "- name: ");
	yaml_write_string(out, slice_of(spec->cluster));
	buf_printf(out, "\n  type: %s\n  connect_timeout: 1s\n",
		has_name ? "STRICT_DNS # the name of a host" : "STATIC");
	if (spec->mode != BOOTSTRAP_REST)
		buf_puts(out, "  typed_extension_protocol_options:\n"
			      "    " HTTP_OPTIONS ":\n"
			      "      \"@type\": type.googleapis.com/" HTTP_OPTIONS "\n"
			      "      explicit_http_config:\n"
			      "        http2_protocol_options:\n"
			      "          # Notices a connection that is gone without a word.\n"
			      "          connection_keepalive: {interval: 30s, timeout: 5s}\n");
	buf_puts(out, "  load_assignment:\n    cluster_name: ");
	yaml_write_string(out, slice_of(spec->cluster));
	buf_puts(out,
		"\n    endpoints:\n    - lb_endpoints:\n"
		"      # Several replicas of xdspub serve the same versions: add them here.\n");
	buf_puts(out, "      - endpoint:\n          address: ");
	bootstrap_put_address(out, spec->address);
	buf_putc(out, '\n');
}
