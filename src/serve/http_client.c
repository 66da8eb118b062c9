/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/http_client.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "serve/http_core.h"

#define UPLOADS_MAX 32 /* bodies of full size that may be on their way in at once */
#define SLOW_MS	    60000
#define HUNG_UP_MS  1000 /* for libmicrohttpd to read what was sent before the end */
#define DEADLINE_GRAIN_MS                                                                          \
	16 /* parked clients end in batches: each run walks all suspended ones                     \
	    */

/* ---- what handlers call ---- */

struct slice http_client_header(const struct http_client *client, const char *name)
{
	const char *value = MHD_lookup_connection_value(client->connection, MHD_HEADER_KIND, name);

	return value ? slice_of(value) : (struct slice){NULL, 0};
}

const char *http_client_argument(const struct http_client *client, const char *name)
{
	return MHD_lookup_connection_value(client->connection, MHD_GET_ARGUMENT_KIND, name);
}

void http_client_answer(struct http_client *client, struct http_reply *reply)
{
	assert(!client->reply);
	client->reply = http_reply_ref(reply);
	if (client->state == HTTP_DECIDING)
		return;
	assert(client->state == HTTP_PARKED);
	client->state = HTTP_ANSWERING;
	client->server->counters.parked--;
	client->server->sending++;
	client->server->must_run = true;
	deadline_clear(&client->server->deadlines, &client->deadline);
	MHD_resume_connection(client->connection);
}

void http_client_answer_new(struct http_client *client, struct http_reply *reply)
{
	http_client_answer(client, reply);
	http_reply_unref(reply);
}

void http_client_park(struct http_client *client, int64_t until_ms)
{
	assert(client->state == HTTP_DECIDING || client->state == HTTP_PARKED);
	if (client->state == HTTP_DECIDING)
		client->server->counters.parked++;
	client->state = HTTP_PARKED;
	deadline_set(&client->server->deadlines, &client->deadline,
		until_ms - until_ms % DEADLINE_GRAIN_MS);
}

bool http_client_is_parked(const struct http_client *client)
{
	return client->state == HTTP_PARKED;
}

void *http_client_data(const struct http_client *client)
{
	return client->data;
}

void http_client_set_data(struct http_client *client, void *data)
{
	client->data = data;
}

void http_client_address(const struct http_client *client, struct buf *out)
{
	struct sockaddr_storage address = {0};
	socklen_t length = sizeof(address);
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (getpeername(client->fd, (struct sockaddr *)&address, &length) < 0)
		return;
	if (address.ss_family == AF_UNIX) {
		buf_puts(out, "unix");
		return;
	}
	if (getnameinfo((struct sockaddr *)&address, length, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
		buf_printf(out, address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* ---- requests ---- */

static const struct http_handlers *handlers_of(const struct http_client *client)
{
	return client->server->options.handlers;
}

/* Bytes have to come or go in time. A peer that has ended its side gets less: when its last bytes
 * and its end come together libmicrohttpd may not see the end. */
static void arm_slow(struct http_client *client)
{
	int64_t slow_ms = client->server->options.slow_ms;

	if (!slow_ms)
		slow_ms = SLOW_MS;
	if (client->is_hung_up && client->state != HTTP_SENDING)
		slow_ms = HUNG_UP_MS;
	deadline_set(&client->server->deadlines, &client->deadline, clock_monotonic_ms() + slow_ms);
}

static void drop_upload(struct http_client *client)
{
	if (!client->upload)
		return;
	client->server->upload_bytes -= client->upload->bytes.capacity;
	buf_fini(&client->upload->bytes);
	free(client->upload);
	client->upload = NULL;
}

static enum MHD_Result queue_answer(struct http_client *client)
{
	struct http_server *server = client->server;
	bool closing = server->is_stopping || client->listener->is_closed || client->linger_fd >= 0;

	if (client->state != HTTP_ANSWERING)
		server->sending++;
	client->state = HTTP_SENDING;
	server->counters.answers++;
	arm_slow(client);
	return MHD_queue_response(client->connection, http_reply_status(client->reply),
		http_reply_response(client->reply, closing));
}

static struct http_reply *refusal(const struct http_client *client, unsigned status)
{
	if (status == MHD_HTTP_CONTENT_TOO_LARGE)
		return http_reply_error(status, "the request body is larger than %llu bytes",
			(unsigned long long)client->server->options.body_bytes);
	return http_reply_error(status, "too many request bodies at once; try again");
}

/* Headers are there. Returns true when the answer is queued already. */
static bool begin_request(struct http_client *client, enum MHD_Result *ret_result)
{
	struct slice length = http_client_header(client, MHD_HTTP_HEADER_CONTENT_LENGTH);
	uint64_t bytes;

	client->server->counters.requests++;
	client->state = HTTP_READING;
	arm_slow(client);
	if (!length.data || text_parse_u64(length, &bytes) ||
		bytes <= client->server->options.body_bytes)
		return false;
	/* libmicrohttpd closes after an answer that comes before the body; see http_linger. */
	client->linger_fd = fcntl(client->fd, F_DUPFD_CLOEXEC, 0);
	client->server->counters.refused++;
	client->reply = refusal(client, MHD_HTTP_CONTENT_TOO_LARGE);
	*ret_result = queue_answer(client);
	return true;
}

static enum MHD_Result take_body(struct http_client *client, const char *data, size_t size)
{
	struct http_server *server = client->server;
	uint64_t limit = server->options.body_bytes;
	struct http_upload *upload = client->upload;
	size_t capacity;

	if (!upload) {
		upload = client->upload = xcalloc(1, sizeof(*upload));
		upload->bytes.limit_bytes = limit + 1; /* and a NUL */
	}
	upload->seen += size;
	capacity = upload->bytes.capacity;
	if (!upload->refused && upload->seen > limit)
		upload->refused = MHD_HTTP_CONTENT_TOO_LARGE;
	if (!upload->refused) {
		buf_append(&upload->bytes, data, size);
		server->upload_bytes += upload->bytes.capacity - capacity;
		if (buf_error(&upload->bytes) || server->upload_bytes > UPLOADS_MAX * limit)
			upload->refused = MHD_HTTP_SERVICE_UNAVAILABLE;
	}
	if (upload->refused && upload->bytes.capacity) {
		server->upload_bytes -= upload->bytes.capacity;
		buf_fini(&upload->bytes);
	}
	/* A refused body is drained so that its sender gets to read the answer, but not for ever.
	 */
	if (upload->seen <= 2 * limit)
		return MHD_YES;
	server->counters.refused++;
	return MHD_NO;
}

static enum MHD_Result finish_request(
	struct http_client *client, const char *method, const char *path)
{
	struct http_request request = {.method = method, .path = path};
	unsigned refused = client->upload ? client->upload->refused : 0;

	deadline_clear(&client->server->deadlines, &client->deadline);
	client->state = HTTP_DECIDING;
	if (refused) {
		client->server->counters.refused++;
		client->reply = refusal(client, refused);
	} else {
		if (client->upload) {
			request.body.data = buf_cstr(&client->upload->bytes);
			request.body.length = client->upload->bytes.length;
		}
		handlers_of(client)->request(client->server->options.ctx, client, &request);
	}
	drop_upload(client);
	if (client->state == HTTP_PARKED) {
		if (client->is_hung_up) {
			http_client_on_hang_up(client);
			return MHD_NO;
		}
		MHD_suspend_connection(client->connection);
		return MHD_YES;
	}
	assert(client->reply);
	return queue_answer(client);
}

enum MHD_Result http_client_on_access(void *cls, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *data, size_t *data_size,
	void **request_data)
{
	struct http_client *client =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
			->socket_context;
	enum MHD_Result result = MHD_YES;

	(void)cls;
	(void)version;
	*request_data = client;
	switch ((enum http_state)client->state) {
	case HTTP_IDLE:
		begin_request(client, &result);
		return result;
	case HTTP_READING:
		if (*data_size == 0)
			return finish_request(client, method, url);
		result = take_body(client, data, *data_size);
		*data_size = 0;
		return result;
	case HTTP_ANSWERING:
		return queue_answer(client);
	case HTTP_GONE:
		return MHD_NO;
	case HTTP_DECIDING:
	case HTTP_PARKED:
	case HTTP_SENDING:
		break;
	}
	assert(!"libmicrohttpd asked at an unexpected moment");
	return MHD_NO;
}

void http_client_on_completed(void *cls, struct MHD_Connection *connection, void **request_data,
	enum MHD_RequestTerminationCode code)
{
	struct http_client *client = *request_data;

	(void)cls;
	(void)connection;
	if (!client)
		return;
	deadline_clear(&client->server->deadlines, &client->deadline);
	drop_upload(client);
	if (client->state == HTTP_SENDING || client->state == HTTP_ANSWERING) {
		client->server->sending--;
		if (handlers_of(client)->sent)
			handlers_of(client)->sent(client->server->options.ctx, client,
				code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
	}
	http_reply_unref(client->reply);
	client->reply = NULL;
	client->state = HTTP_IDLE;
	if (client->is_hung_up)
		arm_slow(client);
}

/* ---- connections ---- */

static struct http_client *client_new(struct http_server *server, struct MHD_Connection *connection)
{
	struct http_client *client = xcalloc(1, sizeof(*client));
	/* Edge-triggered and for the end only: a suspended connection is watched by nobody else. */
	struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = client};

	client->source = HTTP_SOURCE_CLIENT;
	client->fd =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	client->connection = connection;
	client->server = server;
	client->listener = server->accepting;
	client->listener->references++;
	client->linger_fd = -1;
	LIST_INSERT_HEAD(&server->clients, client, link);
	server->counters.connections++;
	server->counters.accepted++;
	epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, client->fd, &event);
	arm_slow(client); /* until its first request has begun */
	return client;
}

static void client_free(struct http_client *client)
{
	struct http_server *server = client->server;

	if (handlers_of(client)->closed)
		handlers_of(client)->closed(server->options.ctx, client);
	/* By hand: with a duplicate the registration would outlive the descriptor. */
	epoll_ctl(server->epoll_fd, EPOLL_CTL_DEL, client->fd, NULL);
	if (client->linger_fd >= 0)
		http_linger_start(server, client->linger_fd, clock_monotonic_ms());
	deadline_clear(&server->deadlines, &client->deadline);
	LIST_REMOVE(client, link);
	server->counters.connections--;
	http_listener_unref(client->listener);
	free(client);
}

void http_client_on_connection(void *cls, struct MHD_Connection *connection, void **socket_data,
	enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*socket_data = client_new(cls, connection);
	else
		client_free(*socket_data);
}

/* Called by the loop, or by finish_request() when the end came before the parking. */
void http_client_on_hang_up(struct http_client *client)
{
	bool is_suspended = client->state == HTTP_PARKED && !client->is_hung_up;

	client->is_hung_up = true;
	if (client->state == HTTP_IDLE || client->state == HTTP_READING)
		arm_slow(client);
	if (client->state != HTTP_PARKED)
		return;
	deadline_clear(&client->server->deadlines, &client->deadline);
	client->server->counters.parked--;
	client->state = HTTP_GONE;
	handlers_of(client)->left(client->server->options.ctx, client);
	if (is_suspended) {
		client->server->must_run = true;
		MHD_resume_connection(client->connection);
	}
}

void http_client_on_deadline(struct http_client *client)
{
	if (client->state == HTTP_PARKED) {
		handlers_of(client)->expired(client->server->options.ctx, client);
		return;
	}
	/* libmicrohttpd is woken by this, sees the end and cleans up. */
	client->server->counters.refused += !client->is_hung_up;
	shutdown(client->fd, SHUT_RDWR);
}
