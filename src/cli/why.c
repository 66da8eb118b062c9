/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/daemon_ask.h"
#include "cli/given.h"
#include "cli/node_given.h"
#include "compile/why.h"
#include "daemon/output.h"

#define GROUPS_PRINTED 5 /* names of groups in one line */
#define LINES_PRINTED  20

/* --- reading the answer -------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static long long number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static bool is_set(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static void print_coloured(const char *text, const char *colour)
{
	bool is_coloured = given_is_coloured(stdout);

	printf("%s%s%s", is_coloured ? colour : "", text, is_coloured ? "\033[0m" : "");
}

/* --- the node ------------------------------------------------------------------------------ */

static void print_condition(const json_t *condition)
{
	const json_t *has = json_object_get(condition, "has");
	AUTO_FREE char *value =
		has ? json_dumps(has, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS) : NULL;

	printf("    %s %s",
		is_set(condition, "fits") ? "yes:" : "no: ", text_of(condition, "text"));
	if (is_set(condition, "fits"))
		putchar('\n');
	else if (value)
		printf(", this node has %s\n", value);
	else
		printf(", this node has none\n");
}

static void print_conditions(const json_t *entry, bool with_fitting)
{
	json_t *condition;
	size_t i;

	json_array_foreach(json_object_get(entry, "conditions"), i, condition)
	{
		if (with_fitting || !is_set(condition, "fits"))
			print_condition(condition);
	}
}

static void print_node(const json_t *node)
{
	long long others_count = number_of(node, "others_count");
	bool has_group = json_object_get(node, "group") != NULL;
	json_t *other;
	size_t i;

	if (has_group) {
		printf("node: in group %s (%s), the first that it fits\n", text_of(node, "group"),
			text_of(node, "source"));
		if (json_array_size(json_object_get(node, "conditions")) == 0)
			printf("    which takes every node that is left\n");
		print_conditions(node, true);
	} else {
		printf("node: fits none of the %lld groups; nearest are\n", others_count);
	}
	json_array_foreach(json_object_get(node, "others"), i, other)
	{
		printf("  %s %s (%s)\n", has_group ? "not before that in" : "not",
			text_of(other, "group"), text_of(other, "source"));
		print_conditions(other, !has_group);
	}
	if (has_group && others_count > (long long)i)
		printf("  ... nor in %lld more\n", others_count - (long long)i);
	putchar('\n');
}

/* --- one outcome --------------------------------------------------------------------------- */

static void print_groups(const json_t *outcome)
{
	long long count = number_of(outcome, "groups_count");
	json_t *name;
	size_t i;

	printf("in ");
	if (count > 1)
		printf("%lld groups: ", count);
	else
		printf("group ");
	json_array_foreach(json_object_get(outcome, "groups"), i, name)
	{
		if (i == GROUPS_PRINTED)
			break;
		printf("%s%s", i ? ", " : "", json_string_value(name));
	}
	if (count > (long long)i)
		printf(" and %lld more", count - (long long)i);
	printf("\n  ");
}

static void print_result(const json_t *outcome)
{
	const char *result = text_of(outcome, "result");

	if (strcmp(result, "served") == 0) {
		print_coloured("comes from", "\033[32m");
		printf(" %s, layer %s\n", text_of(outcome, "source"), text_of(outcome, "layer"));
	} else if (strcmp(result, "deleted") == 0) {
		print_coloured("deleted", "\033[31m");
		printf(" by %s, layer %s\n", text_of(outcome, "source"), text_of(outcome, "layer"));
	} else if (strcmp(result, "refused") == 0) {
		print_coloured("refused", "\033[31m");
		printf(": layer %s says it more than once\n", text_of(outcome, "layer"));
	} else {
		print_coloured("not there", "\033[31m");
		printf(": no layer says anything about it\n");
	}
}

static void print_layers(const json_t *outcome)
{
	const json_t *layers = json_object_get(outcome, "layers");
	json_t *layer;
	size_t i, width = 0;

	json_array_foreach((json_t *)layers, i, layer)
	{
		size_t length = strlen(text_of(layer, "layer"));

		width = length > width ? length : width;
	}
	json_array_foreach((json_t *)layers, i, layer)
	{
		printf("    %-*s  ", (int)(width < 60 ? width : 60), text_of(layer, "layer"));
		if (text_of(layer, "source")[0])
			printf("%-8s  %s\n", text_of(layer, "says"), text_of(layer, "source"));
		else
			printf("%s\n", text_of(layer, "says"));
	}
}

static void print_parts(const json_t *outcome)
{
	json_t *part, *field;
	size_t i, k;

	if (is_set(outcome, "is_changed"))
		printf("  its file has changed since it was read: which parts it has is not "
		       "known\n");
	json_array_foreach(json_object_get(outcome, "parts"), i, part)
	{
		if (i == 0)
			printf("  other files have a part in it\n");
		printf("    %s", text_of(part, "path"));
		if (text_of(part, "through")[0])
			printf(" (through %s)", text_of(part, "through"));
		printf(": %s", text_of(part, "field"));
		json_array_foreach(json_object_get(part, "fields"), k, field)
		{
			printf("%s%s (%s%lld)", k ? ", " : "", text_of(field, "field"),
				k ? "" : "line ", number_of(field, "line"));
		}
		puts(is_set(part, "more") ? " ..." : "");
	}
}

static void print_hosts(const json_t *outcome)
{
	const json_t *routes = json_object_get(outcome, "route_configuration");
	const json_t *hosts = json_object_get(outcome, "virtual_hosts");
	long long count = number_of(outcome, "virtual_hosts_count");
	const char *has = text_of(routes, "has");
	json_t *host;
	size_t i;

	if (!routes)
		return;
	if (!hosts && strcmp(has, "virtual_hosts") == 0)
		printf("  it is put into route configuration RDS/%s (%s)\n",
			text_of(routes, "name"), text_of(routes, "source"));
	else if (!hosts && strcmp(has, "vhds") == 0)
		printf("  it is served by VHDS: route configuration RDS/%s (%s) has vhds\n",
			text_of(routes, "name"), text_of(routes, "source"));
	else if (!hosts)
		printf("  its route configuration RDS/%s is not in this group\n",
			text_of(routes, "name"));
	if (!hosts)
		return;
	printf(strcmp(has, "vhds") == 0
			? "  %lld virtual hosts are served by VHDS, since it has vhds\n"
			: "  %lld virtual hosts are put into it\n",
		count);
	json_array_foreach((json_t *)hosts, i, host)
	{
		if (i == LINES_PRINTED)
			break;
		printf("    VHDS/%s  %s, layer %s\n", text_of(host, "name"),
			text_of(host, "source"), text_of(host, "layer"));
	}
	if (count > (long long)i)
		printf("    ... and %lld more\n", count - (long long)i);
}

static void print_serving(const json_t *outcome)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(outcome, "serving"), i, one)
	{
		if (i == LINES_PRINTED) {
			printf("  ...\n");
			break;
		}
		printf("  clients of group %s ", text_of(one, "group"));
		if (!is_set(one, "exists"))
			printf("don't have it\n");
		else if (is_set(one, "is_bridge"))
			printf("still have it until the grace period is over, %s\n",
				text_of(one, "version"));
		else
			printf("have another one: %s, from %s\n", text_of(one, "version"),
				text_of(one, "source"));
	}
}

static void print_held(const json_t *outcome)
{
	long long count = number_of(outcome, "held_count");
	json_t *held;
	size_t i;

	json_array_foreach(json_object_get(outcome, "held"), i, held)
	{
		if (i == GROUPS_PRINTED)
			break;
		printf("  group %s is ", text_of(held, "group"));
		print_coloured("held", "\033[31m");
		printf(", clients keep what was good before: %s\n", text_of(held, "reason"));
	}
	if (count > (long long)i)
		printf("  ... and %lld more groups are held\n", count - (long long)i);
}

static void print_outcome(const json_t *outcome)
{
	print_groups(outcome);
	print_result(outcome);
	print_layers(outcome);
	print_parts(outcome);
	print_hosts(outcome);
	if (text_of(outcome, "version")[0])
		printf("  version %s\n", text_of(outcome, "version"));
	print_serving(outcome);
	print_held(outcome);
}

/* --- everything ---------------------------------------------------------------------------- */

static void print_list(const json_t *list, const char *title)
{
	json_t *line;
	size_t i;

	json_array_foreach((json_t *)list, i, line)
	{
		if (i == 0)
			puts(title);
		if (i == LINES_PRINTED) {
			printf("  ... and %zu more\n", json_array_size(list) - i);
			break;
		}
		if (json_is_string(line))
			printf("  %s\n", json_string_value(line));
		else
			printf("  %s, layer %s\n", text_of(line, "source"), text_of(line, "layer"));
	}
}

static void print_people(const json_t *answer)
{
	json_t *outcome;
	size_t i;

	printf("%s/%s\n\n", text_of(answer, "type"), text_of(answer, "name"));
	if (json_object_get(answer, "node"))
		print_node(json_object_get(answer, "node"));
	json_array_foreach(json_object_get(answer, "outcomes"), i, outcome)
	{
		if (i)
			putchar('\n');
		print_outcome(outcome);
	}
	if (json_object_get(answer, "error"))
		printf("%s\n", text_of(answer, "error"));
	print_list(json_object_get(answer, "elsewhere"), "layers of other groups have it");
	if (text_of(answer, "hint")[0])
		printf("%s\n", text_of(answer, "hint"));
	print_list(json_object_get(answer, "problems"), "files that cannot be used");
}

/* --- asking -------------------------------------------------------------------------------- */

static json_t *ask_tree(const struct args *args, const char *tree,
	const struct why_question *question, struct buf *problem)
{
	struct diag_list *diags = diag_list_new(0);
	struct options options;
	struct schema *schema = NULL;
	json_t *answer = NULL;

	options_init(&options);
	if (given_options(args, &options, diags) == 0) {
		free(options.source);
		options.source = xstrdup(tree);
		(void)output_load_schema(&options, diags, &schema);
	}
	if (schema) {
		struct compile_options compile = output_compile_options(&options, schema);
		struct compiler *compiler;
		const struct build *build;
		int error;

		/* --group says of whom to tell; what is missed there others may have. */
		compile.only_groups = NULL;
		compiler = compiler_new(&compile);
		free((void *)compile.mounts);
		error = compiler_run(compiler, NULL, 0, clock_wall_ms(), NULL, &build);

		if (error)
			buf_printf(problem, "%s cannot be read: %s", tree, strerror(-error));
		else
			answer = why_answer(compiler, question);
		compiler_free(compiler);
		schema_free(schema);
	} else {
		given_print_diags(stderr, diags, &(struct given_print){0});
		buf_puts(problem, "nothing could be looked at");
	}
	options_fini(&options);
	diag_list_free(diags);
	return answer;
}

static json_t *ask_daemon(const struct args *args, const char *resource,
	const struct why_question *question, struct buf *problem)
{
	AUTO_FREE char *node = question->node ? json_dumps(question->node, JSON_COMPACT) : NULL;
	struct buf path = BUF_INIT;
	json_t *answer;

	buf_puts(&path, "/why");
	daemon_ask_argument(&path, "resource", slice_of(resource));
	if (question->group)
		daemon_ask_argument(&path, "group", slice_of(question->group));
	if (node)
		daemon_ask_argument(&path, "node", slice_of(node));
	answer = daemon_ask(args, buf_cstr(&path), problem);
	buf_fini(&path);
	return answer;
}

/* The group that the daemon has a connected client of this id in; "" when it knows none. */
static char *group_of_client(const struct args *args, const char *id)
{
	struct buf problem = BUF_INIT;
	json_t *status = daemon_ask(args, "/status", &problem), *client;
	char *group = NULL;
	size_t i;

	json_array_foreach(json_object_get(status, "clients"), i, client)
	{
		if (strcmp(text_of(client, "node"), id) != 0 || group)
			continue;
		group = xstrdup(text_of(client, "group"));
		printf("node %s of cluster %s at %s is connected over %s and in group %s\n\n", id,
			text_of(client, "cluster"), text_of(client, "address"),
			text_of(client, "transport"), group);
	}
	json_decref(status);
	buf_fini(&problem);
	return group;
}

static int show(const struct args *args, json_t *answer, struct buf *problem, bool is_daemon)
{
	bool exists = is_set(answer, "exists");

	if (!answer) {
		fprintf(stderr, "xdspub why: %s\n", buf_cstr(problem));
		return is_daemon ? EXIT_UNREACHABLE : EXIT_FINDINGS;
	}
	if (args_has(args, "json"))
		given_print_json(json_incref(answer));
	else
		print_people(answer);
	return exists ? EXIT_FINE : EXIT_FINDINGS;
}

static int refuse(const char *problem)
{
	fprintf(stderr, "xdspub why: %s\nTry: xdspub why --help\n", problem);
	return EXIT_USAGE;
}

static int run(const struct args *args)
{
	const char *resource = args->operands[args->operands_count - 1];
	const char *tree = args->operands_count > 1 ? args->operands[0] : NULL;
	const char *node = args_get(args, "node");
	struct why_question question = {.group = args_get(args, "group")};
	AUTO_FREE char *problem = NULL, *group = NULL;
	struct buf text = BUF_INIT;
	json_t *given = NULL, *answer;
	int status;

	if (!why_parse(slice_of(resource), &question.type, &question.name, &problem))
		return refuse(problem);
	if (tree && (args_has(args, "admin") || args_has(args, "config")))
		return refuse("give a TREE, or ask a daemon with --admin or --config: not both");
	if (node && !tree && !question.group && !strchr(node, ':') && !args_has(args, "json"))
		question.group = group = group_of_client(args, node);
	if (node && !group && node_given(node, &given, &text) < 0) {
		status = refuse(buf_cstr(&text));
	} else {
		question.node = given;
		answer = tree ? ask_tree(args, tree, &question, &text)
			      : ask_daemon(args, resource, &question, &text);
		status = show(args, answer, &text, !tree);
		json_decref(answer);
	}
	json_decref(given);
	buf_fini(&text);
	return status;
}

static const struct args_option why_options[] = {
	{"group", 'g', "GROUP", false, "only in this group (default: in all of them)"},
	{"node", 'n', "NODE", false,
		"in the group of this node, and why it is its group: YAML in\n"
		"the shape of Envoy's Node, or just an id"},
	{"admin", 'a', "ADDR", false,
		"ask a daemon at its admin listener (default without a TREE:\n"
		"the configuration's, else " DAEMON_ASK_ADMIN ")"},
	{"config", 'c', "FILE", false, "take the address from here"},
	{"json", 'j', NULL, false, "print JSON"},
	{0},
};

const struct command command_why = {
	.name = "why",
	.synopsis = "[TREE] TYPE/NAME [OPTION]...",
	.summary = "Show which layer, file and line a resource comes from, and why",
	.details = "TYPE is CDS, clusters or Cluster; NAME is the resource's. Without a TREE a\n"
		   "running daemon is asked, which also says where clients have something else.\n"
		   "  xdspub why tree CDS/api --node '{cluster: edge, metadata: {env: prod}}'\n"
		   "Exit status 1 when no group that is asked about has it.",
	.options = why_options,
	.settings = OPTIONS_SCHEMA,
	.operands_min = 1,
	.operands_max = 2,
	.run = run,
};
