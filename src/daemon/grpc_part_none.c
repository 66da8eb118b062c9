/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For builds with --disable-grpc. No part ever exists, so only listening is ever called. */
#include "daemon/grpc_part.h"

#include <errno.h>

#include "base/mem.h"

int grpc_part_listen(const struct grpc_part_setup *setup, const struct texts *addresses,
	struct grpc_part **part, char **ret_problem)
{
	(void)setup;
	(void)addresses;
	(void)part;
	*ret_problem = xstrdup("this xdspub was built without gRPC (--disable-grpc)");
	return -EOPNOTSUPP;
}

void grpc_part_stop(struct grpc_part *part)
{
	(void)part;
}

void grpc_part_set_ready(struct grpc_part *part, bool is_ready)
{
	(void)part;
	(void)is_ready;
}

json_t *grpc_part_status(struct grpc_part *part, size_t clients_limit)
{
	(void)part;
	(void)clients_limit;
	return NULL;
}
