/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "validate/rule_id.h"

#include <assert.h>

/* clang-format off */
#define ROW(kind_, name_) \
	[kind_] = { \
		[RULE_CONST] = name_ ".const", [RULE_LT] = name_ ".lt", \
		[RULE_LTE] = name_ ".lte", [RULE_GT] = name_ ".gt", \
		[RULE_GTE] = name_ ".gte", [RULE_IN] = name_ ".in", \
		[RULE_NOT_IN] = name_ ".not_in", [RULE_LEN] = name_ ".len", \
		[RULE_MIN_LEN] = name_ ".min_len", [RULE_MAX_LEN] = name_ ".max_len", \
		[RULE_LEN_BYTES] = name_ ".len_bytes", [RULE_MIN_BYTES] = name_ ".min_bytes", \
		[RULE_MAX_BYTES] = name_ ".max_bytes", [RULE_PATTERN] = name_ ".pattern", \
		[RULE_PREFIX] = name_ ".prefix", [RULE_SUFFIX] = name_ ".suffix", \
		[RULE_CONTAINS] = name_ ".contains", [RULE_NOT_CONTAINS] = name_ ".not_contains", \
		[RULE_EMAIL] = name_ ".email", [RULE_HOSTNAME] = name_ ".hostname", \
		[RULE_IP] = name_ ".ip", [RULE_IPV4] = name_ ".ipv4", \
		[RULE_IPV6] = name_ ".ipv6", [RULE_URI] = name_ ".uri", \
		[RULE_URI_REF] = name_ ".uri_ref", [RULE_ADDRESS] = name_ ".address", \
		[RULE_UUID] = name_ ".uuid", [RULE_WELL_KNOWN_REGEX] = name_ ".well_known_regex", \
		[RULE_DEFINED_ONLY] = name_ ".defined_only", [RULE_REQUIRED] = name_ ".required", \
		[RULE_MIN_ITEMS] = name_ ".min_items", [RULE_MAX_ITEMS] = name_ ".max_items", \
		[RULE_UNIQUE] = name_ ".unique", [RULE_MIN_PAIRS] = name_ ".min_pairs", \
		[RULE_MAX_PAIRS] = name_ ".max_pairs", [RULE_NO_SPARSE] = name_ ".no_sparse", \
		[RULE_LT_NOW] = name_ ".lt_now", [RULE_GT_NOW] = name_ ".gt_now", \
		[RULE_WITHIN] = name_ ".within" \
	}

/* The strings of a row are one, the name of the kind and that of the rule: no comma is missing.
 * NOLINTBEGIN(bugprone-suspicious-missing-comma) */
static const char *const ids[KIND_COUNT][RULE_COUNT] = {
	ROW(KIND_FLOAT, "float"), ROW(KIND_DOUBLE, "double"),
	ROW(KIND_INT32, "int32"), ROW(KIND_INT64, "int64"),
	ROW(KIND_UINT32, "uint32"), ROW(KIND_UINT64, "uint64"),
	ROW(KIND_SINT32, "sint32"), ROW(KIND_SINT64, "sint64"),
	ROW(KIND_FIXED32, "fixed32"), ROW(KIND_FIXED64, "fixed64"),
	ROW(KIND_SFIXED32, "sfixed32"), ROW(KIND_SFIXED64, "sfixed64"),
	ROW(KIND_BOOL, "bool"), ROW(KIND_STRING, "string"),
	ROW(KIND_BYTES, "bytes"), ROW(KIND_ENUM, "enum"),
	ROW(KIND_MESSAGE, "message"), ROW(KIND_REPEATED, "repeated"),
	ROW(KIND_MAP, "map"), ROW(KIND_ANY, "any"),
	ROW(KIND_DURATION, "duration"), ROW(KIND_TIMESTAMP, "timestamp"),
};
/* NOLINTEND(bugprone-suspicious-missing-comma) */
/* clang-format on */

const char *rule_id(enum rule_kind kind, enum rule rule)
{
	assert(kind < KIND_COUNT && rule < RULE_COUNT && ids[kind][rule]);
	return ids[kind][rule];
}
