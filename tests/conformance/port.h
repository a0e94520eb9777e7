// The DynamoDB port over new tables, in open mode, with one connection to it.
//
//   Port port;
//   port.Send({.operation = "ListTables", .body = "{}"});
//
// For one thread.
#pragma once

#include <memory>
#include <string>

#include "servers/dynamodb/service.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/support/raw_connection.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_runtime.h"

namespace tidemark::conformance {

struct PortRequest {
  std::string operation;
  std::string body;
  std::string headers = {};  // More of them, each with its line end.
};

class Port {
 public:
  explicit Port(dynamodb::DoorOptions options = {});

  tidemark::testing::RawReply Send(const PortRequest& request);
  // Deletes all tables.
  void Clean();

 private:
  TempFolder folder_;
  tidemark::testing::TestRuntime runtime_;
  std::unique_ptr<embedded::EmbeddedTables> tables_;
  std::unique_ptr<dynamodb::Service> service_;
  std::unique_ptr<tidemark::testing::RawConnection> connection_;
};

}  // namespace tidemark::conformance
