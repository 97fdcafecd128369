package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/token"
)

// Add implements [token.Store].
func (s *Tokens) Add(ctx context.Context, t token.Token) error {
	item, err := attributevalue.MarshalMap(tokenItem(t))
	if err != nil {
		return fmt.Errorf("dynamo: encode token: %w", err)
	}
	_, err = call(ctx, s.Client, (*dynamodb.Client).PutItem, &dynamodb.PutItemInput{
		TableName:                           &s.Table,
		Item:                                item,
		ConditionExpression:                 aws.String("attribute_not_exists(" + tokenKey + ")"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if conditionFailed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return checkExistingToken(t, conditionFailed.Item)
	}
	return translate(err, token.ErrOutcomeUnknown, token.ErrUnavailable)
}

// checkExistingToken returns the outcome of adding t if its id has the item with these attributes.
func checkExistingToken(t token.Token, attributes map[string]types.AttributeValue) error {
	if len(attributes) == 0 {
		return fmt.Errorf("%w: the id exists, and DynamoDB did not return its item", token.ErrOutcomeUnknown)
	}
	stored, err := decodeToken(attributes)
	stored.Revoked = t.Revoked
	if err != nil || stored != t {
		return errors.New("dynamo: put token: another token has this id")
	}
	return nil // an earlier attempt stored it
}

// Revoke implements [token.Store]. It revokes any item with this id, readable or not.
func (s *Tokens) Revoke(ctx context.Context, id string) error {
	_, err := call(ctx, s.Client, (*dynamodb.Client).UpdateItem, &dynamodb.UpdateItemInput{
		TableName:                 &s.Table,
		Key:                       tokenItemKey(id),
		ConditionExpression:       aws.String("attribute_exists(" + tokenKey + ")"),
		UpdateExpression:          aws.String("SET revoked = :true"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":true": &types.AttributeValueMemberBOOL{Value: true}},
	})
	if causedBy[*types.ConditionalCheckFailedException](err) {
		return token.ErrNotFound
	}
	return translate(err, token.ErrOutcomeUnknown, token.ErrUnavailable)
}

// List returns every token that can be read, in no order. An expired or revoked one is listed until DynamoDB
// removes it, some time after it expires. If an item holds no token, List returns the error of the last such
// item, and the tokens of all others. If a page cannot be read, List returns that error, such as
// [token.ErrUnavailable], and the tokens of the pages before it.
func (s *Tokens) List(ctx context.Context) (tokens []token.Token, err error) {
	var unreadable error
	in := &dynamodb.ScanInput{TableName: &s.Table, ConsistentRead: aws.Bool(true), Limit: aws.Int32(pageSize)}
	for {
		page, err := s.scanPage(ctx, in)
		if err != nil {
			return tokens, err
		}
		for _, item := range page.Items {
			t, err := decodeToken(item)
			if err != nil {
				unreadable = err
				continue
			}
			tokens = append(tokens, t)
		}
		if len(page.LastEvaluatedKey) == 0 {
			return tokens, unreadable
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

const (
	pageTimeout = 10 * time.Second // for one page, retries included; a scan takes as long as pages come
	pageSize    = 4000             // tokens, about 1 MB. Without a limit, DynamoDB Local reads the whole table for each page
)

func (s *Tokens) scanPage(ctx context.Context, in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	page, err := call(ctx, s.Client, (*dynamodb.Client).Scan, in)
	return page, readError(err)
}
