// Package contract checks a Plant Store from outside against openapi.yaml.
//
// TestContract sends the cases to each target over HTTP:
//
//	make contract                       in process with its plants in memory, and as `plantstore serve` on DynamoDB Local
//	make contract URL=... SUBJECT=...   any deployment, with a token in $TOKEN and its subject
//	go test ./test/contract -run 'TestContract/in_process/another_plant_of_the_same_id'
//
// A deployment belongs to its customers and nothing can be deleted from it. So with URL all runs for a subject write the
// same single plant, with the tag contract-probe, unless WRITES=all. Its id comes from SUBJECT, and a run that does not get
// it fails. Without SUBJECT, each token has a plant of its own. EXPIRED_TOKEN, REVOKED_TOKEN and OTHER_TOKEN, a valid token of
// another subject, let more cases run. The last lines of the output name the cases that were left out, and why.
//
// case_test.go has the words that the cases are written in. A new rule goes into openapi.yaml first, then as a row into
// cases_test.go or plants_test.go, then into the code.
//
// The other tests compare plant.Decode with the schema in openapi.yaml, and openapi.yaml with the specification and with the
// service's routes and types.
package contract
