package api

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"

	"plantstore/internal/plant"
)

// A header is found by its name, in whatever case a gateway sends it.
func TestHeaders(t *testing.T) {
	tests := []struct {
		name, headers string
		want          map[string]string // nil for an error
	}{
		{"as API Gateway sends them", `{"authorization":"a","x":"b"}`, map[string]string{"authorization": "a", "x": "b"}},
		{"as sam local sends them", `{"Authorization":"a","X":"b"}`, map[string]string{"authorization": "a", "x": "b"}},
		{"an empty value", `{"idempotency-key":""}`, map[string]string{"idempotency-key": ""}},
		{"none", `{}`, map[string]string{}},
		{"null", `null`, map[string]string{}},
		{"one name in two cases", `{"Authorization":"a","authorization":"b"}`, nil},
		{"a value that is no text", `{"authorization":["a"]}`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := decode([]byte(`{"headers":` + test.headers + `}`))
			if (err == nil) != (test.want != nil) || !maps.Equal(got.Headers, test.want) {
				t.Errorf("headers of %s = %v, %v, want %v", test.headers, got.Headers, err, test.want)
			}
		})
	}
}

func TestBearer(t *testing.T) {
	const secret = "-._~+/="
	tests := []struct {
		name, authorization string
		want                error // nil for the secret
	}{
		{"a token", "Bearer -._~+/=", nil},
		{"another case", "bEARER -._~+/=", nil},
		{"three spaces", "Bearer   -._~+/=", nil},
		{"nothing", "", errTokenMissing},
		{"a space", " ", errTokenMissing},
		{"another scheme", "Basic a", errTokenMissing},
		{"a longer scheme", "Bearers a", errTokenMissing},
		{"no scheme", "a", errTokenMissing},
		{"a comma for the space", "Bearer,a", errTokenMissing},
		{"a letter that folds to s", "ſearer a", errTokenMissing},
		{"a space before", " Bearer a", errTokenMissing},
		{"no token", "Bearer", errTokenMalformed},
		{"only spaces", "Bearer   ", errTokenMalformed},
		{"two tokens", "Bearer a b", errTokenMalformed},
		{"a space after", "Bearer a ", errTokenMalformed},
		{"two headers, joined", "Bearer a,Bearer a", errTokenMalformed},
		{"a tab for the space", "Bearer\ta", errTokenMalformed},
		{"a tab after the space", "Bearer \ta", errTokenMalformed},
		{"quotes", `Bearer "a"`, errTokenMalformed},
		{"a letter beyond ASCII", "Bearer ä", errTokenMalformed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := ""
			if test.want == nil {
				want = secret
			}
			got, err := parseBearer(test.authorization)
			if got != want || !errors.Is(err, test.want) {
				t.Errorf("parseBearer(%q) = %q, %v, want %q, %v", test.authorization, got, err, want, test.want)
			}
		})
	}
}

// A body that the event does not hold exactly is refused, and never stored changed.
func TestBody(t *testing.T) {
	errEncoding := errors.New("any other error")
	tests := []struct {
		name, event, want string
		err               error
	}{
		{"text", `{"body":"{\"id\":1}"}`, `{"id":1}`, nil},
		{"text that looks like base64", `{"body":"eyJpZCI6MX0=","isBase64Encoded":false}`, "eyJpZCI6MX0=", nil},
		{"base64", `{"body":"eyJpZCI6MX0=","isBase64Encoded":true}`, `{"id":1}`, nil},
		{"bytes", `{"body":"/w==","isBase64Encoded":true}`, "\xff", nil},
		{"no bytes", `{"body":"","isBase64Encoded":true}`, "", nil},
		{"an empty text", `{"body":""}`, "", nil},
		{"null", `{"body":null}`, "", nil},
		{"an object", `{"body":{}}`, "", nil},
		{"no member", `{}`, "", nil},
		{"text that is not UTF-8", "{\"body\":\"\xff\"}", "", plant.ErrMalformed},
		{"half a character", `{"body":"\ud800"}`, "", plant.ErrMalformed},
		{"text in place of base64", `{"body":"{\"id\":1}","isBase64Encoded":true}`, "", errEncoding},
		{"base64 without its end", `{"body":"eyJpZCI6MX0","isBase64Encoded":true}`, "", errEncoding},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := decode([]byte(test.event))
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.body()
			if string(got) != test.want || (err != nil) != (test.err != nil) || errors.Is(err, plant.ErrMalformed) != errors.Is(test.err, plant.ErrMalformed) {
				t.Errorf("body of %q = %q, %v, want %q, %v", test.event, got, err, test.want, test.err)
			}
		})
	}
}

// Both functions answer and log whatever comes in. No plant is created, and no token is verified.
func TestEventsThatAreNone(t *testing.T) {
	missing := verdict{Verdict: "deny", Presented: hash(""), Reason: "missing"}
	unavailable := verdict{Verdict: "unavailable", Presented: hash("")}
	tests := []struct {
		event string
		want  verdict // of the authorizer
	}{
		{"null", missing},
		{"{}", missing},
		{`{"headers":null}`, missing},
		{`{"body":1}`, missing},
		{"", unavailable},
		{" ", unavailable},
		{canary, unavailable},
		{"\xff", unavailable},
		{"{", unavailable},
		{"true", unavailable},
		{"1", unavailable},
		{`"canary"`, unavailable},
		{"[]", unavailable},
		{"{}{}", unavailable},
		{`{"body":"canary`, unavailable},
		{`{"body":"canary\x"}`, unavailable},
		{`{"isBase64Encoded":"canary"}`, unavailable},
		{`{"headers":{"x":"y"`, unavailable},
		{`{"headers":{"canary":1}}`, unavailable},
		{`{"requestContext":"canary"}`, unavailable},
		{`{"requestContext":{"authorizer":[]}}`, unavailable},
		{`{"requestContext":{"authorizer":{"lambda":"canary"}}}`, unavailable},
	}
	for _, test := range tests {
		t.Run(test.event, func(t *testing.T) {
			if got := create(t, store{}, []byte(test.event)); got.refusal.Code != 5001 {
				t.Errorf("Invoke = %v, want 5001", got)
			}
			if got, line := authorize(t, nil, []byte(test.event)); got != test.want {
				t.Errorf("verdict = %+v, logged as %v, want %+v", got, line, test.want)
			}
		})
	}
}

// A client cannot make an event unreadable: here it sends two names of a query that are one without their
// bytes that are not UTF-8.
func TestEventOfOddNames(t *testing.T) {
	odd := strings.Replace(string(event(nil, fern, allowed())), `{`, "{\"queryStringParameters\":{\"\xff\":\"\",\"\xfe\":\"\"},", 1)
	stored := store{create: func(context.Context, plant.Write) error { return nil }}
	if got := create(t, stored, []byte(odd)); got.StatusCode != http.StatusOK {
		t.Errorf("Invoke = %v, want 200", got)
	}
}

// A route that no operation has is an internal error, whose text names the route.
func TestRouteWithoutOperation(t *testing.T) {
	routed := strings.Replace(string(event(nil, fern, allowed())), "POST /plants", "PATCH /plants", 1)
	got := create(t, store{}, []byte(routed))
	text, _ := got.line["error"].(string)
	if got.refusal.Code != 5001 || !strings.Contains(text, `no operation has the route "PATCH /plants"`) {
		t.Errorf("Invoke = %v, want 5001, and the route in the log", got)
	}
}
