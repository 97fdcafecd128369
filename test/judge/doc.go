// Package judge holds the service against judges that share nothing with it: the
// schemas in openapi.yaml, a strict JSON reader of its own, JSONTestSuite, and
// regular expressions of what a header must be. It shows that each body is
// accepted, refused and stored exactly as the contract says, and that nothing but
// a valid token opens the service. It has tests only.
//
// What a test does with random input it repeats with SEED=..., which a failure
// prints; with SOAK set it does so in full.
package judge
