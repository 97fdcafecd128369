// Package openapi has the contract of the Plant Store.
package openapi

import _ "embed" // for YAML

// YAML is the contract, openapi.yaml.
//
//go:embed openapi.yaml
var YAML []byte
