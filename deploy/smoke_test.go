package deploy

import (
	"maps"
	"strings"
	"testing"
)

// smokeAnswers are those that smoke-test gets when all is well. An answer of AWS that begins with "An error" is a
// refusal.
var smokeAnswers = map[string]string{
	"StackStatus":   "UPDATE_COMPLETE",
	"Url":           "https://api",
	"revoked-token": `{"error":2003,"message":"A message."}`,
}

// smokePrograms are what smoke-test calls. The service knows which tokens are revoked.
var smokePrograms = map[string]string{
	"path/aws":  standInAWS,
	"path/make": "",
	"path/curl": `
case "$*" in *Bearer*) exit 2 ;; esac # others on this machine see arguments
case "$*" in *"--max-time "*) ;; *) exit 2 ;; esac # a service that hangs is no reason to wait for long
token=$(sed -n 's/^Authorization: Bearer //p')
if grep -q "revoke-$token" calls; then cat answers/revoked-token; else echo '{"error":1002,"message":"A message."}'; fi
`,
	"bin/plantstore": `
case "$*" in
"token issue --stack plant-store-staging --subject smoke-test"*" --ttl 15m") echo "$6-token" ;;
"token revoke --stack plant-store-staging -") echo "revoke-$(cat)" >>calls ;;
*) exit 2 ;;
esac
`,
}

const callContract = `
[ "$URL/$SUBJECT/$TOKEN/$OTHER_TOKEN/$WRITES" = https://api/smoke-test/smoke-test-token/smoke-test-other-token/ ] || exit 2
`

// TestSmokeTest runs deploy/smoke-test with stand-ins for AWS, the service and the contract tests.
func TestSmokeTest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		answers  map[string]string // that differ
		endpoint string            // of another AWS, if it is in one
		contract string            // what test/contract/run does; it passes unless a row says otherwise
		failure  string            // a part of what is said of a failure
	}{
		{name: "a service that keeps the contract passes"},
		{name: "a service that breaks the contract fails", contract: "echo broken; false", failure: "broken"},
		{
			name:    "a service that accepts a revoked token fails",
			answers: map[string]string{"revoked-token": `{"error":1002,"message":"A message."}`},
			failure: "a revoked token gets",
		},
		{
			// Not at once: in the moment in which it starts a program, bash can skip the first command of its trap.
			name: "an interrupted test revokes its tokens", contract: "echo interrupted; sleep 1; kill -TERM $PPID; sleep 1",
			failure: "interrupted",
		},
		{
			name:    "an address that is not of HTTPS gets no token",
			answers: map[string]string{"Url": "http://api"},
			failure: "is no address of an API: http://api",
		},
		{
			name:    "an address is data, and no command",
			answers: map[string]string{"Url": "https://api'; touch evil; : '"},
			failure: "is no address of an API",
		},
		{
			name:    "an address with another AWS as its user gets no token",
			answers: map[string]string{"Url": "http://127.0.0.1:4566/_aws/execute-api/x@other.example"}, endpoint: "http://127.0.0.1:4566",
			failure: "is no address of an API",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			answers, programs := maps.Clone(smokeAnswers), maps.Clone(smokePrograms)
			maps.Copy(answers, test.answers)
			programs["test/contract/run"] = callContract + "echo test >>calls\n" + test.contract
			p := newProject(t, answers, programs)
			output, status := p.run(t, []string{"deploy/smoke-test", "plant-store-staging"}, "AWS_ENDPOINT_URL="+test.endpoint)
			if (status != 0) != (test.failure != "") || !strings.Contains(output, test.failure) {
				t.Errorf("it ends with %d and prints %s, want the failure %q", status, output, test.failure)
			}
			if strings.Contains(test.failure, "no address") && len(p.calls(t)) > 0 {
				t.Errorf("a token was used: %q", p.calls(t))
			}
		})
	}
}
