/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which virtual host a client means that asks for "<route configuration>/<host>" (S.103): the
 * resource with that alias, or else the one of that route configuration whose domains match the
 * host as Envoy matches them: the same domain, the longest "*.example.org", the longest "www.*",
 * "*"; letters of either case are the same. A virtual host belongs to the route configuration in
 * its name: what stands before the last '/'. Of two that claim one domain or alias the first by
 * name has it, on every replica.
 *
 * The domains are read from the encoded VirtualHost (xds_wire.h), so that a tree needs no aliases
 * and the core no schema. The index is made at once for a whole set, when a client first asks.
 * Names are borrowed from the set. Threads: one at a time. Used by the protocol core alone.
 */
#ifndef XDSPUB_SERVE_XDS_HOSTS_H
#define XDSPUB_SERVE_XDS_HOSTS_H

#include "snapshot/resource_set.h"

struct xds_hosts;

struct xds_hosts *xds_hosts_new(const struct resource_set *set); /* outlived by the set */
void xds_hosts_free(struct xds_hosts *hosts);			 /* NULL is fine */
/* NULL: nothing has that alias and no domain matches. Names of resources are not looked at. */
struct resource *xds_hosts_find(const struct xds_hosts *hosts, struct slice name);

#endif
