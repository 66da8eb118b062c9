/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xds_script.h"

/* Order and pace of aggregated streams; the scripts are explained in xds_script.h. */

#define SOTW_START                                                                                 \
	"snapshot CDS:a=e1 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=1", "> CDS", "< CDS a", "> CDS ack",      \
		"> EDS a", "< EDS a", "> EDS a ack", "> SDS s", "< SDS s", "> SDS s ack", "> LDS", \
		"< LDS l", "> LDS ack", "> RDS r", "< RDS r", "> RDS r ack", "."

#define DELTA_START                                                                                \
	"snapshot CDS:a=e1 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=1", "> CDS", "< CDS a", "> CDS ack",      \
		"> EDS +a", "< EDS a", "> EDS ack", "> SDS +s", "< SDS s", "> SDS ack", "> LDS",   \
		"< LDS l", "> LDS ack", "> RDS +r", "< RDS r", "> RDS ack", "."

static void test_s110_order_of_one_change(void **state)
{
	SCRIPT(ADS_SOTW, SOTW_START, "snapshot CDS:a=e1,b=1 EDS:a=2 SDS:s=2 LDS:l=2 RDS:r=2",
		"<< CDS a b", "<< EDS a", ".", "deadline 5000", "> CDS ack", ".", "> EDS a ack",
		"<< SDS s", ".", "> SDS s ack", "<< LDS l", ".", "> LDS ack", "<< RDS r", ".",
		"> RDS r ack", ".", "deadline -1");
	SCRIPT(ADS_DELTA, DELTA_START, "snapshot CDS:a=e1,b=1 EDS:a=2 SDS:s=2 LDS:l=2 RDS:r=2",
		"<< CDS b", "<< EDS a", ".", "deadline 5000", "> CDS ack", ".", "> EDS ack",
		"<< SDS s", ".", "> SDS ack", "<< LDS l", ".", "> LDS ack", "<< RDS r", ".",
		"> RDS ack", ".", "deadline -1");
}

static void test_s110_a_silent_client_does_not_stop_it(void **state)
{
	SCRIPT(ADS_SOTW, SOTW_START, "at 100", "snapshot CDS:a=e2 EDS:a=2 SDS:s=1 LDS:l=1 RDS:r=2",
		"<< CDS a", "<< EDS a", ".", "at 5099", ".", "deadline 5100", "at 5100", "<< RDS r",
		".");
}

static void test_s101_what_a_cluster_waits_for_does_not_wait_for_its_ack(void **state)
{
	/* Envoy acknowledges a cluster when it has warmed. */
	SCRIPT(ADS_DELTA, DELTA_START, "snapshot CDS:a=e2 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2",
		"<< CDS a", "<< EDS a", ".", "> EDS ack", ".", "> CDS ack", "<< RDS r", ".");
	/* It cannot be had any more, and the cluster goes, too, once routes have left it. */
	SCRIPT(ADS_DELTA, DELTA_START, "snapshot CDS:a=e1,b=e1 EDS:a=2 SDS:s=1 LDS:l=1 RDS:r=1",
		"<< CDS b", "<< EDS a", "> EDS +b", "< EDS -b", "> CDS ack",
		"snapshot CDS:a=e2,b=e1 EDS:a=2 SDS:s=1 LDS:l=1 RDS:r=1", "<< CDS a", ".",
		"snapshot CDS:b=e1 EDS:b=1 SDS:s=1 LDS:l=1 RDS:r=2", "> EDS ack", "<< EDS b", ".",
		"> EDS ack", "> CDS ack", "<< RDS r", ".", "> RDS ack", "<< CDS -a", ".",
		"> CDS ack", "<< EDS -a", ".");
}

static void test_s110_a_nack_holds_the_next_type_for_a_while(void **state)
{
	SCRIPT(ADS_SOTW, SOTW_START, "snapshot CDS:a=e2 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2",
		"<< CDS a", "> CDS nack", ".", "deadline 5000",
		/* the next try goes out at once */
		"snapshot CDS:a=e3 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2", "<< CDS a", ".", "> CDS nack",
		".", "at 5000", "<< RDS r", ".");
}

static void test_s79_replies_do_not_wait(void **state)
{
	SCRIPT(ADS_SOTW, SOTW_START, "snapshot CDS:a=e2 EDS:a=1,b=1 SDS:s=1 LDS:l=1 RDS:r=1",
		"<< CDS a", ".", "> EDS a b repeat", "< EDS a b", ".");
	SCRIPT(ADS_DELTA, DELTA_START, "snapshot CDS:a=1,b=1 EDS:a=1,b=1 SDS:s=1 LDS:l=1 RDS:r=1",
		"<< CDS a b", ".", "> EDS +b", "< EDS b", ".");
}

static void test_what_a_reply_may_need_goes_before_it(void **state)
{
	SCRIPT(ADS_SOTW, SOTW_START, "snapshot CDS:a=e1,n=1 EDS:a=2 SDS:s=1 LDS:l=2 RDS:r=2,q=1",
		"> RDS r q repeat", "<< CDS a n", "<< EDS a", "<< LDS l", "< RDS q r", ".");
}

static void test_s79_a_type_without_interest_does_not_hold(void **state)
{
	SCRIPT(ADS_SOTW, SOTW_START, "snapshot CDS:a=e1 EDS:a=2 SDS:s=1 LDS:l=1 RDS:r=1",
		"<< EDS a",
		/* the client lost interest; it does not answer an empty response */
		"> EDS mismatch", "snapshot CDS:a=e1 EDS:a=2 SDS:s=1 LDS:l=1 RDS:r=2", "<< RDS r",
		".");
}

static void test_s112_listeners_are_asked_for_later(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot CDS:a=e1 EDS:a=1 LDS:l=1", "> CDS", "< CDS a", "> EDS a",
		"< EDS a", ".", "> CDS ack", "> EDS a ack", ".", "at 20000", "> LDS", "< LDS l",
		".");
}

static void test_s111_removal_after_what_used_it(void **state)
{
	/* the bridge: r moves from a to b, a stays */
	SCRIPT(ADS_SOTW, SOTW_START, "snapshot CDS:a=e1,b=1 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2",
		"<< CDS a b", "> CDS ack", "<< RDS r", ".",
		/* the final one comes before the client has answered */
		"snapshot CDS:b=1 SDS:s=1 LDS:l=1 RDS:r=2", ".", "deadline 30000", "> RDS r ack",
		"<< CDS b", "> CDS ack", ".");
	SCRIPT(ADS_DELTA, DELTA_START, "snapshot CDS:a=e1,b=1 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2",
		"<< CDS b", "> CDS ack", "<< RDS r", ".",
		"snapshot CDS:b=1 SDS:s=1 LDS:l=1 RDS:r=2", ".", "deadline 30000", "> RDS ack",
		"<< CDS -a", ".", "> CDS ack", "<< EDS -a", "> EDS ack", ".");
}

static void test_s111_without_a_bridge_delta_adds_first(void **state)
{
	SCRIPT(ADS_DELTA, DELTA_START, "snapshot CDS:b=e1 EDS:b=1 SDS:t=1 LDS:l=2 RDS:r=2",
		"<< CDS b", "> EDS +b -a", "< EDS b", "> CDS ack", ".", "> EDS ack", "<< LDS l",
		"> LDS ack", "<< RDS r", ".", "> RDS ack", "<< CDS -a", ".", "> CDS ack",
		"<< SDS -s", "> SDS ack", ".");
}

static void test_s110_endpoints_of_new_clusters_before_routes(void **state)
{
	/* a client that asks for them after its ACK */
	SCRIPT(ADS_SOTW, SOTW_START, "snapshot CDS:a=e1,b=e1 EDS:a=1,b=1 SDS:s=1 LDS:l=1 RDS:r=2",
		"<< CDS a b", "> CDS ack", ".", "deadline 5000", "> EDS a b repeat", "< EDS a b",
		".", "> EDS a b ack", "<< RDS r", ".");
	SCRIPT(ADS_DELTA, DELTA_START, "snapshot CDS:a=e1,b=e1 EDS:a=1,b=1 SDS:s=1 LDS:l=1 RDS:r=2",
		"<< CDS b", "> CDS ack", ".", "> EDS +b", "< EDS b", ".", "> EDS ack", "<< RDS r",
		".");
	/* or never: its endpoints come from elsewhere */
	SCRIPT(ADS_DELTA, DELTA_START, "at 10",
		"snapshot CDS:a=e1,b=e1 EDS:a=1,b=1 SDS:s=1 LDS:l=1 RDS:r=2", "<< CDS b",
		"> CDS ack", ".", "deadline 5010", "at 5010", "<< RDS r", ".");
	/* nothing to wait for: other kinds of clusters, endpoints that it asked for already */
	SCRIPT(ADS_DELTA, DELTA_START,
		"snapshot CDS:a=e1,b=1,c=e1>a EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2", "<< CDS b c",
		"> CDS ack", "<< EDS a", "> EDS ack", "<< RDS r", ".");
}

static void test_s111_a_refused_route_still_uses_the_old_cluster(void **state)
{
	SCRIPT(ADS_DELTA, DELTA_START, "snapshot CDS:b=1,a=e1 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2",
		"<< CDS b", "> CDS ack", "<< RDS r", "> RDS nack", ".", "at 1000",
		"snapshot CDS:b=1 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2", ".", "deadline 31000",
		"at 31000", "<< CDS -a", ".");
	SCRIPT(ADS_SOTW, SOTW_START, "snapshot CDS:b=1,a=e1 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2",
		"<< CDS a b", "> CDS ack", "<< RDS r", "> RDS r nack", ".", "at 1000",
		"snapshot CDS:b=1 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2", ".", "deadline 31000",
		/* a better one is accepted: the removal need not wait any longer */
		"at 2000", "snapshot CDS:b=1 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=3", "<< RDS r",
		"> RDS r ack", "<< CDS b", ".");
}

static void test_s111_each_removal_has_its_time(void **state)
{
	SCRIPT(ADS_DELTA, DELTA_START, "snapshot CDS:b=1,c=1,a=e1 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2",
		"<< CDS b c", "> CDS ack", "<< RDS r", "> RDS nack", ".", "at 1000",
		"snapshot CDS:b=1,c=1 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2", ".", "deadline 31000",
		/* another one, though the first has waited so long already */
		"at 30000", "snapshot CDS:b=1 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2", ".",
		"deadline 60000", "at 31000", ".", "at 60000", "<< CDS -a -c", ".");
}

static void test_s88_s111_a_client_that_comes_back(void **state)
{
	SCRIPT(ADS_DELTA, "snapshot CDS:b=1 LDS:l=1 RDS:r=2", "> CDS a@1", "< CDS b", ".",
		"deadline 30000", "> CDS ack", ".", "> LDS l@1", "< LDS", "> LDS ack", ".",
		"> RDS +r r@1", "< RDS r", ".", "> RDS ack", ".", "deadline 30000", "at 30000",
		"<< CDS -a", "> CDS ack", ".");
	/* with every type that may use clusters on the stream it need not wait */
	SCRIPT(ADS_DELTA, "snapshot CDS:b=1 LDS:l=1 RDS:r=2", "> CDS a@1", "< CDS b", "> CDS ack",
		".", "> LDS", "< LDS l", "> LDS ack", "> RDS +r", "< RDS r", "> SRDS", "< SRDS",
		"> SRDS ack", "> VHDS", "< VHDS", "> VHDS ack", ".", "> RDS ack", "<< CDS -a", ".");
}

static void test_ttls_go_on_while_something_waits(void **state)
{
	SCRIPT(ADS_DELTA, "snapshot CDS:a=1 LDS:l=1!2000", "> CDS", "< CDS a", "> CDS ack", "> LDS",
		"< LDS l", "> LDS ack", ".", "at 500", "snapshot CDS:a=2 LDS:l=1!2000,m=1",
		"<< CDS a", ".", "deadline 1000", "at 1000", "<< LDS ~l", ".", "> LDS ack", ".",
		"deadline 2000", "> CDS ack", "<< LDS m", ".");
}

static void test_a_stream_moves_to_another_group(void **state)
{
	static const char *const before[] = {SOTW_START, NULL};
	static const char *const after[] = {"snapshot CDS:a=e1,b=1 EDS:a=1 SDS:s=1 LDS:l=1 RDS:r=2",
		"<< CDS a b", ".", "> CDS ack", "<< RDS r", "> RDS r ack", ".", NULL};
	struct xds_feed *first;
	struct script script;

	(void)state;
	script_begin(&script, ADS_SOTW);
	script_play(&script, before);
	first = script.feed;
	script.feed = xds_feed_new(script.hub, NULL);
	xds_stream_move(script.stream, script.feed);
	assert_ptr_equal(xds_stream_feed(script.stream), script.feed);
	xds_feed_free(first);
	script_play(&script, after);
	script_end(&script);
}

static void test_single_types_are_not_ordered(void **state)
{
	SCRIPT(CDS_DELTA, "snapshot CDS:a=1", "> CDS x@1", "< CDS a -x", "> CDS ack", ".",
		"snapshot CDS:b=1", "<< CDS b -a", ".");
}

static void test_routes_of_a_single_type_follow_new_clusters_later(void **state)
{
	SCRIPT(RDS_DELTA, "at 100", "snapshot CDS:a=1 RDS:r=1", "> RDS +r", "< RDS r", "> RDS ack",
		"snapshot CDS:a=1,b=1 RDS:r=2", ".", "deadline 1100", "at 1099", ".", "at 1100",
		"<< RDS r", "> RDS ack", ".",
		/* a changed cluster is there already, and replies never wait */
		"snapshot CDS:a=2,b=1 RDS:r=3", "<< RDS r", "> RDS ack", ".",
		"snapshot CDS:a=2,b=1,c=1 RDS:r=4,q=1", ".", "> RDS +q", "< RDS q r", ".");
	SCRIPT(EDS_DELTA, "snapshot CDS:a=1 EDS:a=1", "> EDS +a", "< EDS a", "> EDS ack",
		"snapshot CDS:a=1,b=1 EDS:a=2", "<< EDS a", ".");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_s110_order_of_one_change),
		cmocka_unit_test(test_s110_a_silent_client_does_not_stop_it),
		cmocka_unit_test(test_s101_what_a_cluster_waits_for_does_not_wait_for_its_ack),
		cmocka_unit_test(test_s110_a_nack_holds_the_next_type_for_a_while),
		cmocka_unit_test(test_s79_replies_do_not_wait),
		cmocka_unit_test(test_what_a_reply_may_need_goes_before_it),
		cmocka_unit_test(test_s79_a_type_without_interest_does_not_hold),
		cmocka_unit_test(test_s112_listeners_are_asked_for_later),
		cmocka_unit_test(test_s111_removal_after_what_used_it),
		cmocka_unit_test(test_s111_without_a_bridge_delta_adds_first),
		cmocka_unit_test(test_s110_endpoints_of_new_clusters_before_routes),
		cmocka_unit_test(test_s111_a_refused_route_still_uses_the_old_cluster),
		cmocka_unit_test(test_s111_each_removal_has_its_time),
		cmocka_unit_test(test_s88_s111_a_client_that_comes_back),
		cmocka_unit_test(test_ttls_go_on_while_something_waits),
		cmocka_unit_test(test_a_stream_moves_to_another_group),
		cmocka_unit_test(test_single_types_are_not_ordered),
		cmocka_unit_test(test_routes_of_a_single_type_follow_new_clusters_later),
	};

	return cmocka_run_group_tests_name("xds_pace", tests, NULL, NULL);
}
