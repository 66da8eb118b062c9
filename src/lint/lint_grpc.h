/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What gRPC libraries refuse (gRFC A27, A28, A36, A39, A42, A48), which know less than Envoy does.
 */
#ifndef XDSPUB_LINT_LINT_GRPC_H
#define XDSPUB_LINT_LINT_GRPC_H

#include "lint/lint.h"

#define LINT_PROFILE_GRPC "grpc"

extern const struct lint lint_grpc[];

#endif
