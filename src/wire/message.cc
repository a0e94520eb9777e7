#include "wire/message.h"

namespace tidemark::wire {

std::string_view ToString(Service service) {
  return service == Service::kTables ? "DynamoDB_20120810" : "DynamoDBStreams_20120810";
}

}  // namespace tidemark::wire
