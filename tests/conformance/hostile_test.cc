// Requests that are made to harm: each gets an answer, and the next request is answered too.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/gzip.h"
#include "tests/conformance/port.h"

namespace tidemark::conformance {
namespace {

using ::testing::HasSubstr;
using tidemark::testing::RawReply;

constexpr size_t kTenMegabytes = size_t{10} << 20;
constexpr char kGzipped[] = "Content-Encoding: gzip\r\n";

std::string Repeated(std::string_view text, size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

class HostileTest : public ::testing::Test {
 protected:
  HostileTest() {
    EXPECT_EQ(port_
                  .Send({.operation = "CreateTable",
                         .body = R"({"TableName":"rows","BillingMode":"PAY_PER_REQUEST",)"
                                 R"("AttributeDefinitions":[{"AttributeName":"h",)"
                                 R"("AttributeType":"S"}],"KeySchema":[{"AttributeName":"h",)"
                                 R"("KeyType":"HASH"}]})"})
                  .status,
              200);
  }
  ~HostileTest() override {
    // Nothing was written, and the port still answers.
    EXPECT_THAT(port_.Send({.operation = "Scan", .body = R"({"TableName":"rows"})"}).body,
                HasSubstr(R"("Count":0)"));
  }

  void Refuses(const PortRequest& request, std::string_view exception, std::string_view message) {
    const RawReply reply = port_.Send(request);
    EXPECT_EQ(reply.status, 400) << request.operation;
    EXPECT_THAT(reply.body, HasSubstr(exception)) << request.operation;
    EXPECT_THAT(reply.body.substr(0, 1'000), HasSubstr(message)) << request.operation;
  }
  static std::string Put(std::string_view attribute) {
    return fmt::format(R"({{"TableName":"rows","Item":{{"h":{{"S":"a"}},"x":{}}}}})", attribute);
  }

  Port port_;
};

struct Expression {
  const char* operation;
  const char* start;  // Other members of the request.
  const char* parameter;
  const char* text;  // What the expression repeats.
};
constexpr Expression kExpressions[] = {
    {"PutItem", R"("Item":{"h":{"S":"a"}})", "ConditionExpression", "NOT "},
    {"UpdateItem", R"("Key":{"h":{"S":"a"}})", "UpdateExpression", "SET "},
    {"GetItem", R"("Key":{"h":{"S":"a"}})", "ProjectionExpression", "a.b,"},
    {"Query", R"("Limit":1)", "KeyConditionExpression", "aaaa"},
    {"Scan", R"("Limit":1)", "FilterExpression", "(((("}};

TEST_F(HostileTest, ExpressionsOfTenMegabytes) {
  for (const Expression& one : kExpressions) {
    Refuses({one.operation, fmt::format(R"({{"TableName":"rows",{},"{}":"{}"}})", one.start,
                                        one.parameter, Repeated(one.text, kTenMegabytes / 4))},
            "ValidationException",
            fmt::format("Invalid {}: Expression size has exceeded the maximum allowed size",
                        one.parameter));
  }
}

TEST_F(HostileTest, NestingOfAHundredThousand) {
  constexpr size_t kDeep = 100'000;
  const std::string lists = Repeated(R"({"L":[)", kDeep) + R"({"S":"a"})" + Repeated("]}", kDeep);
  Refuses({"PutItem", Put(lists)}, "SerializationException", "");
  Refuses({"PutItem", Repeated("[", kDeep)}, "SerializationException", "");
  Refuses({"PutItem", Repeated(R"({"a":)", kDeep)}, "SerializationException", "");
  // What JSON may still have, and an item may not.
  const std::string maps = Repeated(R"({"M":{"a":)", 40) + R"({"S":"a"})" + Repeated("}}", 40);
  Refuses({"PutItem", Put(maps)}, "ValidationException", "Nesting Levels have exceeded");
  // Within the limit of an expression's length.
  const std::string parentheses = Repeated("(", 2'000) + "a = b" + Repeated(")", 2'000);
  Refuses({"Scan", fmt::format(R"({{"TableName":"rows","FilterExpression":"{}"}})", parentheses)},
          "ValidationException", "Invalid FilterExpression: ");
  Refuses({"Scan", fmt::format(R"({{"TableName":"rows","FilterExpression":"{}"}})",
                               "a." + Repeated("b.", 1'900) + "c = d")},
          "ValidationException", "Invalid FilterExpression: ");
}

TEST_F(HostileTest, HugeNumbers) {
  for (const char* number : {"1e2147483647", "1e2147483648", "1e99999999999999999999", "9e126"}) {
    Refuses({"PutItem", Put(fmt::format(R"({{"N":"{}"}})", number))}, "ValidationException",
            "Number overflow. Attempting to store a number with magnitude larger than supported "
            "range");
  }
  for (const char* number : {"1e-2147483649", "1e-99999999999999999999", "1e-131"}) {
    Refuses({"PutItem", Put(fmt::format(R"({{"N":"{}"}})", number))}, "ValidationException",
            "Number underflow");
  }
  const std::string digits = Repeated("1", kTenMegabytes);
  Refuses({"PutItem", Put(fmt::format(R"({{"N":"{}"}})", digits))}, "ValidationException",
          "Number overflow");
  Refuses({"PutItem", Put(R"({"N":"1e)" + digits + R"("})")}, "ValidationException", "Number");
  // A number of JSON where the protocol has none.
  Refuses({"PutItem", Put(digits)}, "SerializationException", "");
  Refuses({"Scan", R"({"TableName":"rows","Limit":1e999999})"}, "SerializationException", "");
  Refuses({"Scan", R"({"TableName":"rows","Limit":99999999999999999999})"}, "Exception", "");
}

TEST_F(HostileTest, PackedBodies) {
  const std::string scan = R"({"TableName":"rows"})";
  EXPECT_EQ(port_.Send({"Scan", Gzip(scan), kGzipped}).status, 200);
  const std::string packed = Gzip(scan);
  for (size_t length = 1; length < packed.size(); ++length) {
    Refuses({"Scan", packed.substr(0, length), kGzipped}, "SerializationException", "");
  }
  Refuses({"Scan", packed + packed, kGzipped}, "SerializationException", "");
  Refuses({"Scan", scan, kGzipped}, "SerializationException", "");
  // Just above what a request may unpack to.
  const std::string bomb = Gzip(Repeated(" ", (size_t{16} << 20) + 1));
  EXPECT_LT(bomb.size(), size_t{100} << 10);
  EXPECT_EQ(port_.Send({"Scan", bomb, kGzipped}).status, 413);
}

TEST_F(HostileTest, TextsThatAreNoJson) {
  Refuses({"Scan", R"({"TableName":"rows","TableName":"rows"})"}, "SerializationException",
          "twice");
  Refuses({"PutItem", Put(R"({"M":{"a":{"S":"b"},"a":{"S":"c"}}})")}, "SerializationException",
          "twice");
  for (const char* bytes : {"\xff", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80"}) {
    Refuses({"PutItem", Put(fmt::format(R"({{"S":"{}"}})", bytes))}, "SerializationException", "");
  }
  Refuses({"PutItem", Put(R"({"S":"\ud800"})")}, "SerializationException", "");
  Refuses({"Scan", R"({"TableName":"rows"}})"}, "SerializationException", "");
  Refuses({"Scan", std::string("\0", 1)}, "SerializationException", "");
}

TEST_F(HostileTest, LargeKeysAndManyMembers) {
  const std::string key = Repeated("k", size_t{400} << 10);
  const std::string too_long = "Size of hashkey has exceeded the maximum size limit of2048 bytes";
  Refuses({"PutItem", fmt::format(R"({{"TableName":"rows","Item":{{"h":{{"S":"{}"}}}}}})", key)},
          "ValidationException", "");
  Refuses({"GetItem", fmt::format(R"({{"TableName":"rows","Key":{{"h":{{"S":"{}"}}}}}})", key)},
          "ValidationException", too_long);
  Refuses(
      {"BatchWriteItem",
       fmt::format(
           R"({{"RequestItems":{{"rows":[{{"DeleteRequest":{{"Key":{{"h":{{"S":"{}"}}}}}}}}]}}}})",
           key)},
      "ValidationException", too_long);

  // Each of these has a hundred thousand members.
  std::string names;
  std::string members;
  for (size_t i = 0; i < 100'000; ++i) {
    names += fmt::format(R"("#n{}":"a",)", i);
    members += fmt::format(R"("{}",)", i);
  }
  names.pop_back();
  Refuses({"Scan", fmt::format(R"({{"TableName":"rows","FilterExpression":"#n1 < b",)"
                               R"("ExpressionAttributeNames":{{{}}}}})",
                               names)},
          "ValidationException", "unused");
  Refuses({"PutItem", Put(fmt::format(R"({{"SS":[{}"1"]}})", members))}, "ValidationException",
          "Input collection [");
  Refuses({"GetItem",
           fmt::format(R"({{"TableName":"rows","Key":{{}},"AttributesToGet":[{}"1"]}})", members)},
          "ValidationException", "");
  // Members that DynamoDB does not have are ignored.
  EXPECT_EQ(port_.Send({"Scan", fmt::format(R"({{"TableName":"rows",{}}})", names)}).status, 200);
}

}  // namespace
}  // namespace tidemark::conformance
