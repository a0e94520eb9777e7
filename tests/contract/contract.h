// The contract of Tables: tests that every implementation must pass, through the public interface
// only.
//
// A suite is a class derived from Contract with its tests as TEST_P, instantiated over
// Implementations(). To add an implementation, add a line to implementations.cc. It has a clock
// that the test moves, and does its housekeeping only when Maintain is called. Where DynamoDB has
// an error text, a part of it is checked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"
#include "tables/tables.h"
#include "tests/support/manual_time.h"
#include "tests/support/print_items.h"

namespace tidemark::contract {

using item::Item;
using item::Number;
using item::Value;

class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual tables::Tables& tables() = 0;
  virtual ManualClock& clock() = 0;
  // Does all housekeeping that is due.
  virtual void Maintain() = 0;
  // Whether a reply says that a token had been applied before. DynamoDB's protocol does not.
  virtual bool TellsReplays() const { return true; }
};

struct Factory {
  std::string name;
  std::function<std::unique_ptr<Implementation>()> make;
};

inline void PrintTo(const Factory& factory, std::ostream* out) { *out << factory.name; }

// Every implementation there is.
std::vector<Factory> Implementations();
// The same, and variants with other settings, which must give the same answers.
std::vector<Factory> ImplementationsInAllModes();

inline std::string NameOf(const ::testing::TestParamInfo<Factory>& info) { return info.param.name; }

// The value of a success. A failure ends the test and prints the error.
template <typename T>
T Must(Result<T> result) {
  if (!result) throw std::runtime_error("unexpected error: " + result.error().message);
  return std::move(result).value();
}

// Matches a Result that failed with this code, and a text that contains the fragment.
MATCHER_P2(Fails, code, fragment, "") {
  return !arg.has_value() && arg.error().code == code &&
         arg.error().message.find(fragment) != std::string::npos;
}
MATCHER_P(FailsWith, code, "") { return !arg.has_value() && arg.error().code == code; }
MATCHER(Succeeds, "") { return arg.has_value(); }

inline Value Num(int64_t number) { return Number::FromInt(number); }
inline Value Num(std::string_view text) { return Must(Number::Parse(text)); }
inline Value Bin(std::string bytes) { return item::Binary{std::move(bytes)}; }
inline Value Text(size_t length_bytes, char letter = 'x') {
  return item::String(length_bytes, letter);
}

inline item::KeyAttribute StringKey(std::string name) {
  return {std::move(name), item::Type::kString};
}
inline item::KeyAttribute NumberKey(std::string name) {
  return {std::move(name), item::Type::kNumber};
}
inline item::KeyAttribute BinaryKey(std::string name) {
  return {std::move(name), item::Type::kBinary};
}

// Two tables that most tests use: "users" with the key `id`, and "events" with the key `room` and
// the number `at`.
tables::CreateTableRequest Users();
tables::CreateTableRequest Events();
Item User(const std::string& id);
Item Event(const std::string& room, int64_t at);

class Contract : public ::testing::TestWithParam<Factory> {
 protected:
  Contract() : implementation_(GetParam().make()) {}

  tables::Tables& tables() { return implementation_->tables(); }
  ManualClock& clock() { return implementation_->clock(); }
  void Maintain() { implementation_->Maintain(); }
  bool TellsReplays() const { return implementation_->TellsReplays(); }

  tables::TableDescription Create(const tables::CreateTableRequest& request) {
    return Must(tables().CreateTable(request));
  }
  void Put(const std::string& table, const Item& item) {
    Must(tables().Put({.table = table, .item = item}));
  }
  std::optional<Item> Get(const std::string& table, const Item& key) {
    return Must(tables().Get({.table = table, .key = key}));
  }

  // All pages, one after the other.
  std::vector<Item> QueryAll(tables::QueryRequest request);
  std::vector<Item> ScanAll(tables::ScanRequest request);

  std::string LatestArn(const std::string& table);
  // All records of a stream, shard after shard, in the order of their sequence numbers.
  std::vector<tables::StreamRecord> ReadStream(const std::string& arn);
  std::string IteratorOf(const std::string& arn,
                         tables::IteratorKind kind = tables::IteratorKind::kTrimHorizon,
                         std::optional<std::string> sequence = std::nullopt);

 private:
  std::unique_ptr<Implementation> implementation_;
};

// The attribute of each item, for expectations about order.
std::vector<Value> Column(const std::vector<Item>& items, const std::string& attribute);

}  // namespace tidemark::contract
