// Uses the tables with the AWS SDK for JavaScript, version 2, as a program written for DynamoDB
// does.
//
// Usage: node tests/clients/javascript_v2.js
//
// AWS_ENDPOINT_URL is the address; credentials come from the environment. It prints "ok" at its
// end; a difference throws.
'use strict';

process.env.AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE = '1';
const assert = require('node:assert/strict');
const AWS = require('aws-sdk');

const TABLE = 'javascript-2';
const options = { region: 'us-east-1', endpoint: process.env.AWS_ENDPOINT_URL };
const client = new AWS.DynamoDB(options);
const streams = new AWS.DynamoDBStreams(options);
const documents = new AWS.DynamoDB.DocumentClient(options);

// The error that a call must have.
async function refusal(code, call) {
  const error = await call.promise().then(() => null, (reason) => reason);
  assert.notEqual(error, null, 'the call was accepted');
  assert.equal(error.code, code, error.message);
  return error;
}

async function main() {
  await client.createTable({
    TableName: TABLE,
    ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 5 },
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'sk', AttributeType: 'N' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
  }).promise();
  await client.waitFor('tableExists', { TableName: TABLE }).promise();

  const Item = { pk: 'a', sk: 1, text: 'äöü', list: [1.5, null, true, { deep: 'map' }] };
  await documents.put({ TableName: TABLE, Item }).promise();
  const got = await documents.get({ TableName: TABLE, Key: { pk: 'a', sk: 1 } }).promise();
  assert.deepEqual(got.Item, Item);
  await refusal('ConditionalCheckFailedException', documents.put({
    TableName: TABLE, Item, ConditionExpression: 'attribute_not_exists(pk)',
  }));
  // The older parameters, which programs of this version still use.
  await refusal('ConditionalCheckFailedException', client.putItem({
    TableName: TABLE, Item: { pk: { S: 'a' }, sk: { N: '1' } }, Expected: { pk: { Exists: false } },
  }));
  const updated = await client.updateItem({
    TableName: TABLE,
    Key: { pk: { S: 'a' }, sk: { N: '2' } },
    AttributeUpdates: { hits: { Action: 'ADD', Value: { N: '1' } } },
    ReturnValues: 'ALL_NEW',
  }).promise();
  assert.equal(updated.Attributes.hits.N, '1');

  const RequestItems = {
    [TABLE]: Array.from({ length: 20 }, (_, sk) => ({ PutRequest: { Item: { pk: 'many', sk } } })),
  };
  await documents.batchWrite({ RequestItems }).promise();
  const page = await documents.query({
    TableName: TABLE,
    KeyConditions: {
      pk: { ComparisonOperator: 'EQ', AttributeValueList: ['many'] },
      sk: { ComparisonOperator: 'BETWEEN', AttributeValueList: [5, 9] },
    },
    ScanIndexForward: false,
  }).promise();
  assert.deepEqual(page.Items.map((item) => item.sk), [9, 8, 7, 6, 5]);
  await refusal('TransactionCanceledException', documents.transactWrite({
    TransactItems: [{
      ConditionCheck: {
        TableName: TABLE, Key: { pk: 'b', sk: 1 }, ConditionExpression: 'attribute_exists(pk)',
      },
    }],
  }));

  const { LatestStreamArn } =
    (await client.describeTable({ TableName: TABLE }).promise()).Table;
  const { StreamDescription } =
    await streams.describeStream({ StreamArn: LatestStreamArn }).promise();
  const { ShardIterator } = await streams.getShardIterator({
    StreamArn: LatestStreamArn,
    ShardId: StreamDescription.Shards[0].ShardId,
    ShardIteratorType: 'TRIM_HORIZON',
  }).promise();
  const { Records } = await streams.getRecords({ ShardIterator, Limit: 1 }).promise();
  assert.equal(Records[0].dynamodb.NewImage.text.S, 'äöü');

  await refusal('ResourceNotFoundException', client.describeTable({ TableName: 'nothing' }));
  await client.deleteTable({ TableName: TABLE }).promise();
  await client.waitFor('tableNotExists', { TableName: TABLE }).promise();
  console.log('ok');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
