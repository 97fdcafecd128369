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
	return parseItem(out.Item)
}

func parseItem(item map[string]types.AttributeValue) (t Token, err error) {
	if err := attributevalue.UnmarshalMap(item, &t); err != nil {
		return Token{}, err
	}
	if t.Subject == "" {
		return Token{}, errors.New("the item in the table of tokens has no subject")
	}
	return t, nil
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

// Revoke deletes the token with this digest, and reports whether there was one.
func (t Table) Revoke(ctx context.Context, digest string) (existed bool, err error) {
	out, err := t.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &t.Name, Key: key(digest), ReturnValues: types.ReturnValueAllOld,
	})
	if err != nil {
		return false, err
	}
	return len(out.Attributes) > 0, nil
}

// List returns all tokens, soonest expiry first. An item that is no token, because another program wrote it, has only its
// digest.
func (t Table) List(ctx context.Context) ([]Token, error) {
	var all []Token
	pages := dynamodb.NewScanPaginator(t.Client, &dynamodb.ScanInput{TableName: &t.Name, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			token, err := parseItem(item)
			if err != nil {
				digest, _ := item["digest"].(*types.AttributeValueMemberS) // the key has this type
				token = Token{Digest: digest.Value}
			}
			all = append(all, token)
		}
	}
	slices.SortFunc(all, func(a, b Token) int {
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.Digest, b.Digest))
	})
	return all, nil
}
