/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/longpoll.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define V1 "a00000000000000000000000000000001"
#define V2 "a00000000000000000000000000000002"

static struct held held(const char *text)
{
	return held_parse(slice_of(text));
}

static void held_versions(void **state)
{
	static const struct {
		const char *text;
		enum held_kind kind;
		const char *shown;
	} rows[] = {
		{"", HELD_NONE, ""},
		{V1, HELD_OURS, V1},
		{"a0123456789abcdef0123456789abcdef", HELD_OURS,
			"a0123456789abcdef0123456789abcdef"},
		{"a0123456789ABCDEF0123456789abcdef", HELD_FOREIGN, "(foreign)"},
		{"b0123456789abcdef0123456789abcdef", HELD_FOREIGN, "(foreign)"},
		{"a0123456789abcdef0123456789abcde", HELD_FOREIGN, "(foreign)"},
		{"a0123456789abcdef0123456789abcdef0", HELD_FOREIGN, "(foreign)"},
		{"42", HELD_FOREIGN, "(foreign)"},
	};
	struct held a, b;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		a = held(rows[i].text);
		assert_int_equal(a.kind, rows[i].kind);
		assert_string_equal(held_text(&a).text, rows[i].shown);
		for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++) {
			b = held(rows[j].text);
			assert_int_equal(held_equal(&a, &b), i == j);
		}
	}
}

/* S.40 */
static void hold_times(void **state)
{
	static const struct {
		const char *header;
		int64_t max_ms, want_ms;
	} rows[] = {
		{NULL, 300000, 800}, /* Envoy's default request_timeout of 1 s */
		{"", 300000, 800},
		{"1000", 300000, 800},
		{"2000", 300000, 1800},
		{"2500", 300000, 2250},
		{"30000", 300000, 27000},
		{"60000", 300000, 54000},
		{"400", 300000, 200},
		{"100", 300000, 50},
		{"1", 300000, 0},
		{"0", 300000, 800},
		{"-5", 300000, 800},
		{"soon", 300000, 800},
		{"99999999999999999999", 300000, 800},
		{"9223372036854775807", 300000, 300000},
		{"30000", 5000, 5000},
		{NULL, 100, 100},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice header =
			rows[i].header ? slice_of(rows[i].header) : (struct slice){NULL, 0};

		assert_int_equal(longpoll_hold_ms(header, rows[i].max_ms), rows[i].want_ms);
	}
}

/* S.48 */
static void rejections(void **state)
{
	static const struct {
		const char *before, *delivered, *asked;
		bool is_complete;
		int64_t later_ms;
		bool want;
	} rows[] = {
		{V1, V2, V1, true, 0, true},
		{V1, V2, V1, true, 1000, true},
		{"", V2, "", true, 100, true},
		{"42", V2, "42", true, 100, true},
		{V1, V2, V2, true, 100, false},	 /* accepted */
		{V1, V2, V1, false, 100, false}, /* lost on the way */
		{V1, V2, "", true, 100, false},	 /* restarted */
		{V1, V2, "other", true, 100, false},
		{V2, V2, V2, true, 100, false}, /* was offered what it had */
		{V1, V2, V1, true, LONGPOLL_OFFER_AGAIN_MS - 1, true},
		{V1, V2, V1, true, LONGPOLL_OFFER_AGAIN_MS, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct longpoll_delivery delivery = {
			held(rows[i].before), held(rows[i].delivered), rows[i].is_complete, 5000};
		struct held asked = held(rows[i].asked);

		assert_int_equal(longpoll_is_rejection(&delivery, &asked, 5000 + rows[i].later_ms),
			rows[i].want);
	}
}

enum have {
	NOTHING, /* no snapshot */
	PRESENT, /* current version V2 */
	DELAYED, /* the same, but news wait for another 300 ms after the arrival */
	GONE,	 /* no such name, a type that answers with nothing (EDS, RDS) */
	GONE_404 /* no such name, the other types */
};

struct row {
	const char *statement;
	const char *held, *rejected;
	enum have have;
	int64_t hold_ms, at_ms; /* after its arrival */
	enum longpoll_action want;
	int64_t want_until_ms; /* after its arrival */
};

static const struct row rows[] = {
	{"S.51", "", "", NOTHING, 800, 0, LONGPOLL_UNAVAILABLE, 0},
	{"S.51", V1, "", NOTHING, 800, 0, LONGPOLL_UNAVAILABLE, 0},
	{"S.38", "", "", PRESENT, 800, 0, LONGPOLL_REPLY, 0},
	{"other version", V1, "", PRESENT, 800, 0, LONGPOLL_REPLY, 0},
	{"foreign version", "42", "", PRESENT, 800, 0, LONGPOLL_REPLY, 0},
	{"S.39 hold", V2, "", PRESENT, 800, 0, LONGPOLL_PARK, 800},
	{"S.39 hold", V2, "", PRESENT, 27000, 26999, LONGPOLL_PARK, 27000},
	{"S.39 end", V2, "", PRESENT, 800, 800, LONGPOLL_NOT_MODIFIED, 0},
	{"S.41", V1, "", PRESENT, 800, 500, LONGPOLL_REPLY, 0},
	{"S.45 EDS waits", "", "", GONE, 800, 0, LONGPOLL_PARK, 800},
	{"S.45 1 s at most", "", "", GONE, 27000, 0, LONGPOLL_PARK, 1000},
	{"S.45 EDS empty", "", "", GONE, 27000, 1000, LONGPOLL_REPLY, 0},
	{"S.45 SDS waits", "", "", GONE_404, 27000, 999, LONGPOLL_PARK, 1000},
	{"S.45 SDS 404", "", "", GONE_404, 27000, 1000, LONGPOLL_NOT_FOUND, 0},
	{"S.45 it appears", "", "", PRESENT, 27000, 400, LONGPOLL_REPLY, 0},
	{"removed, EDS", V1, "", GONE, 800, 0, LONGPOLL_REPLY, 0},
	{"removed, SDS keeps it", V1, "", GONE_404, 800, 0, LONGPOLL_PARK, 800},
	{"removed, SDS keeps it", V1, "", GONE_404, 800, 800, LONGPOLL_NOT_MODIFIED, 0},
	{"still gone", V2, "", GONE, 800, 0, LONGPOLL_PARK, 800},
	{"still gone", V2, "", GONE, 800, 800, LONGPOLL_NOT_MODIFIED, 0},
	{"S.48 hold", V1, V2, PRESENT, 27000, 0, LONGPOLL_PARK, 27000},
	{"S.48 end", V1, V2, PRESENT, 27000, 27000, LONGPOLL_NOT_MODIFIED, 0},
	{"S.48 newer", V1, "a00000000000000000000000000000003", PRESENT, 27000, 5, LONGPOLL_REPLY,
		0},
	{"S.48 no version", "", V2, PRESENT, 27000, 0, LONGPOLL_PARK, 1000},
	{"S.48 never 304", "", V2, PRESENT, 27000, 1000, LONGPOLL_REPLY, 0},
	{"routes after clusters", V1, "", DELAYED, 800, 0, LONGPOLL_PARK, 300},
	{"routes after clusters", V1, "", DELAYED, 200, 0, LONGPOLL_PARK, 200},
	{"routes after clusters", V1, "", DELAYED, 200, 200, LONGPOLL_NOT_MODIFIED, 0},
	{"routes after clusters", V1, "", DELAYED, 800, 300, LONGPOLL_REPLY, 0},
	{"who has none is not kept waiting", "", "", DELAYED, 800, 0, LONGPOLL_REPLY, 0},
	{"no news", V2, "", DELAYED, 800, 0, LONGPOLL_PARK, 800},
	{"no time at all", V2, "", PRESENT, 0, 0, LONGPOLL_NOT_MODIFIED, 0},
};

static void decisions(void **state)
{
	const int64_t arrived_ms = 1000000;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct longpoll_question question = {.held = held(row->held),
			.rejected = held(row->rejected),
			.arrived_ms = arrived_ms,
			.hold_ms = row->hold_ms};
		struct longpoll_state have = {
			.news_after_ms = row->have == DELAYED ? arrived_ms + 300 : 0,
			.has_snapshot = row->have != NOTHING,
			.is_missing = row->have == GONE || row->have == GONE_404,
			.missing_is_empty = row->have == GONE,
			.current = held(V2)};
		struct longpoll_decision decision =
			longpoll_decide(&question, &have, arrived_ms + row->at_ms);

		if (decision.action != row->want ||
			(row->want == LONGPOLL_PARK &&
				decision.until_ms != arrived_ms + row->want_until_ms))
			fail_msg("%s (row %zu): action %d, until %lld", row->statement, i,
				(int)decision.action, (long long)decision.until_ms);
	}
}

/* S.38: whatever happens, who has no version never gets a 304, and every wait ends in an answer. */
static void no_304_without_a_version(void **state)
{
	(void)state;
	for (int have = NOTHING; have <= GONE_404; have++)
		for (int64_t hold_ms = 0; hold_ms < 3000; hold_ms += 500)
			for (int64_t at_ms = 0; at_ms < 4000; at_ms += 250)
				for (int rejected = 0; rejected < 2; rejected++) {
					struct longpoll_question question = {.held = held(""),
						.rejected = held(rejected ? V2 : ""),
						.hold_ms = hold_ms};
					struct longpoll_state now = {
						.has_snapshot = have != NOTHING,
						.is_missing = have >= GONE,
						.missing_is_empty = have == GONE,
						.current = held(V2)};
					struct longpoll_decision decision =
						longpoll_decide(&question, &now, at_ms);

					assert_int_not_equal(
						decision.action, LONGPOLL_NOT_MODIFIED);
					if (at_ms >= 1000)
						assert_int_not_equal(
							decision.action, LONGPOLL_PARK);
				}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_versions),
		cmocka_unit_test(hold_times),
		cmocka_unit_test(rejections),
		cmocka_unit_test(decisions),
		cmocka_unit_test(no_304_without_a_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
