// What goes over HTTP: the name of an operation with the body of its request, and the reply.
// Plain data.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::wire {

// DynamoDB has two services behind one address. X-Amz-Target names the service and the operation.
enum class Service { kTables, kStreams };

// "DynamoDB_20120810" and "DynamoDBStreams_20120810".
std::string_view ToString(Service service);

struct Message {
  int status = 200;
  std::string body = {};
  friend bool operator==(const Message&, const Message&) = default;
};

// The content type of requests and replies.
inline constexpr std::string_view kContentType = "application/x-amz-json-1.0";

}  // namespace tidemark::wire
