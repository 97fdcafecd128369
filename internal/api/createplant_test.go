package api

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"plantstore/internal/plant"
)

// What is wrong with a request has its error. If several things are wrong, the first check decides.
func TestChecks(t *testing.T) {
	large := `{"id":1,"name":"` + strings.Repeat("n", plant.MaxSize+1) + `"}`
	key := func(key string) map[string]string { return map[string]string{"idempotency-key": key} }
	wrong := map[string]string{"content-type": "text/plain", "idempotency-key": "a b"}
	tests := []struct {
		name    string
		headers map[string]string
		body    string
		code    int32
	}{
		{"another content type, a malformed key and no body", wrong, "", 1001},
		{"a malformed key and no body", key("a b"), "", 1006},
		{"an empty key", key(""), fern, 1006},
		{"a key of 256 characters", key(strings.Repeat("k", 256)), fern, 1006},
		{"no body", nil, "", 1002},
		{"a body that is not JSON", nil, canary, 1003},
		{"a body that is not a NewPlant", nil, `{"canary":1}`, 1004},
		{"a plant that is too large", nil, large, 1005},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := checkedAnswer(t, noWrite, event(test.headers, test.body, allowed()))
			if got.refusal.Code != test.code {
				t.Errorf("Invoke = %v, want the error %d", got, test.code)
			}
			want := map[string]string{"content-type": "application/json"}
			if !maps.Equal(got.Headers, want) {
				t.Errorf("Invoke = %v, want the headers %v", got, want)
			}
		})
	}
}

// The message of 1004 says what is wrong with each member.
func TestReason(t *testing.T) {
	got := checkedAnswer(t, noWrite, event(nil, `{"id":null,"name":1}`, allowed()))
	const want = "The body is not a NewPlant: id must be an integer; name must be a string."
	if got.refusal.Message != want {
		t.Errorf("Invoke = %v, want the message %q", got, want)
	}
}

// The message of 1005 has the limits.
func TestLimit(t *testing.T) {
	large := `{"id":1,"name":"` + strings.Repeat("n", plant.MaxSize+1) + `"}`
	got := checkedAnswer(t, noWrite, event(nil, large, allowed()))
	for _, limit := range []int{plant.MaxSize, plant.MaxBody} {
		if !strings.Contains(got.refusal.Message, fmt.Sprint(limit)) {
			t.Errorf("Invoke = %v, want the limit %d in its message", got.refusal, limit)
		}
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
		{"an empty parameter", "application/json;", true},
		{"a tab at the end", "application/json\t", true},

		{"JSON as text", "text/json", false},
		{"JSON of another kind", "application/problem+json", false},
		{"a longer subtype", "application/jsonp", false},
		{"two types", "application/json, text/plain", false},
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
