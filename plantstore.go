// Package plantstore contains the contract of the service.
package plantstore

import _ "embed" // for OpenAPI

// OpenAPI is the contract, openapi.yaml.
//
//go:embed openapi.yaml
var OpenAPI []byte
