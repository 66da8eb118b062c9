/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Publishing against the bare system calls with the same bytes, in the same folder and run:
 * one JSON line per figure. Usage: bench_publish SCHEMA FOLDER [COUNT]
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "daemon/encoder.h"
#include "message/bind.h"
#include "message/json_read.h"
#include "message/wire_write.h"

#define ROUNDS 7

struct bench {
	struct schema *schema;
	struct encoder *encoder;
	struct arena *arena;
	const char *folder;
	unsigned count;
	struct rcstr *group;
};

static const char cluster_text[] =
	"{\"name\":\"cluster-%u\",\"type\":\"EDS\",\"connect_timeout\":\"%u.250s\","
	"\"eds_cluster_config\":{\"eds_config\":{\"path_config_source\":{\"path\":"
	"\"/var/lib/xdspub/out/edge/eds/cluster-%u/eds.yaml\"},\"resource_api_version\":\"V3\"}},"
	"\"circuit_breakers\":{\"thresholds\":[{\"max_connections\":1024,"
	"\"max_pending_requests\":1024,\"max_requests\":4096,\"max_retries\":3}]},"
	"\"outlier_detection\":{\"consecutive_5xx\":5,\"interval\":\"10s\","
	"\"base_ejection_time\":\"30s\",\"max_ejection_percent\":50},"
	"\"typed_extension_protocol_options\":{"
	"\"envoy.extensions.upstreams.http.v3.HttpProtocolOptions\":{\"@type\":"
	"\"type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions\","
	"\"explicit_http_config\":{\"http2_protocol_options\":{\"max_concurrent_streams\":100}}}}}";

static const char endpoints_text[] =
	"{\"cluster_name\":\"cluster-%u\",\"endpoints\":[{\"locality\":{\"region\":\"eu\","
	"\"zone\":\"eu-%u\"},\"lb_endpoints\":["
	"{\"endpoint\":{\"address\":{\"socket_address\":{\"address\":\"10.1.2.%u\","
	"\"port_value\":8080}}},\"health_status\":\"HEALTHY\",\"load_balancing_weight\":10},"
	"{\"endpoint\":{\"address\":{\"socket_address\":{\"address\":\"10.1.3.1\","
	"\"port_value\":8080}}},\"health_status\":\"HEALTHY\",\"load_balancing_weight\":10},"
	"{\"endpoint\":{\"address\":{\"socket_address\":{\"address\":\"10.1.3.2\","
	"\"port_value\":8080}}},\"health_status\":\"HEALTHY\",\"load_balancing_weight\":10},"
	"{\"endpoint\":{\"address\":{\"socket_address\":{\"address\":\"10.1.3.3\","
	"\"port_value\":8080}}},\"health_status\":\"HEALTHY\",\"load_balancing_weight\":10}]}]}";

static struct resource *make_resource(
	struct bench *bench, enum xds_type type, unsigned number, unsigned variant)
{
	const struct xds_type_row *row = xds_type_row(type);
	const struct bind_options options = {.schema = bench->schema, .path = "bench"};
	const struct read_options reading = {.path = "bench"};
	struct diag_list *diags = diag_list_new(0);
	struct resource_spec spec = {.type = type, .ttl_ms = -1};
	struct buf body = BUF_INIT;
	struct resource *resource;
	struct message *message;
	struct node *node;
	char text[4096], name[32];
	int length;

	length = type == XDS_CDS
			 ? snprintf(text, sizeof(text), cluster_text, number, variant, number)
			 : snprintf(text, sizeof(text), endpoints_text, number, variant, variant);
	snprintf(name, sizeof(name), "cluster-%u", number);
	arena_reset(bench->arena);
	if (json_read(&reading, (struct slice){text, (size_t)length}, bench->arena, diags, &node) ||
		bind_message(&options, schema_find_message(bench->schema, slice_of(row->message)),
			node, bench->arena, diags, &message)) {
		fprintf(stderr, "bench_publish: %s\n", diag_list_get(diags, 0)->text);
		exit(1);
	}
	wire_write(message, &body);
	spec.name = slice_of(name);
	spec.body = buf_slice(&body);
	resource = resource_new(&spec);
	buf_fini(&body);
	diag_list_free(diags);
	return resource;
}

static struct snapshot *make_snapshot(struct bench *bench, const struct snapshot *base,
	enum xds_type type, unsigned first, unsigned end, unsigned variant)
{
	struct resource_set *sets[XDS_TYPE_COUNT];
	struct resource_set_builder *builder = resource_set_edit(base->sets[type]);

	for (unsigned i = first; i < end; i++) {
		struct resource *resource = make_resource(bench, type, i, variant);

		resource_set_put(builder, resource);
		resource_unref(resource);
	}
	for (int other = 0; other < XDS_TYPE_COUNT; other++)
		if (other != (int)type)
			sets[other] = resource_set_ref(base->sets[other]);
	sets[type] = resource_set_finish(builder);
	return snapshot_new(bench->group, sets, false, NULL, 0);
}

static struct publisher *open_publisher(struct bench *bench, const char *name)
{
	AUTO_FREE char *path = xasprintf("%s/%s", bench->folder, name);
	struct publisher_options options = {.path = path,
		.formats = {[FILE_FORMAT_YAML] = true},
		.mode = 0644,
		.secret_mode = 0640,
		.folder_mode = 0755,
		.owner = (uid_t)-1,
		.group = (gid_t)-1,
		.encoder = encoder_for_files(bench->encoder)};
	struct diag_list *diags = diag_list_new(0);
	struct publisher *publisher;

	if (publisher_open(&options, NULL, 0, diags, &publisher)) {
		fprintf(stderr, "bench_publish: %s\n", diag_list_get(diags, 0)->text);
		exit(1);
	}
	diag_list_free(diags);
	return publisher;
}

static int64_t publish(struct publisher *publisher, struct snapshot *snapshot)
{
	int64_t start = clock_monotonic_us();
	struct publish_result result;
	int error = publisher_publish(publisher, snapshot, &result);

	if (error) {
		fprintf(stderr, "bench_publish: %s\n", strerror(-error));
		exit(1);
	}
	return clock_monotonic_us() - start;
}

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t median(int64_t times[ROUNDS])
{
	qsort(times, ROUNDS, sizeof(times[0]), compare_times);
	return times[ROUNDS / 2];
}

static void print(const char *figure, int64_t ours_us, int64_t bare_us, double target)
{
	printf("{\"figure\":\"%s\",\"ours_ms\":%.2f,\"bare_ms\":%.2f,\"ratio\":%.2f,"
	       "\"target\":%.1f}\n",
		figure, (double)ours_us / 1000, (double)bare_us / 1000,
		(double)ours_us / (double)bare_us, target);
	fflush(stdout);
}

/* Write, fsync, rename, fsync of the folder. */
static int64_t bare_replace(const char *folder, const char *name, struct slice bytes)
{
	AUTO_FREE char *staged = xasprintf("%s/.staged", folder);
	AUTO_FREE char *target = xasprintf("%s/%s", folder, name);
	int64_t start = clock_monotonic_us();
	AUTO_CLOSE int fd = open(staged, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	AUTO_CLOSE int folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || folder_fd < 0 || file_write_all(fd, bytes.data, bytes.length) || fsync(fd) ||
		rename(staged, target) || fsync(folder_fd))
		exit(1);
	return clock_monotonic_us() - start;
}

/* The same files in the same kind of folders, and one syncfs. */
static int64_t bare_write_all(struct bench *bench, const char *from, const char *name)
{
	AUTO_FREE char *root = xasprintf("%s/%s", bench->folder, name);
	struct buf *texts = xcalloc(bench->count, sizeof(*texts));
	int64_t start;
	int root_fd;

	for (unsigned i = 0; i < bench->count; i++) {
		AUTO_FREE char *path =
			xasprintf("%s/%s/edge/eds/cluster-%u/eds.yaml", bench->folder, from, i);

		if (file_read(path, 1 << 20, &texts[i]))
			exit(1);
	}
	start = clock_monotonic_us();
	if (mkdir(root, 0755))
		exit(1);
	for (unsigned i = 0; i < bench->count; i++) {
		char path[4096];
		int fd;

		snprintf(path, sizeof(path), "%s/cluster-%u", root, i);
		if (mkdir(path, 0755))
			exit(1);
		strcat(path, "/eds.yaml");
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0 || file_write_all(fd, texts[i].data, texts[i].length))
			exit(1);
		close(fd);
	}
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0 || syncfs(root_fd))
		exit(1);
	close(root_fd);
	start = clock_monotonic_us() - start;
	for (unsigned i = 0; i < bench->count; i++)
		buf_fini(&texts[i]);
	free(texts);
	return start;
}

static void bench_encoding(struct bench *bench, const struct snapshot *snapshot)
{
	static const char *const names[] = {"yaml", "json", "pb", "pb_text"};
	struct publish_encoder encoder = encoder_for_files(bench->encoder);

	for (int format = 0; format < FILE_FORMAT_COUNT; format++) {
		struct buf out = BUF_INIT;
		struct resource *resource;
		uint64_t cursor = 0;
		int64_t start;

		buf_reserve(&out, 64u << 20);
		memset(out.data, 1, 64u << 20);
		start = clock_monotonic_us();
		while ((resource = resource_set_next(snapshot->sets[XDS_CDS], &cursor)))
			if (encoder.item(encoder.ctx, (enum file_format)format, resource,
				    resource->body, &out))
				exit(1);
		start = clock_monotonic_us() - start;
		printf("{\"figure\":\"encode clusters as %s\",\"bytes\":%zu,\"mb_per_s\":%.0f}\n",
			names[format], out.length, (double)out.length / (double)start);
		buf_fini(&out);
	}
}

static void bench_all(struct bench *bench)
{
	struct snapshot *empty = snapshot_empty(bench->group);
	struct snapshot *eds = make_snapshot(bench, empty, XDS_EDS, 0, bench->count, 1);
	struct snapshot *all = make_snapshot(bench, eds, XDS_CDS, 0, bench->count, 1);
	int64_t ours[ROUNDS], bare[ROUNDS];
	struct publisher *publisher = NULL;
	struct buf text = BUF_INIT;
	AUTO_FREE char *cds = xasprintf("%s/out0/edge/cds/cds.yaml", bench->folder);

	bench_encoding(bench, all);
	/* bare first and ours first in turn */
	for (int i = 0; i < 3; i++) {
		char name[16], bare_name[16];

		snprintf(name, sizeof(name), "out%d", i);
		snprintf(bare_name, sizeof(bare_name), "bare%d", i);
		publisher_close(publisher);
		publisher = open_publisher(bench, name);
		ours[i] = publish(publisher, eds);
		bare[i] = bare_write_all(bench, name, bare_name);
	}
	qsort(ours, 3, sizeof(ours[0]), compare_times);
	qsort(bare, 3, sizeof(bare[0]), compare_times);
	print("first publish of the endpoint files", ours[1], bare[1], 2);

	publisher_close(publisher);
	publisher = open_publisher(bench, "out0");
	print("everything after a restart, nothing changed", publish(publisher, eds), bare[1], 1);
	publish(publisher, all);
	if (file_read(cds, 1u << 30, &text))
		exit(1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct snapshot *next =
			make_snapshot(bench, all, XDS_CDS, 17 * i + 1, 17 * i + 2, i + 2);

		bare[i] = bare_replace(bench->folder, "cds.yaml", buf_slice(&text));
		ours[i] = publish(publisher, next);
		snapshot_unref(all);
		all = next;
	}
	print("one cluster edited, the whole file rewritten", median(ours), median(bare), 2);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct snapshot *next =
			make_snapshot(bench, all, XDS_EDS, 17 * i + 1, 17 * i + 2, i + 2);

		bare[i] = bare_replace(bench->folder, "eds.yaml", (struct slice){text.data, 1200});
		ours[i] = publish(publisher, next);
		snapshot_unref(all);
		all = next;
	}
	print("one endpoint resource edited", median(ours), median(bare), 3);
	publisher_close(publisher);
	buf_fini(&text);
	snapshot_unref(all);
	snapshot_unref(eds);
	snapshot_unref(empty);
}

int main(int argc, char **argv)
{
	struct bench bench = {.count = 10000};
	struct diag_list *diags = diag_list_new(0);
	const char *schema_path;

	if (argc < 3)
		return 2;
	schema_path = argv[1];
	bench.folder = argv[2];
	if (argc > 3)
		bench.count = (unsigned)atoi(argv[3]);
	if (schema_load(&schema_path, 1, diags, &bench.schema) ||
		encoder_new(bench.schema, &bench.encoder))
		return 1;
	bench.arena = arena_new(0);
	bench.group = rcstr_new("edge", 4);
	bench_all(&bench);
	rcstr_unref(bench.group);
	arena_free(bench.arena);
	encoder_free(bench.encoder);
	schema_free(bench.schema);
	diag_list_free(diags);
	return 0;
}
