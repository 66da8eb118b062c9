/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many xDS clients in one thread: they connect, subscribe as Envoy does (clusters, then their
 * load assignments by name, then listeners), acknowledge everything and stay. Beside any server;
 * as cheap as it gets, so that the server's work is what is seen.
 *
 * usage: bench_grpc_load PORT [--delta] [--connections N] [--streams N] [--types cds,eds,lds]
 *                        [--names FILE] [--parallel N] [--extensions N]
 *
 * --streams: on each connection. --names: of the load assignments, one a line. --parallel: how many
 * streams are being set up at a time. --extensions: entries in the node's list of extensions.
 * Prints {"event":"settled",…} when everyone has everything. Commands on stdin, a line each:
 *   change TYPE MARKER   prints "armed"; then "changed" when every stream got a response of the
 *                        type with the marker in it
 *   resume               connects everyone again; delta clients bring the versions they have
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "bench_grpc_scan.h"

#define STREAM_WINDOW	  (16 << 20)
#define CONNECTION_WINDOW (24 << 20)
#define ORDERS		  61  /* in which clients name the load assignments */
#define QUIET_MS	  500 /* nothing for so long: a server has no more to say */

struct stream {
	struct connection *connection;
	int32_t id;
	uint32_t number;
	uint8_t step; /* index in load.types of the type that it waits for; the count: settled */
	bool is_changed;
	uint32_t resources; /* of that type so far */
	struct buf out;	    /* requests that are not sent yet */
	size_t out_at;
	struct bench_scan scan;
};

struct connection {
	struct load *load;
	nghttp2_session *session;
	int fd;
	bool is_waiting; /* for EPOLLOUT */
	struct buf out;
	size_t out_at;
	char status[128]; /* what the server says when it ends a stream */
	struct stream *streams;
};

struct load {
	/* options */
	uint16_t port;
	bool is_delta;
	uint32_t connections_count, streams_count, parallel;
	unsigned extensions;
	enum bench_type types[BENCH_TYPE_COUNT];
	unsigned types_count;
	/* requests, encoded once */
	struct buf node;
	struct buf names[ORDERS];
	size_t names_count;
	struct buf bodies[BENCH_TYPE_COUNT];   /* what stream 0 was sent first */
	struct buf versions[BENCH_TYPE_COUNT]; /* initial_resource_versions, after that */
	bool is_resumed;
	/* state */
	int epoll;
	nghttp2_session_callbacks *callbacks;
	struct connection *connections;
	uint32_t opened, settled, changed, active;
	bool is_counting; /* of changed ones */
	enum bench_type changing;
	struct slice marker;
	char marker_text[64];
	struct buf commands;
	/* counters, since the last event */
	int64_t began_us, last_us;
	uint64_t bytes, sent, messages, resources, resource_bytes;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint32_t streams_total(const struct load *load)
{
	return load->connections_count * load->streams_count;
}

/* ---- what drives it reads these ---- */

static void report(struct load *load, const char *event)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("{\"event\":\"%s\",\"at_us\":%lld,\"ms\":%.1f,\"bytes\":%llu,\"sent\":%llu,"
	       "\"messages\":%llu,\"resources\":%llu,\"resource_bytes\":%llu,\"own_cpu\":%.3f}\n",
		event, (long long)load->last_us, (double)(load->last_us - load->began_us) / 1000,
		(unsigned long long)load->bytes, (unsigned long long)load->sent,
		(unsigned long long)load->messages, (unsigned long long)load->resources,
		(unsigned long long)load->resource_bytes,
		(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	fflush(stdout);
}

static void count_anew(struct load *load)
{
	load->began_us = load->last_us = clock_monotonic_us();
	load->bytes = load->sent = load->messages = load->resources = load->resource_bytes = 0;
}

/* ---- requests ---- */

enum request_field {
	FIELD_NODE = 1,
	SOTW_VERSION = 1,
	SOTW_NODE = 2,
	SOTW_NAMES = 3,
	SOTW_TYPE_URL = 4,
	SOTW_NONCE = 5,
	DELTA_TYPE_URL = 2,
	DELTA_SUBSCRIBE = 3,
	DELTA_VERSIONS = 5,
	DELTA_NONCE = 6
};

/* All streams of a connection are one client's. */
static void put_node(struct load *load, uint32_t number, struct buf *out)
{
	struct buf node = BUF_INIT;
	char id[32];

	snprintf(id, sizeof(id), "envoy-%05u", number);
	bench_put_field(&node, 1, slice_of(id));
	buf_append_slice(&node, buf_slice(&load->node));
	bench_put_field(out, load->is_delta ? FIELD_NODE : SOTW_NODE, buf_slice(&node));
	buf_fini(&node);
}

static void put_frame(struct stream *stream, const struct buf *request)
{
	uint32_t length = (uint32_t)request->length;
	uint8_t prefix[5] = {0, (uint8_t)(length >> 24), (uint8_t)(length >> 16),
		(uint8_t)(length >> 8), (uint8_t)length};

	buf_append(&stream->out, prefix, sizeof(prefix));
	buf_append_slice(&stream->out, buf_slice(request));
	if (stream->id >= 0)
		nghttp2_session_resume_data(stream->connection->session, stream->id);
}

/* Also the acknowledgement, when there is a response. */
static void ask(struct stream *stream, enum bench_type type, const struct bench_scan *response)
{
	struct load *load = stream->connection->load;
	struct buf request = BUF_INIT;
	const struct buf *names = &load->names[stream->number % ORDERS];
	bool is_first = stream->id < 0 && !stream->out.length;

	if (is_first)
		put_node(load, stream->number / load->streams_count, &request);
	bench_put_field(&request, load->is_delta ? DELTA_TYPE_URL : SOTW_TYPE_URL,
		slice_of(bench_type_urls[type]));
	if (type == BENCH_EDS && (!load->is_delta || !response))
		buf_append_slice(&request, buf_slice(names));
	if (response) {
		bench_put_field(&request, load->is_delta ? DELTA_NONCE : SOTW_NONCE,
			(struct slice){response->nonce.text, response->nonce.length});
		if (!load->is_delta)
			bench_put_field(&request, SOTW_VERSION,
				(struct slice){response->version.text, response->version.length});
	} else if (load->is_resumed) {
		buf_append_slice(&request, buf_slice(&load->versions[type]));
	}
	put_frame(stream, &request);
	buf_fini(&request);
}

/* ---- responses ---- */

static void open_more(struct load *load);

static void settle(struct stream *stream)
{
	struct load *load = stream->connection->load;

	load->settled++;
	load->active--;
	load->last_us = clock_monotonic_us();
}

static void on_message(struct stream *stream)
{
	struct load *load = stream->connection->load;
	const struct bench_scan *scan = &stream->scan;
	enum bench_type type = bench_scan_type(scan);

	load->messages++;
	load->resources += scan->resources;
	load->resource_bytes += scan->resource_bytes;
	ask(stream, type, scan);
	if (load->is_counting && type == load->changing && scan->is_marked && !stream->is_changed) {
		stream->is_changed = true;
		load->changed++;
		load->last_us = clock_monotonic_us();
	}
	if (stream->step == load->types_count || type != load->types[stream->step])
		return;
	stream->resources += scan->resources;
	if (type == BENCH_EDS && !load->is_resumed && stream->resources < load->names_count)
		return;
	stream->resources = 0;
	stream->step++;
	if (stream->step == load->types_count)
		settle(stream);
	else if (!load->is_resumed)
		ask(stream, load->types[stream->step], NULL);
}

static struct buf *bodies_of(struct stream *stream)
{
	struct load *load = stream->connection->load;

	if (!load->is_delta || load->is_resumed || stream->number ||
		stream->step == load->types_count)
		return NULL;
	return &load->bodies[load->types[stream->step]];
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
	size_t length, void *arg)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(session, id);
	struct load *load = ((struct connection *)arg)->load;
	struct slice marker = load->is_counting ? load->marker : SLICE("");
	bool is_complete;

	(void)flags;
	while (length) {
		size_t took = bench_scan_feed(
			&stream->scan, data, length, marker, bodies_of(stream), &is_complete);

		data += took;
		length -= took;
		if (is_complete)
			on_message(stream);
	}
	return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
	size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags, void *arg)
{
	struct connection *connection = arg;
	size_t used = strlen(connection->status);

	(void)session;
	(void)frame;
	(void)flags;
	if (name_length > 5 && memcmp(name, "grpc-", 5) == 0)
		snprintf(connection->status + used, sizeof(connection->status) - used, " %.*s=%.*s",
			(int)name_length, name, (int)value_length, value);
	return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error_code, void *arg)
{
	(void)session;
	(void)id;
	fprintf(stderr, "a stream was ended, HTTP/2 error %u%s\n", error_code,
		((struct connection *)arg)->status);
	exit(1);
}

/* ---- connections ---- */

static ssize_t on_read(nghttp2_session *session, int32_t id, uint8_t *out, size_t length,
	uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct stream *stream = source->ptr;
	size_t left = stream->out.length - stream->out_at;

	(void)session;
	(void)id;
	(void)flags;
	(void)arg;
	if (!left)
		return NGHTTP2_ERR_DEFERRED;
	length = left < length ? left : length;
	memcpy(out, stream->out.data + stream->out_at, length);
	stream->out_at += length;
	if (stream->out_at == stream->out.length) {
		buf_fini(&stream->out);
		stream->out = BUF_INIT;
		stream->out_at = 0;
	}
	return (ssize_t)length;
}

#define HEADER(name, value)                                                                        \
	{                                                                                          \
		(uint8_t *)(uintptr_t)(name), (uint8_t *)(uintptr_t)(value), sizeof(name) - 1,     \
			sizeof(value) - 1, NGHTTP2_NV_FLAG_NONE                                    \
	}
#define SERVICE "/envoy.service.discovery.v3.AggregatedDiscoveryService/"

static void stream_open(struct stream *stream)
{
	static const nghttp2_nv sotw[] = {HEADER(":method", "POST"), HEADER(":scheme", "http"),
		HEADER(":path", SERVICE "StreamAggregatedResources"),
		HEADER(":authority", "127.0.0.1"), HEADER("content-type", "application/grpc"),
		HEADER("te", "trailers")};
	static const nghttp2_nv delta[] = {HEADER(":method", "POST"), HEADER(":scheme", "http"),
		HEADER(":path", SERVICE "DeltaAggregatedResources"),
		HEADER(":authority", "127.0.0.1"), HEADER("content-type", "application/grpc"),
		HEADER("te", "trailers")};
	struct load *load = stream->connection->load;
	nghttp2_data_provider provider = {.source.ptr = stream, .read_callback = on_read};

	stream->id = -1;
	for (unsigned i = 0; i < (load->is_resumed ? load->types_count : 1); i++)
		ask(stream, load->types[i], NULL);
	stream->id = nghttp2_submit_request(stream->connection->session, NULL,
		load->is_delta ? delta : sotw, 6, &provider, stream);
	if (stream->id < 0)
		die("nghttp2_submit_request");
	load->active++;
}

static void watch(struct connection *connection, int operation)
{
	struct epoll_event event = {.data.ptr = connection,
		.events = EPOLLIN | (connection->is_waiting ? EPOLLOUT : 0)};

	if (epoll_ctl(connection->load->epoll, operation, connection->fd, &event) < 0)
		die("epoll_ctl");
}

static void connection_write(struct connection *connection)
{
	bool was_waiting = connection->is_waiting;
	const uint8_t *data;
	ssize_t got;

	for (;;) {
		while (connection->out.length < 65536 &&
			(got = nghttp2_session_mem_send(connection->session, &data)) > 0)
			buf_append(&connection->out, data, (size_t)got);
		if (!connection->out.length)
			break;
		got = write(connection->fd, connection->out.data + connection->out_at,
			connection->out.length - connection->out_at);
		if (got < 0 && errno == EAGAIN)
			break;
		if (got <= 0)
			die("write");
		connection->load->sent += (uint64_t)got;
		connection->out_at += (size_t)got;
		if (connection->out_at < connection->out.length)
			break;
		connection->out_at = 0;
		buf_reset(&connection->out);
	}
	connection->is_waiting = connection->out.length > 0;
	if (!connection->is_waiting) {
		buf_fini(&connection->out);
		connection->out = BUF_INIT;
	}
	if (was_waiting != connection->is_waiting)
		watch(connection, EPOLL_CTL_MOD);
}

static void connection_read(struct connection *connection)
{
	static uint8_t data[1 << 18];
	ssize_t got = read(connection->fd, data, sizeof(data));

	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0) {
		fprintf(stderr, "the server closed a connection\n");
		exit(1);
	}
	connection->load->bytes += (uint64_t)got;
	if (nghttp2_session_mem_recv(connection->session, data, (size_t)got) != got)
		die("nghttp2_session_mem_recv");
}

static void connection_open(struct load *load, uint32_t number)
{
	struct connection *connection = &load->connections[number];
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons(load->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
	};
	int on = 1;

	connection->load = load;
	connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connection->fd < 0 ||
		connect(connection->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		die("connect");
	setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	fcntl(connection->fd, F_SETFL, O_NONBLOCK);
	if (nghttp2_session_client_new(&connection->session, load->callbacks, connection))
		die("nghttp2_session_client_new");
	nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings, 2);
	nghttp2_session_set_local_window_size(
		connection->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW);
	if (!connection->streams)
		connection->streams = xcalloc(load->streams_count, sizeof(*connection->streams));
	for (uint32_t i = 0; i < load->streams_count; i++) {
		struct stream *stream = &connection->streams[i];

		*stream = (struct stream){
			.connection = connection, .number = number * load->streams_count + i};
		stream_open(stream);
	}
	watch(connection, EPOLL_CTL_ADD);
	connection_write(connection);
}

static void connection_close(struct connection *connection)
{
	struct linger linger = {.l_onoff = 1};

	/* A reset: thousands of sockets in TIME_WAIT would use up the ports. */
	setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(connection->fd);
	nghttp2_session_del(connection->session);
	for (uint32_t i = 0; i < connection->load->streams_count; i++)
		buf_fini(&connection->streams[i].out);
	buf_fini(&connection->out);
	connection->out = BUF_INIT;
	connection->out_at = 0;
	connection->is_waiting = false;
}

static void open_more(struct load *load)
{
	while (load->opened < load->connections_count && load->active < load->parallel)
		connection_open(load, load->opened++);
}

/* ---- commands ---- */

/* From the resources that stream 0 was sent: name to version. */
static void take_versions(struct load *load)
{
	for (int type = 0; type < BENCH_TYPE_COUNT; type++) {
		struct slice rest = buf_slice(&load->bodies[type]);
		struct buf pair = BUF_INIT, wrapped = BUF_INIT;
		struct slice resource, value;
		unsigned number;

		/* Each resource as a field of its own, so that one reader does for both. */
		while (rest.length) {
			size_t length = 0;
			unsigned shift = 0;

			for (uint8_t byte = 128; byte & 128; shift += 7) {
				byte = (uint8_t)*rest.data++;
				rest.length--;
				length |= (size_t)(byte & 127) << shift;
			}
			resource = (struct slice){rest.data, length};
			rest.data += length;
			rest.length -= length;
			buf_reset(&pair);
			while (bench_next_field(&resource, &number, &value))
				if (number == 1 || number == 3) /* version, name */
					bench_put_field(&pair, number == 3 ? 1 : 2, value);
			bench_put_field(&wrapped, DELTA_VERSIONS, buf_slice(&pair));
		}
		buf_fini(&pair);
		buf_fini(&load->versions[type]);
		load->versions[type] = wrapped;
	}
}

static void command_resume(struct load *load)
{
	for (uint32_t i = 0; i < load->connections_count; i++)
		connection_close(&load->connections[i]);
	take_versions(load);
	load->is_resumed = load->is_delta;
	load->opened = load->settled = load->active = 0;
	count_anew(load);
	open_more(load);
}

static void command(struct load *load, char *line)
{
	static const char *const names[] = {"cds", "eds", "lds"};
	char type[4], marker[sizeof(load->marker_text)];

	if (strcmp(line, "resume") == 0) {
		command_resume(load);
	} else if (sscanf(line, "change %3s %63s", type, marker) == 2) {
		for (int i = 0; i < BENCH_TYPE_COUNT; i++)
			if (strcmp(type, names[i]) == 0)
				load->changing = (enum bench_type)i;
		snprintf(load->marker_text, sizeof(load->marker_text), "%s", marker);
		load->marker = slice_of(load->marker_text);
		load->changed = 0;
		for (uint32_t i = 0; i < streams_total(load); i++)
			load->connections[i / load->streams_count]
				.streams[i % load->streams_count]
				.is_changed = false;
		load->is_counting = true;
		count_anew(load);
		report(load, "armed");
	} else {
		fprintf(stderr, "unknown command: %s\n", line);
		exit(1);
	}
}

static void read_commands(struct load *load)
{
	char data[256], *end;
	ssize_t got = read(STDIN_FILENO, data, sizeof(data));

	if (got <= 0)
		exit(0);
	buf_append(&load->commands, data, (size_t)got);
	while ((end = memchr(load->commands.data, '\n', load->commands.length))) {
		size_t length = (size_t)(end - load->commands.data) + 1;

		*end = '\0';
		command(load, load->commands.data);
		memmove(load->commands.data, end + 1, load->commands.length - length);
		load->commands.length -= length;
	}
}

/* ---- running ---- */

static void run(struct load *load)
{
	struct epoll_event events[256];
	bool is_settled = false;

	count_anew(load);
	open_more(load);
	for (;;) {
		int got = epoll_wait(load->epoll, events, 256, is_settled ? -1 : QUIET_MS);

		if (got < 0 && errno != EINTR)
			die("epoll_wait");
		for (int i = 0; i < got; i++) {
			struct connection *connection = events[i].data.ptr;

			if (!connection) {
				read_commands(load);
				is_settled = is_settled && load->settled == streams_total(load);
				break; /* the other events may be of connections that are gone */
			}
			if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
				connection_read(connection);
			connection_write(connection);
		}
		/* A server may say nothing to clients that have everything. */
		if (got == 0 && load->is_resumed && load->active)
			load->settled += load->active, load->active = 0;
		open_more(load);
		if (!is_settled && load->settled == streams_total(load)) {
			is_settled = true;
			report(load, "settled");
			count_anew(load);
		}
		if (load->is_counting && load->changed == streams_total(load)) {
			load->is_counting = false;
			report(load, "changed");
		}
	}
}

static void read_names(struct load *load, const char *path)
{
	unsigned order = load->is_delta ? DELTA_SUBSCRIBE : SOTW_NAMES;
	FILE *file = fopen(path, "re");
	char line[256];
	char **names = NULL;
	size_t capacity = 0;

	if (!file)
		die(path);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		array_reserve(names, capacity, load->names_count + 1);
		names[load->names_count++] = xstrdup(line);
	}
	fclose(file);
	/* Hash tables give every client an order of its own. */
	for (int i = 0; i < ORDERS; i++) {
		for (size_t n = 0; n < load->names_count; n++)
			bench_put_field(&load->names[i], order, slice_of(names[n]));
		for (size_t n = load->names_count; n-- > 1;) {
			size_t other = (size_t)random() % (n + 1);
			char *name = names[n];

			names[n] = names[other];
			names[other] = name;
		}
	}
	for (size_t n = 0; n < load->names_count; n++)
		free(names[n]);
	free(names);
}

/* What Envoy says of itself, but for the id. */
static void make_node(struct load *load)
{
	struct buf part = BUF_INIT, inner = BUF_INIT;
	char text[128];

	bench_put_field(&load->node, 2, SLICE("bench"));
	bench_put_field(&part, 1, SLICE("eu-west-1"));
	bench_put_field(&part, 2, SLICE("eu-west-1a"));
	bench_put_field(&load->node, 4, buf_slice(&part)); /* locality */
	bench_put_field(&load->node, 6, SLICE("envoy"));
	for (unsigned i = 0; i < load->extensions; i++) {
		buf_reset(&part);
		snprintf(text, sizeof(text), "envoy.filters.http.number_%u", i);
		bench_put_field(&part, 1, slice_of(text));
		bench_put_field(&part, 2, SLICE("envoy.filters.http"));
		snprintf(
			text, sizeof(text), "envoy.extensions.filters.http.number_%u.v3.Number", i);
		bench_put_field(&part, 6, slice_of(text));
		bench_put_field(&load->node, 9, buf_slice(&part));
	}
	bench_put_field(&load->node, 10, SLICE("envoy.lb.does_not_support_overprovisioning"));
	bench_put_field(&load->node, 10, SLICE("envoy.lrs.supports_send_all_clusters"));
	buf_fini(&part);
	buf_fini(&inner);
}

static void read_types(struct load *load, const char *text)
{
	load->types_count = 0;
	for (const char *at = text; at && load->types_count < BENCH_TYPE_COUNT;
		at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		load->types[load->types_count++] = *at == 'c'	? BENCH_CDS
						   : *at == 'e' ? BENCH_EDS
								: BENCH_LDS;
}

static void read_options(struct load *load, int argc, char **argv)
{
	static const struct option options[] = {{"delta", no_argument, NULL, 'd'},
		{"connections", required_argument, NULL, 'c'},
		{"streams", required_argument, NULL, 's'}, {"types", required_argument, NULL, 't'},
		{"names", required_argument, NULL, 'n'}, {"parallel", required_argument, NULL, 'p'},
		{"extensions", required_argument, NULL, 'e'}, {0}};
	const char *names = NULL;

	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
		switch (option) {
		case 'd':
			load->is_delta = true;
			break;
		case 'c':
			load->connections_count = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 's':
			load->streams_count = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 't':
			read_types(load, optarg);
			break;
		case 'n':
			names = optarg;
			break;
		case 'p':
			load->parallel = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'e':
			load->extensions = (unsigned)strtoul(optarg, NULL, 10);
			break;
		default:
			exit(2);
		}
	if (optind + 1 != argc) {
		fprintf(stderr, "usage: bench_grpc_load PORT [OPTION]...\n");
		exit(2);
	}
	load->port = (uint16_t)strtoul(argv[optind], NULL, 10);
	if (names)
		read_names(load, names);
	make_node(load);
}

int main(int argc, char **argv)
{
	struct load load = {.connections_count = 1,
		.streams_count = 1,
		.parallel = 64,
		.types = {BENCH_CDS, BENCH_EDS, BENCH_LDS},
		.types_count = 3};
	struct epoll_event event = {.events = EPOLLIN};
	struct rlimit limit;

	signal(SIGPIPE, SIG_IGN);
	read_options(&load, argc, argv);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	load.connections = xcalloc(load.connections_count, sizeof(*load.connections));
	load.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (load.epoll < 0 || epoll_ctl(load.epoll, EPOLL_CTL_ADD, STDIN_FILENO, &event) < 0)
		die("epoll");
	nghttp2_session_callbacks_new(&load.callbacks);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(load.callbacks, on_data);
	nghttp2_session_callbacks_set_on_header_callback(load.callbacks, on_header);
	nghttp2_session_callbacks_set_on_stream_close_callback(load.callbacks, on_close);
	run(&load);
	return 0;
}
