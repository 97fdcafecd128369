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

// Tokens keeps tokens in a DynamoDB table. It is a [token.Store].
type Tokens struct {
	Client *Client
	Table  string
}

var _ token.Store = (*Tokens)(nil)

// tokenItem has the fields of [token.Token], which converts to it. The attribute names must not change.
type tokenItem struct {
	ID        string    `dynamodbav:"id"`
	Digest    string    `dynamodbav:"digest"`
	Subject   string    `dynamodbav:"subject"`
	CreatedAt time.Time `dynamodbav:"created_at"`          // RFC 3339, in UTC
	ExpiresAt time.Time `dynamodbav:"expires_at,unixtime"` // the table's TTL attribute
	Revoked   bool      `dynamodbav:"revoked,omitempty"`   // set by [Tokens.Revoke]
}

// Find implements [token.Store]. The read is consistent, so that a revoked token is refused at once.
func (s *Tokens) Find(ctx context.Context, id string) (token.Token, error) {
	in := &dynamodb.GetItemInput{TableName: &s.Table, Key: tokenKey(id), ConsistentRead: aws.Bool(true)}
	out, err := withRetries(ctx, s.Client.retryer, token.ErrUnavailable, func() (*dynamodb.GetItemOutput, error) {
		return s.Client.api.GetItem(ctx, in)
	})
	if err != nil {
		return token.Token{}, err
	}
	if len(out.Item) == 0 {
		return token.Token{}, token.ErrNotFound
	}
	return decodeToken(out.Item)
}

func tokenKey(id string) attributes {
	return attributes{"id": &types.AttributeValueMemberS{Value: id}}
}

// Add stores t. It may be repeated, and never changes a stored token: if another one has the id, it returns an error.
// After [token.ErrUnavailable], the token may have been stored.
func (s *Tokens) Add(ctx context.Context, t token.Token) error {
	item, err := attributevalue.MarshalMap(tokenItem(t))
	if err != nil {
		return err
	}
	existing, err := s.Client.put(ctx, s.Table, item, token.ErrUnavailable)
	if existing != nil && !equal(existing, item, "digest", "subject", "created_at", "expires_at") {
		return errors.New("dynamo: another token has this id")
	}
	return err // nil if this attempt or an earlier one stored it
}

// decodeToken returns an error for an item that is not a token. A token without expires_at is expired.
func decodeToken(item attributes) (token.Token, error) {
	known := attributes{} // UnmarshalMap ignores the case of names, and would read Revoked as revoked
	for _, name := range []string{"id", "digest", "subject", "created_at", "expires_at", "revoked"} {
		if value, ok := item[name]; ok {
			known[name] = value
		}
	}
	var t tokenItem
	err := attributevalue.UnmarshalMap(known, &t)
	if err == nil && (t.Digest == "" || t.Subject == "") {
		err = errors.New("it has no digest or no subject")
	}
	if err != nil {
		var id string
		_ = attributevalue.Unmarshal(item["id"], &id) // the table's key is a string
		return token.Token{}, fmt.Errorf("dynamo: the item with the id %q is not a token: %w", id, err)
	}
	t.ExpiresAt = t.ExpiresAt.UTC()
	return token.Token(t), nil
}

// Revoke makes the token with this id invalid for good. It may be repeated. It can return [token.ErrNotFound] or
// [token.ErrUnavailable], after which the token may have been revoked. The item stays in the table until the token expires:
// if it were deleted, a delayed Add could store the token again.
func (s *Tokens) Revoke(ctx context.Context, id string) error {
	in := &dynamodb.UpdateItemInput{
		TableName:                 &s.Table,
		Key:                       tokenKey(id),
		ConditionExpression:       aws.String("attribute_exists(id)"),
		UpdateExpression:          aws.String("SET revoked = :true"),
		ExpressionAttributeValues: attributes{":true": &types.AttributeValueMemberBOOL{Value: true}},
	}
	_, err := withRetries(ctx, s.Client.retryer, token.ErrUnavailable, func() (*dynamodb.UpdateItemOutput, error) {
		return s.Client.api.UpdateItem(ctx, in)
	})
	if _, missing := errors.AsType[*types.ConditionalCheckFailedException](err); missing {
		return token.ErrNotFound
	}
	return err
}

// List returns all tokens, in no particular order, and an error for each item that is not a token. DynamoDB removes a
// token some time after it expires.
func (s *Tokens) List(ctx context.Context) ([]token.Token, error) {
	var tokens []token.Token
	var others []error
	in := &dynamodb.ScanInput{TableName: &s.Table, ConsistentRead: aws.Bool(true)}
	for {
		page, err := s.scan(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			t, err := decodeToken(item)
			if err != nil {
				others = append(others, err)
				continue
			}
			tokens = append(tokens, t)
		}
		if len(page.LastEvaluatedKey) == 0 {
			return tokens, errors.Join(others...)
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// scan reads one page. Each page gets 10 s, however many there are.
func (s *Tokens) scan(ctx context.Context, in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return withRetries(ctx, s.Client.retryer, token.ErrUnavailable, func() (*dynamodb.ScanOutput, error) {
		return s.Client.api.Scan(ctx, in)
	})
}
