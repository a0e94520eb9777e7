// The JSON of every operation: the shapes are DynamoDB's, and what is encoded decodes to the same.
#include "wire/operation.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/calls.h"

namespace tidemark::wire {
namespace {

using item::Item;
using item::Number;
using ::testing::HasSubstr;

template <typename Request, typename Reply>
Result<Request> DecodeText(const Operation<Request, Reply>& operation, const std::string& text) {
  const auto document = JsonDocument::Parse(text);
  EXPECT_TRUE(document) << text;
  return operation.decode_request(document->root(), Layer::kOlder);
}

// The text decodes to a request that is encoded as the same text.
template <typename Request, typename Reply>
void ExpectRequest(const Operation<Request, Reply>& operation, const std::string& text) {
  const auto request = DecodeText(operation, text);
  ASSERT_TRUE(request) << operation.name << ": " << request.error().message;
  EXPECT_EQ(operation.encode_request(*request), text);
}

template <typename Request, typename Reply>
void ExpectReply(const Operation<Request, Reply>& operation, const Message& message) {
  const auto reply = DecodeReply(operation, message);
  ASSERT_TRUE(reply) << operation.name << ": " << reply.error().message;
  EXPECT_EQ(operation.encode_reply(*reply), message) << operation.name;
}

TEST(WireOperationTest, RequestsHaveDynamoDbsShape) {
  ExpectRequest(kGetItem,
                R"({"TableName":"users","Key":{"id":{"S":"a"}},"ProjectionExpression":"#n",)"
                R"("ExpressionAttributeNames":{"#n":"name"}})");
  ExpectRequest(kPutItem,
                R"({"TableName":"users","Item":{"id":{"S":"a"}},"ConditionExpression":"#n = :v",)"
                R"("ExpressionAttributeNames":{"#n":"name"},)"
                R"("ExpressionAttributeValues":{":v":{"N":"1"}},)"
                R"("ReturnValuesOnConditionCheckFailure":"ALL_OLD","ReturnValues":"ALL_OLD"})");
  ExpectRequest(kUpdateItem,
                R"({"TableName":"users","Key":{"id":{"S":"a"}},"UpdateExpression":"REMOVE b",)"
                R"("ReturnValues":"UPDATED_NEW"})");
  ExpectRequest(kDeleteItem, R"({"TableName":"users","Key":{"id":{"B":"AQ=="}}})");
  ExpectRequest(kQuery,
                R"({"TableName":"t","IndexName":"i","FilterExpression":"f","ProjectionExpression":)"
                R"("p","Select":"COUNT","ConsistentRead":true,"Limit":3,"ExclusiveStartKey":)"
                R"({"id":{"S":"a"}},"KeyConditionExpression":"k","ScanIndexForward":false})");
  ExpectRequest(kScan, R"({"TableName":"t","Limit":1,"Segment":0,"TotalSegments":2})");
  ExpectRequest(
      kBatchGetItem,
      R"({"RequestItems":{"t":{"Keys":[{"id":{"S":"a"}}],"ProjectionExpression":"id"}}})");
  ExpectRequest(kBatchWriteItem,
                R"({"RequestItems":{"t":[{"PutRequest":{"Item":{"id":{"S":"a"}}}},)"
                R"({"DeleteRequest":{"Key":{"id":{"S":"b"}}}}]}})");
  ExpectRequest(kTransactGetItems,
                R"({"TransactItems":[{"Get":{"TableName":"t","Key":{"id":{"S":"a"}}}}]})");
  ExpectRequest(
      kTransactWriteItems,
      R"({"TransactItems":[{"ConditionCheck":{"TableName":"t","Key":{"id":{"S":"a"}},)"
      R"("ConditionExpression":"c"}},{"Put":{"TableName":"t","Item":{"id":{"S":"b"}}}},)"
      R"({"Update":{"TableName":"t","Key":{"id":{"S":"c"}},"UpdateExpression":"REMOVE b"}},)"
      R"({"Delete":{"TableName":"t","Key":{"id":{"S":"d"}}}}],"ClientRequestToken":"token"})");
}

TEST(WireOperationTest, RequestsAboutTablesHaveDynamoDbsShape) {
  ExpectRequest(
      kCreateTable,
      R"({"TableName":"tab","DeletionProtectionEnabled":true,)"
      R"("Tags":[{"Key":"team","Value":"search"}],"AttributeDefinitions":)"
      R"([{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"b","AttributeType":"N"},)"
      R"({"AttributeName":"c","AttributeType":"B"}],"KeySchema":[{"AttributeName":"a",)"
      R"("KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}],)"
      R"("GlobalSecondaryIndexes":[{"IndexName":"gix",)"
      R"("KeySchema":[{"AttributeName":"c","KeyType":"HASH"}],"Projection":)"
      R"({"ProjectionType":"INCLUDE","NonKeyAttributes":["d"]}}],"LocalSecondaryIndexes":)"
      R"([{"IndexName":"lix","KeySchema":[{"AttributeName":"a","KeyType":"HASH"},)"
      R"({"AttributeName":"c","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],)"
      R"("BillingMode":"PAY_PER_REQUEST","StreamSpecification":{"StreamEnabled":true,)"
      R"("StreamViewType":"NEW_AND_OLD_IMAGES"}})");
  ExpectRequest(kUpdateTable,
                R"({"TableName":"tab","AttributeDefinitions":[{"AttributeName":"c",)"
                R"("AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":)"
                R"("gix","KeySchema":[{"AttributeName":"c","KeyType":"HASH"}],"Projection":)"
                R"({"ProjectionType":"ALL"}}}]})");
  ExpectRequest(
      kUpdateTable,
      R"({"TableName":"tab","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"gix"}}],)"
      R"("StreamSpecification":{"StreamEnabled":false}})");
  ExpectRequest(kDescribeTable, R"({"TableName":"tab"})");
  ExpectRequest(kListTables, R"({"ExclusiveStartTableName":"tab","Limit":2})");
  ExpectRequest(kUpdateTimeToLive,
                R"({"TableName":"tab","TimeToLiveSpecification":{"AttributeName":"e",)"
                R"("Enabled":true}})");
  const std::string resource =
      R"({"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/tab")";
  ExpectRequest(kTagResource, resource + R"(,"Tags":[{"Key":"a","Value":"b"}]})");
  ExpectRequest(kUntagResource, resource + R"(,"TagKeys":["a"]})");
  ExpectRequest(kListTagsOfResource, resource + "}");
  ExpectRequest(kListStreams, R"({"TableName":"tab","ExclusiveStartStreamArn":"x","Limit":7})");
  ExpectRequest(kGetShardIterator,
                R"({"StreamArn":"x","ShardId":"s","ShardIteratorType":"AT_SEQUENCE_NUMBER",)"
                R"("SequenceNumber":"1"})");
  ExpectRequest(kGetRecords, R"({"ShardIterator":"i","Limit":5})");
}

TEST(WireOperationTest, RepliesHaveDynamoDbsShape) {
  ExpectReply(kGetItem, {.body = R"({"Item":{"id":{"S":"a"}}})"});
  ExpectReply(kGetItem, {.body = "{}"});
  ExpectReply(kPutItem, {.body = R"({"Attributes":{"id":{"S":"a"}}})"});
  ExpectReply(kQuery, {.body = R"({"Count":1,"ScannedCount":2,"LastEvaluatedKey":{"id":{"S":"a"}},)"
                               R"("Items":[{"id":{"S":"a"}}]})"});
  ExpectReply(kScan, {.body = R"({"Count":3,"ScannedCount":3})"});
  ExpectReply(kBatchWriteItem, {.body = R"({"UnprocessedItems":{"t":[{"DeleteRequest":)"
                                        R"({"Key":{"id":{"S":"a"}}}}]}})"});
  ExpectReply(kTransactGetItems, {.body = R"({"Responses":[{"Item":{"id":{"S":"a"}}},{}]})"});
  ExpectReply(kListTables, {.body = R"({"TableNames":["a"],"LastEvaluatedTableName":"a"})"});
  ExpectReply(kDescribeTimeToLive, {.body = R"({"TimeToLiveDescription":{"TimeToLiveStatus":)"
                                            R"("ENABLED","AttributeName":"e"}})"});
  ExpectReply(kListTagsOfResource, {.body = R"({"Tags":[{"Key":"a","Value":"b"}]})"});
  ExpectReply(kTagResource, {.body = ""});
  ExpectReply(kGetShardIterator, {.body = R"({"ShardIterator":"i"})"});
}

TEST(WireOperationTest, ADescriptionSurvivesTheWay) {
  const std::string text =
      R"({"Table":{"TableName":"t","TableArn":"arn:aws:dynamodb:local:0:table/t","TableId":"i",)"
      R"("TableStatus":"ACTIVE","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],)"
      R"("ItemCount":1,"TableSizeBytes":2,"DeletionProtectionEnabled":false,"CreationDateTime":)"
      R"(1700000001.0,"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"N"}],)"
      R"("ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,)"
      R"("WriteCapacityUnits":0},"BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST",)"
      R"("LastUpdateToPayPerRequestDateTime":1700000001.0},)"
      R"("LatestStreamArn":"x","LatestStreamLabel":"l","StreamSpecification":)"
      R"({"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}}})";
  ExpectReply(kDescribeTable, {.body = text});
  const auto table = DecodeReply(kDescribeTable, {.body = text});
  EXPECT_EQ(table->keys.partition.type, item::Type::kNumber);
  EXPECT_EQ(table->throughput, std::nullopt);
  EXPECT_EQ(table->latest_stream->view, tables::StreamView::kKeysOnly);
}

TEST(WireOperationTest, ARecordSurvivesTheWay) {
  const tables::RecordsReply reply{
      .records = {{.sequence = "000000000000000000007",
                   .kind = tables::ChangeKind::kRemove,
                   .view = tables::StreamView::kOldImage,
                   .created_at = 1'700'000'001,
                   .expired = true,
                   .keys = {{"id", "a"}},
                   .old_image = Item{{"id", "a"}, {"n", Number::FromInt(1)}}}},
      .next = "iterator"};
  const Message message = EncodeReply(kGetRecords, Result(reply));
  EXPECT_THAT(message.body, HasSubstr(R"("eventName":"REMOVE")"));
  EXPECT_THAT(message.body, HasSubstr(R"("PrincipalId":"dynamodb.amazonaws.com")"));
  EXPECT_THAT(message.body, HasSubstr(R"("ApproximateCreationDateTime":1700000001.0)"));
  const auto decoded = DecodeReply(kGetRecords, message);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->records, reply.records);
  EXPECT_EQ(decoded->next, reply.next);
}

// What the reply of Tables has as a field is an exception in the protocol.
TEST(WireOperationTest, OutcomesAreExceptions) {
  ExpectReply(
      kPutItem,
      {.status = 400,
       .body = R"({"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",)"
               R"("message":"The conditional request failed","Item":{"id":{"S":"a"}}})"});
  ExpectReply(
      kTransactWriteItems,
      {.status = 400,
       .body =
           R"({"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",)"
           R"("Message":"Transaction cancelled, please refer cancellation reasons for specific )"
           R"(reasons [None, ConditionalCheckFailed]","CancellationReasons":[{"Code":"None"},)"
           R"({"Code":"ConditionalCheckFailed","Message":"The conditional request failed"}]})"});
  const auto mismatch = EncodeReply(
      kTransactWriteItems,
      Result(tables::TransactWriteReply{.outcome = tables::TransactOutcome::kTokenMismatch}));
  EXPECT_EQ(DecodeReply(kTransactWriteItems, mismatch)->outcome,
            tables::TransactOutcome::kTokenMismatch);
  for (const auto outcome : {tables::RecordsOutcome::kExpired, tables::RecordsOutcome::kTrimmed}) {
    const auto message = EncodeReply(kGetRecords, Result(tables::RecordsReply{.outcome = outcome}));
    EXPECT_EQ(message.status, 400);
    EXPECT_EQ(DecodeReply(kGetRecords, message)->outcome, outcome);
  }
}

TEST(WireOperationTest, ErrorsKeepTheirCodeAndText) {
  for (const ErrorCode code :
       {ErrorCode::kInvalid, ErrorCode::kNotFound, ErrorCode::kInUse, ErrorCode::kConflict,
        ErrorCode::kThrottled, ErrorCode::kDenied, ErrorCode::kUnavailable, ErrorCode::kUnknown}) {
    const Error error{code, "a \"text\""};
    EXPECT_EQ(DecodeReply(kScan, EncodeError(error)).error(), error) << ToString(code);
  }
  const Message wrong = EncodeError(Invalid("SerializationException: bad"));
  EXPECT_EQ(wrong.body,
            R"({"__type":"com.amazon.coral.service#SerializationException","Message":"bad"})");
  EXPECT_EQ(DecodeReply(kScan, wrong).error(), Invalid("SerializationException: bad"));
  // A proxy that answers in place of the server: the write may have been made.
  EXPECT_EQ(DecodeReply(kPutItem, {.status = 502, .body = "<html>"}).error().code,
            ErrorCode::kUnknown);
  EXPECT_EQ(DecodeReply(kPutItem, {.body = "[]"}).error().code, ErrorCode::kUnknown);
}

// Parameters from before expressions become expressions.
TEST(WireOperationTest, TranslatesLegacyParameters) {
  const auto encoded = [](const auto& operation, const std::string& text) {
    const auto decoded = DecodeText(operation, text);
    return decoded ? operation.encode_request(*decoded) : decoded.error().message;
  };
  EXPECT_EQ(encoded(kGetItem, R"({"TableName":"t","Key":{"id":{"S":"a"}},)"
                              R"("AttributesToGet":["b","size"]})"),
            R"({"TableName":"t","Key":{"id":{"S":"a"}},"ProjectionExpression":"#0,#1",)"
            R"("ExpressionAttributeNames":{"#0":"b","#1":"size"}})");
  EXPECT_EQ(encoded(kUpdateItem,
                    R"({"TableName":"t","Key":{"id":{"S":"a"}},"AttributeUpdates":{)"
                    R"("a":{"Value":{"N":"1"},"Action":"ADD"},"b":{"Action":"DELETE"},)"
                    R"("c":{"Value":{"S":"x"}},"d":{"Value":{"SS":["y"]},"Action":"DELETE"},)"
                    R"("e":{"Value":{"L":[]},"Action":"ADD"}}})"),
            R"({"TableName":"t","Key":{"id":{"S":"a"}},"UpdateExpression":"ADD #0 :0 DELETE #3 :2 )"
            R"j(REMOVE #1 SET #2=:1,#4=list_append(if_not_exists(#4,:4),:3)",)j"
            R"("ExpressionAttributeNames":{"#0":"a","#1":"b","#2":"c","#3":"d","#4":"e"},)"
            R"("ExpressionAttributeValues":{":0":{"N":"1"},":1":{"S":"x"},":2":{"SS":["y"]},)"
            R"(":3":{"L":[]},":4":{"L":[]}}})");
  EXPECT_EQ(
      encoded(kDeleteItem, R"({"TableName":"t","Key":{"id":{"S":"a"}},"ConditionalOperator":"OR",)"
                           R"("Expected":{"a":{"Exists":false},"b":{"Value":{"N":"1"}},)"
                           R"("c":{"ComparisonOperator":"NOT_CONTAINS",)"
                           R"("AttributeValueList":[{"S":"x"}]}}})"),
      R"({"TableName":"t","Key":{"id":{"S":"a"}},"ConditionExpression":)"
      R"j("attribute_not_exists(#0) OR #1 = :0 OR NOT contains(#2,:1)",)j"
      R"("ExpressionAttributeNames":{"#0":"a","#1":"b","#2":"c"},)"
      R"("ExpressionAttributeValues":{":0":{"N":"1"},":1":{"S":"x"}}})");
  EXPECT_EQ(
      encoded(kQuery, R"({"TableName":"t","KeyConditions":{"h":{"ComparisonOperator":"EQ",)"
                      R"("AttributeValueList":[{"S":"a"}]},"r":{"ComparisonOperator":"BETWEEN",)"
                      R"("AttributeValueList":[{"N":"1"},{"N":"2"}]}},)"
                      R"("QueryFilter":{"c":{"ComparisonOperator":"NOT_NULL"}}})"),
      R"j({"TableName":"t","FilterExpression":"attribute_exists(#2)",)j"
      R"("ExpressionAttributeNames":{"#0":"h","#1":"r","#2":"c"},)"
      R"("ExpressionAttributeValues":{":0":{"S":"a"},":1":{"N":"1"},":2":{"N":"2"}},)"
      R"("KeyConditionExpression":"#0 = :0 AND #1 BETWEEN :1 AND :2"})");
  EXPECT_EQ(encoded(kScan, R"({"TableName":"t","ScanFilter":{"c":{"ComparisonOperator":"IN",)"
                           R"("AttributeValueList":[{"N":"1"},{"N":"2"}]}}})"),
            R"j({"TableName":"t","FilterExpression":"#0 IN (:0,:1)",)j"
            R"("ExpressionAttributeNames":{"#0":"c"},)"
            R"("ExpressionAttributeValues":{":0":{"N":"1"},":1":{"N":"2"}}})");
  EXPECT_EQ(encoded(kScan, R"({"TableName":"t","ScanFilter":{},"ProjectionExpression":"a",)"
                           R"("ConditionalOperator":"AND"})"),
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {ScanFilter, ConditionalOperator} Expression parameters: "
            "{ProjectionExpression}");
}

TEST(WireOperationTest, RefusesWrongRequestsWithDynamoDbsTexts) {
  const auto refusal = [](const auto& operation, const std::string& text) {
    const auto decoded = DecodeText(operation, text);
    return decoded ? "accepted" : decoded.error().message;
  };
  EXPECT_EQ(
      refusal(kGetItem, "{}"),
      "2 validation errors detected: Value null at 'tableName' failed to satisfy constraint: "
      "Member must not be null; Value null at 'key' failed to satisfy constraint: Member must "
      "not be null");
  EXPECT_EQ(refusal(kGetItem, R"({"TableName":1})"),
            "SerializationException: NUMBER_VALUE cannot be converted to String");
  EXPECT_EQ(refusal(kPutItem, R"({"TableName":"t","Item":{"id":{"S":"a"}},"ReturnValues":"X"})"),
            "1 validation error detected: Value 'X' at 'returnValues' failed to satisfy "
            "constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, "
            "UPDATED_NEW]");
  EXPECT_EQ(refusal(kScan, R"({"TableName":"t","FilterExpression":"a = b",)"
                           R"("ExpressionAttributeNames":{}})"),
            "ExpressionAttributeNames must not be empty");
  EXPECT_THAT(refusal(kScan, R"({"TableName":"t","Limit":-1})"), HasSubstr("'-1' at 'limit'"));
  EXPECT_THAT(refusal(kTransactWriteItems, R"({"TransactItems":[{}]})"),
              HasSubstr("should contain Delete or Put or Update request"));
  EXPECT_THAT(refusal(kCreateTable, R"({"TableName":"tab","AttributeDefinitions":[],)"
                                    R"("BillingMode":"PAY_PER_REQUEST","KeySchema":)"
                                    R"([{"AttributeName":"a","KeyType":"RANGE"}]})"),
              HasSubstr("is not a HASH key type"));
  EXPECT_THAT(refusal(kCreateTable,
                      R"({"TableName":"tab","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],)"
                      R"("AttributeDefinitions":[],"BillingMode":"PAY_PER_REQUEST"})"),
              HasSubstr("Some index key attribute have no definition"));
  std::string many = R"({"TransactItems":[0)";
  for (int i = 0; i < 1'000; ++i) many += ",0";
  EXPECT_THAT(refusal(kTransactWriteItems, many + "]}"), HasSubstr("length less than or equal"));
  // A null counts as absent, and an ARN names a table.
  EXPECT_EQ(
      DecodeText(kScan, R"({"TableName":"arn:aws:dynamodb:a:0:table/t","Limit":null})")->table,
      "t");
}

// Clients send the defaults of parameters that change nothing here.
TEST(WireOperationTest, AcceptsParametersWhoseValueChangesNothing) {
  const std::string key = R"("TableName":"t","Key":{"id":{"S":"a"}})";
  const std::string costs =
      R"(,"ReturnConsumedCapacity":"NONE","ReturnItemCollectionMetrics":"NONE"})";
  const std::string capacity = R"(,"ReturnConsumedCapacity":"NONE"})";
  const std::string table =
      R"("TableName":"tab","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],)"
      R"("AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],)"
      R"("BillingMode":"PAY_PER_REQUEST")";
  EXPECT_TRUE(DecodeText(kGetItem, "{" + key + capacity));
  EXPECT_TRUE(DecodeText(kPutItem, R"({"TableName":"t","Item":{"id":{"S":"a"}})" + costs));
  EXPECT_TRUE(DecodeText(kUpdateItem, "{" + key + costs));
  EXPECT_TRUE(DecodeText(kDeleteItem, "{" + key + costs));
  EXPECT_TRUE(DecodeText(kScan, R"({"TableName":"t")" + capacity));
  EXPECT_TRUE(
      DecodeText(kQuery, R"({"TableName":"t","KeyConditionExpression":"a = b")" + capacity));
  EXPECT_TRUE(
      DecodeText(kBatchGetItem, R"({"RequestItems":{"t":{"Keys":[{"id":{"S":"a"}}]}})" + capacity));
  EXPECT_TRUE(
      DecodeText(kBatchWriteItem,
                 R"({"RequestItems":{"t":[{"DeleteRequest":{"Key":{"id":{"S":"a"}}}}]})" + costs));
  EXPECT_TRUE(
      DecodeText(kTransactGetItems, R"({"TransactItems":[{"Get":{)" + key + "}}]" + capacity));
  EXPECT_TRUE(
      DecodeText(kTransactWriteItems, R"({"TransactItems":[{"Delete":{)" + key + "}}]" + costs));
  EXPECT_TRUE(DecodeText(kDescribeStream, R"({"StreamArn":"x","Limit":10})"));
  EXPECT_TRUE(DecodeText(
      kCreateTable,
      "{" + table + R"(,"TableClass":"STANDARD","SSESpecification":{"Enabled":false}})"));
}

// What would have an effect is not passed over, and the text says what to do.
TEST(WireOperationTest, SaysWhatToDoInsteadOfAParameterThatIsNotSupported) {
  const auto refusal = [](const auto& operation, const std::string& text) {
    const auto decoded = DecodeText(operation, text);
    return decoded ? "accepted" : decoded.error().message;
  };
  const std::string key = R"({"TableName":"t","Key":{"id":{"S":"a"}})";
  EXPECT_EQ(refusal(kGetItem, key + R"(,"ReturnConsumedCapacity":"ALL"})"),
            "1 validation error detected: Value 'ALL' at 'returnConsumedCapacity' failed to "
            "satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]");
  EXPECT_EQ(refusal(kUpdateTable, R"({"TableName":"tab","ReplicaUpdates":[]})"),
            "the parameter 'ReplicaUpdates' is not supported here: leave it out");
  // As in DynamoDB, what it does not have either is passed over.
  EXPECT_EQ(refusal(kGetItem, key + R"(,"Colour":"red"})"), "accepted");
}

// Somebody who checks a request before it arrives here may have read the other member.
TEST(WireCallsTest, RefusesAFieldThatIsGivenTwice) {
  const auto refusal = [](std::string_view name, const std::string& text) {
    const auto document = JsonDocument::Parse(text);
    const auto call = FindCall(name)->decode(document->root(), Layer::kOlder);
    return call ? "accepted" : EncodeError(call.error()).body;
  };
  const std::string start =
      R"({"__type":"com.amazon.coral.service#SerializationException","Message":"the field ')";
  const std::string end = R"(' is given twice in one object: leave one out"})";
  EXPECT_EQ(refusal("DeleteTable", R"({"TableName":"a","TableName":"b"})"),
            start + "TableName" + end);
  EXPECT_EQ(refusal("DescribeContinuousBackups", R"({"TableName":"a","TableName":"b"})"),
            start + "TableName" + end);
  EXPECT_EQ(refusal("PutItem", R"({"TableName":"a","Item":{"id":{"S":"a"},"x":{"M":{)"
                               R"("y":{"N":"1"},"z":{"N":"1"},"y":{"N":"2"}}}}})"),
            start + "y" + end);
  EXPECT_EQ(
      refusal("TransactGetItems",
              R"({"TransactItems":[{"Get":{"TableName":"a","Key":{"id":{"S":"a","S":"b"}}}}]})"),
      start + "S" + end);
  EXPECT_EQ(refusal("PutItem", R"({"TableName":"a","Item":{"id":{"S":"a"},"x":{"S":"id"}}})"),
            "accepted");
}

TEST(WireCallsTest, EveryOperationIsFoundByItsName) {
  std::string_view before;
  for (const CallRow& row : Calls()) {
    EXPECT_LT(before, row.name);
    before = row.name;
    EXPECT_EQ(FindCall(row.name), &row);
  }
  EXPECT_EQ(FindCall("Dance"), nullptr);
}

TEST(WireCallsTest, ACallSaysWhichTablesItChanges) {
  const auto changed = [](std::string_view name, const std::string& text) {
    const auto document = JsonDocument::Parse(text);
    return FindCall(name)->decode(document->root(), Layer::kOlder).value().changed_tables;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(changed("GetItem", R"({"TableName":"t","Key":{"id":{"S":"a"}}})"), Names());
  EXPECT_EQ(changed("DeleteTable", R"({"TableName":"tab"})"), Names{"tab"});
  EXPECT_EQ(
      changed("PutItem", R"({"TableName":"arn:aws:dynamodb:a:0:table/t","Item":{"id":{"S":"a"}}})"),
      Names{"t"});
  EXPECT_EQ(changed("BatchWriteItem",
                    R"({"RequestItems":{"a":[{"DeleteRequest":{"Key":{"id":{"S":"b"}}}}],)"
                    R"("b":[{"PutRequest":{"Item":{"id":{"S":"b"}}}}]}})"),
            (Names{"a", "b"}));
  EXPECT_EQ(
      changed("TransactWriteItems",
              R"({"TransactItems":[{"ConditionCheck":{"TableName":"a","Key":{"id":{"S":"a"}},)"
              R"("ConditionExpression":"c"}},{"Delete":{"TableName":"b","Key":)"
              R"({"id":{"S":"d"}}}}]})"),
      Names{"b"});
}

}  // namespace
}  // namespace tidemark::wire
