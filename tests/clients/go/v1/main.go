// Uses the tables with the AWS SDK for Go, version 1, as a program written for DynamoDB does.
//
// Usage: go_v1
//
// AWS_ENDPOINT_URL is the address; credentials come from the environment. It prints "ok" at its
// end; a difference panics.
package main

import (
	"fmt"
	"os"
	"reflect"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/awserr"
	"github.com/aws/aws-sdk-go/aws/session"
	"github.com/aws/aws-sdk-go/service/dynamodb"
	"github.com/aws/aws-sdk-go/service/dynamodb/dynamodbattribute"
	"github.com/aws/aws-sdk-go/service/dynamodb/expression"
)

const table = "go-1"

type thing struct {
	Name   string            `dynamodbav:"pk"`
	Number int               `dynamodbav:"sk"`
	Tags   []string          `dynamodbav:"tags,stringset,omitempty"`
	Bytes  []byte            `dynamodbav:"bytes,omitempty"`
	Deep   map[string][]bool `dynamodbav:"deep,omitempty"`
}

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
	refusal, is := err.(awserr.Error)
	if !is {
		panic(fmt.Sprintf("not an error of the service: %v", err))
	}
	return refusal.Code()
}

func create(client *dynamodb.DynamoDB) {
	_, err := client.CreateTable(&dynamodb.CreateTableInput{
		TableName:   aws.String(table),
		BillingMode: aws.String(dynamodb.BillingModePayPerRequest),
		AttributeDefinitions: []*dynamodb.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: aws.String("S")},
			{AttributeName: aws.String("sk"), AttributeType: aws.String("N")}},
		KeySchema: []*dynamodb.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: aws.String("HASH")},
			{AttributeName: aws.String("sk"), KeyType: aws.String("RANGE")}}})
	must(err)
	must(client.WaitUntilTableExists(&dynamodb.DescribeTableInput{TableName: aws.String(table)}))
}

func useItems(client *dynamodb.DynamoDB) {
	written := thing{Name: "äöü", Number: 1, Tags: []string{"x", "y"}, Bytes: []byte{0, 255},
		Deep: map[string][]bool{"a": {true, false}}}
	item, err := dynamodbattribute.MarshalMap(written)
	must(err)
	_, err = client.PutItem(&dynamodb.PutItemInput{TableName: aws.String(table), Item: item})
	must(err)
	key := map[string]*dynamodb.AttributeValue{
		"pk": {S: aws.String("äöü")}, "sk": {N: aws.String("1.0")}}
	got, err := client.GetItem(&dynamodb.GetItemInput{TableName: aws.String(table), Key: key})
	must(err)
	var read thing
	must(dynamodbattribute.UnmarshalMap(got.Item, &read))
	equal("an item", read, written)

	built, err := expression.NewBuilder().
		WithUpdate(expression.Add(expression.Name("hits"), expression.Value(1))).
		WithCondition(expression.Name("missing").AttributeExists()).Build()
	must(err)
	_, err = client.UpdateItem(&dynamodb.UpdateItemInput{TableName: aws.String(table), Key: key,
		UpdateExpression: built.Update(), ConditionExpression: built.Condition(),
		ExpressionAttributeNames: built.Names(), ExpressionAttributeValues: built.Values()})
	equal("a condition", code(err), dynamodb.ErrCodeConditionalCheckFailedException)
	_, err = client.GetItem(&dynamodb.GetItemInput{TableName: aws.String("go-nothing"), Key: key})
	equal("a missing table", code(err), dynamodb.ErrCodeResourceNotFoundException)
}

func usePages(client *dynamodb.DynamoDB) {
	var requests []*dynamodb.WriteRequest
	for i := 0; i < 25; i++ {
		item, err := dynamodbattribute.MarshalMap(thing{Name: "many", Number: i})
		must(err)
		requests = append(requests,
			&dynamodb.WriteRequest{PutRequest: &dynamodb.PutRequest{Item: item}})
	}
	_, err := client.BatchWriteItem(&dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]*dynamodb.WriteRequest{table: requests}})
	must(err)
	count := 0
	must(client.QueryPages(&dynamodb.QueryInput{
		TableName: aws.String(table), Limit: aws.Int64(7),
		KeyConditionExpression: aws.String("pk = :p AND sk >= :s"),
		ExpressionAttributeValues: map[string]*dynamodb.AttributeValue{
			":p": {S: aws.String("many")}, ":s": {N: aws.String("5")}}},
		func(page *dynamodb.QueryOutput, last bool) bool {
			count += len(page.Items)
			return true
		}))
	equal("the pages", count, 20)
}

func main() {
	client := dynamodb.New(session.Must(session.NewSession(&aws.Config{
		Region: aws.String("us-east-1"), Endpoint: aws.String(os.Getenv("AWS_ENDPOINT_URL"))})))
	create(client)
	useItems(client)
	usePages(client)
	_, err := client.DeleteTable(&dynamodb.DeleteTableInput{TableName: aws.String(table)})
	must(err)
	fmt.Println("ok")
}
