// Package plantstore has the contract of the Plant Store.
package plantstore

import _ "embed" // for OpenAPI

// OpenAPI is the contract, openapi.yaml. The page of internal/page shows it.
//
//go:embed openapi.yaml
var OpenAPI []byte
