/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "author/sample_node.h"

#include <ctype.h>
#include <math.h>

#include "base/buf.h"

/* What a free part of a text is made of, one after the other. */
static const char *const fillers[] = {"1", "", "x", "envoy", "q7"};
#define FILLERS (sizeof(fillers) / sizeof(*fillers))

/* One try: a number that is taken apart for one choice after the other. */
struct sampler {
	unsigned long number;
	bool is_impossible;
};

/* What a text has to be. */
struct wish {
	struct slice exact; /* data NULL: anything */
	struct slice prefix, suffix;
	struct buf contains;
	bool ignores_case;
};

static size_t choose(struct sampler *sampler, size_t count)
{
	size_t choice = sampler->number % count;

	sampler->number /= count;
	return choice;
}

static bool is_leaf(enum match_kind kind)
{
	return kind != MATCH_ALL && kind != MATCH_ANY && kind != MATCH_FIELD;
}

/* The first condition that is no list of others; readers bound the depth. */
static const struct match *first_leaf(const struct match *match)
{
	while ((match->kind == MATCH_ALL || match->kind == MATCH_ANY) && match->children_count)
		match = &match->children[0];
	return match;
}

static void add_wish(struct sampler *sampler, const struct match *match, struct wish *wish)
{
	wish->ignores_case |= match->ignore_case;
	switch (match->kind) {
	case MATCH_ALL:
		for (size_t i = 0; i < match->children_count; i++)
			add_wish(sampler, &match->children[i], wish);
		break;
	case MATCH_ANY:
		add_wish(sampler, &match->children[choose(sampler, match->children_count)], wish);
		break;
	case MATCH_EXACT:
		wish->exact = match->text;
		break;
	case MATCH_PREFIX:
		if (match->text.length > wish->prefix.length)
			wish->prefix = match->text;
		break;
	case MATCH_SUFFIX:
		if (match->text.length > wish->suffix.length)
			wish->suffix = match->text;
		break;
	case MATCH_CONTAINS:
		buf_append_slice(&wish->contains, match->text);
		break;
	case MATCH_FIELD:
	case MATCH_NUMBER:
	case MATCH_BOOL:
		sampler->is_impossible = true;
		break;
	}
}

static json_t *make_text(struct sampler *sampler, const struct match *match)
{
	struct wish wish = {.exact = {NULL, 0}, .prefix = SLICE(""), .suffix = SLICE("")};
	struct buf text = BUF_INIT;
	json_t *made;

	add_wish(sampler, match, &wish);
	if (wish.exact.data) {
		buf_append_slice(&text, wish.exact);
	} else {
		size_t behind = choose(sampler, FILLERS), before = 1;

		if (wish.contains.length || wish.suffix.length) /* "1" is not in front at first */
			before = (choose(sampler, FILLERS) + 1) % FILLERS;
		buf_append_slice(&text, wish.prefix);
		buf_puts(&text, fillers[before]);
		buf_append_slice(&text, buf_slice(&wish.contains));
		buf_puts(&text, fillers[behind]);
		buf_append_slice(&text, wish.suffix);
	}
	if (wish.ignores_case && choose(sampler, 2))
		for (size_t i = 0; i < text.length; i++)
			text.data[i] = (char)toupper((unsigned char)text.data[i]);
	made = json_stringn(text.length ? text.data : "", text.length);
	buf_fini(&text);
	buf_fini(&wish.contains);
	return made;
}

/* A value that fits; `old`, when it is an object, is what other conditions made of it. */
static json_t *make(struct sampler *sampler, const struct match *match, json_t *old)
{
	const struct match *leaf = first_leaf(match);
	json_t *object, *value;
	char name[256];

	if (leaf->kind == MATCH_NUMBER || leaf->kind == MATCH_BOOL || match->kind == MATCH_ANY ||
		is_leaf(match->kind) || is_leaf(leaf->kind)) {
		if (match->kind == MATCH_ANY)
			return make(sampler,
				&match->children[choose(sampler, match->children_count)], old);
		if (match->kind == MATCH_BOOL)
			return json_boolean(match->boolean);
		if (match->kind == MATCH_NUMBER)
			return match->number == floor(match->number) && fabs(match->number) < 1e15
				       ? json_integer((json_int_t)match->number)
				       : json_real(match->number);
		if (leaf->kind == MATCH_NUMBER || leaf->kind == MATCH_BOOL)
			return make(sampler, leaf, old);
		return make_text(sampler, match);
	}
	object = json_is_object(old) ? json_incref(old) : json_object();
	if (match->kind == MATCH_ALL) {
		for (size_t i = 0; i < match->children_count; i++)
			json_decref(make(sampler, &match->children[i], object));
		return object;
	}
	if (match->text.length >= sizeof(name) || match->children_count != 1) {
		sampler->is_impossible = true;
		return object;
	}
	memcpy(name, match->text.data, match->text.length);
	name[match->text.length] = '\0';
	value = make(sampler, &match->children[0], json_object_get(object, name));
	json_object_set_new(object, name, value);
	return object;
}

/* A text of its own for a field that groups say nothing about. */
static void fill_field(struct sampler *sampler, json_t *node, const char *field, const char *base)
{
	static const char *const forms[] = {"", "-1", "envoy-1", "x7", "any", "1"};
	size_t form = choose(sampler, sizeof(forms) / sizeof(*forms));
	struct buf text = BUF_INIT;

	if (form < 2)
		buf_puts(&text, base);
	buf_puts(&text, forms[form]);
	json_object_set_new(node, field, json_string(buf_cstr(&text)));
	buf_fini(&text);
}

/* An id and a cluster that Envoy wants to have in any case. */
static void fill_in(struct sampler *sampler, json_t *node, const char *group)
{
	struct buf id = BUF_INIT;
	const char *cluster;

	if (!json_object_get(node, "cluster"))
		fill_field(sampler, node, "cluster", group);
	cluster = json_string_value(json_object_get(node, "cluster"));
	if (!json_object_get(node, "id")) {
		buf_printf(&id, "%s-1", cluster ? cluster : group);
		fill_field(sampler, node, "id", buf_cstr(&id));
	}
	buf_fini(&id);
}

static bool is_good(const json_t *node)
{
	return json_string_length(json_object_get(node, "id")) &&
	       json_string_length(json_object_get(node, "cluster"));
}

json_t *sample_node_find(const struct selector *selector, int group)
{
	const struct match *match = selector_match(selector, (size_t)group);
	const char *name = selector_group(selector, (size_t)group)->text;

	for (unsigned long i = 0; i < SAMPLE_NODE_TRIES; i++) {
		struct sampler sampler = {.number = i};
		json_t *node = match ? make(&sampler, match, NULL) : json_object();

		if (json_is_object(node))
			fill_in(&sampler, node, name);
		if (!sampler.is_impossible && is_good(node) &&
			selector_select(selector, node) == group)
			return node;
		json_decref(node);
		if (sampler.number) /* every choice was tried */
			break;
	}
	return NULL;
}

bool sample_node_strip(json_t *node)
{
	static const char *const own[] = {"user_agent_name", "user_agent_version",
		"user_agent_build_version", "client_features"};
	bool had_some = false;

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		had_some |= json_object_del(node, own[i]) == 0;
	return had_some;
}
