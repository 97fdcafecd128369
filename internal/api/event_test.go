package api

import (
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

// A body that the event does not hold exactly is refused, and never stored changed.
func TestBody(t *testing.T) {
	tests := []struct {
		event, want string
		code        int32
	}{
		{`{"body":"{\"id\":1}"}`, `{"id":1}`, 0},
		{`{"body":"eyJpZCI6MX0=","isBase64Encoded":false}`, "eyJpZCI6MX0=", 0},
		{`{"body":"eyJpZCI6MX0=","isBase64Encoded":true}`, `{"id":1}`, 0},
		{`{"body":"/w==","isBase64Encoded":true}`, "\xff", 0},
		{`{"body":""}`, "", 0},
		{`{"body":"","isBase64Encoded":true}`, "", 0},
		{`{"body":null}`, "", 0},
		{`{"body":{}}`, "", 0},
		{`{}`, "", 0},
		{"{\"body\":\"\xff\"}", "", 1003},
		{`{"body":"\ud800"}`, "", 1003},
		{`{"body":"{\"id\":1}","isBase64Encoded":true}`, "", 5001},
		{`{"body":"eyJpZCI6MX0","isBase64Encoded":true}`, "", 5001},
	}
	for _, test := range tests {
		var r request
		if err := r.decode([]byte(test.event)); err != nil {
			t.Errorf("decode(%q) = %v", test.event, err)
		}
		got, err := r.body()
		if code := classify(err).Code; string(got) != test.want || code != test.code {
			t.Errorf("body of %q = %q, %v, which is %d, want %q, %d", test.event, got, err, code, test.want, test.code)
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
