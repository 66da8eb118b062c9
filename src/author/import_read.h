/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files to an import_plan: an Envoy bootstrap, files of DiscoveryResponses or of resources with
 * "@type", a config dump; YAML or JSON, told apart by what is in them. Everything that is wrong
 * becomes a diagnostic with the file's path. Threads: one at a time per plan.
 */
#ifndef XDSPUB_AUTHOR_IMPORT_READ_H
#define XDSPUB_AUTHOR_IMPORT_READ_H

#include "author/import_plan.h"
#include "validate/validate.h"

enum import_format {
	IMPORT_ANY,	   /* what it looks like */
	IMPORT_CONFIG_DUMP /* the answer of /config_dump */
};

/* Takes over the malloc'ed text. False when there were errors. */
bool import_read(struct import_plan *plan, struct validator *validator, const char *path,
	enum import_format format, char *text, size_t length);

#endif
