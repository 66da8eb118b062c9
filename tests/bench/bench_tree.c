/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <yaml.h>

#include "base/file.h"
#include "base/mem.h"

void bench_put_cluster(struct buf *out, unsigned n)
{
	static const char *const policies[] = {"ROUND_ROBIN", "LEAST_REQUEST", "RING_HASH"};

	buf_printf(out,
		"---\n"
		"# owner: team-%u\n"
		"\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\n"
		"name: service-%05u.prod.example.internal\n"
		"type: EDS\n"
		"connect_timeout: %u.5s\n"
		"lb_policy: %s\n"
		"eds_cluster_config:\n"
		"  service_name: service-%05u.prod.example.internal\n"
		"  eds_config:\n"
		"    resource_api_version: V3\n"
		"    path_config_source:\n"
		"      path: /var/lib/envoy/eds/service-%05u/eds.yaml\n"
		"circuit_breakers:\n"
		"  thresholds:\n"
		"  - priority: DEFAULT\n"
		"    max_connections: %u\n"
		"    max_pending_requests: %u\n"
		"outlier_detection:\n"
		"  consecutive_5xx: 5\n"
		"  interval: 10s\n"
		"  base_ejection_time: 30s\n"
		"health_checks:\n"
		"- timeout: 1s\n"
		"  interval: 5s\n"
		"  unhealthy_threshold: 3\n"
		"  healthy_threshold: 2\n"
		"  http_health_check: {path: /healthz, host: service-%05u}\n"
		"typed_extension_protocol_options:\n"
		"  envoy.extensions.upstreams.http.v3.HttpProtocolOptions:\n"
		"    \"@type\": "
		"type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions\n"
		"    explicit_http_config:\n"
		"      http2_protocol_options: {max_concurrent_streams: 100}\n",
		n % 40, n, n % 5 + 1, policies[n % 3], n, n, 1000 + n % 1000, 500 + n % 100, n);
}

void bench_put_endpoints(struct buf *out, unsigned n)
{
	buf_printf(out,
		"---\n"
		"\"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment\n"
		"cluster_name: service-%05u.prod.example.internal\n"
		"endpoints:\n"
		"- locality: {region: eu-west-1, zone: eu-west-1a}\n"
		"  lb_endpoints:\n",
		n);
	for (unsigned i = 0; i < 3; i++)
		buf_printf(out,
			"  - endpoint:\n"
			"      address:\n"
			"        socket_address:\n"
			"          address: 10.%u.%u.%u\n"
			"          port_value: %u\n"
			"    health_status: HEALTHY\n"
			"    load_balancing_weight: %u\n"
			"    metadata:\n"
			"      filter_metadata:\n"
			"        envoy.lb: {canary: %s, version: \"1.%u\"}\n",
			n >> 8 & 255, n & 255, i + 10, 8080 + i, i + 1, i ? "false" : "true",
			n % 20);
}

typedef void (*put_cb)(struct buf *out, unsigned number);

static int write_file(int folder, const char *name, const struct buf *text)
{
	AUTO_CLOSE int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	return fd < 0 ? -errno : file_write_all(fd, text->data, text->length);
}

static int write_folder(int root, const char *name, put_cb put, unsigned count, unsigned files)
{
	struct buf text = BUF_INIT;
	AUTO_CLOSE int folder = -1;
	int error = file_make_directories(root, name, 0755);

	if (error)
		return error;
	folder = openat(root, name, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (folder < 0)
		return -errno;
	for (unsigned file = 0, number = 0; file < files && !error; file++) {
		char path[32];

		buf_reset(&text);
		for (; number < (uint64_t)(file + 1) * count / files; number++)
			put(&text, number);
		snprintf(path, sizeof(path), "part-%05u.yaml", file);
		error = write_file(folder, path, &text);
	}
	buf_fini(&text);
	return error;
}

int bench_write_tree(const char *folder, unsigned clusters, unsigned files)
{
	struct buf groups = BUF_INIT;
	AUTO_CLOSE int root = -1;
	int error = file_make_directories(AT_FDCWD, folder, 0755);

	if (error)
		return error;
	root = open(folder, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	buf_puts(&groups, "groups:\n- name: all\n  layers: [.]\n  allow_empty: true\n");
	error = write_file(root, "groups.yaml", &groups);
	buf_fini(&groups);
	if (!error)
		error = write_folder(root, "clusters", bench_put_cluster, clusters, files / 2);
	if (!error)
		error = write_folder(root, "endpoints", bench_put_endpoints, clusters, files / 2);
	return error;
}

size_t bench_drain(struct slice text)
{
	yaml_parser_t parser;
	yaml_event_t event;
	size_t events = 0;
	bool is_end = false;

	yaml_parser_initialize(&parser);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.data, text.length);
	while (!is_end) {
		if (!yaml_parser_parse(&parser, &event))
			abort();
		is_end = event.type == YAML_STREAM_END_EVENT;
		events++;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return events;
}
