package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/token"
)

// Tokens is a [token.Store] in a DynamoDB table. The authorizer uses Find alone. The methods in tokens_admin.go
// are for operators, who call them by the command plantstore token.
type Tokens struct {
	Client *dynamodb.Client
	Table  string
}

var _ token.Store = (*Tokens)(nil)

const tokenKey = "id" // the name of the table's key

// tokenItem is a token as the table holds it. The item of a revoked token stays until the token would have
// expired. If it were deleted, an Add that was delayed would find no item with this id, and store the token as a
// valid one.
type tokenItem struct {
	ID        string    `dynamodbav:"id"` // the key
	Digest    string    `dynamodbav:"digest"`
	Subject   string    `dynamodbav:"subject"`
	CreatedAt time.Time `dynamodbav:"created_at"`          // RFC 3339, UTC
	ExpiresAt time.Time `dynamodbav:"expires_at,unixtime"` // the table's TTL attribute
	Revoked   bool      `dynamodbav:"revoked,omitempty"`
}

// Find implements [token.Finder]. It reads consistently, so that a revoked token is refused at once.
func (s *Tokens) Find(ctx context.Context, id string) (token.Token, error) {
	out, err := call(ctx, s.Client, (*dynamodb.Client).GetItem, &dynamodb.GetItemInput{
		TableName:      &s.Table,
		Key:            tokenItemKey(id),
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return token.Token{}, readError(err)
	}
	if len(out.Item) == 0 {
		return token.Token{}, token.ErrNotFound
	}
	return decodeToken(out.Item)
}

// readError translates the error of a read, which changes nothing.
func readError(err error) error { return translate(err, token.ErrUnavailable, token.ErrUnavailable) }

// tokenItemKey returns the key of the item with this id.
func tokenItemKey(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{tokenKey: &types.AttributeValueMemberS{Value: id}}
}

// decodeToken returns the token that an item holds, and changes item. Somebody may have written the item by hand. It
// is an error if the digest or the subject is missing, if the time of expiry is no time in seconds, or if an attribute
// has a type that the SDK cannot convert. A token without a time of expiry counts as expired.
func decodeToken(item map[string]types.AttributeValue) (token.Token, error) {
	var id string
	_ = attributevalue.Unmarshal(item[tokenKey], &id) // it is the key, so it is there and a string
	var stored tokenItem
	// The attribute may have any type, and tokenItem has a bool.
	item["revoked"] = &types.AttributeValueMemberBOOL{Value: isRevoked(item["revoked"])}
	if err := unmarshal(item, &stored); err != nil {
		return token.Token{}, fmt.Errorf("dynamo: the item with the id %q is no token: %w", id, err)
	}
	stored.ExpiresAt = stored.ExpiresAt.UTC()
	tooLate := stored.ExpiresAt.Year() > 9999 // as that of an item with milliseconds
	if stored.Digest == "" || stored.Subject == "" || tooLate {
		return token.Token{}, fmt.Errorf("dynamo: the item with the id %q is no token", id)
	}
	return token.Token(stored), nil
}

// isRevoked reports whether an item with this attribute, or with none, is a revoked token. Somebody who
// revokes a token by hand may choose another type: only false, or no attribute, is a valid token's.
func isRevoked(attribute types.AttributeValue) bool {
	if attribute == nil {
		return false
	}
	boolean, ok := attribute.(*types.AttributeValueMemberBOOL)
	return !ok || boolean.Value
}
