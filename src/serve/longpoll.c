/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/longpoll.h"

#include "base/text.h"

#define MARGIN_MS 200 /* what a reply may need to reach the client */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_ours(struct slice text, struct digest *ret_digest)
{
	if (text.length != VERSION_TEXT_LENGTH || text.data[0] != 'a')
		return false;
	for (size_t i = 0; i < DIGEST_LENGTH; i++) {
		int high = hex_value(text.data[1 + 2 * i]);
		int low = hex_value(text.data[2 + 2 * i]);

		if (high < 0 || low < 0)
			return false;
		ret_digest->bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

struct held held_parse(struct slice version_info)
{
	struct held held = {.kind = HELD_NONE};

	if (version_info.length == 0)
		return held;
	if (parse_ours(version_info, &held.digest)) {
		held.kind = HELD_OURS;
	} else {
		struct digest_context context;

		digest_begin(&context, "xdspub foreign version");
		digest_part(&context, version_info);
		held.digest = digest_end(&context);
		held.kind = HELD_FOREIGN;
	}
	return held;
}

struct held held_of(const struct version *version)
{
	return held_parse((struct slice){version->text, VERSION_TEXT_LENGTH});
}

bool held_equal(const struct held *a, const struct held *b)
{
	return a->kind == b->kind && (a->kind == HELD_NONE || digest_equal(&a->digest, &b->digest));
}

struct version held_text(const struct held *held)
{
	struct version version = {.text = ""};

	if (held->kind == HELD_OURS)
		version = version_text(&held->digest);
	else if (held->kind == HELD_FOREIGN)
		memcpy(version.text, "(foreign)", sizeof("(foreign)"));
	return version;
}

int64_t longpoll_hold_ms(struct slice expected_timeout, int64_t max_ms)
{
	int64_t timeout, hold;

	if (!expected_timeout.data || text_parse_i64(expected_timeout, &timeout) || timeout <= 0)
		timeout = LONGPOLL_DEFAULT_TIMEOUT_MS;
	if (timeout <= 2 * MARGIN_MS)
		hold = timeout / 2;
	else
		hold = timeout - (timeout / 10 > MARGIN_MS ? timeout / 10 : MARGIN_MS);
	return hold < max_ms ? hold : max_ms;
}

bool longpoll_is_rejection(
	const struct longpoll_delivery *delivery, const struct held *held, int64_t now_ms)
{
	return delivery->is_complete && held_equal(held, &delivery->before) &&
	       !held_equal(held, &delivery->delivered) &&
	       now_ms - delivery->at_ms < LONGPOLL_OFFER_AGAIN_MS;
}

static struct longpoll_decision wait_or(
	enum longpoll_action at_end, int64_t until_ms, int64_t now_ms)
{
	if (now_ms < until_ms)
		return (struct longpoll_decision){LONGPOLL_PARK, until_ms};
	return (struct longpoll_decision){.action = at_end};
}

static struct longpoll_decision wait_for_news(const struct longpoll_question *question,
	const struct longpoll_state *state, int64_t now_ms)
{
	int64_t end_ms = question->arrived_ms + question->hold_ms;

	return wait_or(LONGPOLL_NOT_MODIFIED,
		end_ms < state->news_after_ms ? end_ms : state->news_after_ms, now_ms);
}

struct longpoll_decision longpoll_decide(const struct longpoll_question *question,
	const struct longpoll_state *state, int64_t now_ms)
{
	int64_t hold_ms = question->hold_ms;
	bool unwanted = held_equal(&state->current, &question->held) ||
			(question->rejected.kind != HELD_NONE &&
				held_equal(&state->current, &question->rejected));

	if (!state->has_snapshot)
		return (struct longpoll_decision){.action = LONGPOLL_UNAVAILABLE};
	if (question->held.kind != HELD_NONE) {
		/* It has something to go on with: nothing but better content is worth an answer. */
		if (unwanted || (state->is_missing && !state->missing_is_empty))
			return wait_or(
				LONGPOLL_NOT_MODIFIED, question->arrived_ms + hold_ms, now_ms);
		if (now_ms < state->news_after_ms)
			return wait_for_news(question, state, now_ms);
		return (struct longpoll_decision){.action = LONGPOLL_REPLY};
	}
	/* Never 304 to a client that has nothing: it would sit out its init timer (S.38). */
	if (hold_ms > LONGPOLL_VERSIONLESS_MS)
		hold_ms = LONGPOLL_VERSIONLESS_MS;
	if (state->is_missing)
		return wait_or(state->missing_is_empty ? LONGPOLL_REPLY : LONGPOLL_NOT_FOUND,
			question->arrived_ms + hold_ms, now_ms);
	if (unwanted)
		return wait_or(LONGPOLL_REPLY, question->arrived_ms + hold_ms, now_ms);
	return (struct longpoll_decision){.action = LONGPOLL_REPLY};
}
