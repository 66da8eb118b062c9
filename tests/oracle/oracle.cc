/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libprotobuf makes of a message: the other side of transcode.c, with the same protocol.
 * Usage: oracle SET. A request is a line "TYPE FROM TO LENGTH" and LENGTH bytes, an answer "ok
 * LENGTH" or "error LENGTH" and bytes. Formats: binary (deterministic), json, text.
 * Where we mean to differ is written in tests/oracle/README.
 */
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <string>

namespace pb = google::protobuf;

class Errors : public pb::io::ErrorCollector
{
      public:
	void AddError(int line, int column, const std::string &message) override
	{
		text += std::to_string(line + 1) + ":" + std::to_string(column + 1) + ": " +
			message + "\n";
	}
	std::string text;
};

static bool read_message(const std::string &from, const std::string &input, pb::Message *message,
	std::string *problem)
{
	if (from == "binary") {
		*problem = "not parsed";
		return message->ParseFromString(input);
	}
	if (from == "json") {
		auto status = pb::util::JsonStringToMessage(input, message);

		*problem = status.ToString();
		if (status.ok() && !message->IsInitialized()) {
			*problem = "missing " + message->InitializationErrorString();
			return false;
		}
		return status.ok();
	}
	Errors errors;
	pb::TextFormat::Parser parser;
	parser.RecordErrorsTo(&errors);
	bool is_good = parser.ParseFromString(input, message);
	*problem = errors.text;
	return is_good;
}

static bool write_message(
	const std::string &to, const pb::Message &message, std::string *out, std::string *problem)
{
	if (to == "binary") {
		pb::io::StringOutputStream stream(out);
		pb::io::CodedOutputStream coded(&stream);

		coded.SetSerializationDeterministic(true);
		return message.SerializeToCodedStream(&coded);
	}
	if (to == "json") {
		auto status = pb::util::MessageToJsonString(message, out);

		*problem = status.ToString();
		return status.ok();
	}
	pb::TextFormat::Printer printer;
	printer.SetExpandAny(true);
	return printer.PrintToString(message, out);
}

static void answer(const char *status, const std::string &text)
{
	std::cout << status << ' ' << text.size() << '\n' << text << std::flush;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::cerr << "usage: oracle SET\n";
		return 2;
	}
	pb::FileDescriptorSet set;
	std::ifstream file(argv[1], std::ios::binary);
	if (!set.ParseFromIstream(&file))
		return 2;
	pb::DescriptorPool pool;
	for (const auto &proto : set.file())
		if (!pool.BuildFile(proto))
			return 2;
	pb::DynamicMessageFactory factory(&pool);
	pb::SetLogHandler(nullptr);

	std::string type, from, to, line;
	size_t length;
	while (std::cin >> type >> from >> to >> length) {
		std::getline(std::cin, line);
		std::string input(length, '\0');
		if (length && !std::cin.read(&input[0], length))
			return 2;
		const pb::Descriptor *descriptor = pool.FindMessageTypeByName(type);
		if (!descriptor) {
			answer("error", "no such type");
			continue;
		}
		std::unique_ptr<pb::Message> message(factory.GetPrototype(descriptor)->New());
		std::string out, problem = "not written";
		if (read_message(from, input, message.get(), &problem) &&
			write_message(to, *message, &out, &problem))
			answer("ok", out);
		else
			answer("error", problem);
	}
	return 0;
}
