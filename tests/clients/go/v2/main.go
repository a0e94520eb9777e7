// Uses the tables with the AWS SDK for Go, version 2, as a program written for DynamoDB does.
//
// Usage: go_v2
//
// AWS_ENDPOINT_URL is the address; credentials come from AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY. It prints "ok" at its end; a difference panics.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// The cache of documents, as its design has it: the table, its indexes and its items.
const cache = "go-2-customer-contact-manager-cache"

type document struct {
	ObjectID     string   `dynamodbav:"object_id"`
	ObjectType   string   `dynamodbav:"object_type"`
	CustomerCode string   `dynamodbav:"customer_code"`
	Customers    []string `dynamodbav:"customers"`
	Status       string   `dynamodbav:"status"`
	CreatedAt    int64    `dynamodbav:"created_at"`
	ModifiedAt   int64    `dynamodbav:"modified_at"`
	Bucket       string   `dynamodbav:"s3_bucket"`
	Key          string   `dynamodbav:"s3_key"`
	TTL          int64    `dynamodbav:"ttl"`
	JSON         string   `dynamodbav:"document_json"`
}

var ctx = context.Background()

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func equal(what string, got, wanted interface{}) {
	if !reflect.DeepEqual(got, wanted) {
		panic(fmt.Sprintf("%s: got %v, wanted %v", what, got, wanted))
	}
}

// The code of the error that a call must have.
func code(err error) string {
	var refusal smithy.APIError
	if !errors.As(err, &refusal) {
		panic(fmt.Sprintf("not an error of the service: %v", err))
	}
	return refusal.ErrorCode()
}

func connect() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:           "us-east-1",
		EndpointResolver: dynamodb.EndpointResolverFromURL(os.Getenv("AWS_ENDPOINT_URL")),
		Credentials: credentials.NewStaticCredentialsProvider(
			os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), ""),
	})
}

func create(client *dynamodb.Client) {
	define := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: kind}
	}
	index := func(name, key string) types.GlobalSecondaryIndex {
		return types.GlobalSecondaryIndex{
			IndexName: aws.String(name),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String(key), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String("created_at"), KeyType: types.KeyTypeRange}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}}
	}
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String(cache),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			define("object_id", types.ScalarAttributeTypeS),
			define("object_type", types.ScalarAttributeTypeS),
			define("customer_code", types.ScalarAttributeTypeS),
			define("status", types.ScalarAttributeTypeS),
			define("created_at", types.ScalarAttributeTypeN)},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("object_id"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			index("TimeRangeIndex", "object_type"), index("CustomerTimeIndex", "customer_code"),
			index("StatusTimeIndex", "status")}})
	must(err)
	must(dynamodb.NewTableExistsWaiter(client).Wait(
		ctx, &dynamodb.DescribeTableInput{TableName: aws.String(cache)}, time.Minute))
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String(cache),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)}})
	must(err)
}

func put(client *dynamodb.Client, doc document) {
	item, err := attributevalue.MarshalMap(doc)
	must(err)
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(cache), Item: item})
	must(err)
}

func query(client *dynamodb.Client, index, key, value string, from, to int64) []document {
	condition := expression.Key(key).Equal(expression.Value(value)).And(
		expression.Key("created_at").Between(expression.Value(from), expression.Value(to)))
	built, err := expression.NewBuilder().WithKeyCondition(condition).Build()
	must(err)
	var found []document
	pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
		TableName: aws.String(cache), IndexName: aws.String(index), Limit: aws.Int32(2),
		KeyConditionExpression:    built.KeyCondition(),
		ExpressionAttributeNames:  built.Names(),
		ExpressionAttributeValues: built.Values()})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		must(err)
		var documents []document
		must(attributevalue.UnmarshalListOfMaps(page.Items, &documents))
		found = append(found, documents...)
	}
	return found
}

// The operations of the cache manager. Its flaws show as they do on AWS: a document is found under
// its first customer only, and a stale write replaces a newer one.
func useCache(client *dynamodb.Client) {
	doc := document{ObjectType: "change", CustomerCode: "hts", Customers: []string{"hts", "cds"},
		Status: "approved", Bucket: "ccoe-change-metadata", JSON: "{}", TTL: 4102444800}
	for i := int64(1); i <= 5; i++ {
		doc.ObjectID = "CHG-2025-" + strconv.FormatInt(i, 10)
		doc.CreatedAt, doc.ModifiedAt = 1729123450+i, 1729234567
		put(client, doc)
	}
	equal("by time", len(query(client, "TimeRangeIndex", "object_type", "change",
		1729123452, 1729123454)), 3)
	equal("by customer", len(query(client, "CustomerTimeIndex", "customer_code", "hts",
		0, 1729123499)), 5)
	equal("by the second customer", len(query(client, "CustomerTimeIndex", "customer_code", "cds",
		0, 1729123499)), 0)
	equal("by status", query(client, "StatusTimeIndex", "status", "approved",
		1729123455, 1729123455), []document{doc})

	key := map[string]types.AttributeValue{"object_id": &types.AttributeValueMemberS{Value: doc.ObjectID}}
	stale := doc
	stale.ModifiedAt--
	put(client, stale)
	got, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(cache), Key: key,
		ConsistentRead: aws.Bool(true)})
	must(err)
	var read document
	must(attributevalue.UnmarshalMap(got.Item, &read))
	equal("after a stale write", read, stale)

	// A reserved word, as somebody writes it who does not use the builder of expressions.
	_, err = client.Query(ctx, &dynamodb.QueryInput{
		TableName: aws.String(cache), IndexName: aws.String("StatusTimeIndex"),
		KeyConditionExpression: aws.String("status = :s"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":s": &types.AttributeValueMemberS{Value: "approved"}}})
	equal("a reserved word", err != nil && code(err) == "ValidationException", true)

	_, err = client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(cache), Key: key})
	must(err)
	gone, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(cache), Key: key})
	must(err)
	equal("a deleted document", len(gone.Item), 0)
}

func useErrors(client *dynamodb.Client) {
	id := map[string]types.AttributeValue{"object_id": &types.AttributeValueMemberS{Value: "CHG-2025-1"}}
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(cache), Item: id,
		ConditionExpression: aws.String("attribute_not_exists(object_id)")})
	var failed *types.ConditionalCheckFailedException
	equal("a condition", errors.As(err, &failed), true)
	_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{
			{Delete: &types.Delete{TableName: aws.String(cache), Key: id}},
			{ConditionCheck: &types.ConditionCheck{TableName: aws.String(cache),
				Key: map[string]types.AttributeValue{
					"object_id": &types.AttributeValueMemberS{Value: "none"}},
				ConditionExpression: aws.String("attribute_exists(object_id)")}}}})
	var cancelled *types.TransactionCanceledException
	equal("a transaction", errors.As(err, &cancelled), true)
	equal("its reasons", aws.ToString(cancelled.CancellationReasons[1].Code),
		"ConditionalCheckFailed")
	_, err = client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("go-nothing"), Key: id})
	equal("a missing table", code(err), "ResourceNotFoundException")
}

func main() {
	client := connect()
	create(client)
	useCache(client)
	useErrors(client)
	_, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(cache)})
	must(err)
	fmt.Println("ok")
}
