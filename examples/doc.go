// Package examples holds clients of the Plant Store, each complete in one file
// without a dependency: create.sh (curl), go/main.go, create.py, create.mjs and
// browser.html.
//
// Each creates a plant and does not end before it knows what became of it, or has
// asked four times. It sends one Idempotency-Key with all attempts, so that a
// plant is never created twice and never taken for another's. It comes again when
// nobody answered, when the answer has Retry-After, after as many seconds, and
// when the gateway answers 429 or 5xx. It
// says so on standard error. It prints the Plant, or the Error.
package examples
