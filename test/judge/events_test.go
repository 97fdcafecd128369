package judge

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"plantstore/internal/api"
	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return now }

// request is a request of the gardener, whom the authorizer allowed.
type request struct {
	header, value string // one header, if its name is not empty
	body          []byte
	text          bool // the body is in the event as it is, not in base64
}

// event returns the event of the request. It writes bytes that are not UTF-8 as
// they are.
func (r request) event() []byte {
	authorization, headers := "", "{}"
	if r.header == "authorization" {
		authorization = r.value
	}
	if r.header != "" {
		headers = "{" + quote(r.header) + ":" + quote(r.value) + "}"
	}
	body := base64.StdEncoding.EncodeToString(r.body)
	if r.text {
		body = string(r.body)
	}
	return fmt.Appendf(nil, `{"version":"2.0","headers":%s,"body":%s,"isBase64Encoded":%t,"requestContext":{"requestId":"r1","authorizer":{"lambda":`+
		`{"verdict":"allow","presented":"%s","subject":"gardener","token_id":"t1"}}}}`, headers, quote(body), !r.text, hash(authorization))
}

// quote returns text as a JSON string.
func quote(text string) string {
	var quoted strings.Builder
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' {
			fmt.Fprintf(&quoted, `\u%04x`, c)
		} else {
			quoted.WriteByte(c)
		}
	}
	return `"` + quoted.String() + `"`
}

func hash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// create returns what the function answers to a request.
func (j judge) create(t *testing.T, store plant.Store, r request) (code int, created plant.Plant, err error) {
	t.Helper()
	return j.answer(newCreatePlant(store).Invoke(t.Context(), r.event()))
}

// answer reads the answer of the function: the code of an Error, or 0 and a
// Plant. Any other answer is an error.
func (j judge) answer(out []byte, err error) (code int, created plant.Plant, _ error) {
	if err != nil {
		return 0, created, err
	}
	value, _ := read(out)
	answer, _ := value.(map[string]any)
	body, _ := answer["body"].(string)
	return j.outcome(fmt.Sprint(answer["statusCode"]), body)
}

// outcome reads an answer's status and body.
func (j judge) outcome(status, body string) (code int, created plant.Plant, _ error) {
	value, _ := read([]byte(body))
	members, _ := value.(map[string]any)
	switch {
	case status == "200" && j["Plant"].Validate(value) == nil:
		created.Name, _ = members["name"].(string)
		if tag, ok := members["tag"].(string); ok {
			created.Tag = &tag
		}
		return 0, created, nil
	case status == "400" && j["Error"].Validate(value) == nil:
		code, err := strconv.Atoi(fmt.Sprint(members["error"]))
		return code, created, err
	}
	return 0, created, fmt.Errorf("answer %s %q is neither 200 with a Plant nor 400 with an Error", status, body)
}

func newCreatePlant(store plant.Store) *api.CreatePlant {
	return &api.CreatePlant{Plants: store, Log: slog.New(slog.DiscardHandler), Now: clock, NewKey: func() string { return "fresh" }}
}

// newAuthorizer returns an authorizer that knows one token, always the same, and
// the token.
func newAuthorizer(t testing.TB) (*api.Authorizer, string) {
	t.Helper()
	secret, issued, err := token.Issue(strings.NewReader(strings.Repeat("a plant store ", 9)), "gardener", now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	tokens := new(memory.TokenStore)
	if err := tokens.Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	return &api.Authorizer{Tokens: token.Verifier{Store: tokens, Now: clock}, Log: slog.New(slog.DiscardHandler), Now: clock}, secret
}
