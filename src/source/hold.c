/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/hold.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#define GITFILE_LIMIT_BYTES (PATH_MAX + 16)

void hold_init(struct hold *hold, const char *root)
{
	*hold = (struct hold){.root = xstrdup(root), .file = xasprintf("%s/.xdspub-hold", root)};
	hold_locate(hold);
}

void hold_fini(struct hold *hold)
{
	free(hold->root);
	free(hold->file);
	free(hold->lock);
	*hold = (struct hold){0};
}

/* A linked work tree or submodule: `.git` is a file that names the folder. */
static char *read_gitfile(const char *path, const char *folder)
{
	const struct slice key = SLICE("gitdir: ");
	struct buf text = BUF_INIT;
	char *lock = NULL;

	if (file_read(path, GITFILE_LIMIT_BYTES, &text) == 0 && text.length > key.length &&
		memcmp(text.data, key.data, key.length) == 0) {
		const char *target = buf_cstr(&text) + key.length;
		int length = (int)strcspn(target, "\r\n");

		if (target[0] == '/')
			lock = xasprintf("%.*s/index.lock", length, target);
		else
			lock = xasprintf("%s/%.*s/index.lock", folder, length, target);
	}
	buf_fini(&text);
	return lock;
}

static char *lock_in(const char *folder)
{
	AUTO_FREE char *path = xasprintf("%s/.git", folder);
	struct stat status;

	if (stat(path, &status) < 0)
		return NULL;
	if (S_ISDIR(status.st_mode))
		return xasprintf("%s/index.lock", path);
	return S_ISREG(status.st_mode) ? read_gitfile(path, folder) : NULL;
}

void hold_locate(struct hold *hold)
{
	AUTO_FREE char *folder = realpath(hold->root, NULL);

	free(hold->lock);
	hold->lock = NULL;
	while (folder && folder[0] && !hold->lock) {
		hold->lock = lock_in(folder);
		*strrchr(folder, '/') = '\0';
	}
}

struct settle_facts hold_look(const struct hold *hold)
{
	return (struct settle_facts){
		.is_held = access(hold->file, F_OK) == 0,
		.is_changing = hold->lock && access(hold->lock, F_OK) == 0,
	};
}
