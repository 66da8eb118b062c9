/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/questions.h"

#include <stdlib.h>

#include "base/mem.h"
#include "compile/why.h"

/* Health checks wait as long as the thread does. */
#define PATIENCE_MS 1000

struct asked {
	struct why_question question;
	bool is_about_layers;
	json_t *answer;
};

static void on_turn(void *ctx, const struct compiler *compiler)
{
	struct asked *asked = ctx;

	asked->answer = asked->is_about_layers ? why_layers(compiler)
					       : why_answer(compiler, &asked->question);
}

static json_t *error_of(const char *message)
{
	return json_pack("{s:{s:s}}", "error", "message", message);
}

static unsigned ask(struct worker *worker, struct asked *asked, json_t **ret_document)
{
	if (worker && worker_ask(worker, on_turn, asked, PATIENCE_MS)) {
		*ret_document = asked->answer;
		return 200;
	}
	*ret_document = error_of("a build is going on; try again");
	return 503;
}

static unsigned ask_why(struct worker *worker, struct store *store,
	const struct admin_question *question, json_t **ret_document)
{
	struct asked asked = {.question = {.group = question->group, .store = store}};
	AUTO_FREE char *problem = NULL;
	json_t *node = NULL;
	unsigned status = 400;

	if (question->node)
		node = json_loads(question->node, 0, NULL);
	asked.question.node = node;
	if (question->node && !json_is_object(node))
		*ret_document = error_of("node is not a JSON object");
	else if (!why_parse(slice_of(question->resource ? question->resource : ""),
			 &asked.question.type, &asked.question.name, &problem))
		*ret_document = error_of(problem);
	else
		status = ask(worker, &asked, ret_document);
	json_decref(node);
	return status;
}

unsigned questions_answer(struct worker *worker, struct store *store,
	const struct admin_question *question, json_t **ret_document)
{
	struct asked asked = {.is_about_layers = true};

	if (strcmp(question->about, "layers") == 0)
		return ask(worker, &asked, ret_document);
	return ask_why(worker, store, question, ret_document);
}
