package api

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"plantstore/internal/token"
)

func TestHeaders(t *testing.T) {
	sent := func(value string) header { return header{value, true} }
	all := headers{sent("a"), sent("c"), sent("k")}
	for text, want := range map[string]headers{
		`{"authorization":"a","content-type":"c","idempotency-key":"k"}`: all, // as API Gateway sends them
		`{"Authorization":"a","Content-Type":"c","Idempotency-Key":"k"}`: all, // as `sam local` sends them
		`{"AUTHORIZATION":"a","CONTENT-TYPE":"c","IDEMPOTENCY-KEY":"k"}`: all,

		`{"Authorization":"a","x":"","x":"","authorization":"b"}`:   {authorization: sent("a,b")},
		`{"authorization":"a","AUTHORIZATION":""}`:                  {authorization: sent("a,")},
		`{"idempotency-key":""}`:                                    {idempotencyKey: sent("")},
		`{"x-authorization":"a","content-types":"c","":"k"}`:        {},
		`{"idempotency-\u212aey":"k"}`:                              {}, // which folds to k
		`{"authorization":["a"],"content-type":1,"x":{"y":"z"}}`:    {},
		`{"idempotency-key":null,"content-type":"c","other":"x,y"}`: {contentType: sent("c")},
		`{}`: {}, `null`: {}, `"authorization"`: {}, `["authorization","a"]`: {},
	} {
		var r request
		if err := r.decode([]byte(`{"headers":` + text + `}`)); err != nil || r.Headers != want {
			t.Errorf("headers of %s = %+v, %v, want %+v", text, r.Headers, err, want)
		}
	}
}

func TestBearer(t *testing.T) {
	for want, values := range map[error][]string{
		nil:             {"Bearer -._~+/=", "bEARER -._~+/=", "Bearer   -._~+/="},
		errTokenMissing: {"", " ", "Basic a", "Bearers a", "a", "Bearer,a", "ſearer a", " Bearer a"},
		errTokenMalformed: {
			"Bearer", "Bearer ", "Bearer   ", "Bearer a b", "Bearer a ", "Bearer a,b", "Bearer a,Bearer a", "Bearer\ta",
			"Bearer \ta", "Bearer a\tb", `Bearer "a"`, "Bearer ä",
		},
	} {
		secret := map[bool]string{true: "-._~+/="}[want == nil]
		for _, value := range values {
			if got, err := bearer(value); got != secret || err != want { //nolint:errorlint // the very error
				t.Errorf("bearer(%q) = %q, %v, want %q, %v", value, got, err, secret, want)
			}
		}
	}
}

// A body that the event does not hold exactly is refused, and never stored changed.
func TestBody(t *testing.T) {
	for event, want := range map[string]string{ // a code, or the body
		`{"body":"{\"id\":1}"}`:                           `{"id":1}`,
		`{"body":"eyJpZCI6MX0=","isBase64Encoded":false}`: "eyJpZCI6MX0=",
		`{"body":"eyJpZCI6MX0=","isBase64Encoded":true}`:  `{"id":1}`,
		`{"body":"/w==","isBase64Encoded":true}`:          "\xff",
		`{"body":""}`:                                     "", `{"body":"","isBase64Encoded":true}`: "",
		`{"body":null}`: "", `{"body":{}}`: "", `{}`: "",
		"{\"body\":\"\xff\"}": "1003", `{"body":"\ud800"}`: "1003",
		`{"body":"{\"id\":1}","isBase64Encoded":true}`:  "5001",
		`{"body":"eyJpZCI6MX0","isBase64Encoded":true}`: "5001",
	} {
		var r request
		err := r.decode([]byte(event))
		body, refused := r.body()
		code := strings.TrimPrefix(fmt.Sprint(classify(refused).Code), "0")
		if got := cmp.Or(code, string(body)); err != nil || got != want {
			t.Errorf("body of %q = %q, %v, want %q", event, got, err, want)
		}
	}
}

// Both functions answer and log whatever comes in, and no plant is created.
func TestEventsThatAreNone(t *testing.T) {
	hash := `"presented":"` + token.Digest("") + `"`
	const start = `{"isAuthorized":true,"context":{`
	for want, events := range map[string][]string{
		start + `"verdict":"unavailable",` + hash + `}}`: {
			"", " ", canary, "\xff", "{", "true", "1", `"canary"`, "[]", `[{"headers":{}}]`, "{}{}",
			`{"body":"canary`, `{"body":"canary\x"}`, `{"isBase64Encoded":"canary"}`,
			`{"headers":{`, `{"headers":{"x`, `{"headers":{"x":"y"`, `{"headers":{"canary":1,"canary":}}`,
			`{"headers":{"idempotency-key":"canary`, `{"requestContext":"canary"}`, `{"requestContext":[]}`,
			`{"requestContext":{"authorizer":[]}}`, `{"requestContext":{"authorizer":{"lambda":"canary"}}}`,
		},
		start + `"verdict":"deny",` + hash + `,"reason":"missing"}}`: {"null", "{}", `{"headers":null}`, `{"body":1}`},
	} {
		for _, event := range events {
			if got := create(t, nil, []byte(event)); got.code != 5001 {
				t.Errorf("CreatePlant(%q) = %s, want 5001", event, got)
			}
			if got, line := authorize(t, nil, []byte(event)); got != want {
				t.Errorf("Authorizer(%q) = %s, logged as %v, want %s", event, got, line, want)
			}
		}
	}
}
