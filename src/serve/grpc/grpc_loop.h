/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread with one epoll: its connections, their deadlines, and jobs from other threads.
 * Threads: the loop's, but for what says otherwise.
 */
#ifndef XDSPUB_SERVE_GRPC_GRPC_LOOP_H
#define XDSPUB_SERVE_GRPC_GRPC_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct grpc_loop;
struct grpc_dispatch;

struct grpc_dispatch *grpc_loop_dispatch(const struct grpc_loop *loop);
int64_t grpc_loop_now_ms(const struct grpc_loop *loop); /* CLOCK_MONOTONIC, of this turn */
/* How many loops the server has; the function is posted to each of them, this one too, with its
 * dispatch, in no order, without waiting. For CSDS: gather, then post back. Any loop's thread. */
size_t grpc_loop_count(const struct grpc_loop *loop);
void grpc_loop_post_each(struct grpc_loop *loop,
	void (*function)(struct grpc_dispatch *dispatch, void *arg), void *arg);
/* Runs the function on this loop's thread, later; on another one, but before any dispatch is freed,
 * when the server stops meanwhile: a job is never lost. Any thread while the server runs. */
void grpc_loop_post(struct grpc_loop *loop,
	void (*function)(struct grpc_dispatch *dispatch, void *arg), void *arg);

#endif
