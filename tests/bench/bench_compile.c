/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cold compile, files to encoded resources, wall time, against reading the same files and draining
 * libyaml's events of them on one thread; with one build thread and with two. The page cache is
 * warm for all. usage: bench_compile SCHEMA DIR CLUSTERS FILES (writes the tree to DIR if it is
 * not there; CLUSTERS 0 writes an empty one).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "bench_tree.h"
#include "compile/compile.h"

#define ROUNDS 5

static size_t drain_folder(const char *root, const char *name)
{
	AUTO_FREE char *path = xasprintf("%s/%s", root, name);
	DIR *folder = opendir(path);
	struct buf text = BUF_INIT;
	struct dirent *entry;
	size_t events = 0;

	if (!folder)
		abort();
	while ((entry = readdir(folder))) {
		AUTO_CLOSE int fd = -1;

		if (entry->d_name[0] == '.')
			continue;
		fd = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC);
		buf_reset(&text);
		if (fd < 0 || file_read_fd(fd, UINT64_MAX, &text))
			abort();
		events += bench_drain(buf_slice(&text));
	}
	closedir(folder);
	buf_fini(&text);
	return events;
}

static double compile_ms(
	const struct schema *schema, const char *root, unsigned threads, uint64_t *ret_bytes)
{
	struct limits limits = LIMITS_DEFAULT;
	struct compile_options options = {
		.root = root, .schema = schema, .limits = &limits, .threads = threads};
	const struct build *build;
	int64_t start = clock_monotonic_us(), end;
	struct compiler *compiler = compiler_new(&options);

	if (compiler_run(compiler, NULL, 0, 0, NULL, &build) ||
		diag_list_level_count(build->diags, DIAG_ERROR) > 0)
		abort();
	end = clock_monotonic_us();
	*ret_bytes = build->bytes_encoded;
	compiler_free(compiler);
	return (double)(end - start) / 1e3;
}

static void keep_least(double *least, double value)
{
	if (*least == 0 || value < *least)
		*least = value;
}

int main(int argc, char **argv)
{
	struct diag_list *diags = diag_list_new(0);
	double drain_ms = 0, one_ms = 0, two_ms = 0;
	struct schema *schema;
	uint64_t bytes = 0;
	size_t events = 0;

	if (argc != 5) {
		fprintf(stderr, "usage: bench_compile SCHEMA DIR CLUSTERS FILES\n");
		return 2;
	}
	if (schema_load((const char *const *)&argv[1], 1, diags, &schema))
		abort();
	if (access(argv[2], F_OK) != 0 &&
		bench_write_tree(argv[2], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4])))
		abort();
	if (strcmp(argv[3], "0") != 0) {
		for (int round = 0; round < ROUNDS; round++) {
			int64_t start = clock_monotonic_us();

			events = drain_folder(argv[2], "clusters");
			events += drain_folder(argv[2], "endpoints");
			keep_least(&drain_ms, (double)(clock_monotonic_us() - start) / 1e3);
			keep_least(&one_ms, compile_ms(schema, argv[2], 1, &bytes));
			keep_least(&two_ms, compile_ms(schema, argv[2], 2, &bytes));
		}
		printf("{\"figure\": \"cold compile, 1 thread, %s files\", \"ratio\": %.3f, "
		       "\"target\": 1.6, \"drain_ms\": %.1f, \"ms\": %.1f, \"events\": %zu, "
		       "\"encoded\": %llu}\n",
			argv[4], one_ms / drain_ms, drain_ms, one_ms, events,
			(unsigned long long)bytes);
		printf("{\"figure\": \"cold compile, 2 threads, %s files\", \"ratio\": %.3f, "
		       "\"target\": 0.9, \"drain_ms\": %.1f, \"ms\": %.1f}\n",
			argv[4], two_ms / drain_ms, drain_ms, two_ms);
	}
	schema_free(schema);
	diag_list_free(diags);
	return 0;
}
