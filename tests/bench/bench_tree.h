/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input of the benchmarks: EDS clusters and their endpoints, about 1.9 KB of YAML a pair. */
#ifndef XDSPUB_TESTS_BENCH_TREE_H
#define XDSPUB_TESTS_BENCH_TREE_H

#include "base/buf.h"

/* One YAML document each, with its "@type". */
void bench_put_cluster(struct buf *out, unsigned number);
void bench_put_endpoints(struct buf *out, unsigned number);

/* Writes DIR/clusters and DIR/endpoints for `clusters` pairs, spread over `files` files (even;
 * 2 * clusters: one resource each), and a groups.yaml that allows a set to be empty. */
int bench_write_tree(const char *folder, unsigned clusters, unsigned files);

/* What everything is measured against: libyaml's events of a text, read and dropped. How many. */
size_t bench_drain(struct slice text);

#endif
