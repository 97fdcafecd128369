package contract

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A service answers every conversation as it must. Of a deployment only one plant may be written, so the
// conversations that write others are left out.
func TestContract(t *testing.T) {
	for _, target := range targets(t) {
		t.Run(target.name, func(t *testing.T) {
			for _, c := range conversations() {
				passed := t.Run(c.name, func(t *testing.T) { target.hold(t, c) })
				if target.only != 0 && !passed {
					t.Fatal("a service that fails may write other plants than the one allowed, so the test ends here. " +
						"After the error 2003, TOKEN is not valid there; after 3001, SUBJECT is not the token's subject")
				}
			}
		})
	}
}

// hold sends the requests of a conversation and checks each answer.
func (target target) hold(t *testing.T, c conversation) {
	t.Helper()
	if target.only != 0 && !c.isProbe && c.mentions("200 ") {
		t.Skip("left out: it writes")
	}
	if target.other == "" && c.mentions("$OTHER") {
		t.Skip("left out: OTHER_TOKEN is not set")
	}
	id := target.only
	if id == 0 {
		id = 1<<53 + rand.Int64N(1<<61) // beyond the whole numbers of a float64
	}
	texts := strings.NewReplacer("$1", fmt.Sprint(id), "$2", fmt.Sprint(id+1), "$NONE", "", "$BOM", "\uFEFF",
		"$TOKEN", target.token, "$FORGED", forged(target.token), "$OTHER", target.other)
	for i, e := range c.exchanges {
		got := target.send(t, e, texts)
		if want := canonical(repeat(e.want)); got != want {
			t.Errorf("request %d, with %v and %.200s, gets %.400s, want %.400s", i+1, e.header, e.body, got, want)
		}
	}
}

// send sends a request. It returns the answer as conversations.txt has it. No answer ends the test.
func (target target) send(t *testing.T, e exchange, texts *strings.Replacer) string {
	t.Helper()
	body := strings.NewReader(texts.Replace(repeat(e.body)))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target.url+"/plants", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {"Bearer " + target.token}, "Content-Type": {"application/json"}}
	for name, values := range e.header {
		request.Header.Del(name)
		for _, value := range values {
			if value != "" {
				request.Header.Add(name, texts.Replace(repeat(value)))
			}
		}
	}
	client := http.Client{Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	content, err := io.ReadAll(io.LimitReader(response.Body, 10<<20))
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%s %v", content, response.Header)
	if strings.Contains(shown, target.token) || strings.Contains(shown, forged(target.token)) {
		t.Error("the answer shows the token")
	}
	if got := response.Header.Get("Content-Type"); got != "application/json" {
		return "content type " + got
	}
	var refusal struct {
		Code    int    `json:"error"`
		Message string `json:"message"`
	}
	err = json.Unmarshal(content, &refusal, json.RejectUnknownMembers(true))
	if err == nil && refusal.Message != "" {
		return fmt.Sprint(response.StatusCode, " ", refusal.Code)
	}
	return canonical(fmt.Sprintf("%d %s", response.StatusCode, content))
}

// canonical returns an answer with its JSON in the form of RFC 8785, but with each number as it is written.
func canonical(answer string) string {
	status, body, _ := strings.Cut(answer, " ")
	value := jsontext.Value(body)
	if value.Format(jsontext.ReorderRawObjects(true)) != nil {
		return answer
	}
	return status + " " + value.String()
}

// Runs against a deployment write one plant for each subject, whatever the token. Another subject does not get it.
func TestProbe(t *testing.T) {
	s := newService(t)
	runs := []struct {
		name, subject string
		plants        int // in the store afterwards
	}{
		{name: "the first run", subject: "ann", plants: 1},
		{name: "a second run with another token", subject: "ann", plants: 1},
		{name: "another subject", subject: "bob", plants: 2},
	}
	for _, run := range runs {
		t.Run(run.name, func(t *testing.T) {
			target := target{url: s.url, token: issue(t, s.tokens, run.subject), only: probeID(run.subject)}
			for _, c := range conversations() {
				t.Run(c.name, func(t *testing.T) { target.hold(t, c) })
			}
			if got := len(s.written); got != run.plants {
				t.Errorf("the store has %d plants, want %d", got, run.plants)
			}
		})
	}
	stranger := target{url: s.url, token: issue(t, s.tokens, "bob"), only: probeID("ann")}
	texts := strings.NewReplacer("$1", fmt.Sprint(stranger.only))
	if got := stranger.send(t, conversations()[0].exchanges[0], texts); got != "400 3001" {
		t.Errorf("with the subject of somebody else, the first request gets %s, want 400 3001", got)
	}
}
