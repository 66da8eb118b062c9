/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xds_script.h"

/* Decisions of delta streams; the scripts are explained in xds_script.h. */

static void test_s86_s87_wildcard(void **state)
{
	SCRIPT(ADS_DELTA, "snapshot CDS:a=1,b=1", "> CDS = REQUEST", "< CDS a b", ".",
		"> CDS ack = ACK", ".",
		/* an empty list later is no change */
		"> CDS = REPEAT", ".", "> LDS", "< LDS", "> LDS ack", ".", "> SRDS", "< SRDS",
		"> SRDS ack", ".", "> VHDS", "< VHDS", "> VHDS ack", ".",
		"snapshot CDS:a=1,b=2,c=1", "<< CDS b c", "> CDS ack", ".", "snapshot CDS:a=1",
		"<< CDS -b -c", "> CDS ack", ".");
}

static void test_s86_no_wildcard_for_the_others(void **state)
{
	SCRIPT(ADS_DELTA, "snapshot EDS:a=1 RDS:a=1 SDS:a=1", "> EDS", ".", "> RDS", ".", "> SDS",
		".", "> EDS +a", "< EDS a", ".", "> EDS +*", "< EDS -*", ".");
}

static void test_s88_initial_versions_under_a_wildcard(void **state)
{
	SCRIPT(CDS_DELTA, "snapshot CDS:a=1,b=2,c=1,d=1", "> CDS a@1 b@1 c@? x@1", "< CDS b c d -x",
		"> CDS ack", ".", "snapshot CDS:a=1,b=2,c=1,d=1,x=1", "<< CDS x", ".");
}

static void test_s87_current_client_gets_an_empty_answer(void **state)
{
	SCRIPT(CDS_DELTA, "snapshot CDS:a=1,b=2", "> CDS a@1 b@2", "< CDS", "> CDS ack = ACK", ".",
		"snapshot CDS:a=1,b=3", "<< CDS b", ".");
}

static void test_s88_what_a_client_comes_back_with(void **state)
{
	/* A cluster's own subscription has what it needs; the answer says that there is no more. */
	SCRIPT(EDS_DELTA, "snapshot EDS:a=1,b=1", "> EDS +a a@1", "< EDS", "> EDS ack = ACK", ".",
		"snapshot EDS:a=2,b=1", "<< EDS a", "> EDS ack", ".");
	SCRIPT(EDS_DELTA, "snapshot EDS:a=1,b=2", "> EDS +a +b +gone a@1 b@1 gone@1",
		"< EDS b -gone", "> EDS ack", ".");
	SCRIPT(EDS_DELTA, "snapshot EDS:a=1", "> EDS +a a@?", "< EDS a", "> EDS ack", ".",
		/* only the first request says it; later a name is asked for because it is needed */
		"> EDS +a a@1", "< EDS a", "> EDS ack", ".");
	SCRIPT(RDS_DELTA, "snapshot RDS:a=1,b=1", "> RDS +a +b a@1 b@?", "< RDS b", "> RDS ack",
		".", "again", "> RDS +a +b a@1 b@", "< RDS", "> RDS ack", ".");
	/* before there is a snapshot nobody knows */
	SCRIPT(EDS_DELTA, "snapshot none", "> EDS +a a@1", ".", "snapshot EDS:a=1", "< EDS a", ".");
}

#define RESUMED                                                                                    \
	"snapshot CDS:a=e1,b=e1>bb,c=1 EDS:a=1,bb=1 SDS:s=1 LDS:l=1 RDS:r=1", "> CDS",             \
		"< CDS a b c", "> EDS +a +bb", "< EDS a bb", "> CDS ack", "> EDS ack", "> SDS +s", \
		"< SDS s", "> SDS ack", "> LDS", "< LDS l", "> LDS ack", "> RDS +r", "< RDS r",    \
		"> RDS ack", "."

static void test_s88_a_current_client_gets_no_resources(void **state)
{
	SCRIPT(ADS_DELTA, RESUMED, "again", "> CDS a@ b@ c@", "< CDS", "> CDS ack",
		"> EDS +a +bb a@ bb@", "< EDS", "> EDS ack", "> SDS +s s@", "< SDS", "> LDS l@",
		"< LDS", "> RDS +r r@", "< RDS", ".",
		/* and as often as it likes */
		"again", "> CDS a@ b@ c@", "< CDS", "> EDS +a +bb a@ bb@", "< EDS", ".",
		/* then everything goes on as usual */
		"> CDS ack", "> EDS ack",
		"snapshot CDS:a=e2,b=e1>bb,c=1 EDS:a=1,bb=2 SDS:s=1 LDS:l=1 RDS:r=1", "<< CDS a",
		"> CDS ack", "<< EDS a bb", "> EDS ack", ".");
}

static void test_s88_s101_a_cluster_that_still_waits(void **state)
{
	/* The stream broke between the cluster and its load assignment. */
	SCRIPT(ADS_DELTA, RESUMED,
		"snapshot CDS:a=e2,b=e1>bb,c=1 EDS:a=1,bb=1 SDS:s=1 LDS:l=1 RDS:r=1", "<< CDS a",
		"again", "> CDS a@ b@ c@", "< CDS", "> EDS +a +bb a@ bb@", "< EDS a", "> EDS ack",
		"> CDS ack", ".", "again", "> CDS a@ b@ c@", "< CDS", "> EDS +a +bb a@ bb@",
		"< EDS", ".");
	/* It did not come with the cluster as it is now: it will get it and wait. */
	SCRIPT(ADS_DELTA, RESUMED, "again", "> CDS b@ c@", "< CDS a", "> EDS +a +bb a@ bb@",
		"< EDS a", ".");
	/* It asks for endpoints before clusters: who knows which it has. */
	SCRIPT(ADS_DELTA, RESUMED, "again", "> EDS +a +bb a@ bb@", "< EDS a bb", "> CDS a@ b@ c@",
		"< CDS", ".");
	/* The load assignment was sent while the cluster was about to be refused. */
	SCRIPT(ADS_DELTA, RESUMED,
		"snapshot CDS:a=e2,b=e1>bb,c=9 EDS:a=2,bb=1 SDS:s=1 LDS:l=1 RDS:r=1", "<< CDS a c",
		"<< EDS a", "> EDS ack", "> CDS nack", ".", "at 5000", ".", "again",
		"> CDS a@ b@ c@", "< CDS", "> EDS +a +bb a@ bb@", "< EDS a", ".");
}

static void test_s89_told_when_missing(void **state)
{
	SCRIPT(ADS_DELTA, "snapshot RTDS:x=1", "> EDS +a", "< EDS -a", "> EDS ack", ".", "> SDS +a",
		"< SDS -a", "> SDS ack", ".", "> CDS +a", "< CDS -a", "> LDS +a", "< LDS -a",
		"> RTDS +a", "< RTDS -a", ".", "> CDS ack", "> LDS ack", "> RTDS ack", ".",
		"snapshot EDS:a=1 RTDS:x=1", "<< EDS a", "> EDS ack", ".", "snapshot RTDS:x=1",
		"<< EDS -a", "> EDS ack", ".", "snapshot EDS:a=1 RTDS:x=1", "<< EDS a", ".");
}

static void test_s89_silent_for_routes_and_extensions(void **state)
{
	SCRIPT(ADS_DELTA, "snapshot EDS:x=1", "> RDS +a +b = REQUEST", ".", "> ECDS +a", ".",
		"snapshot RDS:a=1 ECDS:a=1", "<< ECDS a", "> ECDS ack", "<< RDS a", "> RDS ack",
		".",
		/* sent before: then the client may know; S.107: but never for extensions */
		"snapshot EDS:x=1", "<< RDS -a", "> RDS ack", ".", "snapshot ECDS:a=1", ".",
		"snapshot ECDS:a=2", "<< ECDS a", ".");
}

static void test_s90_subscribed_again_is_sent_again(void **state)
{
	SCRIPT(EDS_DELTA, "snapshot EDS:a=1,b=1", "> EDS +a +b", "< EDS a b", "> EDS ack", ".",
		"> EDS -a = REQUEST", ".", "snapshot EDS:a=2,b=1", ".", "> EDS +a", "< EDS a", ".",
		"> EDS ack", ".",
		/* without unsubscribing, too: that is what a warming client may need */
		"> EDS +a", "< EDS a", "> EDS ack", ".");
}

static void test_s91_in_both_lists(void **state)
{
	SCRIPT(EDS_DELTA, "snapshot EDS:a=1", "> EDS +a", "< EDS a", "> EDS ack", ".",
		"> EDS +a -a", "< EDS a", "> EDS ack", ".", "snapshot EDS:a=2", "<< EDS a", ".");
}

static void test_s92_unsubscribe_unknown(void **state)
{
	SCRIPT(EDS_DELTA, "snapshot EDS:a=1", "> EDS +a", "< EDS a", "> EDS ack", "> EDS -x -y",
		".", "snapshot EDS:a=2,x=1", "<< EDS a", ".");
}

static void test_s93_s94_leaving_the_wildcard(void **state)
{
	SCRIPT(CDS_DELTA, "snapshot CDS:a=1,b=1", "> CDS", "< CDS a b", "> CDS ack", "> CDS +a +x",
		"< CDS a -x", "> CDS ack", ".",
		/* S.94: what is left of a name under the wildcard */
		"> CDS -a -x", "< CDS a -x", "> CDS ack", ".", "> CDS +a", "< CDS a", "> CDS ack",
		/* S.93 */
		"> CDS -*", ".", "snapshot CDS:a=2,b=2", "<< CDS a", "> CDS ack", ".", "> CDS +*",
		"< CDS b", "> CDS ack", ".", "snapshot CDS:a=2,b=3", "<< CDS b", ".");
}

static void test_explicit_wildcard(void **state)
{
	SCRIPT(CDS_DELTA, "snapshot CDS:a=1", "> CDS +* +z", "< CDS a -z", "> CDS ack", ".",
		"snapshot CDS:a=1,z=1", "<< CDS z", "> CDS ack", ".", "> CDS -*", ".",
		"snapshot CDS:a=2,z=1", ".", "snapshot CDS:a=2", "<< CDS -z", ".");
}

static void test_first_request_with_names_is_no_wildcard(void **state)
{
	SCRIPT(CDS_DELTA, "snapshot CDS:a=1,b=1", "> CDS +a", "< CDS a", "> CDS ack", ".",
		"snapshot CDS:a=1,b=2", ".", "> CDS +*", "< CDS b", ".");
}

static void test_s95_nonces_do_not_matter_to_subscriptions(void **state)
{
	SCRIPT(EDS_DELTA, "snapshot EDS:a=1,b=1,c=1", "> EDS stale +a", "< EDS a",
		"> EDS +b = REQUEST", "< EDS b", ".", "> EDS stale +c = REQUEST", "< EDS c", ".");
}

static void test_s96_ack_and_subscription_at_once(void **state)
{
	SCRIPT(EDS_DELTA, "snapshot EDS:a=1,b=1", "> EDS +a", "< EDS a", "> EDS ack +b -a = ACK",
		"< EDS b", "> EDS ack = ACK", ".", "snapshot EDS:a=2,b=1", ".");
}

static void test_s100_after_a_nack(void **state)
{
	SCRIPT(CDS_DELTA, "snapshot CDS:a=1,b=1,c=1", "> CDS", "< CDS a b c", "> CDS ack", ".",
		"snapshot CDS:a=2,b=2,c=1", "<< CDS a b", "> CDS nack = NACK", ".", "at 600000",
		".",
		/* other changes go on; what was refused is not said again with them */
		"snapshot CDS:a=2,b=2,c=2", "<< CDS c", "> CDS ack", ".",
		/* one of the refused changed: the client may take the others now, too */
		"snapshot CDS:a=3,b=2,c=2", "<< CDS a b", "> CDS ack", ".",
		"snapshot CDS:a=3,b=2,c=3", "<< CDS c", ".");
}

static void test_s100_the_refused_resource_goes_away(void **state)
{
	SCRIPT(CDS_DELTA, "snapshot CDS:a=1", "> CDS", "< CDS a", "> CDS ack", ".",
		"snapshot CDS:a=1,bad=1,new=1", "<< CDS bad new", "> CDS nack", ".",
		"snapshot CDS:a=1,new=1", "<< CDS new -bad", "> CDS ack", ".");
}

static void test_s100_what_was_refused_together_is_offered_together(void **state)
{
	/* the client let go of the bad one, before or after it complained */
	SCRIPT(EDS_DELTA, "snapshot EDS:bad=1,new=1", "> EDS +bad +new", "< EDS bad new",
		"> EDS -bad", ".", "> EDS nack = NACK", "<< EDS new", "> EDS ack", ".");
	SCRIPT(EDS_DELTA, "snapshot EDS:bad=1,new=1", "> EDS +bad +new", "< EDS bad new",
		"> EDS nack = NACK", ".", "> EDS -bad", "< EDS new", "> EDS ack", ".");
	SCRIPT(EDS_DELTA, "snapshot EDS:bad=1,new=1", "> EDS +bad +new", "< EDS bad new",
		"> EDS nack -bad = NACK", "< EDS new", "> EDS ack", ".");
	/* a removal was part of it */
	SCRIPT(CDS_DELTA, "snapshot CDS:old=1", "> CDS", "< CDS old", "> CDS ack",
		"snapshot CDS:bad=1", "<< CDS bad -old", "> CDS nack", ".", "snapshot CDS:bad=2",
		"<< CDS bad -old", "> CDS ack", ".", "snapshot CDS:bad=2,old=1", "<< CDS old", ".");
	/* asked for one of them again: the other comes along */
	SCRIPT(EDS_DELTA, "snapshot EDS:a=1,b=1", "> EDS +a +b", "< EDS a b", "> EDS nack", ".",
		"> EDS +a", "< EDS a b", "> EDS ack", ".");
}

static void test_s100_a_late_refusal(void **state)
{
	/* the refusal of the first comes when the second is out: the bad one was replaced */
	SCRIPT(CDS_DELTA, "snapshot CDS:z=1", "> CDS", "< CDS z", "> CDS ack",
		"snapshot CDS:z=1,bad=1,new=1", "<< CDS bad new", ".", "at 5000",
		"snapshot CDS:z=1,bad=2,new=1", "<< CDS bad", ".", "> CDS late = NACK", ".",
		"deadline -1", "> CDS ack = ACK", "<< CDS new", "> CDS ack = ACK", ".");
}

static void test_s100_refusals_that_take_their_time(void **state)
{
	/* both are refused when the next is out; all together once more, and that is all */
	SCRIPT(CDS_DELTA, "snapshot CDS:z=1", "> CDS", "< CDS z", "> CDS ack",
		"snapshot CDS:z=1,bad=1,new=1", "<< CDS bad new", ".", "at 5000",
		"snapshot CDS:z=1,bad=1,new=1,worse=1", "<< CDS worse", ".", "at 20000",
		"> CDS late = NACK", ".", "at 30000", ".", "> CDS nack = NACK",
		"<< CDS bad new worse", ".", "at 60000", ".", "> CDS nack = NACK", ".", "at 90000",
		".", "deadline -1");
}

static void test_s101_endpoints_of_changed_clusters(void **state)
{
	SCRIPT(ADS_DELTA, "snapshot CDS:a=e1,b=e1>bb,c=1,d=e1 EDS:a=1,bb=1,c=1", "> CDS",
		"< CDS a b c d", "> EDS +a +bb +c +d", "< EDS a bb c -d", "> CDS ack", "> EDS ack",
		".", "snapshot CDS:a=e2,b=e1>bb,c=1,d=e1 EDS:a=1,bb=1,c=1", "<< CDS a", "<< EDS a",
		".", "> EDS ack", "> CDS ack", ".",
		"snapshot CDS:a=e2,b=e2>bb,c=2,d=e2 EDS:a=1,bb=1,c=1", "<< CDS b c d", "> CDS ack",
		"<< EDS bb", "> EDS ack", ".",
		/* no new cluster, no new endpoints */
		"snapshot CDS:a=e2,b=e2>bb,c=2,d=e2 EDS:a=1,bb=1,c=1 LDS:l=1", ".");
}

static void test_s102_secrets_of_changed_clusters_and_listeners(void **state)
{
	SCRIPT(ADS_DELTA, "snapshot CDS:a=1$s1,b=1 LDS:l=1$s2 SDS:s1=1,s2=1,s3=1", "> CDS",
		"< CDS a b", "> CDS ack", "> LDS", "< LDS l", "> LDS ack", "> SDS +s1 +s2 +s3",
		"< SDS s1 s2 s3", "> SDS ack", ".",
		"snapshot CDS:a=2$s1,b=2 LDS:l=1$s2 SDS:s1=1,s2=1,s3=1", "<< CDS a b", "> CDS ack",
		"<< SDS s1", "> SDS ack", ".",
		"snapshot CDS:a=2$s1,b=2 LDS:l=2$s2 SDS:s1=1,s2=1,s3=1", "<< LDS l", "> LDS ack",
		"<< SDS s2", "> SDS ack", ".");
}

static void test_s103_virtual_hosts_on_demand(void **state)
{
	SCRIPT(VHDS_DELTA, "snapshot VHDS:r/v1=1/r/a+r/b,r/v2=1/r/c", "> VHDS -*", ".",
		"> VHDS +r/a = REQUEST", "< VHDS r/v1(r/a)", "> VHDS ack", ".", "> VHDS +r/b",
		"< VHDS r/v1(r/b)", "> VHDS ack", ".", "> VHDS +r/none", "< VHDS ?r/none(r/none)",
		"> VHDS ack", ".", "snapshot VHDS:r/v1=2/r/a+r/b,r/v2=1/r/c",
		"<< VHDS r/v1(r/a,r/b)", "> VHDS ack", ".",
		"snapshot VHDS:r/v1=2/r/a+r/b,r/v2=2/r/c+r/none", "<< VHDS r/v2(r/none)",
		"> VHDS ack", ".", "snapshot VHDS:r/v2=2/r/c+r/none",
		"<< VHDS ?r/a(r/a) ?r/b(r/b) -r/v1");
}

static void test_s103_by_domain(void **state)
{
	SCRIPT(VHDS_DELTA,
		"snapshot VHDS:r/v1=1#a.org#*.b.org,r/v2=1#*.c.b.org#www.*,r/v3=1#*,q/w=1#a.org",
		"> VHDS +r/a.org", "< VHDS r/v1(r/a.org)", "> VHDS ack", "> VHDS +r/x.b.org",
		"< VHDS r/v1(r/x.b.org)", "> VHDS ack", "> VHDS +r/x.c.b.org +r/www.d",
		"< VHDS r/v2(r/www.d,r/x.c.b.org)", "> VHDS ack", "> VHDS +r/other",
		"< VHDS r/v3(r/other)", "> VHDS ack", "> VHDS +q/other +q/a.org",
		"< VHDS ?q/other(q/other) q/w(q/a.org)", "> VHDS ack", ".",
		/* a host moves to another virtual host; the one it had stays as it is */
		"snapshot VHDS:r/v1=1#a.org#*.b.org,r/v2=1#*.c.b.org#www.*,r/v3=1#*,q/w=1#a.org,"
		"r/v4=1#x.b.org",
		"<< VHDS r/v4(r/x.b.org)", "> VHDS ack", ".");
}

static void test_s103_under_the_wildcard(void **state)
{
	SCRIPT(VHDS_DELTA, "snapshot VHDS:r/v1=1#a.org", "> VHDS", "< VHDS r/v1", "> VHDS ack",
		"> VHDS +r/a.org", "< VHDS r/v1(r/a.org)", "> VHDS ack", ".", "> VHDS -r/a.org",
		".", "snapshot VHDS:r/v1=2#a.org", "<< VHDS r/v1", ".");
}

static void test_s103_a_refused_virtual_host(void **state)
{
	SCRIPT(VHDS_DELTA, "snapshot VHDS:r/v1=1#a.org#b.org,r/v2=1#c.org", "> VHDS +r/a.org",
		"< VHDS r/v1(r/a.org)", "> VHDS nack = NACK", ".", "> VHDS +r/c.org",
		"< VHDS r/v2(r/c.org)", "> VHDS ack", ".",
		"snapshot VHDS:r/v1=2#a.org,r/v2=1#c.org", "<< VHDS r/v1(r/a.org)", "> VHDS ack",
		".",
		/* nobody asks for it any more: it goes with its next change */
		"> VHDS -r/a.org", ".", "snapshot VHDS:r/v1=3#a.org,r/v2=1#c.org", ".",
		"snapshot VHDS:r/v2=1#c.org", "<< VHDS -r/v1", "> VHDS ack", ".");
}

static void test_s103_by_its_own_name(void **state)
{
	SCRIPT(VHDS_DELTA, "snapshot VHDS:r/v1=1", "> VHDS +r/v1", "< VHDS r/v1", "> VHDS ack", ".",
		"snapshot VHDS:r/v1=2", "<< VHDS r/v1", "> VHDS ack", "snapshot VHDS:r/v2=2",
		"<< VHDS -r/v1", "> VHDS ack", ".");
}

static void test_s105_heartbeats(void **state)
{
	SCRIPT(CDS_DELTA, "snapshot CDS:a=1!2000,b=1,c=1!6000", "> CDS", "< CDS a b c", "> CDS ack",
		".", "deadline 1000", "at 1000", "<< CDS ~a ~c", ".", "> CDS ack", ".",
		"deadline 2000", "at 1500", "snapshot CDS:a=1!2000,b=1,c=2!6000", "<< CDS c",
		"> CDS ack", ".", "deadline 2000", "at 2000", "<< CDS ~a ~c", "> CDS ack",
		"snapshot CDS:a=1,b=1,c=2", "<< CDS a c", "> CDS ack", ".", "deadline -1");
}

static void test_s105_no_heartbeats_on_demand(void **state)
{
	SCRIPT(VHDS_DELTA, "snapshot VHDS:r/v=1!2000", "> VHDS +r/v", "< VHDS r/v", "> VHDS ack",
		".", "at 1000", "<< VHDS r/v", ".");
}

static void test_what_is_on_its_way_when_the_client_lets_go(void **state)
{
	/* b reaches the client after it asked for everything again */
	SCRIPT(CDS_DELTA, "snapshot CDS:a=1", "> CDS", "< CDS a", "> CDS ack", ".",
		"snapshot CDS:a=1,b=1", "<< CDS b", "> CDS -*", ".", "snapshot CDS:a=1", ".",
		"> CDS +*", "< CDS a -b", "> CDS ack", ".");
	SCRIPT(RDS_DELTA, "snapshot RDS:a=1", "> RDS +a", "< RDS a", "> RDS -a", "snapshot EDS:x=1",
		"> RDS +a", "< RDS -a", ".");
	/* once it answered there is nothing to remember */
	SCRIPT(RDS_DELTA, "snapshot RDS:a=1", "> RDS +a", "< RDS a", "> RDS -a", "> RDS ack",
		"snapshot EDS:x=1", "> RDS +a", ".");
}

static void test_a_heartbeat_does_not_hide_a_refusal(void **state)
{
	SCRIPT(CDS_DELTA, "snapshot CDS:a=1!2000", "> CDS", "< CDS a", "> CDS ack", ".", "at 900",
		"snapshot CDS:a=1!2000,bad=1,new=1", "<< CDS bad new", ".", "at 1000", "<< CDS ~a",
		"> CDS late = NACK", ".", "> CDS ack", "<< CDS bad new", ".");
}

static void test_s80_one_outstanding_push(void **state)
{
	SCRIPT(CDS_DELTA, "snapshot CDS:a=1", "> CDS", "< CDS a", "snapshot CDS:a=2", ".",
		"deadline 5000", "snapshot CDS:a=3,b=1", "> CDS ack", "<< CDS a b", ".",
		"snapshot CDS:a=4,b=1", "at 5000", "<< CDS a", ".",
		/* a reply does not wait */
		"> CDS +b", "< CDS b", ".");
}

static void test_s115_slow_clients_get_the_newest(void **state)
{
	SCRIPT(CDS_DELTA, "snapshot CDS:a=1", "> CDS", "< CDS a", "> CDS ack", ".",
		"snapshot CDS:a=2,b=1", "snapshot CDS:a=1,c=1", "snapshot CDS:a=1,c=2", "<< CDS c",
		"> CDS ack", ".");
}

static void test_report_of_rejected_names(void **state)
{
	static const char *const lines[] = {"snapshot CDS:a=1,b=1", "> CDS", "< CDS a b",
		"> CDS ack", ".", "snapshot CDS:a=2,b=1", "<< CDS a", "> CDS nack", ".", NULL};
	struct xds_name_report name;
	struct script script;
	size_t cursor = 0;

	(void)state;
	script_begin(&script, CDS_DELTA);
	script_play(&script, lines);
	assert_true(xds_stream_next_name(script.stream, XDS_CDS, &cursor, &name));
	assert_true(slice_is(name.name, "a") && name.is_rejected && !name.is_subscribed);
	assert_true(xds_stream_next_name(script.stream, XDS_CDS, &cursor, &name));
	assert_true(slice_is(name.name, "b") && !name.is_rejected);
	script_end(&script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_s86_s87_wildcard),
		cmocka_unit_test(test_s86_no_wildcard_for_the_others),
		cmocka_unit_test(test_s88_initial_versions_under_a_wildcard),
		cmocka_unit_test(test_s87_current_client_gets_an_empty_answer),
		cmocka_unit_test(test_s88_what_a_client_comes_back_with),
		cmocka_unit_test(test_s88_a_current_client_gets_no_resources),
		cmocka_unit_test(test_s88_s101_a_cluster_that_still_waits),
		cmocka_unit_test(test_s89_told_when_missing),
		cmocka_unit_test(test_s89_silent_for_routes_and_extensions),
		cmocka_unit_test(test_s90_subscribed_again_is_sent_again),
		cmocka_unit_test(test_s91_in_both_lists),
		cmocka_unit_test(test_s92_unsubscribe_unknown),
		cmocka_unit_test(test_s93_s94_leaving_the_wildcard),
		cmocka_unit_test(test_explicit_wildcard),
		cmocka_unit_test(test_first_request_with_names_is_no_wildcard),
		cmocka_unit_test(test_s95_nonces_do_not_matter_to_subscriptions),
		cmocka_unit_test(test_s96_ack_and_subscription_at_once),
		cmocka_unit_test(test_s100_after_a_nack),
		cmocka_unit_test(test_s100_the_refused_resource_goes_away),
		cmocka_unit_test(test_s100_what_was_refused_together_is_offered_together),
		cmocka_unit_test(test_s100_a_late_refusal),
		cmocka_unit_test(test_s100_refusals_that_take_their_time),
		cmocka_unit_test(test_s101_endpoints_of_changed_clusters),
		cmocka_unit_test(test_s102_secrets_of_changed_clusters_and_listeners),
		cmocka_unit_test(test_s103_virtual_hosts_on_demand),
		cmocka_unit_test(test_s103_by_domain),
		cmocka_unit_test(test_s103_under_the_wildcard),
		cmocka_unit_test(test_s103_a_refused_virtual_host),
		cmocka_unit_test(test_s103_by_its_own_name),
		cmocka_unit_test(test_s105_heartbeats),
		cmocka_unit_test(test_s105_no_heartbeats_on_demand),
		cmocka_unit_test(test_what_is_on_its_way_when_the_client_lets_go),
		cmocka_unit_test(test_a_heartbeat_does_not_hide_a_refusal),
		cmocka_unit_test(test_s80_one_outstanding_push),
		cmocka_unit_test(test_s115_slow_clients_get_the_newest),
		cmocka_unit_test(test_report_of_rejected_names),
	};

	return cmocka_run_group_tests_name("xds_delta", tests, NULL, NULL);
}
