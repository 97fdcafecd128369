package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plantstore/internal/token"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
	out, err := s.Client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &s.Table,
		Key:            tokenKey(digest),
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return token.Token{}, translate(ctx, "get token", err)
	}
	if len(out.Item) == 0 {
		return token.Token{}, token.ErrNotFound
	}
	return decodeToken(out.Item)
}

// Add implements [token.Store].
func (s *TokenStore) Add(ctx context.Context, t token.Token) error {
	item, err := attributevalue.MarshalMap(tokenItem(t))
	if err != nil {
		return fmt.Errorf("dynamo: encode token: %w", err)
	}
	_, err = s.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.Table, Item: item})
	return translate(ctx, "put token", err)
}

// List implements [token.Store].
func (s *TokenStore) List(ctx context.Context) ([]token.Token, error) {
	var tokens []token.Token
	pages := dynamodb.NewScanPaginator(s.Client, &dynamodb.ScanInput{
		TableName:      &s.Table,
		ConsistentRead: aws.Bool(true),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, translate(ctx, "scan tokens", err)
		}
		for _, item := range page.Items {
			t, err := decodeToken(item)
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, t)
		}
	}
	return tokens, nil
}

// Revoke implements [token.Store].
func (s *TokenStore) Revoke(ctx context.Context, id string) error {
	tokens, err := s.List(ctx)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		if t.ID == id {
			_, err := s.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
				TableName: &s.Table,
				Key:       tokenKey(t.Digest),
			})
			return translate(ctx, "delete token", err)
		}
	}
	return token.ErrNotFound
}

func tokenKey(digest string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"digest": &types.AttributeValueMemberS{Value: digest}}
}

func decodeToken(item map[string]types.AttributeValue) (token.Token, error) {
	var stored tokenItem
	if err := attributevalue.UnmarshalMap(item, &stored); err != nil {
		return token.Token{}, fmt.Errorf("dynamo: decode token: %w", err)
	}
	stored.ExpiresAt = stored.ExpiresAt.UTC()
	return token.Token(stored), nil
}

// translate returns the error of an operation on tokens as package token knows
// it, and nil for nil.
func translate(ctx context.Context, operation string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || newRetryer().IsErrorRetryable(err) || tableMissing(err):
		return fmt.Errorf("%w: %s: %w", token.ErrUnavailable, operation, err)
	}
	return fmt.Errorf("dynamo: %s: %w", operation, err)
}

func tableMissing(err error) bool {
	var missing *types.ResourceNotFoundException
	return errors.As(err, &missing)
}
