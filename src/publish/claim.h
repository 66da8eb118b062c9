/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The right to write into an output folder: marker, lock, staging folder, and what is refused so
 * that a slip in a path can neither destroy a folder of someone else nor publish where Envoy would
 * not see it. Threads: build; may block.
 */
#ifndef XDSPUB_PUBLISH_CLAIM_H
#define XDSPUB_PUBLISH_CLAIM_H

#include <sys/types.h>

#include "base/diag.h"

struct claim {
	int root_fd;
	int private_fd; /* .xdspub */
	int staging_fd;
	int lock_fd;
};
#define CLAIM_NONE ((struct claim){-1, -1, -1, -1})

struct claim_options {
	const char *path;
	mode_t folder_mode;
	const char *const *sources;
	size_t sources_count;
	/* The folder at `path` was claimed before by us: files without a marker are fine. */
	bool is_known;
};

/* -EINVAL refused, -EBUSY locked by another instance, other negative errno; diags say why. */
int claim_open(
	const struct claim_options *options, struct diag_list *diags, struct claim *ret_claim);
void claim_close(struct claim *claim);
/* The folder or .xdspub was deleted, moved or replaced. */
bool claim_is_lost(const struct claim *claim, const char *path);

#endif
