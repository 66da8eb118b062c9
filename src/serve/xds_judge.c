/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_judge.h"

#include <assert.h>

bool xds_judge_is_same(const struct xds_entry *entry, const struct resource *resource)
{
	return (entry->flags & XDS_HELD) && digest_equal(&entry->digest, &resource->digest);
}

/* What there is for the name, by whatever way. */
static const struct resource *found(const struct xds_case *one)
{
	return one->resource ? one->resource : one->target;
}

static enum xds_verdict judge_present(
	const struct xds_kind *kind, const struct xds_case *one, bool is_again)
{
	const struct xds_entry *entry = one->entry;
	bool is_wanted;

	if (!entry)
		return XDS_SEND;
	is_wanted = (entry->flags & XDS_OWED) || !xds_judge_is_same(entry, one->resource);
	/* The names that lead to it ask for it; once none does, it goes with its next change. */
	if ((entry->flags & XDS_TARGET) && !(entry->flags & XDS_SUBSCRIBED) && !kind->is_wildcard)
		return is_wanted ? XDS_DROP : XDS_KEEP;
	return is_wanted || (is_again && (entry->flags & XDS_REJECTED)) ? XDS_SEND : XDS_KEEP;
}

static enum xds_verdict judge_target(const struct xds_case *one, bool is_again)
{
	uint64_t flags = one->entry->flags;

	if ((flags & XDS_OWED) || !xds_judge_is_same(one->entry, one->target))
		return XDS_FOLLOW;
	return is_again && (flags & XDS_REJECTED) ? XDS_FOLLOW : XDS_KEEP;
}

static enum xds_verdict judge_missing(
	const struct xds_kind *kind, const struct xds_entry *entry, bool is_again)
{
	enum xds_removal removal = xds_type_row((enum xds_type)kind->type)->removal;
	uint64_t flags = entry->flags;

	if (flags & XDS_HELD) {
		if (removal == XDS_REMOVAL_NEVER)
			return XDS_KEEP;
		if (flags & XDS_ALIAS)
			return XDS_TELL_UNRESOLVED;
		return (flags & (XDS_OWED | XDS_WAITED)) == XDS_OWED ? XDS_TELL_GONE : XDS_REMOVE;
	}
	if (flags & XDS_GONE)
		return (is_again && (flags & XDS_REJECTED)) || (flags & XDS_OWED) ? XDS_TELL_GONE
										  : XDS_KEEP;
	if (!(flags & XDS_SUBSCRIBED))
		return (flags & XDS_OWED) ? XDS_TELL_GONE : XDS_DROP;
	if ((flags & XDS_MISSING) && !(flags & XDS_OWED))
		return XDS_KEEP;
	if (removal == XDS_REMOVAL_TOLD)
		return XDS_TELL_GONE;
	return removal == XDS_REMOVAL_UNRESOLVED ? XDS_TELL_UNRESOLVED : XDS_KEEP;
}

enum xds_verdict xds_judge(const struct xds_kind *kind, const struct xds_case *one, bool is_again)
{
	assert(one->entry || one->resource);
	if (one->entry && (one->entry->flags & XDS_LEFT))
		return XDS_KEEP;
	if (one->resource)
		return judge_present(kind, one, is_again);
	if (one->target)
		return judge_target(one, is_again);
	return judge_missing(kind, one->entry, is_again);
}

bool xds_judge_is_outdated(const struct xds_case *one)
{
	const struct xds_entry *entry = one->entry;

	if (!entry || !(entry->flags & XDS_REJECTED))
		return false;
	if (entry->flags & XDS_OWED)
		return true;
	if (entry->flags & XDS_GONE)
		return found(one) != NULL;
	return !found(one) || !xds_judge_is_same(entry, found(one));
}

bool xds_judge_is_refused(const struct xds_case *one)
{
	const struct xds_entry *entry = one->entry;

	return entry && (entry->flags & XDS_REJECTED) && !xds_judge_is_outdated(one);
}
