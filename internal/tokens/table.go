package tokens

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table is a [Store] in a DynamoDB table whose key is the string "digest".
type Table struct {
	Client *dynamodb.Client
	Name   string
}

func key(digest string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"digest": &types.AttributeValueMemberS{Value: digest}}
}

// Find implements [Store]. The read is consistent, so a revoked token is refused from the next request on.
func (t Table) Find(ctx context.Context, digest string) (Token, error) {
	out, err := t.Client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.Name, Key: key(digest), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return Token{}, err
	}
	if len(out.Item) == 0 {
		return Token{}, errUnknown
	}
	var found Token
	if err := attributevalue.UnmarshalMap(out.Item, &found); err != nil {
		return Token{}, err
	}
	if found.Subject == "" {
		return Token{}, errors.New("the item in the table of tokens has no subject")
	}
	return found, nil
}

// Add stores a new token.
func (t Table) Add(ctx context.Context, token Token) error {
	item, err := attributevalue.MarshalMap(token)
	if err != nil {
		return err
	}
	_, err = t.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &t.Name, Item: item})
	return err
}

// Revoke deletes the token with this digest. It returns an error if there is none.
func (t Table) Revoke(ctx context.Context, digest string) error {
	out, err := t.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &t.Name, Key: key(digest), ReturnValues: types.ReturnValueAllOld,
	})
	if err == nil && len(out.Attributes) == 0 {
		return errUnknown
	}
	return err
}

// List returns all tokens, soonest expiry first.
func (t Table) List(ctx context.Context) ([]Token, error) {
	var all []Token
	pages := dynamodb.NewScanPaginator(t.Client, &dynamodb.ScanInput{TableName: &t.Name, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		var some []Token
		if err := attributevalue.UnmarshalListOfMaps(page.Items, &some); err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b Token) int {
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.Digest, b.Digest))
	})
	return all, nil
}
