/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML to JSON as Envoy reads it, with yaml-cpp: a scalar in quotes is a string; else what yaml-cpp
 * takes for a bool or a whole number of 32 bits is one, larger numbers are strings; then doubles.
 * Usage: envoy_yaml. A request is a line "LENGTH" and LENGTH bytes; answers as in oracle.cc.
 */
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>

using google::protobuf::Value;

static void read_scalar(const YAML::Node &node, Value *value)
{
	bool boolean;
	int64_t integer;
	double number;

	if (node.Tag() == "!") {
		value->set_string_value(node.as<std::string>());
	} else if (YAML::convert<bool>::decode(node, boolean)) {
		value->set_bool_value(boolean);
	} else if (YAML::convert<int64_t>::decode(node, integer)) {
		if (integer >= std::numeric_limits<int32_t>::min() &&
			integer <= std::numeric_limits<int32_t>::max())
			value->set_number_value(integer);
		else
			value->set_string_value(std::to_string(integer));
	} else if (YAML::convert<double>::decode(node, number) && std::isfinite(number)) {
		value->set_number_value(number);
	} else {
		value->set_string_value(node.as<std::string>());
	}
}

static void read_node(const YAML::Node &node, Value *value)
{
	if (node.IsScalar()) {
		read_scalar(node, value);
	} else if (node.IsSequence()) {
		value->mutable_list_value();
		for (const auto &item : node)
			read_node(item, value->mutable_list_value()->add_values());
	} else if (node.IsMap()) {
		value->mutable_struct_value();
		for (const auto &pair : node) {
			auto &fields = *value->mutable_struct_value()->mutable_fields();

			read_node(pair.second, &fields[pair.first.as<std::string>()]);
		}
	} else if (node.IsNull()) {
		value->set_null_value(google::protobuf::NULL_VALUE);
	} else {
		throw std::runtime_error("no node");
	}
}

int main()
{
	std::string line;
	size_t length;

	while (std::cin >> length) {
		std::getline(std::cin, line);
		std::string text(length, '\0'), out;
		if (length && !std::cin.read(&text[0], length))
			return 2;
		const char *status = "ok";
		try {
			auto documents = YAML::LoadAll(text);
			Value value;
			if (documents.size() != 1)
				throw std::runtime_error("not one document");
			read_node(documents[0], &value);
			auto rc = google::protobuf::util::MessageToJsonString(value, &out);
			if (!rc.ok())
				throw std::runtime_error(rc.ToString());
		} catch (const std::exception &error) {
			status = "error";
			out = error.what();
		}
		std::cout << status << ' ' << out.size() << '\n' << out << std::flush;
	}
	return 0;
}
