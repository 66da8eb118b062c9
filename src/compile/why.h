/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a resource is what it is: for each group which layers say something about its name, from
 * which file and line, and what came of it; and why a node belongs to its group. Worked out from
 * what the compiler has, when somebody asks; nothing is kept for it. Threads: build (the
 * compiler's). May block: the resource's file is read again.
 */
#ifndef XDSPUB_COMPILE_WHY_H
#define XDSPUB_COMPILE_WHY_H

#include <jansson.h>

#include "compile/compile.h"
#include "snapshot/store.h"

struct why_question {
	enum xds_type type;
	struct slice name;
	const char *group;   /* NULL: that of the node; without a node: every group */
	const json_t *node;  /* Envoy's Node, NULL: none */
	struct store *store; /* what is served now, to be compared with; NULL: not known */
};

/*
 * {"type": "CDS", "name", "exists": some group has it,
 *  "node": {"group", "source", "conditions": [see match_explain],
 *           "others": [{"group", "source", "conditions"}], "others_count": those before it, or
 *           all where the node has no group},
 *  "outcomes": one for groups that come to the same, [{
 *      "groups": [...], "groups_count", "held": [{"group", "reason"}], "held_count",
 *      "result": "served", "deleted", "absent" or "refused" (defined twice in one layer),
 *      "source": "a.yaml:1:3", "layer", "version" (not of secrets), "parts": see origin_find,
 *      "layers": [{"layer", "says": "adds", "replaces", "deletes", "nothing", "source"}],
 *      "virtual_hosts": [{"name", "layer", "source"}],
 *      "route_configuration": {"name", "source", "has": "vhds", "virtual_hosts" or "nothing"},
 *      "serving": [{"group", "source", "version"}] where clients have something else}],
 *  "elsewhere": [{"layer", "source"}] in layers that these groups don't take,
 *  "problems": ["a.yaml:1:3: error: ..."] of files that may be meant,
 *  "hint": "did you mean ...", "error": "no such group"}
 * Source "": unknown. New reference. Lists are cut at WHY_LISTED, with a "..._count" beside them
 * where it matters.
 */
json_t *why_answer(const struct compiler *compiler, const struct why_question *question);

#define WHY_LISTED 100

/*
 * What each layer does on top of those below it, in all groups that are built:
 * [{"group", "layers": [{"layer", "adds": {"CDS": 3}, "replaces": {}, "deletes": {}}]}]
 */
json_t *why_layers(const struct compiler *compiler);

/* The type of "CDS", "cds", "clusters", "Cluster", "envoy.config.cluster.v3.Cluster" or its type
 * URL, and the name after the '/'. False: *ret_problem is a malloc'ed sentence. */
bool why_parse(
	struct slice text, enum xds_type *ret_type, struct slice *ret_name, char **ret_problem);

#endif
