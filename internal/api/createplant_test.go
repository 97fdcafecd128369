package api

import (
	"strings"
	"testing"

	"plantstore/internal/plant"
)

// Each check has its error. If several things are wrong with a request, the first check decides. The message of
// 1004 names each invalid member. Package plant tests which bodies are refused. TestErrorTables checks the other
// messages.
func TestChecks(t *testing.T) {
	large := `{"id":1,"name":"` + strings.Repeat("n", plant.MaxSize+1) + `"}`
	key := func(key string) map[string]string { return map[string]string{"idempotency-key": key} }
	wrong := map[string]string{"content-type": "text/plain", "idempotency-key": "a b"}
	tests := []struct {
		name    string
		headers map[string]string
		body    string
		code    int32
		message string // a part
	}{
		{name: "another content type, a malformed key and no body", headers: wrong, code: 1001},
		{name: "a malformed key and no body", headers: key("a b"), code: 1006},
		{name: "an empty key", headers: key(""), body: validBody, code: 1006},
		{name: "a key of 256 characters", headers: key(strings.Repeat("k", 256)), body: validBody, code: 1006},
		{name: "no body", code: 1002},
		{name: "a body that is not JSON", body: canary, code: 1003},
		{
			name: "a body that is not a NewPlant", body: `{"id":null,"canary":1}`,
			code: 1004, message: "The body is not a NewPlant: id must be an integer; name is required.",
		},
		{name: "a text that is too large", body: large, code: 1005},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := checkedAnswer(t, store{}, event(test.headers, test.body, allowed()))
			if got.refusal.Code != test.code || !strings.Contains(got.refusal.Message, test.message) {
				t.Errorf("Invoke = %v, want the error %d with %q in its message", got, test.code, test.message)
			}
			if got.key != "" {
				t.Errorf("Invoke = %v, want no key", got)
			}
		})
	}
}

func TestIsJSON(t *testing.T) {
	tests := []struct {
		name, contentType string
		want              bool
	}{
		{"none", "", true},
		{"another case, and parameters", "Application/JSON ; charset=x; y", true},
		{"a parameter without a space", "application/json;charset=UTF-8", true},
		{"a tab at the end", "application/json\t", true},

		{"a longer subtype", "application/jsonp", false},
		{"JSON of another kind", "application/problem+json", false},
		{"another subtype of the same length", "application/jsom", false},
		{"a parameter alone", "; charset=x", false},
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
