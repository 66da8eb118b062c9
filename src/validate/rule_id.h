/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of validate.FieldRules and the ids that diagnostics show: "string.min_len". */
#ifndef XDSPUB_VALIDATE_RULE_ID_H
#define XDSPUB_VALIDATE_RULE_ID_H

/* Field numbers of validate.FieldRules: what kind of value the rules are for. */
enum rule_kind {
	KIND_FLOAT = 1,
	KIND_DOUBLE = 2,
	KIND_INT32 = 3,
	KIND_INT64 = 4,
	KIND_UINT32 = 5,
	KIND_UINT64 = 6,
	KIND_SINT32 = 7,
	KIND_SINT64 = 8,
	KIND_FIXED32 = 9,
	KIND_FIXED64 = 10,
	KIND_SFIXED32 = 11,
	KIND_SFIXED64 = 12,
	KIND_BOOL = 13,
	KIND_STRING = 14,
	KIND_BYTES = 15,
	KIND_ENUM = 16,
	KIND_MESSAGE = 17,
	KIND_REPEATED = 18,
	KIND_MAP = 19,
	KIND_ANY = 20,
	KIND_DURATION = 21,
	KIND_TIMESTAMP = 22
};
#define KIND_COUNT 23

enum rule {
	RULE_CONST,
	RULE_LT,
	RULE_LTE,
	RULE_GT,
	RULE_GTE,
	RULE_IN,
	RULE_NOT_IN,
	RULE_LEN,
	RULE_MIN_LEN,
	RULE_MAX_LEN,
	RULE_LEN_BYTES,
	RULE_MIN_BYTES,
	RULE_MAX_BYTES,
	RULE_PATTERN,
	RULE_PREFIX,
	RULE_SUFFIX,
	RULE_CONTAINS,
	RULE_NOT_CONTAINS,
	RULE_EMAIL,
	RULE_HOSTNAME,
	RULE_IP,
	RULE_IPV4,
	RULE_IPV6,
	RULE_URI,
	RULE_URI_REF,
	RULE_ADDRESS,
	RULE_UUID,
	RULE_WELL_KNOWN_REGEX,
	RULE_DEFINED_ONLY,
	RULE_REQUIRED,
	RULE_MIN_ITEMS,
	RULE_MAX_ITEMS,
	RULE_UNIQUE,
	RULE_MIN_PAIRS,
	RULE_MAX_PAIRS,
	RULE_NO_SPARSE,
	RULE_LT_NOW,
	RULE_GT_NOW,
	RULE_WITHIN,
	RULE_COUNT
};

/* A literal: it outlives every list of diagnostics. */
const char *rule_id(enum rule_kind kind, enum rule rule);

#endif
