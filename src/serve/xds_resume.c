/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/xds_resume.h"

#include "serve/longpoll.h"
#include "serve/xds_lane.h"
#include "serve/xds_warm.h"

/* The client came to this stream with all of these clusters as they are now. */
static bool has_clusters(const struct xds_stream *stream, const struct xds_waiter *waiter)
{
	const struct xds_lane *lane = xds_lane_find(stream, XDS_CDS);

	for (; waiter; waiter = waiter->next) {
		const struct xds_entry *entry =
			lane ? xds_table_find(lane->table, waiter->cluster->name) : NULL;

		if (!entry || !(entry->flags & XDS_RESUMED) ||
			!digest_equal(&entry->digest, &waiter->cluster->digest))
			return false;
	}
	return true;
}

bool xds_resume_read(struct xds_stream *stream, const struct xds_lane *lane, struct slice name,
	struct slice version, struct digest *ret_digest)
{
	const struct xds_kind *kind = &lane->table->whole.kind;
	struct xds_feed *feed = stream->feed;
	struct held held = held_parse(version);
	const struct xds_waiter *waiter;
	const struct resource *resource;
	struct version present;

	*ret_digest = held.digest; /* zero, or of no resource, when it is not ours */
	resource =
		feed->snapshot ? resource_set_find(feed->snapshot->sets[kind->type], name) : NULL;
	if (!resource)
		return false;
	if (!kind->is_tagged)
		return digest_equal(&held.digest, &resource->digest);
	waiter = xds_feed_waiter(feed, name);
	present = xds_warm_version(&resource->digest, xds_waiters_tag(waiter));
	if (!slice_is(version, present.text))
		return false;
	*ret_digest = resource->digest;
	return has_clusters(stream, waiter);
}
