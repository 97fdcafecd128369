// Package plantstore holds the description of the interface, for the local server.
package plantstore

import _ "embed"

// OpenAPI is the content of openapi.yaml.
//
//go:embed openapi.yaml
var OpenAPI []byte
