/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xds_script.h"

/* Decisions of state-of-the-world streams; the scripts are explained in xds_script.h. */

static void test_s77_wildcard_and_empty_sets(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot CDS:a=1,b=1", "> CDS = REQUEST", "< CDS a b", ".",
		"> CDS ack = ACK", ".", "> LDS", "< LDS", ".", "> LDS ack = ACK", ".", "> SRDS",
		"< SRDS", ".", "> SRDS ack", ".");
}

static void test_s64_first_request_is_answered_whatever_it_carries(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot CDS:a=1 EDS:a=1", "> CDS stale old = REQUEST", "< CDS a",
		"> EDS a stale = REQUEST", "< EDS a", ".", "> CDS stale = STALE", ".");
}

static void test_s66_stale_nonce_changes_nothing(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot EDS:a=1,b=1", "> EDS a", "< EDS a", "> EDS a b = STALE", ".",
		"> EDS a b stale = STALE", ".", "> EDS a b ack = ACK", "< EDS a b", ".",
		"> EDS a b ack", ".");
}

static void test_s67_ack_is_not_answered(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot CDS:a=1 EDS:a=1", "> CDS", "< CDS a", "> CDS ack = ACK", ".",
		"deadline -1", "> CDS repeat = REPEAT", ".", "> CDS repeat", ".");
}

static void test_s68_nack_is_not_answered(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot CDS:a=1", "> CDS", "< CDS a", "> CDS nack = NACK", ".",
		"snapshot CDS:a=1 EDS:x=1", ".", "> CDS mismatch = REPEAT", ".", "at 100000", ".",
		"snapshot CDS:a=2", "<< CDS a", "> CDS ack = ACK", ".", "snapshot CDS:a=3",
		"<< CDS a", "> CDS mismatch = NACK", ".",
		/* back to what it has: it was sent something else since */
		"snapshot CDS:a=2", "<< CDS a", "> CDS ack", ".");
}

static void test_s69_changed_names(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot EDS:a=1,b=1", "> EDS a", "< EDS a", "> EDS a ack", ".",
		"> EDS a b repeat = REQUEST", "< EDS a b", "> EDS a b ack", ".",
		/* shrinking is no question */
		"> EDS b repeat = REQUEST", ".", "snapshot EDS:a=2,b=1", ".",
		"snapshot EDS:a=2,b=2", "<< EDS b", "> EDS b ack", ".",
		/* a name that does not exist is answered with what does */
		"> EDS b c repeat", "< EDS b", "> EDS b c ack", ".");
}

static void test_s70_rewarming(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot CDS:a=e1 EDS:a=1,b=1", "> CDS", "< CDS a", "> EDS a b",
		"< EDS a b", "> EDS a b ack", ".", "> CDS ack", ".",
		/* no news of clusters: nothing to warm */
		"> EDS a b repeat = REPEAT", ".", "snapshot CDS:a=e2 EDS:a=1,b=1", "<< CDS a", ".",
		"> EDS a b repeat = REPEAT", "< EDS a b", ".", "> CDS ack", ".", "> EDS a b ack",
		".", "> EDS a b repeat", ".");
}

static void test_s73_names_that_appear_later(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot RDS:x=1", "> RDS r", "< RDS", "> RDS r ack", ".",
		"snapshot RDS:x=1,r=1", "<< RDS r", "> RDS r ack", ".", "snapshot RDS:x=2,r=1",
		".");
}

static void test_s72_all_that_is_subscribed_comes_each_time(void **state)
{
	SCRIPT(EDS_SOTW, "snapshot EDS:a=1,b=1,c=1", "> EDS a b", "< EDS a b", "> EDS a b ack", ".",
		"snapshot EDS:a=2,b=1,c=2", "<< EDS a b", "> EDS a b ack", ".");
}

static void test_s106_leaving_out_is_no_message_except_for_sets(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot CDS:a=1,b=1 EDS:a=1,b=1", "> EDS a b", "< EDS a b",
		"> EDS a b ack", "> CDS", "< CDS a b", "> CDS ack", ".", "snapshot CDS:a=1 EDS:a=1",
		"<< CDS a", "> CDS ack", ".", "snapshot CDS:a=1 EDS:a=2", "<< EDS a",
		"> EDS a b ack", ".");
}

static void test_s74_s76_empty_names(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot CDS:a=1 EDS:a=1 RDS:r=1", "> EDS = REQUEST", ".",
		"> EDS = REQUEST", ".", "> EDS a", "< EDS a", "> EDS a ack",
		/* unsubscribed from everything, not the wildcard */
		"> EDS repeat = REQUEST", ".", "snapshot CDS:a=1 EDS:a=2", ".", "> CDS a",
		"< CDS a", "> CDS repeat = ACK", ".", "snapshot CDS:a=2 EDS:a=2", ".",
		"> CDS a repeat", "< CDS a", ".");
}

static void test_interest_lost_is_no_complaint(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot EDS:a=1", "> EDS a", "< EDS a", "> EDS a ack",
		"snapshot EDS:a=2", "<< EDS a", "> EDS mismatch = REQUEST", ".", "> EDS a repeat",
		"< EDS a", "> EDS a ack", ".");
}

static void test_s75_star(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot CDS:a=1,b=1", "> CDS *", "< CDS a b", "> CDS * ack", ".",
		/* with names */
		"> CDS * x repeat", "< CDS a b", "> CDS * x ack", ".", "snapshot CDS:a=1,b=1,x=1",
		"<< CDS a b x", "> CDS * x ack", ".",
		/* leave it */
		"> CDS x repeat", ".", "snapshot CDS:a=2,b=1,x=1", ".", "snapshot CDS:a=2,b=1,x=2",
		"<< CDS x", "> CDS x ack", ".",
		/* and come back: empty would be nothing now */
		"> CDS repeat", ".", "> CDS * repeat", "< CDS a b x", "> CDS * ack", ".");
}

static void test_s75_star_is_a_name_where_there_is_no_wildcard(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot EDS:a=1", "> EDS *", "< EDS", "> EDS * ack", ".",
		"snapshot EDS:a=2", ".");
}

static void test_legacy_wildcard_ends_with_the_first_name(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot CDS:a=1,b=1", "> CDS", "< CDS a b", "> CDS ack", ".",
		"> CDS a repeat", "< CDS a", "> CDS a ack", ".", "snapshot CDS:a=1,b=2", ".",
		"> CDS repeat", ".", "snapshot CDS:a=3,b=3", ".");
}

static void test_s123_clusters_by_name(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot CDS:a=1,b=1 LDS:l=1", "> LDS l", "< LDS l", "> LDS l ack",
		"> CDS a", "< CDS a", "> CDS a ack", ".", "snapshot CDS:a=1,b=2 LDS:l=1", ".",
		/* missing is said by leaving out, at once */
		"> CDS a z repeat", "< CDS a", "> CDS a z ack", ".", "snapshot LDS:l=1", "<< CDS",
		"> CDS a z ack", ".");
}

static void test_s80_one_outstanding_response(void **state)
{
	SCRIPT(CDS_SOTW, "snapshot CDS:a=1", "> CDS", "< CDS a", "snapshot CDS:a=2", ".",
		"deadline 5000", "snapshot CDS:a=3", ".", "> CDS ack", "<< CDS a", ".",
		"snapshot CDS:a=4", "at 4999", ".", "at 5000", "<< CDS a", ".", "> CDS ack", ".");
}

static void test_s115_slow_clients_get_the_newest(void **state)
{
	SCRIPT(CDS_SOTW, "snapshot CDS:a=1", "> CDS", "snapshot CDS:a=2", "snapshot CDS:a=3,b=1",
		"< CDS a b", "> CDS ack", ".", "snapshot CDS:a=4,b=1", "snapshot CDS:a=3,b=1", ".");
}

static void test_s114_unchanged_types_are_not_sent(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot CDS:a=1 EDS:a=1 LDS:l=1 RDS:r=1", "> CDS", "< CDS a",
		"> CDS ack", "> EDS a", "< EDS a", "> EDS a ack", "> LDS", "< LDS l", "> LDS ack",
		"> RDS r", "< RDS r", "> RDS r ack", ".",
		"snapshot CDS:a=1 EDS:a=2 LDS:l=1 RDS:r=1", "<< EDS a", "> EDS a ack", ".",
		"snapshot CDS:a=1 EDS:a=2,b=1 LDS:l=1 RDS:r=1", ".");
}

static void test_s63_type_url(void **state)
{
	struct xds_request request = {.names = NULL};
	struct script script;

	(void)state;
	script_begin(&script, ADS_SOTW);
	xds_stream_on_request(script.stream, &request, 0, &script.outcome);
	assert_int_equal(script.outcome.event, XDS_EVENT_REFUSED);
	assert_int_equal(script.outcome.status, XDS_STATUS_INVALID_ARGUMENT);
	assert_string_equal(
		script.outcome.problem, "type_url is missing; an aggregated stream needs it");
	/* S.127 */
	request.type_url = SLICE("type.googleapis.com/envoy.api.v2.Cluster");
	xds_stream_on_request(script.stream, &request, 0, &script.outcome);
	assert_int_equal(script.outcome.event, XDS_EVENT_UNKNOWN_TYPE);
	assert_int_equal(script.outcome.status, XDS_STATUS_OK);
	request.type_url = slice_of(xds_type_row(XDS_VHDS)->type_url);
	xds_stream_on_request(script.stream, &request, 0, &script.outcome);
	assert_int_equal(script.outcome.event, XDS_EVENT_UNKNOWN_TYPE);
	script_end(&script);

	/* S.63: on the service of one type it may be left out; S.78: and may not be another. */
	script_begin(&script, CDS_SOTW);
	script_serve(&script, "CDS:a=1");
	request.type_url = SLICE("");
	xds_stream_on_request(script.stream, &request, 0, &script.outcome);
	assert_int_equal(script.outcome.event, XDS_EVENT_REQUEST);
	script.lines = (const char *const[]){"< CDS a", NULL};
	script_expect(&script, "< CDS a");
	request.type_url = slice_of(xds_type_row(XDS_EDS)->type_url);
	xds_stream_on_request(script.stream, &request, 0, &script.outcome);
	assert_int_equal(script.outcome.event, XDS_EVENT_REFUSED);
	assert_int_equal(script.outcome.status, XDS_STATUS_INVALID_ARGUMENT);
	script_end(&script);
}

static void test_before_the_first_snapshot_it_is_silent(void **state)
{
	SCRIPT(ADS_SOTW, "snapshot none", "> CDS", ".", "deadline -1", "> EDS a", ".",
		"snapshot CDS:a=1 EDS:a=1", "< CDS a", "< EDS a", ".", "> CDS ack", "> EDS a ack",
		"snapshot none", ".", "snapshot CDS:a=1 EDS:a=1", ".");
}

static void test_s82_ttl_is_wrapped_and_refreshed_with_the_body(void **state)
{
	SCRIPT(CDS_SOTW, "snapshot CDS:a=1!2000,b=1,c=1!9000", "> CDS", "< CDS [a] b [c]",
		"> CDS ack", ".", "deadline 1000", "at 999", ".", "at 1000", "<< CDS [a] b [c]",
		".", "> CDS ack", ".", "deadline 2000",
		/* the TTL is taken away */
		"snapshot CDS:a=1,b=1", "<< CDS a b", "> CDS ack", ".", "deadline -1");
}

static void test_s82_a_refused_response_is_not_refreshed(void **state)
{
	SCRIPT(CDS_SOTW, "snapshot CDS:a=1!2000", "> CDS", "< CDS [a]", "> CDS nack", ".",
		"at 1000", ".", "deadline 2000", "at 2000", ".");
}

static void test_s83_no_wrapper_for_others(void **state)
{
	static const char *const lines[] = {
		"snapshot CDS:a=1!2000", "> CDS", "< CDS a", "> CDS ack", ".", "deadline -1", NULL};
	const struct slice feature = SLICE("xds.config.resource-in-sotw");
	struct xds_client client;
	struct script script;
	struct xds_method method = {XDS_SOTW, xds_type_row(XDS_CDS)};

	(void)state;
	script_begin(&script, CDS_SOTW);
	xds_stream_free(script.stream);
	client = xds_client_of(SLICE("gRPC Go"), NULL, 0);
	script.stream = xds_stream_new(script.feed, method, client);
	script_play(&script, lines);
	script_end(&script);
	assert_false(client.unwraps_resources);
	assert_true(xds_client_of(SLICE("gRPC Go"), &feature, 1).unwraps_resources);
	assert_true(xds_client_of(SLICE("envoy"), NULL, 0).unwraps_resources);
}

static void test_limits(void **state)
{
	struct slice names[3] = {SLICE("a"), SLICE("b"), SLICE("0123456789")};
	struct xds_request request = {.names = names, .names_count = 2};
	struct script script;

	(void)state;
	script_begin(&script, EDS_SOTW);
	script_end(&script);
	script_begin(&script, EDS_SOTW);
	xds_stream_free(script.stream);
	xds_feed_free(script.feed);
	xds_hub_free(script.hub);
	script.settings.names = 2;
	script.settings.name_bytes = 5;
	script.hub = xds_hub_new(&script.settings);
	script.feed = xds_feed_new(script.hub, NULL);
	script.stream = xds_stream_new(script.feed,
		(struct xds_method){XDS_SOTW, xds_type_row(XDS_EDS)}, (struct xds_client){false});
	xds_stream_on_request(script.stream, &request, 0, &script.outcome);
	assert_int_equal(script.outcome.event, XDS_EVENT_REQUEST);
	request.names_count = 3;
	xds_stream_on_request(script.stream, &request, 0, &script.outcome);
	assert_int_equal(script.outcome.status, XDS_STATUS_RESOURCE_EXHAUSTED);
	assert_string_equal(script.outcome.problem, "more than 2 names of type EDS on one stream");
	request.names = names + 1;
	request.names_count = 2;
	xds_stream_on_request(script.stream, &request, 0, &script.outcome);
	assert_int_equal(script.outcome.status, XDS_STATUS_INVALID_ARGUMENT);
	assert_string_equal(
		script.outcome.problem, "a resource name of type EDS is longer than 5 bytes");
	script_end(&script);
}

static void test_report(void **state)
{
	static const char *const lines[] = {"snapshot EDS:a=1,b=1", "at 10", "> EDS a b z",
		"< EDS a b", "at 20", "> EDS a b z ack", "snapshot EDS:a=2,b=1", "at 30",
		"<< EDS a b", "at 40", "> EDS a b z nack = NACK", NULL};
	struct xds_name_report name;
	struct xds_type_report report;
	struct script script;
	size_t cursor = 0;
	int names = 0;

	(void)state;
	script_begin(&script, EDS_SOTW);
	assert_false(xds_stream_report(script.stream, XDS_EDS, &report));
	script_play(&script, lines);
	assert_true(xds_stream_report(script.stream, XDS_EDS, &report));
	assert_false(report.is_wildcard);
	assert_int_equal(report.names, 3);
	assert_string_equal(report.sent.text, script.sent[XDS_EDS].text);
	assert_string_equal(report.acknowledged.text, script.held[XDS_EDS].text);
	assert_string_equal(report.rejected.text, report.sent.text);
	assert_false(report.is_outstanding);
	assert_int_equal(report.sent_ms, 30);
	assert_int_equal(report.acknowledged_ms, 20);
	assert_int_equal(report.rejected_ms, 40);
	assert_int_equal(report.responses, 2);
	assert_int_equal(report.acks, 1);
	assert_int_equal(report.nacks, 1);
	assert_string_equal(report.last_nack, "bad thing");
	assert_int_equal(report.last_nack_code, 13);
	/* in no particular order */
	while (xds_stream_next_name(script.stream, XDS_EDS, &cursor, &name)) {
		assert_true(name.is_subscribed);
		assert_int_equal(name.is_held, !slice_is(name.name, "z"));
		names += name.name.data[0];
	}
	assert_int_equal(names, 'a' + 'b' + 'z');
	script_end(&script);
}

static void test_s81_versions_are_those_of_the_content(void **state)
{
	struct script script;
	static const char *const lines[] = {
		"snapshot EDS:a=1,b=1 CDS:a=1", "> EDS a", "< EDS a", "> CDS", "< CDS a", NULL};
	struct snapshot *snapshot = script_snapshot("EDS:a=1,b=1 CDS:a=1");
	struct resource *resource = resource_set_find(snapshot->sets[XDS_EDS], SLICE("a"));
	struct version version = version_of(XDS_EDS, &resource, 1);

	(void)state;
	script_begin(&script, ADS_SOTW);
	script_play(&script, lines);
	assert_string_equal(script.sent[XDS_EDS].text, version.text);
	assert_string_equal(
		script.sent[XDS_CDS].text, resource_set_version(snapshot->sets[XDS_CDS])->text);
	script_end(&script);
	snapshot_unref(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_s77_wildcard_and_empty_sets),
		cmocka_unit_test(test_s64_first_request_is_answered_whatever_it_carries),
		cmocka_unit_test(test_s66_stale_nonce_changes_nothing),
		cmocka_unit_test(test_s67_ack_is_not_answered),
		cmocka_unit_test(test_s68_nack_is_not_answered),
		cmocka_unit_test(test_s69_changed_names),
		cmocka_unit_test(test_s70_rewarming),
		cmocka_unit_test(test_s73_names_that_appear_later),
		cmocka_unit_test(test_s72_all_that_is_subscribed_comes_each_time),
		cmocka_unit_test(test_s106_leaving_out_is_no_message_except_for_sets),
		cmocka_unit_test(test_s74_s76_empty_names),
		cmocka_unit_test(test_interest_lost_is_no_complaint),
		cmocka_unit_test(test_s75_star),
		cmocka_unit_test(test_s75_star_is_a_name_where_there_is_no_wildcard),
		cmocka_unit_test(test_legacy_wildcard_ends_with_the_first_name),
		cmocka_unit_test(test_s123_clusters_by_name),
		cmocka_unit_test(test_s80_one_outstanding_response),
		cmocka_unit_test(test_s115_slow_clients_get_the_newest),
		cmocka_unit_test(test_s114_unchanged_types_are_not_sent),
		cmocka_unit_test(test_s63_type_url),
		cmocka_unit_test(test_before_the_first_snapshot_it_is_silent),
		cmocka_unit_test(test_s82_ttl_is_wrapped_and_refreshed_with_the_body),
		cmocka_unit_test(test_s82_a_refused_response_is_not_refreshed),
		cmocka_unit_test(test_s83_no_wrapper_for_others),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_s81_versions_are_those_of_the_content),
	};

	return cmocka_run_group_tests_name("xds_sotw", tests, NULL, NULL);
}
