package api

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
)

// Header names may be in any case. Invalid UTF-8 in the query is not an error.
func TestHeaders(t *testing.T) {
	tests := []struct {
		name, event string
		want        map[string]string // nil for an error
	}{
		{
			"as API Gateway sends them", `{"headers":{"authorization":"a","x":""}}`,
			map[string]string{"Authorization": "a", "X": ""},
		},
		{
			"as sam local sends them", `{"headers":{"Authorization":"a","X":"b"}}`,
			map[string]string{"Authorization": "a", "X": "b"},
		},
		{
			"query names that become duplicates once invalid bytes are replaced",
			"{\"headers\":{},\"queryStringParameters\":{\"\xff\":\"\",\"\xfe\":\"\"}}",
			map[string]string{},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := decodeEvent([]byte(test.event))
			if (err != nil) != (test.want == nil) || !maps.Equal(got.Headers, test.want) {
				t.Errorf("headers of %q = %v, %v, want %v", test.event, got.Headers, err, test.want)
			}
		})
	}
}

// A body that API Gateway may have changed is refused.
func TestBody(t *testing.T) {
	tests := []struct {
		name, event, want string
		code              int32 // 0 for the body
	}{
		{"text", `{"body":"{\"a\":1}"}`, `{"a":1}`, 0},
		{"text that looks like base64", `{"body":"eyJhIjoxfQ==","isBase64Encoded":false}`, "eyJhIjoxfQ==", 0},
		{"bytes in base64", `{"body":"/w==","isBase64Encoded":true}`, "\xff", 0},
		{"none", `{}`, "", 0},
		{"null", `{"body":null}`, "", 0},
		{"an object", `{"body":{"id":1,"name":"fern"}}`, "", 5001},
		{"text that is not UTF-8", "{\"body\":\"\xff\"}", "", 1003},
		{"truncated base64", `{"body":"eyJpZCI6MX0","isBase64Encoded":true}`, "", 5001},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := decodeEvent([]byte(test.event))
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.body()
			if string(got) != test.want || entryOf(err).code != test.code || strings.Contains(fmt.Sprint(err), "eyJ") {
				t.Errorf("body of %q = %q, %v, want %q, code %d, and no body in the error", test.event, got, err, test.want, test.code)
			}
		})
	}
}

// The conversations in test/contract cover the usual values.
func TestBearer(t *testing.T) {
	tests := []struct {
		name, authorization string
		want                string
		err                 error
	}{
		{"three spaces, and every special character", "Bearer   -._~+/=", "-._~+/=", nil},
		{"a leading space", " Bearer a", "", errTokenMissing},
		{"a longer scheme", "Bearers a", "", errTokenMissing},
		{"no token", "Bearer", "", errTokenMalformed},
		{"a token in quotes", `Bearer "a"`, "", errTokenMalformed},
		{"a trailing space", "Bearer a ", "", errTokenMalformed},
		{"a tab instead of the space", "Bearer\ta", "", errTokenMalformed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseBearer(test.authorization)
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("parseBearer(%q) = %q, %v, want %q, %v", test.authorization, got, err, test.want, test.err)
			}
		})
	}
}

func TestIsJSON(t *testing.T) {
	tests := []struct {
		name, contentType string
		want              bool
	}{
		{"a parameter without a space", "application/json;charset=UTF-8", true},
		{"a trailing tab", "application/json\t", true},
		{"a repeated parameter", "application/json; a=1; a=2", true},

		{"two types", "application/json, text/plain", false},
		{"a longer subtype", "application/jsonp", false},
		{"another kind of JSON", "application/problem+json", false},
		{"another subtype of the same length", "application/jsom", false},
		{"only a parameter", "; charset=x", false},
		{"a letter that folds to s", "application/jſon", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := isJSON(test.contentType); got != test.want {
				t.Errorf("isJSON(%q) = %t, want %t", test.contentType, got, test.want)
			}
		})
	}
}
