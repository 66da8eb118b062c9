/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stands in for libFuzzer: runs the harness over its saved corpus and prints one TAP line per file.
 * Without arguments the corpus is tests/fuzz/corpus/<name of the program without "fuzz_">. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0, room = 0, got;

	if (!file)
		return -errno;
	do {
		if (size == room) {
			room = room ? room * 2 : 4096;
			data = realloc(data, room);
			if (!data)
				abort();
		}
		got = fread(data + size, 1, room - size, file);
		size += got;
	} while (got > 0);
	fclose(file);
	/* An exact-size copy lets ASan see one byte too far. */
	uint8_t *exact = malloc(size ? size : 1);
	if (!exact)
		abort();
	if (size)
		memcpy(exact, data, size);
	free(data);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	return 0;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int run_folder(const char *folder)
{
	struct dirent **entries;
	int failed = 0;
	int n = scandir(folder, &entries, is_visible, alphasort);

	if (n <= 0) {
		printf("Bail out! no corpus in %s\n", folder);
		return 1;
	}
	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		char *path = NULL;
		if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			abort();
		int rc = run_file(path);
		free(path);
		printf("%sok %d - %s\n", rc ? "not " : "", i + 1, entries[i]->d_name);
		fflush(stdout);
		failed |= rc != 0;
		free(entries[i]);
	}
	free(entries);
	return failed;
}

int main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir");
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash ? slash + 1 : argv[0];
	char folder[PATH_MAX];
	int rc = 0;

	if (argc == 1) {
		if (strncmp(name, "fuzz_", 5) == 0)
			name += 5;
		snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", top ? top : ".", name);
		return run_folder(folder);
	}
	for (int i = 1; i < argc; i++)
		rc |= run_file(argv[i]) != 0;
	return rc;
}
