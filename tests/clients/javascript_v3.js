// Uses the tables with the AWS SDK for JavaScript, version 3, as a program written for DynamoDB
// does.
//
// Usage: node tests/clients/javascript_v3.js
//
// AWS_ENDPOINT_URL is the address; credentials come from the environment. It prints "ok" at its
// end; a difference throws.
'use strict';

const assert = require('node:assert/strict');
const {
  CreateTableCommand, DeleteTableCommand, DescribeTableCommand, DynamoDBClient, ListTablesCommand,
  paginateScan, PutItemCommand, UpdateTimeToLiveCommand, waitUntilTableExists,
  waitUntilTableNotExists,
} = require('@aws-sdk/client-dynamodb');
const {
  DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand,
  ListStreamsCommand,
} = require('@aws-sdk/client-dynamodb-streams');
const {
  BatchGetCommand, BatchWriteCommand, DeleteCommand, DynamoDBDocumentClient, GetCommand, PutCommand,
  QueryCommand, ScanCommand, TransactGetCommand, TransactWriteCommand, UpdateCommand,
} = require('@aws-sdk/lib-dynamodb');

const TABLE = 'javascript-3';
const region = { region: 'us-east-1' };
const client = new DynamoDBClient(region);
const streams = new DynamoDBStreamsClient(region);
const documents = DynamoDBDocumentClient.from(client);

// The error that a call must have.
async function refusal(name, call) {
  const error = await call.then(() => null, (reason) => reason);
  assert.notEqual(error, null, 'the call was accepted');
  assert.equal(error.name, name, error.message);
  return error;
}

async function useTables() {
  await client.send(new CreateTableCommand({
    TableName: TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'sk', AttributeType: 'N' },
      { AttributeName: 'owner', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [{
      IndexName: 'by-owner',
      KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    }],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  }));
  await waitUntilTableExists({ client, maxWaitTime: 30 }, { TableName: TABLE });
  const { Table } = await client.send(new DescribeTableCommand({ TableName: TABLE }));
  assert.ok(Table.CreationDateTime instanceof Date);
  assert.equal(Table.GlobalSecondaryIndexes[0].IndexStatus, 'ACTIVE');
  assert.ok((await client.send(new ListTablesCommand({}))).TableNames.includes(TABLE));
  await client.send(new UpdateTimeToLiveCommand({
    TableName: TABLE, TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
  }));
}

async function useItems() {
  const Item = {
    pk: 'a', sk: 1, text: 'äöü 😀', set: new Set(['x', 'y']), numbers: new Set([1, 2]),
    bytes: new Uint8Array([0, 255]), list: [1.5, null, true, { deep: 'map' }], owner: 'ann',
  };
  await documents.send(new PutCommand({ TableName: TABLE, Item }));
  const got = await documents.send(new GetCommand({ TableName: TABLE, Key: { pk: 'a', sk: 1 } }));
  assert.deepEqual(got.Item, Item);
  const failed = await refusal('ConditionalCheckFailedException', client.send(new PutItemCommand({
    TableName: TABLE,
    Item: { pk: { S: 'a' }, sk: { N: '1' } },
    ConditionExpression: 'attribute_not_exists(pk)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })));
  assert.equal(failed.message, 'The conditional request failed');
  assert.equal(failed.Item.owner.S, 'ann');
  const updated = await documents.send(new UpdateCommand({
    TableName: TABLE,
    Key: { pk: 'a', sk: 2 },
    UpdateExpression: 'ADD #h :one',
    ExpressionAttributeNames: { '#h': 'hits' },
    ExpressionAttributeValues: { ':one': 1 },
    ReturnValues: 'UPDATED_NEW',
    ReturnConsumedCapacity: 'TOTAL',
  }));
  assert.deepEqual(updated.Attributes, { hits: 1 });
  assert.equal(updated.ConsumedCapacity.CapacityUnits, 1);
  const gone = await documents.send(new DeleteCommand({
    TableName: TABLE, Key: { pk: 'a', sk: 2 }, ReturnValues: 'ALL_OLD',
  }));
  assert.deepEqual(gone.Attributes, { pk: 'a', sk: 2, hits: 1 });
}

async function usePages() {
  const puts = Array.from({ length: 25 }, (_, sk) => (
    { PutRequest: { Item: { pk: 'many', sk, owner: 'bob', text: 'x'.repeat(1000) } } }));
  const written = await documents.send(new BatchWriteCommand({ RequestItems: { [TABLE]: puts } }));
  assert.deepEqual(written.UnprocessedItems, {});
  const query = {
    TableName: TABLE, KeyConditionExpression: 'pk = :p AND sk >= :s',
    ExpressionAttributeValues: { ':p': 'many', ':s': 5 }, Limit: 15,
  };
  const first = await documents.send(new QueryCommand(query));
  assert.equal(first.Count, 15);
  const second = await documents.send(
    new QueryCommand({ ...query, ExclusiveStartKey: first.LastEvaluatedKey }));
  assert.deepEqual(second.Items.map((item) => item.sk), [20, 21, 22, 23, 24]);
  const owned = await documents.send(new QueryCommand({
    TableName: TABLE, IndexName: 'by-owner', KeyConditionExpression: '#o = :o',
    ExpressionAttributeNames: { '#o': 'owner' }, ExpressionAttributeValues: { ':o': 'ann' },
  }));
  assert.deepEqual(owned.Items, [{ pk: 'a', sk: 1, owner: 'ann' }]);
  let count = 0;
  for await (const page of paginateScan({ client, pageSize: 7 }, { TableName: TABLE })) {
    count += page.Count;
  }
  assert.equal(count, 26);
  const { Count } = await documents.send(new ScanCommand({ TableName: TABLE, Select: 'COUNT' }));
  assert.equal(Count, 26);
  const got = await documents.send(new BatchGetCommand({
    RequestItems: { [TABLE]: { Keys: [{ pk: 'many', sk: 3 }, { pk: 'none', sk: 1 }] } },
  }));
  assert.deepEqual(got.Responses[TABLE].map((item) => item.sk), [3]);
}

async function useTransactions() {
  const Update = {
    TableName: TABLE, Key: { pk: 'a', sk: 1 }, UpdateExpression: 'ADD hits :one',
    ExpressionAttributeValues: { ':one': 1 },
  };
  await documents.send(new TransactWriteCommand({ TransactItems: [{ Update }] }));
  const ConditionCheck = {
    TableName: TABLE, Key: { pk: 'none', sk: 1 }, ConditionExpression: 'attribute_exists(pk)',
  };
  const cancelled = await refusal('TransactionCanceledException', documents.send(
    new TransactWriteCommand({ TransactItems: [{ Update }, { ConditionCheck }] })));
  assert.deepEqual(cancelled.CancellationReasons.map((reason) => reason.Code),
    ['None', 'ConditionalCheckFailed']);
  const got = await documents.send(new TransactGetCommand({
    TransactItems: [{ Get: { TableName: TABLE, Key: { pk: 'a', sk: 1 } } }],
  }));
  assert.equal(got.Responses[0].Item.hits, 1);
}

async function useStreams() {
  const { Streams } = await streams.send(new ListStreamsCommand({ TableName: TABLE }));
  const { StreamArn } = Streams[0];
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
  const { ShardIterator } = await streams.send(new GetShardIteratorCommand({
    StreamArn, ShardId: StreamDescription.Shards[0].ShardId, ShardIteratorType: 'TRIM_HORIZON',
  }));
  const { Records } = await streams.send(new GetRecordsCommand({ ShardIterator, Limit: 3 }));
  assert.deepEqual(Records.map((record) => record.eventName), ['INSERT', 'INSERT', 'REMOVE']);
  assert.equal(Records[0].dynamodb.NewImage.owner.S, 'ann');
}

// The class of the seed 004, as it stands there.
class EventDeduplicationService {
  constructor() {
    const client = new DynamoDBClient({ region: process.env.AWS_REGION || 'us-east-1' });
    this.docClient = DynamoDBDocumentClient.from(client);
    this.tableName = process.env.DEDUP_TABLE_NAME || 'slack-classify-bot-processed-events';
    this.ttlHours = 6; // 6時間後に自動削除
  }

  async checkAndMarkProcessed(eventKey, metadata) {
    const now = Math.floor(Date.now() / 1000);
    const ttl = now + (this.ttlHours * 3600);

    const params = {
      TableName: this.tableName,
      Item: {
        event_key: eventKey,
        processed_at: now,
        ttl: ttl,
        ...metadata
      },
      ConditionExpression: 'attribute_not_exists(event_key)'
    };

    try {
      await this.docClient.send(new PutCommand(params));
      return { isNew: true };
    } catch (error) {
      if (error.name === 'ConditionalCheckFailedException') {
        return { isNew: false, reason: 'Already processed by another instance' };
      }
      throw error;
    }
  }
}

async function useSeed() {
  const service = new EventDeduplicationService();
  const metadata = {
    file_id: 'F1', channel_id: 'C1', user_id: 'U1', lambda_instance_id: 'instance',
  };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => service.checkAndMarkProcessed('F1_1.5', metadata)));
  assert.equal(answers.filter((answer) => answer.isNew).length, 1);
}

async function main() {
  await useTables();
  await useItems();
  await usePages();
  await useTransactions();
  await useStreams();
  await useSeed();
  const error = await refusal('ResourceNotFoundException', documents.send(
    new GetCommand({ TableName: 'nothing', Key: { pk: 'a' } })));
  assert.equal(error.$metadata.httpStatusCode, 400);
  await client.send(new DeleteTableCommand({ TableName: TABLE }));
  await waitUntilTableNotExists({ client, maxWaitTime: 30 }, { TableName: TABLE });
  console.log('ok');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
