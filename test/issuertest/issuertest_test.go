package issuertest_test

import (
	"encoding/json/v2"
	"fmt"
	"strings"
	"testing"
	"time"

	"plantstore/test/issuertest"
	"plantstore/test/processtest"
	"plantstore/test/runtimeapi"
)

// The built authorizer accepts the access tokens of a certified provider, and no ID token: not even a service with the
// name of the client that the ID token is for.
func TestAuthorizer(t *testing.T) {
	issuer := issuertest.Start(t)
	binary := processtest.Build(t, "cmd/authorizer")
	tests := []struct {
		name            string
		token, audience string
		subject         string // empty if the token is refused
		logged          string
	}{
		{
			name: "a user's access token", token: "TOKEN", audience: issuer.Audience,
			subject: issuer.URL + " ann", logged: `"code":0`,
		},
		{name: "an ID token", token: "ID_TOKEN", audience: "alice", logged: `"reason":"type"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, err := runtimeapi.Start(binary, processtest.Environment("http://127.0.0.1:1",
				"TOKENS_TABLE=tokens", "TOKEN_ISSUER="+issuer.URL, "TOKEN_AUDIENCE="+test.audience)...)
			if err != nil {
				t.Fatal(err)
			}
			event := fmt.Sprintf(`{"headers":{"authorization":"Bearer %s"}}`, issuer.Tokens[test.token])
			answer, _, err := f.Invoke([]byte(event), 10*time.Second)
			f.Stop()
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Context struct {
					Subject string `json:"subject"`
				} `json:"context"`
			}
			if err := json.Unmarshal(answer, &got); err != nil {
				t.Fatal(err)
			}
			if log := f.Log.String(); got.Context.Subject != test.subject || !strings.Contains(log, test.logged) {
				t.Errorf("authorizer = %s, logged as %s, want the subject %q, and %s", answer, log, test.subject, test.logged)
			}
		})
	}
}
