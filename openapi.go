// Package openapi has the contract of the Plant Store.
package openapi

import _ "embed" // for YAML

// YAML is the contract, openapi.yaml. The page of internal/page shows it.
//
//go:embed openapi.yaml
var YAML []byte
