// Package contract checks a Plant Store from outside against openapi.yaml.
//
// TestContract sends a table of cases over HTTP:
//
//	make contract                       in process and as `plantstore serve` on DynamoDB Local
//	make contract URL=...               any deployment, with a token in $TOKEN
//
// A deployment belongs to its customers and nothing can be deleted from it. So with URL every run writes the same single
// plant, with the tag contract-probe, unless WRITES=all. EXPIRED_TOKEN, REVOKED_TOKEN and OTHER_TOKEN, a valid token of
// another subject, let more cases run. The log names each case that is left out, and why.
//
// A new rule goes into openapi.yaml first, then as a row into cases_test.go or plants_test.go, then into the code.
//
// The other tests run in process. They compare the service with oracles that share no code with it: the schemas in
// openapi.yaml, JSONTestSuite, and regular expressions. SOAK=1 runs them in full, SEED=... repeats a run.
package contract
