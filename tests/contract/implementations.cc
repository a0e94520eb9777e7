// Every implementation of Tables that the contract is run over.
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "servers/dynamodb/service.h"
#include "tables/embedded/embedded_tables.h"
#include "tables/remote/remote_tables.h"
#include "tests/contract/contract.h"
#include "tests/model/model_tables.h"
#include "tests/support/manual_time.h"
#include "tests/support/raw_connection.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_runtime.h"
#include "wire/calls.h"
#include "wire/message.h"

namespace tidemark::contract {

namespace {

using embedded::Durability;
using embedded::EmbeddedTables;

class Model final : public Implementation {
 public:
  tables::Tables& tables() override { return tables_; }
  ManualClock& clock() override { return clock_; }
  void Maintain() override { tables_.Maintain(); }

 private:
  ManualClock clock_;
  model::ModelTables tables_{clock_};
};

class Embedded final : public Implementation {
 public:
  explicit Embedded(Durability durability)
      : tables_(Must(EmbeddedTables::Open({.folder = folder_.path() + "/data",
                                           .durability = durability,
                                           .background = false,
                                           .clock = &clock_,
                                           .random = &random_}))) {}
  // After every test the folder must pass verification.
  ~Embedded() override {
    const auto report = tables_->Verify();
    EXPECT_THAT(report, Succeeds());
    if (report) {
      EXPECT_THAT(report->problems, ::testing::IsEmpty());
    }
  }
  tables::Tables& tables() override { return *tables_; }
  ManualClock& clock() override { return clock_; }
  void Maintain() override { Must(tables_->Maintain()); }

 private:
  TempFolder folder_;
  ManualClock clock_;
  SeededRandom random_{1};
  std::unique_ptr<EmbeddedTables> tables_;
};

// Embedded tables behind the DynamoDB port of a server.
class Wire final : public Implementation {
 public:
  tables::Tables& tables() override { return tables_; }
  ManualClock& clock() override { return embedded_.clock(); }
  void Maintain() override { embedded_.Maintain(); }
  bool TellsReplays() const override { return false; }

 private:
  static std::unique_ptr<dynamodb::Service> Start(tables::Tables* tables, const Runtime& runtime) {
    dynamodb::ServiceOptions options;
    options.server.listen = "127.0.0.1:0";
    options.server.loops = 1;
    options.workers = 1;
    options.door = {.open = true, .older_wording = true};
    return Must(dynamodb::Service::Start(options, tables, nullptr, runtime));
  }
  uint16_t port() const {
    const std::string& address = service_->address();
    return static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }
  Result<wire::Message> Serve(std::string_view operation, const std::string& body) {
    const std::lock_guard lock(mutex_);
    connection_.Send(fmt::format(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
        "X-Amz-Date: 20231114T221320Z\r\nX-Amz-Target: {}.{}\r\nAuthorization: AWS4-HMAC-SHA256 "
        "Credential=a/20231114/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=b\r\n"
        "Content-Length: {}\r\n\r\n{}",
        wire::ToString(wire::FindCall(operation)->service), operation, body.size(), body));
    tidemark::testing::RawReply reply = connection_.ReadReply();
    return wire::Message{.status = reply.status, .body = std::move(reply.body)};
  }

  Embedded embedded_{Durability::kEverySecond};
  tidemark::testing::TestRuntime runtime_;
  std::unique_ptr<dynamodb::Service> service_ = Start(&embedded_.tables(), runtime_.runtime());
  std::mutex mutex_;
  tidemark::testing::RawConnection connection_{port()};
  remote::RemoteTables tables_{[this](std::string_view operation, const std::string& body) {
    return Serve(operation, body);
  }};
};

}  // namespace

std::vector<Factory> Implementations() {
  return {
      {"Model", [] { return std::make_unique<Model>(); }},
      {"Embedded", [] { return std::make_unique<Embedded>(Durability::kEverySecond); }},
      {"Wire", [] { return std::make_unique<Wire>(); }},
  };
}

std::vector<Factory> ImplementationsInAllModes() {
  std::vector<Factory> factories = Implementations();
  factories.push_back(
      {"EmbeddedSynced", [] { return std::make_unique<Embedded>(Durability::kSynced); }});
  return factories;
}

}  // namespace tidemark::contract
