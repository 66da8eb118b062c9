/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every limit on input in one place (design: "Failure policy"). Defaults; all configurable. */
#ifndef XDSPUB_BASE_LIMITS_H
#define XDSPUB_BASE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#define LIMIT_DEPTH    100 /* YAML, JSON, text and message nesting; not configurable above 100 */

#define LIMIT_INCLUDES 16 /* files that include each other in turn; not configurable */

struct limits {
	uint64_t source_file_bytes;   /* 64 MiB */
	uint64_t yaml_nodes;	      /* 10 million after aliases, per file */
	uint64_t resources;	      /* 1,000,000 per tree */
	uint64_t resource_name_bytes; /* 1,024 */
	uint64_t rest_body_bytes;     /* 4 MiB */
	uint64_t grpc_message_bytes;  /* 4 MiB: a request */
	uint64_t request_names;	      /* 100,000 */
	int64_t hold_ms;	      /* 5 min: the longest long poll */
	uint64_t connections;	      /* of REST; 0: from the descriptor limit */
	uint64_t grpc_connections;    /* 0: the same */
};

#define LIMITS_DEFAULT                                                                             \
	((struct limits){                                                                          \
		.source_file_bytes = 64u << 20,                                                    \
		.yaml_nodes = 10000000,                                                            \
		.resources = 1000000,                                                              \
		.resource_name_bytes = 1024,                                                       \
		.rest_body_bytes = 4u << 20,                                                       \
		.grpc_message_bytes = 4u << 20,                                                    \
		.request_names = 100000,                                                           \
		.hold_ms = 300000,                                                                 \
		.connections = 0,                                                                  \
	})

#endif
