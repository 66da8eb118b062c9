/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens what the settings name: the schema, and the publisher with its encoder, owner and modes.
 * Also the rules about which folders may lie in which. Problems are diagnostics with path "".
 * Threads: any; may block.
 */
#ifndef XDSPUB_DAEMON_OUTPUT_H
#define XDSPUB_DAEMON_OUTPUT_H

#include "base/diag.h"
#include "base/log.h"
#include "compile/compile.h"
#include "daemon/encoder.h"
#include "daemon/options.h"

int output_load_schema(
	const struct options *options, struct diag_list *diags, struct schema **ret_schema);
/* Borrows from both; `mounts` in it is malloc'ed: free it once there is a compiler. */
struct compile_options output_compile_options(
	const struct options *options, const struct schema *schema);
/* Below options->publish. The encoder is borrowed and must outlive the publisher. */
int output_open_publisher(const struct options *options, struct encoder *encoder,
	const struct log *log, struct diag_list *diags, struct publisher **ret_publisher);
/* The folders that the tree is made of, the root first: malloc'ed, the texts are borrowed. */
const char **output_sources(const struct options *options, size_t *ret_count);
/* The same without mounts that do not answer: what they lie in cannot be told. May wait for them
 * a second each. */
const char **output_answering_sources(const struct options *options, size_t *ret_count);
/* Whether `path` is `folder` or lies in it, links resolved; neither needs to exist. */
bool output_is_inside(const char *path, const char *folder);

#endif
