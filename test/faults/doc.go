// Package faults checks that concurrent requests for one id learn the truth about it, while attempts to
// reach DynamoDB fail: `make test` in a short form, `make soak` in full. Each single fault is tested in
// internal/dynamo.
package faults
