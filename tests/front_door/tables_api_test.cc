// The tables over HTTP, with DynamoDB's operations: /api/v1/tables.
#include <initializer_list>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/front_door/front_door.h"

namespace tidemark::testing {
namespace {

using http::Method;
using ::testing::HasSubstr;

class TablesApiTest : public ::testing::Test {
 protected:
  http::Response Call(const std::string& operation, const std::string& body) {
    return door_.Call(Method::kPost, "/api/v1/tables/" + operation, body);
  }
  void MakeUsers() {
    EXPECT_EQ(Call("CreateTable",
                   R"({"TableName":"users","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],)"
                   R"("AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
                   R"("BillingMode":"PAY_PER_REQUEST"})")
                  .status,
              200);
  }

  FrontDoor door_{FrontDoor::WithEverything};
};

// Review: D16
TEST_F(TablesApiTest, AnswersAsDynamoDbDoes) {
  MakeUsers();
  const std::string put = R"j({"TableName":"users","Item":{"id":{"S":"a"}},)j"
                          R"j("ConditionExpression":"attribute_not_exists(id)"})j";
  const http::Response stored = Call("PutItem", put);
  EXPECT_EQ(stored.status, 200);
  EXPECT_EQ(stored.body, "{}");
  EXPECT_EQ(stored.headers.Find("Content-Type"), "application/x-amz-json-1.0");
  const http::Response refused = Call("PutItem", put);
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.body,
            R"({"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",)"
            R"("message":"The conditional request failed"})");
  EXPECT_EQ(Call("GetItem", R"({"TableName":"users","Key":{"id":{"S":"a"}}})").body,
            R"({"Item":{"id":{"S":"a"}}})");
  EXPECT_THAT(Call("Scan", R"({"TableName":"nobody"})").body,
              HasSubstr("#ResourceNotFoundException"));
  EXPECT_THAT(Call("Scan", "{").body, HasSubstr("#SerializationException"));
  EXPECT_THAT(Call("Dance", "{}").body, HasSubstr("#UnknownOperationException"));
  // An item of 400 KB is larger than the body of other requests may be.
  const std::string text(390 << 10, 'x');
  std::string batch = R"({"RequestItems":{"users":[)";
  for (const char* id : {"b", "c", "d"}) {
    batch += std::string(batch.ends_with('[') ? "" : ",") +
             R"({"PutRequest":{"Item":{"id":{"S":")" + id + R"("},"text":{"S":")" + text +
             R"("}}}})";
  }
  EXPECT_EQ(Call("BatchWriteItem", batch + "]}}").body, R"({"UnprocessedItems":{}})");
}

// Whatever names one of these tables and is no reading is refused, and nothing is written.
// Review: D16
TEST_F(TablesApiTest, ChangesNoTableOfTheApps) {
  MakeUsers();
  const std::string claims = "slack-classify-bot-processed-events";
  const std::string item = R"("Item":{"id":{"S":"a"}})";
  const std::string key = R"("Key":{"id":{"S":"a"}})";
  for (const std::string& table :
       {claims, std::string("tidemark-quarantine"), std::string("authentication-attempts"),
        std::string("arn:aws:dynamodb:local:000000000000:table/tidemark-events")}) {
    SCOPED_TRACE(table);
    const std::string named = R"("TableName":")" + table + "\"";
    const std::string arn =
        table.starts_with("arn:") ? table : "arn:aws:dynamodb:local:000000000000:table/" + table;
    for (const auto& [operation, body] : std::initializer_list<std::pair<std::string, std::string>>{
             {"PutItem", "{" + named + "," + item + "}"},
             {"UpdateItem", "{" + named + "," + key + "}"},
             {"DeleteItem", "{" + named + "," + key + "}"},
             {"DeleteTable", "{" + named + "}"},
             {"UpdateTable", "{" + named + "}"},
             {"UpdateTimeToLive",
              "{" + named + R"(,"TimeToLiveSpecification":{"AttributeName":"a","Enabled":true}})"},
             {"UntagResource", R"({"ResourceArn":")" + arn + R"(","TagKeys":["a"]})"},
             {"TransactWriteItems", R"({"TransactItems":[{"Put":{"TableName":"users",)" + item +
                                        R"(}},{"Delete":{)" + named + "," + key + "}}]}"}}) {
      const http::Response refused = Call(operation, body);
      EXPECT_EQ(refused.status, 400) << operation;
      EXPECT_THAT(refused.body, HasSubstr("#AccessDeniedException")) << operation;
    }
    EXPECT_EQ(Call("Scan", "{" + named + "}").status, 200);
  }
  const std::string batch = R"({"RequestItems":{"users":[{"PutRequest":{)" + item + R"(}}],")" +
                            claims + R"(":[{"PutRequest":{)" + item + "}}]}}";
  EXPECT_THAT(Call("BatchWriteItem", batch).body, HasSubstr("#AccessDeniedException"));
  EXPECT_THAT(Call("Scan", R"({"TableName":"users"})").body, HasSubstr(R"("Count":0)"));
}

TEST_F(TablesApiTest, NobodyReadsTheTableOfAccessKeys) {
  const std::string named = R"("TableName":"tidemark-access-keys")";
  const std::string key = R"("Key":{"id":{"S":"a"}})";
  for (const auto& [operation, body] : std::initializer_list<std::pair<std::string, std::string>>{
           {"Scan", "{" + named + "}"},
           {"GetItem", "{" + named + "," + key + "}"},
           {"DescribeTable", "{" + named + "}"},
           {"ExecuteStatement", R"({"Statement":"SELECT * FROM \"tidemark-access-keys\""})"},
           {"TransactGetItems", R"({"TransactItems":[{"Get":{)" + named + "," + key + "}}]}"},
           {"BatchGetItem",
            R"({"RequestItems":{"tidemark-access-keys":{"Keys":[{"id":{"S":"a"}}]}}})"}}) {
    EXPECT_THAT(Call(operation, body).body, HasSubstr("#AccessDeniedException")) << operation;
  }
}

}  // namespace
}  // namespace tidemark::testing
