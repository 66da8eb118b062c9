/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folders and files for tests of what reads the disk. Asserts on every failure. */
#ifndef XDSPUB_TESTS_SCRATCH_H
#define XDSPUB_TESTS_SCRATCH_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct scratch {
	char root[64];
};

static inline void scratch_init(struct scratch *scratch)
{
	snprintf(scratch->root, sizeof(scratch->root), "/tmp/xdspub-test-XXXXXX");
	assert_non_null(mkdtemp(scratch->root));
	assert_int_equal(chmod(scratch->root, 0755), 0);
}

static inline int scratch_remove_one(
	const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status;
	(void)kind;
	(void)where;
	return remove(path);
}

static inline void scratch_fini(struct scratch *scratch)
{
	nftw(scratch->root, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline const char *scratch_path(
	const struct scratch *scratch, const char *path, char out[static 4200])
{
	assert_true(snprintf(out, 4200, "%s/%s", scratch->root, path) < 4200);
	return out;
}

static inline void scratch_mkdir(const struct scratch *scratch, const char *path)
{
	char full[4200];

	scratch_path(scratch, path, full);
	for (char *slash = full + strlen(scratch->root) + 1; (slash = strchr(slash, '/'));
		slash++) {
		*slash = '\0';
		if (mkdir(full, 0755) < 0)
			assert_int_equal(errno, EEXIST);
		*slash = '/';
	}
	if (mkdir(full, 0755) < 0)
		assert_int_equal(errno, EEXIST);
}

/* Makes the folders above it. Replaces by rename, as git and editors do. */
static inline void scratch_write(const struct scratch *scratch, const char *path, const char *text)
{
	char full[4200], temporary[4210];
	FILE *file;

	scratch_path(scratch, path, full);
	if (strrchr(path, '/')) {
		char folder[4200];

		snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
		scratch_mkdir(scratch, folder);
	}
	snprintf(temporary, sizeof(temporary), "%s.tmp~", full);
	file = fopen(temporary, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	assert_int_equal(fclose(file), 0);
	assert_int_equal(rename(temporary, full), 0);
}

static inline void scratch_remove(const struct scratch *scratch, const char *path)
{
	char full[4200];

	scratch_path(scratch, path, full);
	assert_int_equal(nftw(full, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void scratch_rename(const struct scratch *scratch, const char *from, const char *to)
{
	char a[4200], b[4200];

	assert_int_equal(rename(scratch_path(scratch, from, a), scratch_path(scratch, to, b)), 0);
}

static inline void scratch_link(const struct scratch *scratch, const char *target, const char *path)
{
	char full[4200];

	scratch_path(scratch, path, full);
	(void)unlink(full);
	assert_int_equal(symlink(target, full), 0);
}

static inline void scratch_chmod(const struct scratch *scratch, const char *path, unsigned mode)
{
	char full[4200];

	assert_int_equal(chmod(scratch_path(scratch, path, full), mode), 0);
}

/* Root may read everything; tests of unreadable files become somebody else meanwhile. */
static inline void scratch_drop_root(void)
{
	if (getuid() == 0)
		assert_int_equal(seteuid(65534), 0);
}

static inline void scratch_regain_root(void)
{
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
}

#endif
