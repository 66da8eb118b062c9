/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual hosts in folders of their route configurations, virtual-hosts/<name>/: put into the route
 * configurations they are for, in the order of their names, or left to VHDS where a route
 * configuration has `vhds`. A virtual host's resource is named <route configuration>/<name>, with
 * no '/' in the latter. Made anew when a set changes; a route configuration whose parts are the
 * same objects as before stays the same object. Threads: build.
 */
#ifndef XDSPUB_COMPILE_VIRTUAL_HOSTS_H
#define XDSPUB_COMPILE_VIRTUAL_HOSTS_H

#include "base/hash.h"
#include "snapshot/resource_set.h"

enum virtual_hosts_trouble {
	VIRTUAL_HOSTS_NO_ROUTES, /* there is no such route configuration; `other` is NULL */
	VIRTUAL_HOSTS_DOMAIN,	 /* `other` has this domain, too */
	VIRTUAL_HOSTS_NAME,	 /* the route configuration has a virtual host of this name */
};

struct virtual_hosts_problem {
	enum virtual_hosts_trouble trouble;
	struct resource *host, *other; /* references */
	struct slice text;	       /* the domain or name; malloc'ed */
};

/* A route configuration and the virtual hosts for it. */
struct virtual_hosts_part {
	struct slice name;	 /* in the first host's name */
	struct resource *routes; /* NULL: there is none */
	struct resource **hosts;
	size_t count, capacity;
	struct resource *whole; /* NULL: the hosts are served by VHDS */
	struct virtual_hosts_problem *problems;
	size_t problems_count, problems_capacity;
};

struct virtual_hosts {
	struct resource_set *all_routes, *all_hosts; /* as the layers have them */
	struct resource_set *routes, *hosts;	     /* as they are served */
	struct virtual_hosts_part **parts;	     /* by name */
	size_t count, capacity;
	size_t problems_count; /* of all parts */
	bool is_told;	       /* free for the caller */
};

/* Takes what is the same from `former` (may be NULL), which is no good any more but to be freed. */
struct virtual_hosts *virtual_hosts_new(struct resource_set *all_routes,
	struct resource_set *all_hosts, struct virtual_hosts *former);
void virtual_hosts_free(struct virtual_hosts *hosts); /* NULL is fine */

/* "<route configuration>/" at the start of a resource's name; empty: none. */
struct slice virtual_hosts_prefix(struct slice name);
/* The folder of a route configuration that a path is in: "edge" of a/virtual-hosts/edge/x.yaml;
 * empty: none. */
struct slice virtual_hosts_folder(struct slice path);

#endif
