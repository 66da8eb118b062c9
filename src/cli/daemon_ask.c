/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/daemon_ask.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "cli/given.h"
#include "cli/http_get.h"
#include "daemon/config.h"

#define BUSY	   503
#define BUSY_TRIES 10

/* An answer that is no 200: what it says. */
static void explain(struct slice body, int status, struct buf *problem)
{
	json_t *answer = json_loadb(body.data ? body.data : "", body.length, 0, NULL);
	const json_t *message = json_object_get(json_object_get(answer, "error"), "message");

	if (status == 404)
		buf_puts(problem, "the daemon does not know this question: is it an older one?");
	else if (message)
		buf_puts(problem, json_string_value(message));
	else
		buf_printf(problem, "the daemon answered with status %d", status);
	json_decref(answer);
}

static json_t *get(const char *address, const char *path, struct buf *problem)
{
	struct buf body = BUF_INIT;
	json_t *answer = NULL;
	int status = 0;

	for (int tries = 1; tries <= BUSY_TRIES; tries++) {
		const struct timespec pause = {.tv_nsec = 200000000};

		buf_reset(&body);
		if (http_get(address, path, &body, &status, problem) < 0) {
			buf_fini(&body);
			return NULL;
		}
		if (status != BUSY || tries == BUSY_TRIES)
			break;
		nanosleep(&pause, NULL);
	}
	if (status != 200)
		explain(buf_slice(&body), status, problem);
	else
		answer = json_loadb(body.data, body.length, 0, NULL);
	if (status == 200 && !answer)
		buf_puts(problem, "the daemon's answer is not JSON");
	buf_fini(&body);
	return answer;
}

json_t *daemon_ask(const struct args *args, const char *path, struct buf *problem)
{
	const char *config = args_get(args, "config"), *address = args_get(args, "admin");
	struct diag_list *diags = diag_list_new(0);
	struct options options;
	json_t *answer = NULL;
	int error = 0;

	options_init(&options);
	if (!address && (config || access(CONFIG_PATH, R_OK) == 0)) {
		error = config_read(config ? config : CONFIG_PATH, &options, diags);
		if (options.admin.count > 0)
			address = options.admin.items[0];
	}
	if (error) {
		given_print_diags(stderr, diags, &(struct given_print){0});
		buf_puts(problem, "the configuration has errors");
	} else {
		answer = get(address ? address : DAEMON_ASK_ADMIN, path, problem);
	}
	options_fini(&options);
	diag_list_free(diags);
	return answer;
}

void daemon_ask_argument(struct buf *path, const char *name, struct slice value)
{
	buf_printf(path, "%c%s=", memchr(path->data, '?', path->length) ? '&' : '?', name);
	for (size_t i = 0; i < value.length; i++) {
		unsigned char byte = (unsigned char)value.data[i];

		if ((byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
			(byte >= 'a' && byte <= 'z') || strchr("-_.", byte))
			buf_putc(path, (char)byte);
		else
			buf_printf(path, "%%%02X", byte);
	}
}
