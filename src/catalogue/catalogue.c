/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "catalogue/catalogue.h"

#include <assert.h>
#include <string.h>

#include "base/suggestion.h"

/* clang-format off */
#define ERROR(id, reason, page)   {id, AREA, DIAG_ERROR, false, reason, page},
#define CHOICE(id, reason, page)  {id, AREA, DIAG_ERROR, true, reason, page},
#define WARNING(id, reason, page) {id, AREA, DIAG_WARNING, true, reason, page},
#define NOTE(id, reason, page)    {id, AREA, DIAG_NOTE, true, reason, page},

/* Families of validate.rules: a rule for each kind of value that can have it. */
#define INTEGERS(rule, reason, page) \
	ERROR("int32." rule, reason, page) ERROR("int64." rule, reason, page) \
	ERROR("uint32." rule, reason, page) ERROR("uint64." rule, reason, page) \
	ERROR("sint32." rule, reason, page) ERROR("sint64." rule, reason, page) \
	ERROR("fixed32." rule, reason, page) ERROR("fixed64." rule, reason, page) \
	ERROR("sfixed32." rule, reason, page) ERROR("sfixed64." rule, reason, page)
#define NUMBERS(rule, reason, page) \
	ERROR("float." rule, reason, page) ERROR("double." rule, reason, page) \
	INTEGERS(rule, reason, page)
#define TIMES(rule, reason, page) \
	ERROR("duration." rule, reason, page) ERROR("timestamp." rule, reason, page)
#define TEXTS(rule, reason, page) \
	ERROR("string." rule, reason, page) ERROR("bytes." rule, reason, page)
#define CONSTANTS(rule, reason, page) \
	NUMBERS(rule, reason, page) ERROR("bool." rule, reason, page) TEXTS(rule, reason, page) \
	ERROR("enum." rule, reason, page) TIMES(rule, reason, page)
#define CHOICES(rule, reason, page) \
	NUMBERS(rule, reason, page) TEXTS(rule, reason, page) ERROR("enum." rule, reason, page) \
	ERROR("any." rule, reason, page) ERROR("duration." rule, reason, page)
#define ORDERED(rule, reason, page) NUMBERS(rule, reason, page) TIMES(rule, reason, page)
#define MESSAGES(rule, reason, page) \
	ERROR("message." rule, reason, page) ERROR("any." rule, reason, page) TIMES(rule, reason, page)

static const struct catalogue_entry entries[] = {
#define AREA CATALOGUE_READ
#include "catalogue/rules_read.def"
#undef AREA
#define AREA CATALOGUE_BIND
#include "catalogue/rules_bind.def"
#undef AREA
#define AREA CATALOGUE_API
#include "catalogue/rules_api.def"
#undef AREA
#define AREA CATALOGUE_VALUES
#include "catalogue/rules_values.def"
#undef AREA
#define AREA CATALOGUE_TREE
#include "catalogue/rules_tree.def"
#undef AREA
#define AREA CATALOGUE_GROUPS
#include "catalogue/rules_groups.def"
#undef AREA
#define AREA CATALOGUE_REFERENCES
#include "catalogue/rules_references.def"
#undef AREA
#define AREA CATALOGUE_LINT
#include "catalogue/rules_lint.def"
#undef AREA
#define AREA CATALOGUE_PROGRAM
#include "catalogue/rules_program.def"
#undef AREA
};

static const char *const titles[CATALOGUE_AREAS] = {
	[CATALOGUE_READ] = "Reading files",
	[CATALOGUE_BIND] = "Values and the schema",
	[CATALOGUE_API] = "What the Envoy API demands",
	[CATALOGUE_VALUES] = "Limits of the Envoy API for values (validate.rules)",
	[CATALOGUE_TREE] = "The tree and its resources",
	[CATALOGUE_GROUPS] = "groups.yaml",
	[CATALOGUE_REFERENCES] = "References between resources",
	[CATALOGUE_LINT] = "Lints",
	[CATALOGUE_PROGRAM] = "Settings, the schema, publishing",
};
/* clang-format on */

size_t catalogue_count(void)
{
	return sizeof(entries) / sizeof(*entries);
}

const struct catalogue_entry *catalogue_get(size_t index)
{
	assert(index < catalogue_count());
	return &entries[index];
}

const struct catalogue_entry *catalogue_find(struct slice id)
{
	for (size_t i = 0; i < catalogue_count(); i++) {
		if (slice_is(id, entries[i].id))
			return &entries[i];
	}
	return NULL;
}

const char *catalogue_area_title(enum catalogue_area area)
{
	return titles[area];
}

bool catalogue_may_silence(struct slice id, enum diag_level level)
{
	const struct catalogue_entry *entry = catalogue_find(id);

	return entry && entry->is_silenceable && level <= entry->level;
}

const char *catalogue_suggest(struct slice id, char out[static 256])
{
	struct suggestion suggestion;

	suggestion_init(&suggestion, id);
	for (size_t i = 0; i < catalogue_count(); i++)
		suggestion_offer(&suggestion, entries[i].id);
	return suggestion_phrase(&suggestion, out);
}

/* Stars stand for any text. Backs up to the last star only, so the work is bounded by the product
 * of the lengths. */
bool catalogue_matches(struct slice pattern, struct slice id)
{
	size_t at = 0, star = SIZE_MAX, resume = 0, i = 0;

	while (i < id.length) {
		if (at < pattern.length && pattern.data[at] == '*') {
			star = at++;
			resume = i;
		} else if (at < pattern.length && pattern.data[at] == id.data[i]) {
			at++;
			i++;
		} else if (star != SIZE_MAX) {
			at = star + 1;
			i = ++resume;
		} else {
			return false;
		}
	}
	while (at < pattern.length && pattern.data[at] == '*')
		at++;
	return at == pattern.length;
}

bool catalogue_matches_any(struct slice pattern)
{
	for (size_t i = 0; i < catalogue_count(); i++) {
		if (catalogue_matches(pattern, slice_of(entries[i].id)))
			return true;
	}
	return false;
}
