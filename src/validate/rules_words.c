/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "validate/rules_words.h"

#include <stdio.h>

#include "base/text.h"
#include "validate/value_check.h"

#define PATTERN_BYTES 400

struct teller {
	const struct field_rules *rules;
	const char *about; /* "each item " or "" */
	rules_words_cb tell;
	void *ctx;
};

__attribute__((format(printf, 3, 4))) static void tell(
	const struct teller *teller, enum rule rule, const char *format, ...)
{
	struct buf text = BUF_INIT;
	va_list arguments;

	buf_puts(&text, teller->about);
	va_start(arguments, format);
	buf_vprintf(&text, format, arguments);
	va_end(arguments);
	if (teller->rules->ignore_empty)
		buf_puts(&text, ", unless it is empty");
	teller->tell(teller->ctx, rule_id(teller->rules->kind, rule), buf_cstr(&text));
	buf_fini(&text);
}

static void tell_value(
	const struct teller *teller, enum rule rule, const char *words, union rules_value value)
{
	struct buf text = BUF_INIT;

	value_check_show(&text, teller->rules, value);
	tell(teller, rule, "%s %s", words, buf_cstr(&text));
	buf_fini(&text);
}

static void tell_list(const struct teller *teller, enum rule rule, const char *words,
	const union rules_value *values, uint32_t count)
{
	struct buf text = BUF_INIT;

	for (uint32_t i = 0; i < count; i++) {
		buf_puts(&text, i ? ", " : "");
		value_check_show(&text, teller->rules, values[i]);
	}
	if (count)
		tell(teller, rule, "%s %s", words, buf_cstr(&text));
	buf_fini(&text);
}

/* An upper limit below the lower one leaves out what is between them. */
static bool is_gap(const struct field_rules *rules)
{
	const struct rules_bounds *bounds = &rules->bounds;

	if (!bounds->has_less || !bounds->has_more)
		return false;
	return rules->is_floating ? bounds->less.floating < bounds->more.floating
				  : bounds->less.integer < bounds->more.integer;
}

static void tell_bounds(const struct teller *teller)
{
	const struct rules_bounds *bounds = &teller->rules->bounds;
	enum rule less = bounds->may_equal_less ? RULE_LTE : RULE_LT;
	enum rule more = bounds->may_equal_more ? RULE_GTE : RULE_GT;

	if (bounds->has_const)
		tell_value(teller, RULE_CONST, "must be", bounds->constant);
	if (is_gap(teller->rules)) {
		struct buf text = BUF_INIT;

		value_check_show(&text, teller->rules, bounds->less);
		buf_puts(&text, bounds->may_equal_more ? ", or at least " : ", or more than ");
		value_check_show(&text, teller->rules, bounds->more);
		tell(teller, less, "must be %s %s",
			bounds->may_equal_less ? "at most" : "less than", buf_cstr(&text));
		buf_fini(&text);
	} else {
		if (bounds->has_more)
			tell_value(teller, more,
				bounds->may_equal_more ? "must be at least" : "must be more than",
				bounds->more);
		if (bounds->has_less)
			tell_value(teller, less,
				bounds->may_equal_less ? "must be at most" : "must be less than",
				bounds->less);
	}
	tell_list(teller, RULE_IN, "must be one of", bounds->in, bounds->in_count);
	tell_list(teller, RULE_NOT_IN, "must be none of", bounds->not_in, bounds->not_in_count);
}

static void tell_length(const struct teller *teller, enum rule rule, const char *words,
	uint64_t limit, const char *unit)
{
	if (limit != RULES_UNSET)
		tell(teller, rule, "must have %s %llu %s%s", words, (unsigned long long)limit, unit,
			limit == 1 ? "" : "s");
}

static void tell_affix(
	const struct teller *teller, enum rule rule, const char *words, struct slice affix)
{
	if (affix.data)
		tell_value(teller, rule, words, (union rules_value){.text = affix});
}

static void tell_text(const struct teller *teller)
{
	const struct rules_text *text = teller->rules->text;
	const struct rules_lengths *lengths = &text->lengths;
	const char *unit = teller->rules->kind == KIND_STRING ? "character" : "byte";

	tell_length(teller, RULE_LEN, "exactly", lengths->exact, unit);
	tell_length(teller, RULE_MIN_LEN, "at least", lengths->least, unit);
	tell_length(teller, RULE_MAX_LEN, "at most", lengths->most, unit);
	tell_length(teller, RULE_LEN_BYTES, "exactly", lengths->exact_bytes, "byte");
	tell_length(teller, RULE_MIN_BYTES, "at least", lengths->least_bytes, "byte");
	tell_length(teller, RULE_MAX_BYTES, "at most", lengths->most_bytes, "byte");
	tell_affix(teller, RULE_PREFIX, "must begin with", text->prefix);
	tell_affix(teller, RULE_SUFFIX, "must end with", text->suffix);
	tell_affix(teller, RULE_CONTAINS, "must contain", text->contains);
	tell_affix(teller, RULE_NOT_CONTAINS, "must not contain", text->not_contains);
	if (text->pattern_text.data) {
		struct buf pattern = BUF_INIT;

		text_quote(&pattern, text->pattern_text, PATTERN_BYTES);
		tell(teller, RULE_PATTERN, "must match the pattern %s", buf_cstr(&pattern));
		buf_fini(&pattern);
	}
	if (text->format != RULE_COUNT)
		tell(teller, text->format, "must be %s", value_check_format(text));
}

static void tell_time(const struct teller *teller)
{
	const struct field_rules *rules = teller->rules;

	if (rules->lt_now)
		tell(teller, RULE_LT_NOW, "must be in the past");
	if (rules->gt_now)
		tell(teller, RULE_GT_NOW, "must be in the future");
	if (rules->within)
		tell_value(teller, RULE_WITHIN,
			"must be this near to now:", (union rules_value){.integer = rules->within});
}

static void tell_counts(const struct teller *teller)
{
	const struct field_rules *rules = teller->rules;
	bool is_map = rules->kind == KIND_MAP;

	tell_length(teller, is_map ? RULE_MIN_PAIRS : RULE_MIN_ITEMS, "at least", rules->least,
		is_map ? "pair" : "item");
	tell_length(teller, is_map ? RULE_MAX_PAIRS : RULE_MAX_ITEMS, "at most", rules->most,
		is_map ? "pair" : "item");
	if (rules->is_unique)
		tell(teller, RULE_UNIQUE, "no two items may be equal");
}

static void tell_required(const struct teller *teller)
{
	enum rule_kind kind = teller->rules->kind;
	struct buf text = BUF_INIT;

	if (kind != KIND_ANY && kind != KIND_DURATION && kind != KIND_TIMESTAMP)
		kind = KIND_MESSAGE;
	buf_printf(&text, "%smust be set", teller->about);
	teller->tell(teller->ctx, rule_id(kind, RULE_REQUIRED), buf_cstr(&text));
	buf_fini(&text);
}

static void tell_all(const struct teller *teller)
{
	const struct field_rules *rules = teller->rules;

	if (rules->is_required)
		tell_required(teller);
	if (rules->kind == KIND_REPEATED || rules->kind == KIND_MAP) {
		tell_counts(teller);
	} else if (rules->kind && rules->kind != KIND_MESSAGE) {
		tell_bounds(teller);
		tell_time(teller);
	}
	if (rules->text)
		tell_text(teller);
	if (rules->is_defined_only)
		tell(teller, RULE_DEFINED_ONLY, "must be a value that the enum declares");
}

void rules_words(const struct field_rules *rules, rules_words_cb tell_one, void *ctx)
{
	struct teller teller = {rules, "", tell_one, ctx};

	tell_all(&teller);
	if (rules->keys) {
		teller.rules = rules->keys;
		teller.about = "each key ";
		tell_all(&teller);
	}
	if (rules->items) {
		teller.rules = rules->items;
		teller.about = rules->kind == KIND_MAP ? "each value " : "each item ";
		tell_all(&teller);
	}
}
