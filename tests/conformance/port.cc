#include "tests/conformance/port.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tidemark::conformance {

namespace {

constexpr char kAnySignature[] =
    "AWS4-HMAC-SHA256 Credential=a/20231114/us-east-1/dynamodb/aws4_request, SignedHeaders=host, "
    "Signature=b";

bool IsOfStreams(const std::string& operation) {
  return operation.find("Stream") != std::string::npos || operation == "GetShardIterator" ||
         operation == "GetRecords";
}

}  // namespace

Port::Port(dynamodb::DoorOptions options) {
  tables_ = embedded::EmbeddedTables::Open({.folder = folder_.path() + "/data",
                                            .durability = embedded::Durability::kEverySecond,
                                            .background = false,
                                            .region = "us-east-1",
                                            .clock = &runtime_.clock,
                                            .random = &runtime_.random})
                .value();
  dynamodb::ServiceOptions service;
  service.server.listen = "127.0.0.1:0";
  service.server.loops = 1;
  service.workers = 2;
  service.door = std::move(options);
  service.door.open = true;
  service_ = dynamodb::Service::Start(service, tables_.get(), nullptr, runtime_.runtime()).value();
  const std::string& address = service_->address();
  connection_ = std::make_unique<tidemark::testing::RawConnection>(
      static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
}

tidemark::testing::RawReply Port::Send(const PortRequest& request) {
  connection_->Send(fmt::format(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
      "X-Amz-Date: 20231114T221320Z\r\nX-Amz-Target: {}_20120810.{}\r\nAuthorization: {}\r\n"
      "{}Content-Length: {}\r\n\r\n{}",
      IsOfStreams(request.operation) ? "DynamoDBStreams" : "DynamoDB", request.operation,
      kAnySignature, request.headers, request.body.size(), request.body));
  return connection_->ReadReply();
}

void Port::Clean() {
  const auto listed = tables_->ListTables({}).value();
  for (const std::string& table : listed.tables) {
    (void)tables_->UpdateTable({.table = table, .deletion_protected = false}).has_value();
    ASSERT_TRUE(tables_->DeleteTable(table));
  }
  ASSERT_TRUE(tables_->Maintain());
}

}  // namespace tidemark::conformance
