/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/probe.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

/* The last one to let go frees it: the owner, or a thread that was stuck. */
struct probe {
	char *path;
	pthread_mutex_t mutex;
	pthread_cond_t done;
	bool is_running, is_abandoned;
};

static void destroy(struct probe *probe)
{
	pthread_cond_destroy(&probe->done);
	pthread_mutex_destroy(&probe->mutex);
	free(probe->path);
	free(probe);
}

struct probe *probe_new(const char *path)
{
	struct probe *probe = xcalloc(1, sizeof(*probe));
	pthread_condattr_t attributes;

	probe->path = xstrdup(path);
	pthread_mutex_init(&probe->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&probe->done, &attributes);
	pthread_condattr_destroy(&attributes);
	return probe;
}

void probe_free(struct probe *probe)
{
	bool is_running;

	if (!probe)
		return;
	pthread_mutex_lock(&probe->mutex);
	is_running = probe->is_running;
	probe->is_abandoned = true;
	pthread_mutex_unlock(&probe->mutex);
	if (!is_running)
		destroy(probe);
}

static void *look(void *argument)
{
	struct probe *probe = argument;
	DIR *folder = opendir(probe->path);
	bool is_abandoned;

	/* One name: the folder itself may be remembered where its content is not. */
	if (folder) {
		(void)readdir(folder);
		closedir(folder);
	}
	pthread_mutex_lock(&probe->mutex);
	probe->is_running = false;
	is_abandoned = probe->is_abandoned;
	pthread_cond_signal(&probe->done);
	pthread_mutex_unlock(&probe->mutex);
	if (is_abandoned)
		destroy(probe);
	return NULL;
}

static int start(struct probe *probe)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all, before;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 256 * 1024);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attributes, look, probe);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -error;
}

int probe_ask(struct probe *probe, int64_t patience_ms)
{
	int64_t until_ms = clock_monotonic_ms() + patience_ms;
	struct timespec deadline = {
		.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
	int error = 0;

	pthread_mutex_lock(&probe->mutex);
	if (probe->is_running) {
		pthread_mutex_unlock(&probe->mutex);
		return -ETIMEDOUT;
	}
	probe->is_running = true;
	error = start(probe);
	if (error)
		probe->is_running = false;
	while (probe->is_running && error == 0)
		error = -pthread_cond_timedwait(&probe->done, &probe->mutex, &deadline);
	if (!probe->is_running && error == -ETIMEDOUT)
		error = 0;
	pthread_mutex_unlock(&probe->mutex);
	return error;
}
