package contract

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"plantstore/internal/gateway"
)

// suite calls f for each case of JSONTestSuite.
func suite(t testing.TB, f func(name, text string)) {
	t.Helper()
	content, err := os.ReadFile("testdata/jsonsuite.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		name, text, times := "", "", 1
		if strings.HasPrefix(line, "#") {
			continue
		}
		if n, err := fmt.Sscanf(line, "%s %q %d", &name, &text, &times); n < 2 {
			t.Fatalf("testdata/jsonsuite.txt: %.100q: %v", line, err)
		}
		f(name, strings.Repeat(text, times))
	}
}

// bodiesWith returns bodies with text as the whole, as id and as an unknown member.
func bodiesWith(text string) []string {
	return []string{text, `{"id":` + text + `,"name":"oak"}`, `{"id":1,"name":"oak","x":` + text + `}`}
}

// checkBody sends a body and compares the answer and the plant that reaches the store with the
// judgement of the oracle. It returns the code.
func (s *service) checkBody(t *testing.T, body string) (code int) {
	t.Helper()
	want, wantCode := s.judge([]byte(body))
	header := http.Header{"Authorization": {"Bearer " + s.target.tokens["TOKEN"]}, "Content-Type": {"application/json"}}
	got := s.ask(t, "POST /plants", header, body)
	code, _, members, err := s.outcome(got)
	if err != nil || code != wantCode || !reflect.DeepEqual(s.plants.plant, want) ||
		code == 0 && !reflect.DeepEqual(members, membersOf(want.Plant)) {
		t.Errorf("POST %.5000q = %s, %v, and stores %s; want code %d and %s",
			body, got, err, text(s.plants.plant), wantCode, text(want))
	}
	return code
}

// The service accepts as JSON what every parser must accept, except for duplicate names, and
// refuses what every parser must refuse.
func TestJSONTestSuite(t *testing.T) {
	t.Parallel()
	s, counts := newService(t, nil), map[string]int{}
	suite(t, func(name, text string) {
		kind := name[:2]
		counts[kind]++
		for _, body := range bodiesWith(text) {
			code := s.checkBody(t, body)
			isJSON := code != 1002 && code != 1003
			wantJSON := kind == "y_" && !strings.HasPrefix(name, "y_object_duplicated_key")
			if kind != "i_" && isJSON != wantJSON {
				t.Errorf("%s: POST %.200q = code %d, want accepted as JSON: %t", name, body, code, wantJSON)
			}
		}
	})
	if counts["y_"] != 95 || counts["n_"] != 188 || counts["i_"] != 35 {
		t.Errorf("the suite has cases %v, want 95 y_, 188 n_ and 35 i_", counts)
	}
}

// The service answers and stores each body as the oracle says.
func FuzzDecode(f *testing.F) {
	for _, body := range corpus() {
		f.Add(body)
	}
	suite(f, func(_, text string) { f.Add(text) })
	s := newService(f, nil)
	f.Fuzz(func(t *testing.T, text string) {
		for _, body := range bodiesWith(text) {
			s.checkBody(t, body)
		}
	})
}

// The service answers each Authorization value as the oracle says.
func FuzzAuthorization(f *testing.F) {
	s, r := newService(f, nil), rand.New(rand.NewPCG(1, 1))
	secrets := s.target.tokens
	for range 5 {
		for _, lines := range presentations(r, secrets["TOKEN"], secrets["EXPIRED_TOKEN"], secrets["REVOKED_TOKEN"]) {
			f.Add(strings.Join(lines, ","))
		}
	}
	f.Fuzz(func(t *testing.T, value string) { s.checkAuthorization(t, value) })
}

// Whatever the event is, the function gives an answer of the contract, and it creates a plant only
// if the event holds an allow.
func FuzzEvent(f *testing.F) {
	files, err := filepath.Glob("../../events/*/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("the sample events are %v, %v, want some", files, err)
	}
	for _, file := range files {
		event, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(event))
		f.Add(strings.Replace(string(event), `"allow"`, `"Allow"`, 1))
	}
	for _, event := range []string{"", "null", "[]", `{"headers":[]}`, `{"isBase64Encoded":1}`, "{\"body\":\"\xff\"}"} {
		f.Add(event)
	}
	s := newService(f, nil)
	function := s.gateway.CreatePlant
	f.Fuzz(func(t *testing.T, event string) {
		s.gateway.CreatePlant = withEvent{function, event}
		got := s.ask(t, "POST /plants", nil, "")
		code, _, _, err := s.outcome(got)
		created, mayAllow := s.plants.plant.Name != "", strings.Contains(event, "allow") || strings.Contains(event, `\u`)
		if err != nil || code == http.StatusInternalServerError || created && (code != 0 || !mayAllow) {
			t.Errorf("Invoke(%q) = %s, %v, created: %t", event, got, err, created)
		}
	})
}

// withEvent is a function that gets this event, whatever the gateway sends.
type withEvent struct {
	gateway.Function
	event string
}

func (f withEvent) Invoke(ctx context.Context, _ []byte) ([]byte, error) {
	return f.Function.Invoke(ctx, []byte(f.event))
}
