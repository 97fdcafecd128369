// Package contract checks a Plant Store from outside.
//
// TestContract sends conversations to a service over HTTP, and compares each answer with the one that
// it must be:
//
//	make contract                                     `plantstore serve` on DynamoDB Local
//	make contract URL=... SUBJECT=...                 any deployment, with a token in $TOKEN and its subject
//	go test ./test/contract -run TestContract/NAME    the cases with NAME in their name, with _ for spaces
//
// A deployment belongs to its customers and nothing can be deleted from it. So with URL all runs for a
// subject write the same single plant, with the texts contract-probe, unless WRITES=all. Its id comes
// from SUBJECT, and a run that does not get it fails. Without SUBJECT, each token has a plant of its
// own. The other cases that write are left out. With $OTHER_TOKEN, a token of another subject, the run
// also shows that subjects do not share keys.
//
// case_test.go has the words that the cases are written in. A new rule goes into openapi.yaml first,
// then as a row into cases_test.go or plants_test.go, then into the code.
//
// TestBroken shows broken services that a run refuses.
//
// TestSchemathesis sends random requests that openapi.yaml allows or forbids, and checks that the
// service decides alike. The other tests compare openapi.yaml with testdata/specification.yaml, with
// the cases and with the service's types.
package contract
