// SPDX-License-Identifier: GPL-2.0-or-later
// Calls xds:///SERVICE until stdin ends and prints a line per call; see tests/clients/README.md.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <grpcpp/generic/generic_stub.h>

using namespace std::chrono_literals;

static std::string text_of(const grpc::ByteBuffer &buffer)
{
	std::vector<grpc::Slice> slices;
	std::string text;

	if (buffer.Dump(&slices).ok())
		for (const grpc::Slice &slice : slices)
			text.append(reinterpret_cast<const char *>(slice.begin()), slice.size());
	return text;
}

static void call(grpc::GenericStub &stub, grpc::CompletionQueue &queue)
{
	grpc::ClientContext context;
	grpc::Slice nothing("");
	grpc::ByteBuffer request(&nothing, 1), reply;
	grpc::Status status;
	void *tag;
	bool ok;

	context.set_deadline(std::chrono::system_clock::now() + 10s);
	auto reader = stub.PrepareUnaryCall(&context, "/echo.Echo/Who", request, &queue);
	reader->StartCall();
	reader->Finish(&reply, &status, nullptr);
	queue.Next(&tag, &ok);
	if (status.ok())
		std::printf("ok %s\n", text_of(reply).c_str());
	else
		std::printf("failed %d %s\n", status.error_code(), status.error_message().c_str());
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::fprintf(stderr, "usage: %s SERVICE\n", argv[0]);
		return 2;
	}
	std::setvbuf(stdout, nullptr, _IOLBF, 0);
	std::thread([] {
		while (std::getchar() != EOF)
			continue;
		std::_Exit(0);
	}).detach();

	auto channel = grpc::CreateChannel(
		"xds:///" + std::string(argv[1]), grpc::InsecureChannelCredentials());
	grpc::GenericStub stub(channel);
	grpc::CompletionQueue queue;
	for (;;) {
		call(stub, queue);
		std::this_thread::sleep_for(5ms);
	}
}
