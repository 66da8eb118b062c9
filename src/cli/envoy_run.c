/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/envoy_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define CPU_SECONDS 120

/* In the child: only calls that are allowed between fork and exec. */
static void become_envoy(const struct envoy_run *run, int output, int failure)
{
	const char *const arguments[] = {run->program, "--mode", "validate", "-c", run->config,
		"--log-level", "error", "--log-format", "[%l] %v", "--disable-hot-restart", NULL};
	struct rlimit none = {0, 0}, cpu = {CPU_SECONDS, CPU_SECONDS};
	int input = open("/dev/null", O_RDONLY), error;

	setpgid(0, 0);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &cpu);
	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	execvp(run->program, (char *const *)arguments);
	error = errno;
	if (write(failure, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* Reads until the other end is closed by all, or the time is over. */
static int collect(int fd, int64_t deadline, struct buf *out)
{
	char piece[4096];

	for (;;) {
		struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
		int64_t left = deadline - clock_monotonic_ms();
		ssize_t length;

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(&poll_fd, 1, left > 1000 ? 1000 : (int)left) < 0 && errno != EINTR)
			return -errno;
		if (!poll_fd.revents)
			continue;
		length = read(fd, piece, sizeof(piece));
		if (length < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (length == 0)
			return 0;
		/* What is beyond the limit is read and dropped, so that the child can end. */
		if (length > 0 && out->length + (size_t)length <= ENVOY_RUN_OUTPUT)
			buf_append(out, piece, (size_t)length);
	}
}

static int wait_for(pid_t child, int *ret_status)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}

int envoy_run_validate(const struct envoy_run *run, int *ret_status, struct buf *out)
{
	int output[2], failure[2], error, exec_error = 0, waited;
	int64_t deadline = clock_monotonic_ms() + run->timeout_ms;
	pid_t child;

	if (pipe2(output, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(failure, O_CLOEXEC) < 0) {
		error = -errno;
		close(output[0]);
		close(output[1]);
		return error;
	}
	child = fork();
	if (child == 0)
		become_envoy(run, output[1], failure[1]);
	error = child < 0 ? -errno : 0;
	close(output[1]);
	close(failure[1]);
	if (!error) {
		if (read(failure[0], &exec_error, sizeof(exec_error)) != sizeof(exec_error))
			exec_error = 0;
		error = collect(output[0], deadline, out);
		if (error) {
			kill(-child, SIGKILL);
			kill(child, SIGKILL);
		}
		waited = wait_for(child, ret_status);
		error = error ? error : waited;
	}
	close(output[0]);
	close(failure[0]);
	return error ? error : -exec_error;
}
