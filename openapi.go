// Package plantstore holds the contract of the Plant Store, the one thing of
// which the code and its clients must have the same copy. Its tests hold together
// what stands in more than one place: imports, template, documents.
package plantstore

import _ "embed" // for OpenAPI

// OpenAPI is the contract, openapi.yaml. [plantstore/internal/page] shows it.
//
//go:embed openapi.yaml
var OpenAPI []byte
