// Package examples holds clients of the Plant Store, each complete in one file
// without a dependency: create.sh (curl), create.py and create.mjs. Its tests run
// each client against a server whose answers get lost, and README's own curl command. They also
// compare the paths in documents with the folders.
//
// Each client creates a plant, in at most four attempts. All attempts have the same
// Idempotency-Key, so the plant is created once. A client repeats its request
//   - if it gets no answer,
//   - if the answer has Retry-After, after as many seconds,
//   - if the gateway answers 429 or 5xx.
//
// It reports each repetition on standard error, and prints the Plant or the Error.
// After an attempt that may have created the plant, only a Plant or an error about
// the request or the plant (1xxx, 3xxx) makes the outcome certain.
package examples
