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

// TokenStore is a [token.Store] in a DynamoDB table.
type TokenStore struct {
	Client   *dynamodb.Client
	Table    string
	Progress func(tokens int) // unless nil, is called with the number that a scan has read so far
}

var _ token.Store = (*TokenStore)(nil)

// tokenItem is a token as the table holds it. A revoked one stays until it would have expired:
// without it, a put that was delayed could store the token again.
type tokenItem struct {
	Digest    string    `dynamodbav:"digest"`
	ID        string    `dynamodbav:"id"`
	Subject   string    `dynamodbav:"subject"`
	CreatedAt time.Time `dynamodbav:"created_at"`          // RFC 3339, UTC
	ExpiresAt time.Time `dynamodbav:"expires_at,unixtime"` // the table's TTL attribute
	Revoked   bool      `dynamodbav:"revoked,omitempty"`
}

// Find implements [token.Finder]. It reads consistently, so that a revoked token is refused at once.
func (s *TokenStore) Find(ctx context.Context, digest string) (token.Token, error) {
	out, err := call(ctx, s.Client.GetItem, &dynamodb.GetItemInput{
		TableName:      &s.Table,
		Key:            map[string]types.AttributeValue{"digest": text(digest)},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return token.Token{}, tokenError(err)
	}
	if len(out.Item) == 0 {
		return token.Token{}, token.ErrNotFound
	}
	t, err := decodeToken(out.Item)
	if err == nil && t.Digest != digest {
		return token.Token{}, errors.New("dynamo: get token: the item has another digest")
	}
	return t, err
}

// Add implements [token.Store].
func (s *TokenStore) Add(ctx context.Context, t token.Token) error {
	item, err := attributevalue.MarshalMap(tokenItem(t))
	if err != nil {
		return fmt.Errorf("dynamo: encode token: %w", err)
	}
	_, err = call(ctx, s.Client.PutItem, &dynamodb.PutItemInput{
		TableName:                           &s.Table,
		Item:                                item,
		ConditionExpression:                 aws.String("attribute_not_exists(digest)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if exists, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		stored, unreadable := decodeToken(exists.Item)
		stored.Revoked = t.Revoked
		if unreadable == nil && stored == t {
			return nil // an earlier attempt stored it
		}
		return errors.New("dynamo: put token: another token has this digest")
	}
	return tokenError(err)
}

// Revoke implements [token.Store].
func (s *TokenStore) Revoke(ctx context.Context, digest string) error {
	_, err := call(ctx, s.Client.UpdateItem, &dynamodb.UpdateItemInput{
		TableName:                 &s.Table,
		Key:                       map[string]types.AttributeValue{"digest": text(digest)},
		ConditionExpression:       aws.String("attribute_exists(digest)"),
		UpdateExpression:          aws.String("SET revoked = :true"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":true": &types.AttributeValueMemberBOOL{Value: true}},
	})
	if causedBy[*types.ConditionalCheckFailedException](err) {
		return token.ErrNotFound
	}
	return tokenError(err)
}

// tokenError translates the error of a call for package token.
func tokenError(err error) error {
	failure, ok := errors.AsType[*Error](err)
	if ok && (failure.Applied || failure.Temporary) {
		return fmt.Errorf("%w: %w", token.ErrUnavailable, err)
	}
	return err
}

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

// decodeToken returns the token that an item holds. An item that somebody else wrote may hold none,
// or a time that JSON cannot express.
func decodeToken(item map[string]types.AttributeValue) (token.Token, error) {
	var stored tokenItem
	if err := attributevalue.UnmarshalMap(item, &stored); err != nil {
		return token.Token{}, fmt.Errorf("dynamo: decode token: %w", err)
	}
	stored.ExpiresAt = stored.ExpiresAt.UTC()
	if year := stored.ExpiresAt.Year(); stored.Digest == "" || year < 0 || year > 9999 {
		return token.Token{}, errors.New("dynamo: an item of the table is no token")
	}
	return token.Token(stored), nil
}
