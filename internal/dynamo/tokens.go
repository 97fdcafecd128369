package dynamo

import (
	"cmp"
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
	Client *dynamodb.Client
	Table  string
}

var _ token.Store = (*TokenStore)(nil)

// tokenItem is a token as the table holds it.
type tokenItem struct {
	Digest    string    `dynamodbav:"digest"`
	ID        string    `dynamodbav:"id"`
	Subject   string    `dynamodbav:"subject"`
	CreatedAt time.Time `dynamodbav:"created_at"`          // RFC 3339, UTC
	ExpiresAt time.Time `dynamodbav:"expires_at,unixtime"` // the table's TTL attribute
}

// Find implements [token.Finder]. It reads consistently, so that a token just
// revoked is refused at once.
func (s *TokenStore) Find(ctx context.Context, digest string) (token.Token, error) {
	a := new(attempts)
	out, err := s.Client.GetItem(a.watch(ctx), &dynamodb.GetItemInput{
		TableName:      &s.Table,
		Key:            tokenKey(digest),
		ConsistentRead: aws.Bool(true),
	}, a.option)
	if err != nil {
		return token.Token{}, unavailable(ctx, a, "get token", err)
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
	a := new(attempts)
	_, err = s.Client.PutItem(a.watch(ctx), &dynamodb.PutItemInput{TableName: &s.Table, Item: item}, a.option)
	return unavailable(ctx, a, "put token", err)
}

// List implements [token.Store]. It returns what it can read, also with an error.
func (s *TokenStore) List(ctx context.Context) ([]token.Token, error) {
	tokens := []token.Token{}
	var unreadable error
	err := s.scan(ctx, &dynamodb.ScanInput{}, func(item map[string]types.AttributeValue) error {
		if t, err := decodeToken(item); err == nil {
			tokens = append(tokens, t)
		} else {
			unreadable = err
		}
		return nil
	})
	return tokens, cmp.Or(err, unreadable)
}

// Revoke implements [token.Store]. It looks at nothing of a token but its id.
func (s *TokenStore) Revoke(ctx context.Context, id string) error {
	found := token.ErrNotFound
	err := s.scan(ctx, &dynamodb.ScanInput{
		FilterExpression:          aws.String("id = :id"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":id": &types.AttributeValueMemberS{Value: id}},
	}, func(item map[string]types.AttributeValue) error {
		found = nil
		a := new(attempts)
		_, err := s.Client.DeleteItem(a.watch(ctx), &dynamodb.DeleteItemInput{
			TableName: &s.Table,
			Key:       map[string]types.AttributeValue{"digest": item["digest"]},
		}, a.option)
		return unavailable(ctx, a, "delete token", err)
	})
	return cmp.Or(err, found)
}

// scan calls f with each item of the table that in selects.
func (s *TokenStore) scan(ctx context.Context, in *dynamodb.ScanInput, f func(map[string]types.AttributeValue) error) error {
	in.TableName, in.ConsistentRead = &s.Table, aws.Bool(true)
	for pages := dynamodb.NewScanPaginator(s.Client, in); pages.HasMorePages(); {
		a := new(attempts)
		page, err := pages.NextPage(a.watch(ctx), a.option)
		if err != nil {
			return unavailable(ctx, a, "scan tokens", err)
		}
		for _, item := range page.Items {
			if err := f(item); err != nil {
				return err
			}
		}
	}
	return nil
}

func tokenKey(digest string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"digest": &types.AttributeValueMemberS{Value: digest}}
}

func decodeToken(item map[string]types.AttributeValue) (token.Token, error) {
	var stored tokenItem
	if err := attributevalue.UnmarshalMap(item, &stored); err != nil {
		return token.Token{}, fmt.Errorf("dynamo: decode token: %w", err)
	}
	if stored.Digest == "" {
		return token.Token{}, errors.New("dynamo: an item of the table is no token")
	}
	stored.ExpiresAt = stored.ExpiresAt.UTC()
	return token.Token(stored), nil
}

// unavailable returns the error that ended an operation on tokens as package
// token knows it, and nil for nil.
func unavailable(ctx context.Context, a *attempts, operation string, err error) error {
	if err == nil {
		return nil
	}
	return a.outcome(ctx, operation, err, token.ErrUnavailable, token.ErrUnavailable)
}
