// Package contract checks a Plant Store from outside, over HTTP alone, against
// openapi.yaml and a table of cases.
//
//	make contract                       in process and as `plantstore serve`
//	make contract URL=...     any deployment, with a token in $TOKEN
//
// A deployment belongs to its customers and nothing can be deleted from it, so
// with URL a single plant is written, with the tag contract-probe, unless
// WRITES=all. EXPIRED_TOKEN, REVOKED_TOKEN and OTHER_TOKEN, a valid token of
// another subject, let more cases run. What a target cannot show is skipped,
// with the reason.
//
// A new rule goes into openapi.yaml first, then as a row into cases_test.go, then
// into the code. One case alone:
//
//	go test -run 'TestContract/in_process/an_empty_tag_is_kept' ./test/contract
package contract
