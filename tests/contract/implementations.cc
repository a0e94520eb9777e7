// Every implementation of Tables that the contract is run over.
#include <utility>

#include "base/random.h"
#include "tables/embedded/embedded_tables.h"
#include "tables/remote/remote_tables.h"
#include "tests/contract/contract.h"
#include "tests/model/model_tables.h"
#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"
#include "wire/calls.h"
#include "wire/exception.h"

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

// Embedded tables behind DynamoDB's protocol, without a network between.
class Wire final : public Implementation {
 public:
  tables::Tables& tables() override { return tables_; }
  ManualClock& clock() override { return embedded_.clock(); }
  void Maintain() override { embedded_.Maintain(); }
  bool TellsReplays() const override { return false; }

 private:
  Result<wire::Message> Serve(std::string_view operation, const std::string& body) {
    const JsonDocument request = TRY(JsonDocument::Parse(body));
    const auto call = wire::FindCall(operation)->decode(request.root());
    if (!call) return wire::EncodeError(call.error());
    return call->make(embedded_.tables()).Wait();
  }

  Embedded embedded_{Durability::kEverySecond};
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
