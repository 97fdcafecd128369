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
	segments    = 8                // of a table, which a scan reads at once
	pageTimeout = 10 * time.Second // for one page, retries included; a scan takes as long as pages come
)

// List returns every token, in no order. An expired or revoked one is listed until DynamoDB removes
// it, some time after it expires. List returns [token.ErrUnavailable], or why ctx ended. If there are
// items that it cannot read, it returns the others with an error.
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

// LookUp returns the digest of the token with this id, also if the token's other attributes cannot be
// read. It scans the table. It returns [token.ErrNotFound] or the errors of List.
func (s *TokenStore) LookUp(ctx context.Context, id string) (digest string, err error) {
	err = s.scan(ctx, dynamodb.ScanInput{
		FilterExpression:          aws.String("id = :id"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":id": text(id)},
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
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	in.TableName, in.ConsistentRead, in.TotalSegments = &s.Table, aws.Bool(true), aws.Int32(segments)
	var group sync.WaitGroup
	var mu sync.Mutex // for read, and calls of f and Progress
	read := 0
	for segment := range int32(segments) {
		in := in
		in.Segment = &segment
		group.Go(func() {
			err := s.scanSegment(ctx, in, func(page *dynamodb.ScanOutput) {
				mu.Lock()
				defer mu.Unlock()
				read += int(page.ScannedCount)
				for _, item := range page.Items {
					f(item)
				}
				if s.Progress != nil {
					s.Progress(read)
				}
			})
			if err != nil {
				stop(err) // the other segments
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

func (s *TokenStore) scanSegment(ctx context.Context, in dynamodb.ScanInput, f func(*dynamodb.ScanOutput)) error {
	for {
		ctx, cancel := context.WithTimeout(ctx, pageTimeout)
		page, err := call(ctx, s.Client.Scan, &in)
		cancel()
		if err != nil {
			return tokenError(err)
		}
		f(page)
		if page.LastEvaluatedKey == nil {
			return nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}
