/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of an Envoy bootstrap that make it a client of xdspub, as YAML with comments:
 * dynamic_resources and the cluster they go through. Pure. Threads: any.
 */
#ifndef XDSPUB_AUTHOR_BOOTSTRAP_TEXT_H
#define XDSPUB_AUTHOR_BOOTSTRAP_TEXT_H

#include "base/buf.h"

enum bootstrap_mode {
	BOOTSTRAP_FILE,
	BOOTSTRAP_REST,
	BOOTSTRAP_GRPC, /* a stream for each type */
	BOOTSTRAP_ADS,
	BOOTSTRAP_DELTA_ADS
};

struct bootstrap_spec {
	enum bootstrap_mode mode;
	const char *address; /* host:port, [v6]:port or unix:/path; not for files */
	const char *cluster; /* what to call the static cluster */
	const char *out;     /* files: the folder of published files as Envoy sees it */
	const char *group;
	const char *extension; /* of the files: "yaml" */
};

/* "file", "rest", "grpc", "ads", "delta-ads"; false for anything else. */
bool bootstrap_mode_by_name(const char *name, enum bootstrap_mode *ret_mode);
/* False: host and port cannot be told apart. Hosts that are no addresses are looked up by Envoy. */
bool bootstrap_address_is_good(const char *address);

void bootstrap_put_dynamic(struct buf *out, const struct bootstrap_spec *spec);
/* One item of static_resources.clusters, its "- " at the left margin; nothing for files. */
void bootstrap_put_cluster(struct buf *out, const struct bootstrap_spec *spec);
/* "{socket_address: {address: 127.0.0.1, port_value: 80}}"; the address must be good. */
void bootstrap_put_address(struct buf *out, const char *address);

#endif
