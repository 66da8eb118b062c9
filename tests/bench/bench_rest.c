/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parked long polls: resident memory for each, and the time in which one change answers all of
 * them, beside a bare libmicrohttpd loop that sends the same bytes. Servers and client are
 * processes of their own. Argument: number of clients (default 10,000).
 */
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "serve/rest/rest_server.h"
#include "snapshot/store.h"

#define ROUNDS 7

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- what both servers understand: one byte on a pipe, one number back ---- */

enum command {
	COMMAND_CHANGE = 'c',
	COMMAND_RSS = 'r',
	COMMAND_CPU = 'u',
	COMMAND_PARKED = 'p',
	COMMAND_STOP = 's'
};

struct server {
	pid_t pid;
	int commands, answers; /* ends of pipes */
	int port;
};

static long long rss_kib(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long long kib = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Rss: %lld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

static long long cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (long long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
	       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static void answer(int fd, long long number)
{
	if (write(fd, &number, sizeof(number)) != sizeof(number))
		die("write");
}

static long long ask(const struct server *server, enum command command)
{
	char byte = (char)command;
	long long number;

	if (write(server->commands, &byte, 1) != 1 ||
		read(server->answers, &number, sizeof(number)) != sizeof(number))
		die("server");
	return number;
}

/* ---- ours ---- */

struct ours {
	struct store *store;
	struct rcstr *group;
	struct resource_set *set;
	struct rest_server *rest;
	size_t bytes;
	unsigned content;
	bool each; /* every client has a resource of its own */
	size_t clients;
};

static int encode(void *ctx, enum xds_type type, const struct version *version,
	struct resource *const *resources, size_t count, struct buf *out)
{
	(void)ctx;
	(void)type;
	buf_printf(out, "{\"version_info\":\"%s\",\"resources\":[", version->text);
	for (size_t i = 0; i < count; i++) {
		buf_puts(out, i ? ",\"" : "\"");
		buf_append_slice(out, resources[i]->body);
		buf_putc(out, '"');
	}
	buf_puts(out, "]}");
	return 0;
}

static void ours_publish(struct ours *ours)
{
	enum xds_type type = ours->each ? XDS_EDS : XDS_CDS;
	struct resource_set *sets[XDS_TYPE_COUNT];
	struct resource_set *old = ours->set;
	struct resource_set_builder *builder;
	struct snapshot *snapshot;
	char *body = xmalloc(ours->bytes);

	memset(body, 'a' + (int)(ours->content++ % 26), ours->bytes);
	builder = resource_set_edit(old);
	for (size_t i = 0; i < (ours->each ? ours->clients : 1); i++) {
		char name[32];
		struct resource_spec spec = {
			.type = type, .body = {body, ours->bytes}, .ttl_ms = -1};
		struct resource *resource;

		snprintf(name, sizeof(name), "cluster-%zu", i);
		spec.name = slice_of(name);
		resource = resource_new(&spec);
		resource_set_put(builder, resource);
		resource_unref(resource);
	}
	ours->set = resource_set_finish(builder);
	resource_set_unref(old);
	free(body);
	for (int i = 0; i < XDS_TYPE_COUNT; i++)
		sets[i] = i == (int)type ? resource_set_ref(ours->set) : resource_set_empty(i);
	snapshot = snapshot_new(ours->group, sets, false, NULL, 0);
	store_publish(ours->store, SLICE("default"), snapshot);
	snapshot_unref(snapshot);
}

static int ours_start(struct ours *ours)
{
	static struct log log;
	struct rest_options options = {
		.limits = LIMITS_DEFAULT, .encode = encode, .log = &log, .store = store_new()};
	const char *address = "127.0.0.1:0";
	struct selector_builder *builder = selector_begin();
	struct selector *selector;
	json_t *status;
	char *problem;
	const char *bound;
	int port;

	log_init(&log, STDERR_FILENO, LOG_LEVEL_ERROR);
	ours->store = options.store;
	ours->group = rcstr_new("default", 7);
	ours->set = resource_set_empty(ours->each ? XDS_EDS : XDS_CDS);
	selector_add(builder, "default", NULL);
	selector = selector_finish(builder);
	store_set_selector(ours->store, selector);
	selector_unref(selector);
	ours_publish(ours);
	if (rest_server_start(&options, &ours->rest) ||
		rest_server_listen(ours->rest, &address, 1, &problem))
		die("rest server");
	status = rest_server_status(ours->rest, 0);
	bound = json_string_value(
		json_object_get(json_array_get(json_object_get(status, "listeners"), 0), "bound"));
	port = atoi(strrchr(bound, ':') + 1);
	json_decref(status);
	return port;
}

static long long ours_parked(struct ours *ours)
{
	json_t *status = rest_server_status(ours->rest, 0);
	long long parked = json_integer_value(json_object_get(status, "parked"));

	json_decref(status);
	return parked;
}

static void ours_run(struct ours *ours, int commands, int answers)
{
	char command;

	answer(answers, ours_start(ours));
	while (read(commands, &command, 1) == 1 && command != COMMAND_STOP) {
		if (command == COMMAND_CHANGE)
			ours_publish(ours);
		answer(answers, command == COMMAND_RSS	    ? rss_kib()
				: command == COMMAND_PARKED ? ours_parked(ours)
							    : cpu_us());
	}
	rest_server_stop(ours->rest);
	resource_set_unref(ours->set);
	rcstr_unref(ours->group);
	store_free(ours->store);
}

/* ---- bare ---- */

struct bare {
	struct MHD_Daemon *daemon;
	struct MHD_Connection **parked;
	size_t parked_count;
	struct MHD_Response *response;
	char *body;
	size_t bytes;
	unsigned content;
};

/* Request contexts: nothing yet, first answer due, resumed. */
static char state_reading, state_parked;

static enum MHD_Result bare_on_access(void *cls, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *data, size_t *size, void **context)
{
	struct bare *bare = cls;

	(void)url;
	(void)method;
	(void)version;
	if (!*context) {
		*context = &state_reading;
		return MHD_YES;
	}
	if (*size) {
		/* The client asks for its first answer with a request that has no version. */
		if (!memmem(data, *size, "version_info", 12))
			*context = &state_parked;
		*size = 0;
		return MHD_YES;
	}
	if (*context == &state_reading) {
		*context = &state_parked;
		bare->parked[bare->parked_count++] = connection;
		MHD_suspend_connection(connection);
		return MHD_YES;
	}
	return MHD_queue_response(connection, 200, bare->response);
}

static void bare_publish(struct bare *bare)
{
	size_t count = bare->parked_count;

	if (bare->response)
		MHD_destroy_response(bare->response);
	memset(bare->body, 'a' + (int)(bare->content++ % 26), bare->bytes);
	bare->response =
		MHD_create_response_from_buffer(bare->bytes, bare->body, MHD_RESPMEM_PERSISTENT);
	MHD_add_response_header(bare->response, "Content-Type", "application/json");
	bare->parked_count = 0;
	for (size_t i = 0; i < count; i++)
		MHD_resume_connection(bare->parked[i]);
}

static int bare_listen(int *ret_fd)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, 4096) < 0 ||
		getsockname(fd, (struct sockaddr *)&address, &length) < 0)
		die("listen");
	*ret_fd = fd;
	return ntohs(address.sin_port);
}

static void bare_run(struct bare *bare, size_t clients, int commands, int answers)
{
	int fd, port = bare_listen(&fd);
	int epoll = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN}, got[2];
	char command = 0;

	bare->parked = xcalloc(clients, sizeof(struct MHD_Connection *));
	bare->body = xmalloc(bare->bytes);
	bare_publish(bare);
	bare->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME, 0,
		NULL, NULL, bare_on_access, bare, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)4096, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)clients + 16, MHD_OPTION_END);
	if (!bare->daemon)
		die("MHD_start_daemon");
	event.data.u32 = 0;
	epoll_ctl(epoll, EPOLL_CTL_ADD, commands, &event);
	event.data.u32 = 1;
	epoll_ctl(epoll, EPOLL_CTL_ADD,
		MHD_get_daemon_info(bare->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, &event);
	answer(answers, port);
	while (command != COMMAND_STOP) {
		MHD_UNSIGNED_LONG_LONG ms;
		int timeout = MHD_get_timeout(bare->daemon, &ms) == MHD_YES ? (int)ms : -1;
		int count = epoll_wait(epoll, got, 2, timeout);

		for (int i = 0; i < count; i++) {
			if (got[i].data.u32 || read(commands, &command, 1) != 1)
				continue;
			if (command == COMMAND_CHANGE)
				bare_publish(bare);
			if (command != COMMAND_STOP)
				answer(answers, command == COMMAND_RSS ? rss_kib()
						: command == COMMAND_PARKED
							? (long long)bare->parked_count
							: cpu_us());
		}
		MHD_run(bare->daemon);
	}
	/* It aborts with suspended connections; this process is over anyway. */
	_exit(0);
}

/* ---- the client ---- */

struct connection {
	int fd;
	uint32_t head; /* bytes of the head seen; UINT32_MAX: behind it */
	uint64_t left; /* bytes of body to come */
	char version[VERSION_TEXT_LENGTH + 1];
	char text[512];
};

struct client {
	struct connection *connections;
	size_t count;
	int epoll;
	bool each;
};

static void client_connect(struct client *client, int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	client->connections = xcalloc(client->count, sizeof(*client->connections));
	client->epoll = epoll_create1(0);
	for (size_t i = 0; i < client->count; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		struct epoll_event event = {.events = EPOLLIN, .data.ptr = &client->connections[i]};

		if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
			die("connect");
		fcntl(fd, F_SETFL, O_NONBLOCK);
		client->connections[i].fd = fd;
		epoll_ctl(client->epoll, EPOLL_CTL_ADD, fd, &event);
	}
}

static void client_close(struct client *client)
{
	for (size_t i = 0; i < client->count; i++)
		close(client->connections[i].fd);
	close(client->epoll);
	free(client->connections);
}

static void client_ask(struct client *client, size_t index)
{
	char body[512], request[1024], names[64] = "", version[64] = "";
	int length;

	client->connections[index].head = 0;
	if (client->each)
		snprintf(names, sizeof(names), ",\"resource_names\":[\"cluster-%zu\"]", index);
	if (client->connections[index].version[0])
		snprintf(version, sizeof(version), "\"version_info\":\"%s\",",
			client->connections[index].version);
	snprintf(body, sizeof(body), "{%s\"node\":{\"id\":\"node-%zu\",\"cluster\":\"edge\"}%s}",
		version, index, names);
	length = snprintf(request, sizeof(request),
		"POST /v3/discovery:%s HTTP/1.1\r\nhost: xds_cluster\r\n"
		"content-type: application/json\r\ncontent-length: %zu\r\n"
		"x-envoy-internal: true\r\nx-forwarded-for: 127.0.0.1\r\n"
		"x-envoy-expected-rq-timeout-ms: 600000\r\n\r\n%s",
		client->each ? "endpoints" : "clusters", strlen(body), body);
	if (write(client->connections[index].fd, request, (size_t)length) != length)
		die("request");
}

/* Returns true when the connection has its whole answer. */
static bool client_read(struct connection *connection)
{
	static char waste[1 << 20];
	ssize_t got;

	if (connection->head != UINT32_MAX) {
		char *end, *length;

		got = read(connection->fd, connection->text + connection->head,
			sizeof(connection->text) - 1 - connection->head);
		if (got <= 0)
			die("head");
		connection->head += (uint32_t)got;
		connection->text[connection->head] = '\0';
		end = strstr(connection->text, "\r\n\r\n");
		if (!end)
			return false;
		length = strcasestr(connection->text, "content-length:");
		connection->left = strtoull(length + 15, NULL, 10) -
				   (connection->head - (size_t)(end + 4 - connection->text));
		length = strstr(end, "\"version_info\":\"");
		if (length)
			memcpy(connection->version, length + 16, VERSION_TEXT_LENGTH);
		else
			memcpy(connection->version, "bare", 5);
		connection->head = UINT32_MAX;
	}
	while (connection->left) {
		got = read(connection->fd, waste, sizeof(waste));
		if (got < 0 && errno == EAGAIN)
			return false;
		if (got <= 0)
			die("body");
		connection->left -= (uint64_t)got;
	}
	return true;
}

static void client_read_all(struct client *client, size_t count)
{
	struct epoll_event events[256];

	while (count) {
		int got = epoll_wait(client->epoll, events, 256, 30000);

		if (got <= 0) {
			fprintf(stderr, "%zu answers are missing\n", count);
			exit(1);
		}
		for (int i = 0; i < got; i++)
			count -= client_read(events[i].data.ptr);
	}
}

/* ---- measuring ---- */

struct result {
	double fan_out_ms; /* fastest round */
	double cpu_ms;
	double kib_each;
};

static struct server start(bool is_bare, size_t clients, size_t bytes, bool each)
{
	struct server server;
	int commands[2], answers[2];
	long long port;

	if (pipe(commands) < 0 || pipe(answers) < 0)
		die("pipe");
	server.pid = fork();
	if (server.pid == 0) {
		struct ours ours = {.bytes = bytes, .each = each, .clients = clients};
		struct bare bare = {.bytes = bytes};

		close(commands[1]);
		close(answers[0]);
		if (is_bare)
			bare_run(&bare, clients, commands[0], answers[1]);
		else
			ours_run(&ours, commands[0], answers[1]);
		exit(0);
	}
	close(commands[0]);
	close(answers[1]);
	server.commands = commands[1];
	server.answers = answers[0];
	if (read(server.answers, &port, sizeof(port)) != sizeof(port))
		die("server");
	server.port = (int)port;
	return server;
}

static void stop(struct server *server)
{
	char byte = COMMAND_STOP;
	int status;

	if (write(server->commands, &byte, 1) != 1)
		die("stop");
	waitpid(server->pid, &status, 0);
	if (status) {
		fprintf(stderr, "a server ended with %d\n", status);
		exit(1);
	}
	close(server->commands);
	close(server->answers);
}

static void park_all(struct client *client, const struct server *server)
{
	for (size_t i = 0; i < client->count; i++)
		client_ask(client, i);
	while (ask(server, COMMAND_PARKED) != (long long)client->count)
		usleep(1000);
}

static struct result measure(bool is_bare, size_t clients, size_t bytes, bool each)
{
	struct server server = start(is_bare, clients, bytes, each);
	struct client client = {.count = clients, .each = each};
	struct result result = {.fan_out_ms = 1e9, .cpu_ms = 1e9};
	long long before = ask(&server, COMMAND_RSS);

	client_connect(&client, server.port);
	for (size_t i = 0; i < clients; i++)
		client_ask(&client, i);
	client_read_all(&client, clients);
	for (int round = 0; round < ROUNDS; round++) {
		int64_t start_us;
		long long cpu;

		park_all(&client, &server);
		/* With one name each a change replaces every resource; the heap keeps the holes. */
		if (!each || round == 0)
			result.kib_each =
				(double)(ask(&server, COMMAND_RSS) - before) / (double)clients;
		cpu = ask(&server, COMMAND_CPU);
		start_us = clock_monotonic_us();
		ask(&server, COMMAND_CHANGE);
		client_read_all(&client, clients);
		start_us = clock_monotonic_us() - start_us;
		cpu = ask(&server, COMMAND_CPU) - cpu;
		if ((double)start_us / 1000 < result.fan_out_ms)
			result.fan_out_ms = (double)start_us / 1000;
		if ((double)cpu / 1000 < result.cpu_ms)
			result.cpu_ms = (double)cpu / 1000;
	}
	client_close(&client);
	stop(&server);
	return result;
}

static bool report(const char *figure, double value, const char *unit, double target)
{
	bool is_met = value <= target;

	printf("%-44s %8.2f %-6s target %.2f %s\n", figure, value, unit, target,
		is_met ? "met" : "MISSED");
	printf("{\"figure\":\"%s\",\"value\":%.3f,\"unit\":\"%s\",\"target\":%.2f,\"met\":%s}\n",
		figure, value, unit, target, is_met ? "true" : "false");
	fflush(stdout);
	return is_met;
}

int main(int argc, char **argv)
{
	size_t clients = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
	static const size_t sizes[] = {300, 20000};
	struct rlimit limit;

	signal(SIGPIPE, SIG_IGN);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < clients * 5 / 4) {
		clients = limit.rlim_cur * 4 / 5;
		printf("only %zu clients: the descriptor limit is %llu\n", clients,
			(unsigned long long)limit.rlim_cur);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct result bare = measure(true, clients, sizes[i], false);
		struct result ours = measure(false, clients, sizes[i], false);
		char figure[64];

		printf("%zu parked, %zu bytes: bare %.1f ms, %.1f ms CPU, %.2f KiB each; "
		       "ours %.1f ms, %.1f ms CPU, %.2f KiB each\n",
			clients, sizes[i], bare.fan_out_ms, bare.cpu_ms, bare.kib_each,
			ours.fan_out_ms, ours.cpu_ms, ours.kib_each);
		snprintf(figure, sizeof(figure), "rest_fan_out_%zu_bytes_vs_bare", sizes[i]);
		report(figure, ours.fan_out_ms / bare.fan_out_ms, "x", 1.5);
		snprintf(figure, sizeof(figure), "rest_fan_out_cpu_%zu_bytes_vs_bare", sizes[i]);
		report(figure, ours.cpu_ms / bare.cpu_ms, "x", 1.5);
		snprintf(figure, sizeof(figure), "rest_parked_rss_%zu_bytes", sizes[i]);
		report(figure, ours.kib_each, "KiB", 6);
	}
	/* The worst case: everyone asks for a name of its own, and all of them change. */
	struct result each = measure(false, clients, 300, true);

	printf("%zu parked, one name each: %.1f ms, %.1f ms CPU\n", clients, each.fan_out_ms,
		each.cpu_ms);
	report("rest_parked_rss_one_name_each", each.kib_each, "KiB", 6);
	return 0;
}
