/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

struct progress {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	bool is_over;
	const char *doing, *what;
};

static void *show(void *argument)
{
	struct progress *progress = argument;
	struct timespec next;
	unsigned seconds = 0;

	clock_gettime(CLOCK_MONOTONIC, &next);
	pthread_mutex_lock(&progress->mutex);
	while (!progress->is_over) {
		next.tv_sec++;
		while (!progress->is_over &&
			pthread_cond_timedwait(&progress->wake, &progress->mutex, &next) == 0)
			;
		if (!progress->is_over)
			fprintf(stderr, "\r\033[K%s %s, %u s", progress->doing, progress->what,
				++seconds);
	}
	if (seconds)
		fputs("\r\033[K", stderr);
	pthread_mutex_unlock(&progress->mutex);
	return NULL;
}

struct progress *progress_start(const char *doing, const char *what)
{
	const char *terminal = getenv("TERM");
	pthread_condattr_t attributes;
	struct progress *progress;

	if (!isatty(STDERR_FILENO) || (terminal && strcmp(terminal, "dumb") == 0))
		return NULL;
	progress = xcalloc(1, sizeof(*progress));
	progress->doing = doing;
	progress->what = what;
	pthread_mutex_init(&progress->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&progress->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pthread_create(&progress->thread, NULL, show, progress) == 0)
		return progress;
	pthread_cond_destroy(&progress->wake);
	pthread_mutex_destroy(&progress->mutex);
	free(progress);
	return NULL;
}

void progress_stop(struct progress *progress)
{
	if (!progress)
		return;
	pthread_mutex_lock(&progress->mutex);
	progress->is_over = true;
	pthread_cond_signal(&progress->wake);
	pthread_mutex_unlock(&progress->mutex);
	pthread_join(progress->thread, NULL);
	pthread_cond_destroy(&progress->wake);
	pthread_mutex_destroy(&progress->mutex);
	free(progress);
}
