// Package contract checks a Plant Store from outside.
//
// TestContract holds the conversations of testdata/conversations.txt with a service over HTTP:
//
//	go test ./test/contract                           the API in this process
//	make contract URL=... SUBJECT=...                 any deployment, with a token in $TOKEN and its subject
//	go test ./test/contract -run TestContract//NAME   the conversations with NAME in their name, with _ for spaces
//
// A deployment belongs to its customers and nothing can be deleted from it. So with URL all runs for a
// subject write the same single plant, with the texts contract-probe, unless WRITES=all. Its id comes
// from SUBJECT, and a run that does not get it fails. The other conversations that write are left out. With
// $OTHER_TOKEN, a token of another subject, the run also shows that subjects do not share keys.
//
// A new rule goes into openapi.yaml first, then into conversations.txt, then into the code.
//
// TestSchemathesis sends random requests that openapi.yaml allows or forbids, and checks that the
// service decides alike. TestSpecification compares openapi.yaml with testdata/specification.yaml.
package contract
