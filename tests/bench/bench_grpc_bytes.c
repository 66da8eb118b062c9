/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing the body of a response of 1 MB beside copying as many bytes from as many places, and
 * reading an ACK beside what protobuf-c alone takes for it. Best of many rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "serve/grpc/grpc_request.h"
#include "serve/grpc/grpc_response.h"
#include "xdspub/discovery_request.pb-c.h"

#define CLUSTERS 1000
#define BYTES	 1000 /* of each */
#define ROUNDS	 200

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void keep_least(double *least, double value)
{
	if (*least == 0 || value < *least)
		*least = value;
}

static struct xds_item *make_items(void)
{
	struct xds_item *items = xcalloc(CLUSTERS, sizeof(*items));
	static char names[CLUSTERS][16];
	char *body = xcalloc(1, BYTES);

	for (size_t i = 0; i < CLUSTERS; i++) {
		struct resource_spec spec = {.type = XDS_CDS, .body = {body, BYTES}, .ttl_ms = -1};

		(void)snprintf(names[i], sizeof(names[i]), "cluster-%zu", i);
		spec.name = slice_of(names[i]);
		items[i].resource = resource_new(&spec);
		items[i].name = items[i].resource->name;
	}
	free(body);
	return items;
}

static void measure_body(bool is_delta)
{
	struct xds_answer answer = {.type = XDS_CDS,
		.is_delta = is_delta,
		.items = make_items(),
		.items_count = CLUSTERS};
	double write_us = 0, copy_us = 0;
	size_t length = 0;

	(void)snprintf(answer.version.text, sizeof(answer.version.text), "a%032d", 0);
	for (int round = 0; round < ROUNDS; round++) {
		double began = now_us();
		struct grpc_body *body = grpc_response_body(&answer, true), *copy;
		double middle = now_us();

		keep_least(&write_us, middle - began);
		length = body->length;
		for (size_t i = 0; i < XDS_ENCODINGS; i++)
			if (answer.encoded[i])
				answer.encoded_free(answer.encoded[i]);
		memset(answer.encoded, 0, sizeof(answer.encoded));
		/* The same memory, still to be touched for the first time. */
		began = now_us();
		copy = grpc_body_new(length);
		for (size_t i = 0; i < CLUSTERS; i++)
			memcpy(copy->bytes + i * BYTES, answer.items[i].resource->body.data, BYTES);
		__asm__ volatile("" : : "r"(copy) : "memory");
		keep_least(&copy_us, now_us() - began);
		grpc_body_unref(copy);
	}
	printf("{\"figure\": \"gRPC body of a 1 MB %s CDS response: time, of copying it\", "
	       "\"ratio\": %.2f, \"target\": 3, \"write_us\": %.1f, \"copy_us\": %.1f, "
	       "\"bytes\": %zu}\n",
		is_delta ? "delta" : "SotW", write_us / copy_us, write_us, copy_us, length);
	for (size_t i = 0; i < CLUSTERS; i++)
		resource_unref(answer.items[i].resource);
	free(answer.items);
}

/* An ACK that repeats so many names. */
static size_t pack_ack(size_t names_count, uint8_t **ret_bytes)
{
	static const char type_url[] = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
	Xds__DiscoveryRequest ack = XDS__DISCOVERY_REQUEST__INIT;
	char version[] = "a0123456789abcdef0123456789abcdef", nonce[] = "123456";
	char **names = xcalloc(names_count + 1, sizeof(*names));
	size_t length;

	ack.version_info = version;
	ack.response_nonce = nonce;
	ack.type_url = (char *)(uintptr_t)type_url;
	for (size_t i = 0; i < names_count; i++)
		names[i] = xasprintf("outbound|80||service-%zu.example.local", i);
	ack.resource_names = names;
	ack.n_resource_names = names_count;
	*ret_bytes = xmalloc(protobuf_c_message_get_packed_size(&ack.base));
	length = xds__discovery_request__pack(&ack, *ret_bytes);
	for (size_t i = 0; i < names_count; i++)
		free(names[i]);
	free(names);
	return length;
}

static void measure_ack(size_t names_count)
{
	const struct limits limits = LIMITS_DEFAULT;
	double read_us = 0, unpack_us = 0;
	int repeats = names_count ? 10 : 2000;
	uint8_t *bytes;
	size_t length = pack_ack(names_count, &bytes);

	for (int round = 0; round < ROUNDS; round++) {
		double began = now_us(), middle;

		for (int i = 0; i < repeats; i++) {
			struct grpc_request request;
			char problem[200];

			if (grpc_request_read((struct slice){(char *)bytes, length}, false, &limits,
				    &request, problem, sizeof(problem)))
				exit(1);
			grpc_request_fini(&request);
		}
		middle = now_us();
		keep_least(&read_us, middle - began);
		for (int i = 0; i < repeats; i++)
			xds__discovery_request__free_unpacked(
				xds__discovery_request__unpack(NULL, length, bytes), NULL);
		keep_least(&unpack_us, now_us() - middle);
	}
	printf("{\"figure\": \"an ACK of %zu names checked and read: time, of protobuf-c alone\", "
	       "\"ratio\": %.2f, \"target\": 3, \"read_us\": %.3f, \"unpack_us\": %.3f}\n",
		names_count, read_us / unpack_us, read_us / repeats, unpack_us / repeats);
	free(bytes);
}

int main(void)
{
	measure_body(false);
	measure_body(true);
	measure_ack(0);
	measure_ack(1000);
	return 0;
}
