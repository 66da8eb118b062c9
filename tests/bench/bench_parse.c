/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading one resource per file, YAML to deterministic binary, against draining libyaml's events
 * of the same texts, on one thread, all in memory: 10,000 EDS clusters and their endpoints.
 * usage: bench_parse SCHEMA [CLUSTERS [FILES]]; prints one JSON line with the ratio.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "bench_tree.h"
#include "message/bind.h"
#include "message/wire_write.h"
#include "message/yaml_read.h"

#define ROUNDS 7

struct text {
	char *data;
	size_t length;
};

struct figures {
	size_t events, bytes, encoded;
	double drain_ms, read_ms, bind_ms, write_ms;
};

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void read_one(const struct schema *schema, const struct schema_message *fallback,
	const struct text *text, struct arena *arena, struct diag_list *diags, struct buf *out,
	struct figures *figures)
{
	struct bind_options options = {.schema = schema, .path = "bench.yaml"};
	struct documents documents;
	double start = now_ms(), read, bound;

	arena_reset(arena);
	if (yaml_read(&(struct read_options){.path = "bench.yaml"},
		    (struct slice){text->data, text->length}, arena, diags, &documents))
		abort();
	read = now_ms();
	figures->read_ms += read - start;
	for (size_t i = 0; i < documents.count; i++) {
		const struct schema_message *type;
		struct message *message;

		start = now_ms();
		if (bind_find_type(&options, documents.roots[i], diags, &type) ||
			bind_typed(&options, type ? type : fallback, documents.roots[i], arena,
				diags, &message))
			abort();
		bound = now_ms();
		figures->bind_ms += bound - start;
		buf_reset(out);
		wire_write(message, out);
		figures->encoded += out->length;
		figures->write_ms += now_ms() - bound;
	}
}

static void measure(
	const struct schema *schema, const struct text *texts, size_t count, struct figures *best)
{
	const struct schema_message *fallback = schema_find_message(
		schema, SLICE("envoy.config.endpoint.v3.ClusterLoadAssignment"));
	struct arena *arena = arena_new(0);
	struct diag_list *diags = diag_list_new(0);
	struct buf out = BUF_INIT;

	for (int round = 0; round < ROUNDS; round++) {
		struct figures now = {0};
		double start = now_ms();

		for (size_t i = 0; i < count; i++)
			now.events += bench_drain((struct slice){texts[i].data, texts[i].length});
		now.drain_ms = now_ms() - start;
		for (size_t i = 0; i < count; i++)
			read_one(schema, fallback, &texts[i], arena, diags, &out, &now);
		if (round == 0 || now.drain_ms < best->drain_ms)
			best->drain_ms = now.drain_ms;
		if (round == 0 || now.read_ms + now.bind_ms + now.write_ms <
					  best->read_ms + best->bind_ms + best->write_ms) {
			best->read_ms = now.read_ms;
			best->bind_ms = now.bind_ms;
			best->write_ms = now.write_ms;
		}
		best->events = now.events;
		best->encoded = now.encoded;
	}
	buf_fini(&out);
	diag_list_free(diags);
	arena_free(arena);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "";
	unsigned clusters = argc > 2 ? (unsigned)atoi(argv[2]) : 10000;
	size_t files = argc > 3 ? (size_t)atoi(argv[3]) : clusters * 2;
	struct diag_list *diags = diag_list_new(0);
	struct text *texts = xcalloc(files, sizeof(*texts));
	struct figures best = {0};
	struct schema *schema;

	if (schema_load(&path, 1, diags, &schema)) {
		fprintf(stderr, "usage: bench_parse SCHEMA [CLUSTERS [FILES]]\n");
		return 2;
	}
	for (size_t i = 0, n = 0; i < files; i++) {
		struct buf text = BUF_INIT;

		for (; n < (i + 1) * clusters * 2 / files; n++) {
			if (n & 1)
				bench_put_endpoints(&text, (unsigned)n / 2);
			else
				bench_put_cluster(&text, (unsigned)n / 2);
		}
		texts[i].data = buf_take(&text, &texts[i].length);
		best.bytes += texts[i].length;
	}
	measure(schema, texts, files, &best);
	printf("{\"figure\": \"parse\", \"files\": %zu, \"bytes\": %zu, \"events\": %zu, "
	       "\"encoded\": %zu, \"drain_ms\": %.1f, \"read_ms\": %.1f, \"bind_ms\": %.1f, "
	       "\"write_ms\": %.1f, \"ratio\": %.3f}\n",
		files, best.bytes, best.events, best.encoded, best.drain_ms, best.read_ms,
		best.bind_ms, best.write_ms,
		(best.read_ms + best.bind_ms + best.write_ms) / best.drain_ms);
	for (size_t i = 0; i < files; i++)
		free(texts[i].data);
	free(texts);
	schema_free(schema);
	diag_list_free(diags);
	return 0;
}
