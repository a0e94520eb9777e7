"""Uses the tables with boto3, as a program written for DynamoDB does.

Usage: tests/clients/boto3_client.py URL

Credentials come from the environment. It prints "ok" at its end; a difference raises an exception.
"""

import decimal
import sys

import boto3
from boto3.dynamodb.conditions import Attr, Key
from botocore.exceptions import ClientError


def refusal(call, **parameters):
    """The code and the message of the error that a call must have."""
    try:
        call(**parameters)
    except ClientError as error:
        return error.response["Error"]["Code"], error.response
    raise AssertionError("the call was accepted")


def use_items(table):
    item = {"pk": "a", "sk": 1, "text": "äöü", "set": {"x", "y"}, "bytes": b"\x00\xff",
            "list": [decimal.Decimal("1.5"), None, True, {"deep": "map"}]}
    table.put_item(Item=item)
    assert table.get_item(Key={"pk": "a", "sk": 1}, ConsistentRead=True)["Item"] == item
    code, response = refusal(table.put_item, Item=item, ConditionExpression=Attr("pk").not_exists(),
                             ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert code == "ConditionalCheckFailedException", response
    updated = table.update_item(
        Key={"pk": "a", "sk": 2}, UpdateExpression="ADD hits :one", ReturnValues="ALL_NEW",
        ExpressionAttributeValues={":one": 1}, ReturnConsumedCapacity="INDEXES")
    assert updated["Attributes"] == {"pk": "a", "sk": 2, "hits": 1}
    assert updated["ConsumedCapacity"]["CapacityUnits"] == 1.0


def use_pages(table):
    with table.batch_writer() as batch:
        for number in range(60):
            batch.put_item(Item={"pk": "many", "sk": number, "odd": number % 2})
    keys = Key("pk").eq("many") & Key("sk").between(10, 49)
    first = table.query(KeyConditionExpression=keys, FilterExpression=Attr("odd").eq(1), Limit=20)
    assert (first["Count"], first["ScannedCount"]) == (10, 20), first
    second = table.query(KeyConditionExpression=keys, ExclusiveStartKey=first["LastEvaluatedKey"])
    assert [item["sk"] for item in second["Items"]] == list(range(30, 50))
    paginator = table.meta.client.get_paginator("scan")
    pages = paginator.paginate(TableName=table.name, PaginationConfig={"PageSize": 7})
    assert sum(page["Count"] for page in pages) == 62


def use_transactions(client, table):
    update = {"Update": {"TableName": table, "Key": {"pk": {"S": "a"}, "sk": {"N": "2"}},
                         "UpdateExpression": "ADD hits :one",
                         "ExpressionAttributeValues": {":one": {"N": "1"}}}}
    client.transact_write_items(TransactItems=[update])
    check = {"ConditionCheck": {"TableName": table, "Key": {"pk": {"S": "a"}, "sk": {"N": "3"}},
                                "ConditionExpression": "attribute_exists(pk)"}}
    code, response = refusal(client.transact_write_items, TransactItems=[update, check])
    assert code == "TransactionCanceledException", response
    assert [one["Code"] for one in response["CancellationReasons"]] == [
        "None", "ConditionalCheckFailed"]
    got = client.transact_get_items(TransactItems=[
        {"Get": {"TableName": table, "Key": {"pk": {"S": "a"}, "sk": {"N": "2"}}}}])
    assert got["Responses"][0]["Item"]["hits"] == {"N": "2"}


def use_statements(client, table):
    where = "WHERE pk = 'ql' AND sk = ?"
    client.execute_transaction(TransactStatements=[
        {"Statement": f"INSERT INTO {table} VALUE {{'pk': 'ql', 'sk': ?}}",
         "Parameters": [{"N": str(number)}]} for number in (1, 2)])
    replies = client.batch_execute_statement(Statements=[
        {"Statement": f"UPDATE {table} SET n = 1 {where}", "Parameters": [{"N": "1"}]},
        {"Statement": f"INSERT INTO {table} VALUE {{'pk': 'ql', 'sk': 2}}"}])["Responses"]
    assert replies[0] == {"TableName": table}, replies
    assert replies[1]["Error"]["Code"] == "DuplicateItem", replies
    code, response = refusal(client.execute_transaction, TransactStatements=[
        {"Statement": f"EXISTS(SELECT * FROM {table} {where} AND n = 2)",
         "Parameters": [{"N": "1"}]},
        {"Statement": f"DELETE FROM {table} {where}", "Parameters": [{"N": "2"}]}])
    assert code == "TransactionCanceledException", response
    got = client.execute_transaction(TransactStatements=[
        {"Statement": f"SELECT sk FROM {table} {where}", "Parameters": [{"N": str(number)}]}
        for number in (2, 3)])
    assert got["Responses"] == [{"Item": {"sk": {"N": "2"}}}, {}], got
    select = {"Statement": f"SELECT sk FROM {table} WHERE pk = 'ql'", "Limit": 1}
    token = client.execute_statement(**select)["NextToken"]
    second = client.execute_statement(**select, NextToken=token)
    assert second["Items"] == [{"sk": {"N": "2"}}], second
    code, response = refusal(client.execute_statement, NextToken=token,
                             Statement=f"SELECT * FROM {table}")
    assert response["Error"]["Message"] == "NextToken does not match request", response


def main(url):
    options = {"region_name": "us-east-1", "endpoint_url": url}
    resource = boto3.resource("dynamodb", **options)
    client = boto3.client("dynamodb", **options)
    table = resource.create_table(
        TableName="things", BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"},
                              {"AttributeName": "sk", "AttributeType": "N"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"},
                   {"AttributeName": "sk", "KeyType": "RANGE"}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    table.wait_until_exists()
    use_items(table)
    use_pages(table)
    use_transactions(client, "things")
    use_statements(client, "things")
    streams = boto3.client("dynamodbstreams", **options)
    arn = streams.list_streams(TableName="things")["Streams"][0]["StreamArn"]
    shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard,
                                          ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
    records = streams.get_records(ShardIterator=iterator, Limit=2)["Records"]
    assert [record["eventName"] for record in records] == ["INSERT", "INSERT"], records
    code, response = refusal(client.get_item, TableName="nothing", Key={"pk": {"S": "a"}})
    assert code == "ResourceNotFoundException", response
    table.delete()
    table.wait_until_not_exists()
    print("ok")


if __name__ == "__main__":
    main(sys.argv[1])
