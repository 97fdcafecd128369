package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/internal/memory"
	"plantstore/internal/plant"
)

const (
	credentials = "Bearer of-the-gardener"
	allowed     = `{"lambda":{"verdict":"allow","presented":"HASH","subject":"gardener","token_id":"t1"}}`
	absent      = "absent"
	oak         = `{"id":1,"name":"oak"}`
)

// strictly takes no member that the value does not have.
var strictly = json.RejectUnknownMembers(true)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A request that is wrong in several ways gets the code of the first.
func TestCreatePlantChecksInOrder(t *testing.T) {
	const (
		denied      = `{"lambda":{"verdict":"deny","presented":"HASH","reason":"invalid"}}`
		unavailable = `{"lambda":{"verdict":"unavailable","presented":"HASH"}}`
		text        = "text/plain"
		good        = "application/json"
	)
	huge := `{"id":1,"name":"` + strings.Repeat("n", plant.MaxSize+1) + `"}`
	tests := []struct {
		name                               string
		authorizer, contentType, key, body string
		want                               int32
		writes                             int
	}{
		{"no verdict, and the rest wrong", `null`, text, "a b", "", 5001, 0},
		{"tokens that cannot be checked, and the rest wrong", unavailable, text, "a b", "", 5003, 0},
		{"a refused token, and the rest wrong", denied, text, "a b", "", 2003, 0},
		{"the content type and what follows wrong", allowed, text, "a b", "", 1001, 0},
		{"the idempotency key and what follows wrong", allowed, good, "a b", "", 1006, 0},
		{"no body", allowed, good, "k", "", 1002, 0},
		{"a body that is not JSON", allowed, good, "k", `{"id":"1"`, 1003, 0},
		{"a body that is no NewPlant", allowed, good, "k", `{"id":"1"}`, 1004, 0},
		{"a plant too large under an id that exists", allowed, good, "k", huge, 1005, 0},
		{"an id that exists", allowed, good, "k", oak, 3001, 1},
	}
	for _, test := range tests {
		store := &faultyStore{before: fails(plant.ErrExists)}
		got := invoke(t, newCreatePlant(store), sending{
			headers:    map[string]string{"content-type": test.contentType, "idempotency-key": test.key},
			authorizer: test.authorizer,
			body:       test.body,
		}.event(t))
		if got.code != test.want || len(store.writes) != test.writes {
			t.Errorf("%s: Invoke = %d after %d writes, want %d after %d", test.name, got.code, len(store.writes), test.want, test.writes)
		}
	}
}

func TestCreatePlantAuthentication(t *testing.T) {
	tests := []struct {
		name       string
		authorizer string // JSON
		want       int32
	}{
		{"an allow", allowed, 0},
		{"an allow with more members", `{"lambda":{"verdict":"allow","presented":"HASH","subject":"gardener","token_id":"t1","x":1},"jwt":null}`, 0},
		{"no token", `{"lambda":{"verdict":"deny","presented":"HASH","reason":"missing"}}`, 2001},
		{"a malformed header", `{"lambda":{"verdict":"deny","presented":"HASH","reason":"malformed"}}`, 2002},
		{"an invalid token", `{"lambda":{"verdict":"deny","presented":"HASH","reason":"invalid"}}`, 2003},
		{"tokens that cannot be checked", `{"lambda":{"verdict":"unavailable","presented":"HASH"}}`, 5003},

		{"an authorizer that did not run", absent, 5001},
		{"a null authorizer", `null`, 5001},
		{"an authorizer without a context", `{}`, 5001},
		{"a null context", `{"lambda":null}`, 5001},
		{"an empty context", `{"lambda":{}}`, 5001},
		{"a context that is a string", `{"lambda":"allow"}`, 5001},
		{"a context of another kind of authorizer", `{"jwt":{"claims":{"sub":"gardener"}}}`, 5001},
		{"an allow of no value", `{"lambda":{"verdict":"allow","subject":"gardener","token_id":"t1"}}`, 5001},
		{"an allow of another value", `{"lambda":{"verdict":"allow","presented":"OTHER","subject":"gardener","token_id":"t1"}}`, 5001},
		{"an allow of the value itself, not of its hash", `{"lambda":{"verdict":"allow","presented":"Bearer of-the-gardener","subject":"gardener","token_id":"t1"}}`, 5001},
		{"a deny of another value", `{"lambda":{"verdict":"deny","presented":"OTHER","reason":"missing"}}`, 5001},
		{"an allow of nobody", `{"lambda":{"verdict":"allow","presented":"HASH","token_id":"t1"}}`, 5001},
		{"an allow of no token", `{"lambda":{"verdict":"allow","presented":"HASH","subject":"gardener"}}`, 5001},
		{"an allow with a reason to deny", `{"lambda":{"verdict":"allow","presented":"HASH","reason":"invalid","subject":"gardener","token_id":"t1"}}`, 5001},
		{"a verdict in another case", `{"lambda":{"verdict":"Allow","presented":"HASH","subject":"gardener","token_id":"t1"}}`, 5001},
		{"a verdict that is true", `{"lambda":{"verdict":true,"presented":"HASH","subject":"gardener","token_id":"t1"}}`, 5001},
		{"an unknown verdict", `{"lambda":{"verdict":"maybe","presented":"HASH"}}`, 5001},
		{"a deny without a reason", `{"lambda":{"verdict":"deny","presented":"HASH"}}`, 5001},
		{"a deny for an unknown reason", `{"lambda":{"verdict":"deny","presented":"HASH","reason":"mood"}}`, 5001},
	}
	for _, test := range tests {
		store := new(faultyStore)
		got := invoke(t, newCreatePlant(store), sending{authorizer: test.authorizer, body: oak}.event(t))
		if got.code != test.want || (len(store.writes) > 0) != (test.want == 0) {
			t.Errorf("%s: Invoke = %d after %d writes, want %d", test.name, got.code, len(store.writes), test.want)
		}
	}
}

func TestCreatePlantEventsThatAreNone(t *testing.T) {
	for _, event := range []string{
		"", " ", "x", "\xff", "{", "null", "true", "1", `"POST"`, "[]", `[{"headers":{}}]`, "{}", "{}{}", `{"headers":null}`,
		`{"headers":{"authorization":"Bearer x"`, `{"requestContext":[]}`, `{"requestContext":{"authorizer":[]}}`, `{"body":1}`, `{"isBase64Encoded":"true"}`,
	} {
		store := new(faultyStore)
		if got := invoke(t, newCreatePlant(store), []byte(event)); got.code != 5001 || len(store.writes) > 0 {
			t.Errorf("Invoke(%q) = %d after %d writes, want 5001 after none", event, got.code, len(store.writes))
		}
	}
}

func TestCreatePlantHeaders(t *testing.T) {
	tests := []struct {
		name    string
		headers map[string]string
		want    int32
		wantKey string
	}{
		{"names in lower case", map[string]string{"content-type": "application/json", "idempotency-key": "k"}, 0, "k"},
		{"names as clients write them", map[string]string{"Content-Type": "application/json", "Idempotency-Key": "k"}, 0, "k"},
		{"names in upper case", map[string]string{"CONTENT-TYPE": "application/json", "IDEMPOTENCY-KEY": "k"}, 0, "k"},
		{"Authorization in upper case", map[string]string{"AUTHORIZATION": credentials}, 0, "fresh-1"},
		{"two Authorization values, where the verdict is on the first", map[string]string{"Authorization": credentials, "authorization": "Bearer b"}, 5001, ""},
		{"two idempotency keys", map[string]string{"Idempotency-Key": "a", "idempotency-key": "b"}, 0, "a,b"},
		{"an idempotency key and an empty one", map[string]string{"Idempotency-Key": "a", "idempotency-key": ""}, 0, "a,"},
		{"two content types", map[string]string{"Content-Type": "application/json", "content-type": "application/json"}, 1001, ""},
		{"other headers", map[string]string{"x-idempotency-key": "k", "accept": "text/html"}, 0, "fresh-1"},

		{"no content type", nil, 0, "fresh-1"},
		{"an empty content type", map[string]string{"content-type": ""}, 0, "fresh-1"},
		{"a content type in another case", map[string]string{"content-type": "Application/JSON"}, 0, "fresh-1"},
		{"a parameter", map[string]string{"content-type": "application/json;charset=utf-8"}, 0, "fresh-1"},
		{"parameters and spaces", map[string]string{"content-type": "application/json ; charset=latin1; x=\"y\""}, 0, "fresh-1"},
		{"a parameter alone", map[string]string{"content-type": "; charset=utf-8"}, 1001, ""},
		{"a form", map[string]string{"content-type": "application/x-www-form-urlencoded"}, 1001, ""},
		{"JSON of another kind", map[string]string{"content-type": "application/problem+json"}, 1001, ""},
		{"text/json", map[string]string{"content-type": "text/json"}, 1001, ""},
		{"a longer name", map[string]string{"content-type": "application/jsonp"}, 1001, ""},
		{"any type", map[string]string{"content-type": "*/*"}, 1001, ""},
		{"a letter that folds to s", map[string]string{"content-type": "application/jſon"}, 1001, ""},

		{"an idempotency key of 1 character", map[string]string{"idempotency-key": "!"}, 0, "!"},
		{"an idempotency key of 255 characters", map[string]string{"idempotency-key": strings.Repeat("~", 255)}, 0, strings.Repeat("~", 255)},
		{"an idempotency key of 256 characters", map[string]string{"idempotency-key": strings.Repeat("~", 256)}, 1006, ""},
		{"an empty idempotency key", map[string]string{"idempotency-key": ""}, 1006, ""},
		{"a space in the idempotency key", map[string]string{"idempotency-key": "a b"}, 1006, ""},
		{"a tab in the idempotency key", map[string]string{"idempotency-key": "a\tb"}, 1006, ""},
		{"a control character in the idempotency key", map[string]string{"idempotency-key": "\x7f"}, 1006, ""},
		{"an idempotency key beyond ASCII", map[string]string{"idempotency-key": "ä"}, 1006, ""},
	}
	for _, test := range tests {
		store := new(faultyStore)
		got := invoke(t, newCreatePlant(store), sending{headers: test.headers, body: oak}.event(t))
		if got.code != test.want {
			t.Errorf("%s: Invoke = %d, want %d", test.name, got.code, test.want)
		}
		var want []plant.Write
		if test.want == 0 {
			want = []plant.Write{{
				Plant: plant.NewPlant{ID: 1, Plant: plant.Plant{Name: "oak"}},
				Key:   plant.NewWriteKey("gardener", test.wantKey),
				By:    "gardener",
				At:    now,
			}}
		}
		if !slices.Equal(store.writes, want) {
			t.Errorf("%s: Invoke wrote %v, want %v", test.name, store.writes, want)
		}
	}
}

func TestCreatePlantBodies(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString
	tests := []struct {
		name   string
		body   string
		base64 bool
		want   string // the start of the answer's body
	}{
		{"text", oak, false, `{"name":"oak"}`},
		{"base64", encoded([]byte(oak)), true, `{"name":"oak"}`},
		{"every member, and others", `{"x":[],"tag":"<ä\n🌱>","name":"\u0000","id":-1e3}`, false, `{"name":"\u0000","tag":"<ä\n🌱>"}`},
		{"an empty tag", `{"id":0,"name":"oak","tag":""}`, false, `{"name":"oak","tag":""}`},
		{"text that is said to be base64", oak, true, `{"error":5001,`},
		{"base64 without its padding", strings.TrimRight(encoded([]byte(oak+" ")), "="), true, `{"error":5001,`},
		{"no text", "", false, `{"error":1002,`},
		{"no base64", "", true, `{"error":1002,`},
		{"white space", " \n", false, `{"error":1003,`},
		{"base64 that is not said to be", encoded([]byte(oak)), false, `{"error":1003,`},
		{"invalid UTF-8 in base64", encoded([]byte("{\"id\":1,\"name\":\"\xff\"}")), true, `{"error":1003,`},
		{"a byte order mark in base64", encoded([]byte("\uFEFF" + oak)), true, `{"error":1003,`},
		{"null", "null", false, `{"error":1004,"message":"The body is not a NewPlant: it must be an object."}`},
		{"a name that is a number", `{"id":1,"name":7}`, false, `{"error":1004,"message":"The body is not a NewPlant: name must be a string."}`},
	}
	for _, test := range tests {
		got := invoke(t, newCreatePlant(new(faultyStore)), sending{body: test.body, base64: test.base64}.event(t))
		if !strings.HasPrefix(got.body, test.want) {
			t.Errorf("%s: Invoke(%q) = %s, want %s", test.name, test.body, got.body, test.want)
		}
	}
}

// What an event cannot hold exactly is refused, and never stored changed.
func TestCreatePlantBodiesThatNoEventCanHold(t *testing.T) {
	for name, text := range map[string]string{"invalid UTF-8": "\xff", "a lone surrogate": `\ud800`} {
		event := sending{body: `{"id":1,"name":"HERE"}`}.event(t)
		event = bytes.Replace(event, []byte("HERE"), []byte(text), 1)
		got := invoke(t, newCreatePlant(new(faultyStore)), event)
		if want := `{"error":1003,`; !strings.HasPrefix(got.body, want) {
			t.Errorf("%s: Invoke(%q) = %s, want %s", name, event, got.body, want)
		}
	}
}

// One conversation with one store, in this order.
func TestCreatePlantReplays(t *testing.T) {
	h := newCreatePlant(new(faultyStore))
	florist := strings.Replace(allowed, "gardener", "florist", 1)
	steps := []struct {
		name, authorizer, key, body string
		want                        int32
	}{
		{"a plant", allowed, "k", oak, 0},
		{"the same again", allowed, "k", oak, 0},
		{"the same in other words", allowed, "k", `{"name":"\u006fak","id":1.0,"x":1}`, 0},
		{"another name with the same key", allowed, "k", `{"id":1,"name":"elm"}`, 3002},
		{"an empty tag with the same key", allowed, "k", `{"id":1,"name":"oak","tag":""}`, 3002},
		{"another id with the same key", allowed, "k", `{"id":2,"name":"oak"}`, 0},
		{"the same plant with another key", allowed, "K", oak, 3001},
		{"the same plant without a key", allowed, "", oak, 3001},
		{"the same plant and key of another subject", florist, "k", oak, 3001},
		{"another id with the key of another subject", florist, "k", `{"id":3,"name":"oak"}`, 0},
		{"the first plant once more", allowed, "k", oak, 0},
	}
	for _, step := range steps {
		s := sending{authorizer: step.authorizer, body: step.body}
		if step.key != "" {
			s.headers = map[string]string{"idempotency-key": step.key}
		}
		if got := invoke(t, h, s.event(t)); got.code != step.want {
			t.Errorf("%s: Invoke = %d, want %d", step.name, got.code, step.want)
		}
	}
}

func TestCreatePlantResponseHeaders(t *testing.T) {
	tests := []struct {
		name  string
		store func() error
		key   string
		code  int32
		want  string // the headers besides content-type
	}{
		{"success", nil, "k", 0, "map[]"},
		{"an unavailable store, with the client's key", fails(plant.ErrUnavailable), "k", 5002, "map[idempotency-key:k retry-after:1]"},
		{"an unavailable store, with a fresh key", fails(plant.ErrUnavailable), "", 5002, "map[idempotency-key:fresh-1 retry-after:1]"},
		{"an unknown outcome, with the client's key", fails(plant.ErrOutcomeUnknown), "k", 5004, "map[idempotency-key:k retry-after:1]"},
		{"an unknown outcome, with a fresh key", fails(plant.ErrOutcomeUnknown), "", 5004, "map[idempotency-key:fresh-1 retry-after:1]"},
		{"a wrapped error", fails(fmt.Errorf("%w: %w", plant.ErrOutcomeUnknown, context.DeadlineExceeded)), "k", 5004, "map[idempotency-key:k retry-after:1]"},
		{"an id that exists", fails(plant.ErrExists), "k", 3001, "map[]"},
		{"a key used twice", fails(plant.ErrKeyReused), "k", 3002, "map[]"},
		{"an internal error", fails(errors.New("broken")), "k", 5001, "map[]"},
		{"a panic", func() error { panic("broken") }, "k", 5001, "map[]"},
		{"a malformed key", nil, "a b", 1006, "map[]"},
	}
	for _, test := range tests {
		s := sending{body: oak}
		if test.key != "" {
			s.headers = map[string]string{"idempotency-key": test.key}
		}
		got := invoke(t, newCreatePlant(&faultyStore{before: test.store}), s.event(t))
		if got.code != test.code || fmt.Sprint(got.headers) != test.want {
			t.Errorf("%s: Invoke = %d, %v, want %d, %s", test.name, got.code, got.headers, test.code, test.want)
		}
	}
	unchecked := sending{authorizer: `{"lambda":{"verdict":"unavailable","presented":"HASH"}}`, headers: map[string]string{"idempotency-key": "k"}}
	if got := invoke(t, newCreatePlant(new(faultyStore)), unchecked.event(t)); fmt.Sprint(got.headers) != "map[retry-after:1]" {
		t.Errorf("Invoke where tokens cannot be checked = %d, %v, want Retry-After alone", got.code, got.headers)
	}
}

// Whether the write landed or not, the key in the answer makes a retry safe.
func TestCreatePlantRetryAfterFault(t *testing.T) {
	tests := []struct {
		name          string
		before, after func() error
		headers       map[string]string
		want          int32
	}{
		{"the store refuses", fails(plant.ErrUnavailable), nil, nil, 5002},
		{"the request is lost", fails(plant.ErrOutcomeUnknown), nil, nil, 5004},
		{"the answer is lost", nil, fails(plant.ErrOutcomeUnknown), nil, 5004},
		{"the answer to a client's own key is lost", nil, fails(plant.ErrOutcomeUnknown), map[string]string{"idempotency-key": "own"}, 5004},
	}
	for _, test := range tests {
		store := &faultyStore{before: test.before, after: test.after}
		h := newCreatePlant(store)
		first := invoke(t, h, sending{body: oak, headers: test.headers}.event(t))
		store.before, store.after = nil, nil
		retry := map[string]string{"idempotency-key": first.headers["idempotency-key"]}
		second := invoke(t, h, sending{body: oak, headers: retry}.event(t))
		other := invoke(t, h, sending{body: oak}.event(t))
		if first.code != test.want || second.code != 0 || other.code != 3001 {
			t.Errorf("%s: Invoke = %d, %d with its key, %d without, want %d, 0, 3001", test.name, first.code, second.code, other.code, test.want)
		}
	}
}

// What the client must not see is in the log.
func TestCreatePlantInternalErrors(t *testing.T) {
	for name, store := range map[string]func() error{
		"an unknown error":      fails(errors.New("secret cause")),
		"a panic":               func() error { panic("secret cause") },
		"a panic with an error": func() error { panic(errors.New("secret cause")) },
	} {
		var log bytes.Buffer
		h := newCreatePlant(&faultyStore{before: store})
		h.Log = slog.New(slog.NewJSONHandler(&log, nil))
		got := invoke(t, h, sending{body: oak}.event(t))
		if got.code != 5001 || strings.Contains(got.body, "secret") || !strings.Contains(log.String(), "secret cause") {
			t.Errorf("%s: Invoke = %s with log %s, want 5001 and the cause in the log alone", name, got.body, log.String())
		}
	}
}

// The store's deadline is the end of the budget, or sooner if the invocation ends
// sooner.
func TestCreatePlantDeadline(t *testing.T) {
	for _, test := range []struct{ left, want time.Duration }{
		{time.Hour, createBudget},
		{createBudget + margin, createBudget},
		{time.Second, time.Second - margin},
	} {
		start := time.Now()
		ctx, cancel := context.WithDeadline(t.Context(), start.Add(test.left))
		store := new(faultyStore)
		if _, err := newCreatePlant(store).Invoke(ctx, sending{body: oak}.event(t)); err != nil {
			t.Fatal(err)
		}
		cancel()
		if late := store.deadline.Sub(start.Add(test.want)); late < 0 || late > time.Since(start) {
			t.Errorf("with %v left Create's deadline is %v late, want %v after the start", test.left, late, test.want)
		}
	}
}

// faultyStore is a real store that can also fail before or after the write.
type faultyStore struct {
	memory.PlantStore
	before, after func() error

	writes   []plant.Write
	deadline time.Time // of the last call
}

func (s *faultyStore) Create(ctx context.Context, w plant.Write) error {
	s.writes = append(s.writes, w)
	s.deadline, _ = ctx.Deadline()
	if s.before != nil {
		return s.before()
	}
	if err := s.PlantStore.Create(ctx, w); err != nil || s.after == nil {
		return err
	}
	return s.after()
}

func fails(err error) func() error { return func() error { return err } }

func newCreatePlant(store plant.Store) *CreatePlant {
	keys := 0
	return &CreatePlant{
		Plants: store,
		Log:    slog.New(slog.DiscardHandler),
		Now:    func() time.Time { return now },
		NewKey: func() string { keys++; return fmt.Sprintf("fresh-%d", keys) },
	}
}

// sending is a request as it reaches the function. Its Authorization value is
// credentials, unless headers has one.
type sending struct {
	headers map[string]string
	body    string
	base64  bool

	// authorizer is JSON, where HASH stands for the hash of credentials and
	// OTHER for that of another value. Empty means allowed.
	authorizer string
}

func (s sending) event(t *testing.T) []byte {
	t.Helper()
	headers, authorized := map[string]string{}, false
	for name, value := range s.headers {
		headers[name] = value
		authorized = authorized || strings.EqualFold(name, "authorization")
	}
	if !authorized {
		headers["authorization"] = credentials
	}
	requestContext := map[string]any{"requestId": "r1"}
	if s.authorizer != absent {
		hashes := strings.NewReplacer("HASH", sha256Hex(credentials), "OTHER", sha256Hex("Bearer of-another"))
		requestContext["authorizer"] = jsontext.Value(hashes.Replace(cmp.Or(s.authorizer, allowed)))
	}
	event, err := json.Marshal(map[string]any{
		"version":         "2.0",
		"headers":         headers,
		"requestContext":  requestContext,
		"body":            s.body,
		"isBase64Encoded": s.base64,
	}, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return event
}

func sha256Hex(value string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(value))) }

// answer is what a client is answered.
type answer struct {
	code    int32             // 0 for success
	headers map[string]string // besides content-type
	body    string
}

// invoke returns the answer of h to event, of which it holds what is promised
// of every answer: it is 200 with a Plant or 400 with an Error, and it is JSON
// and says so.
func invoke(t *testing.T, h *CreatePlant, event []byte) answer {
	t.Helper()
	out, err := h.Invoke(t.Context(), event)
	var response struct {
		StatusCode int               `json:"statusCode"`
		Headers    map[string]string `json:"headers"`
		Body       string            `json:"body"`
	}
	if err != nil || json.Unmarshal(out, &response, strictly) != nil || response.Headers["content-type"] != "application/json" {
		t.Errorf("Invoke(%.200q) = %s, %v, want an answer of type application/json", event, out, err)
	}
	delete(response.Headers, "content-type")
	var created struct {
		Name string  `json:"name"`
		Tag  *string `json:"tag"`
	}
	var refused struct {
		Error   int32  `json:"error"`
		Message string `json:"message"`
	}
	isPlant := json.Unmarshal([]byte(response.Body), &created, strictly) == nil && created.Name != ""
	isError := json.Unmarshal([]byte(response.Body), &refused, strictly) == nil && refused.Error != 0 && refused.Message != ""
	if (response.StatusCode != http.StatusOK || !isPlant) && (response.StatusCode != http.StatusBadRequest || !isError) {
		t.Errorf("Invoke(%.200q) = %s, want 200 with a Plant or 400 with an Error", event, out)
	}
	return answer{refused.Error, response.Headers, response.Body}
}
