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
	Client *dynamodb.Client
	Table  string
}

var _ token.Store = (*Tokens)(nil)

// tokenItem is a token as the table holds it. A revoked one stays until it expires: if it were deleted, an Add that
// was delayed would store it as a valid one.
type tokenItem struct {
	ID        string    `dynamodbav:"id"`
	Digest    string    `dynamodbav:"digest"`
	Subject   string    `dynamodbav:"subject"`
	CreatedAt time.Time `dynamodbav:"created_at"`          // RFC 3339, UTC
	ExpiresAt time.Time `dynamodbav:"expires_at,unixtime"` // the table's TTL attribute
	Revoked   bool      `dynamodbav:"revoked,omitempty"`
}

// Find implements [token.Store]. It reads consistently, so that a revoked token is refused at once.
func (s *Tokens) Find(ctx context.Context, id string) (token.Token, error) {
	out, err := call(ctx, s.Client.GetItem, &dynamodb.GetItemInput{
		TableName:      &s.Table,
		Key:            tokenKey(id),
		ConsistentRead: aws.Bool(true),
	}, token.ErrUnavailable)
	if err != nil {
		return token.Token{}, err
	}
	if len(out.Item) == 0 {
		return token.Token{}, token.ErrNotFound
	}
	return decodeToken(out.Item)
}

func tokenKey(id string) item {
	return item{"id": &types.AttributeValueMemberS{Value: id}}
}

// decodeToken returns an error if an attribute cannot be read, or if the digest or the subject is missing. A token
// without a time of expiry is expired. An attribute that is NULL counts as missing.
func decodeToken(i item) (token.Token, error) {
	stored, err := decode[tokenItem](i)
	if err == nil && (stored.Digest == "" || stored.Subject == "") {
		err = errors.New("it has no digest or no subject")
	}
	if err != nil {
		var id string
		_ = attributevalue.Unmarshal(i["id"], &id) // the table's key
		return token.Token{}, fmt.Errorf("dynamo: the item with the id %q is no token: %w", id, err)
	}
	stored.ExpiresAt = stored.ExpiresAt.UTC()
	return token.Token(stored), nil
}

// Add stores t. It may be repeated, and never changes a stored token: it is an error if another one has the id. It
// returns [token.ErrUnavailable].
func (s *Tokens) Add(ctx context.Context, t token.Token) error {
	i, err := attributevalue.MarshalMap(tokenItem(t))
	if err != nil {
		return fmt.Errorf("dynamo: encode token: %w", err)
	}
	existing, err := put(ctx, s.Client, s.Table, i, token.ErrUnavailable)
	if existing != nil {
		return checkExistingToken(t, existing)
	}
	return err
}

func checkExistingToken(t token.Token, existing item) error {
	stored, err := decodeToken(existing)
	stored.Revoked = t.Revoked
	if err != nil || stored != t {
		return errors.New("dynamo: another token has this id")
	}
	return nil // an earlier attempt stored it
}

// Revoke makes the token with this id invalid for good: no concurrent or later Add undoes it. It revokes any item with
// this id, readable or not. It may be repeated. It returns [token.ErrNotFound] or [token.ErrUnavailable].
func (s *Tokens) Revoke(ctx context.Context, id string) error {
	_, err := call(ctx, s.Client.UpdateItem, &dynamodb.UpdateItemInput{
		TableName:                 &s.Table,
		Key:                       tokenKey(id),
		ConditionExpression:       aws.String("attribute_exists(id)"),
		UpdateExpression:          aws.String("SET revoked = :true"),
		ExpressionAttributeValues: item{":true": &types.AttributeValueMemberBOOL{Value: true}},
	}, token.ErrUnavailable)
	if _, missing := errors.AsType[*types.ConditionalCheckFailedException](err); missing {
		return token.ErrNotFound
	}
	return err
}

// List returns every token, in no order, until DynamoDB removes it, some time after it expires. It is an error if an
// item holds no token.
func (s *Tokens) List(ctx context.Context) ([]token.Token, error) {
	var tokens []token.Token
	in := &dynamodb.ScanInput{TableName: &s.Table, ConsistentRead: aws.Bool(true)}
	for {
		page, err := s.scan(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, i := range page.Items {
			t, err := decodeToken(i)
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, t)
		}
		if len(page.LastEvaluatedKey) == 0 {
			return tokens, nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// scan reads a page in at most 10 s. A list takes as long as pages come.
func (s *Tokens) scan(ctx context.Context, in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return call(ctx, s.Client.Scan, in, token.ErrUnavailable)
}
