package dynamo

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/token"
)

const (
	// segments is how many parts of a table a scan reads at once.
	segments = 8

	// pageTimeout bounds the read of one page, retries included. A scan as a
	// whole takes as long as pages keep coming.
	pageTimeout = 10 * time.Second
)

// List returns every token, in no order. An expired or revoked one is listed until
// DynamoDB removes it, some time after it expires. List returns
// [token.ErrUnavailable]. If there are items that it cannot read, it returns the
// others with an error.
func (s *TokenStore) List(ctx context.Context) ([]token.Token, error) {
	tokens := []token.Token{}
	var unreadable error
	err := s.scan(ctx, dynamodb.ScanInput{}, func(item map[string]types.AttributeValue) {
		if t, err := decodeToken(item); err == nil {
			tokens = append(tokens, t)
		} else {
			unreadable = err
		}
	})
	return tokens, cmp.Or(err, unreadable)
}

// LookUp returns the digest of the token with this id. It scans the table, and
// reads nothing of a token but its id and digest. It returns [token.ErrNotFound] or
// [token.ErrUnavailable].
func (s *TokenStore) LookUp(ctx context.Context, id string) (digest string, err error) {
	err = s.scan(ctx, dynamodb.ScanInput{
		FilterExpression:          aws.String("id = :id"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":id": &types.AttributeValueMemberS{Value: id}},
	}, func(item map[string]types.AttributeValue) {
		if value, ok := item["digest"].(*types.AttributeValueMemberS); ok {
			digest = value.Value
		}
	})
	if err == nil && digest == "" {
		err = token.ErrNotFound
	}
	return digest, err
}

// scan calls f, one call at a time, with each selected item.
func (s *TokenStore) scan(ctx context.Context, in dynamodb.ScanInput, f func(map[string]types.AttributeValue)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in.TableName, in.ConsistentRead, in.TotalSegments = &s.Table, aws.Bool(true), aws.Int32(segments)
	var group sync.WaitGroup
	var mu sync.Mutex
	var first error
	var failed sync.Once
	read := 0
	for segment := range int32(segments) {
		group.Go(func() {
			err := s.scanSegment(ctx, in, segment, func(page *dynamodb.ScanOutput) {
				mu.Lock()
				defer mu.Unlock()
				read += int(page.ScannedCount)
				if s.Progress != nil {
					s.Progress(read)
				}
				for _, item := range page.Items {
					f(item)
				}
			})
			if err != nil {
				failed.Do(func() { first = err })
				cancel() // the other segments
			}
		})
	}
	group.Wait()
	return first
}

func (s *TokenStore) scanSegment(
	ctx context.Context, in dynamodb.ScanInput, segment int32, f func(*dynamodb.ScanOutput),
) error {
	in.Segment = &segment
	for {
		page, err := s.scanPage(ctx, &in)
		if err != nil {
			return err
		}
		f(page)
		if page.LastEvaluatedKey == nil {
			return nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

func (s *TokenStore) scanPage(ctx context.Context, in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	a := new(attempts)
	page, err := s.Client.Scan(a.watch(ctx), in, a.option)
	return page, unavailable(ctx, a, "scan tokens", err)
}
