package deployment

import (
	"os/exec"
	"strings"
	"testing"
)

// TestHeartbeat deploys with the commands of README.md, which print one that creates a plant. It then
// sends the request of docs/operations.md, "Heartbeat", for an hour in fast motion, and in outages.
func TestHeartbeat(t *testing.T) {
	needs(t, "aws", "curl")
	local := start(t)
	curl := lineWith(local.must(t, "make", "deploy", "ENV=local", "PORT="+local.port), "curl ")
	out, err := exec.CommandContext(t.Context(), "bash", "-c", curl).Output()
	if want := `{"name":"Monstera","tag":"indoor"}` + "\n"; err != nil || string(out) != want {
		t.Fatalf("%s = %s, %v, want %s", curl, out, err, want)
	}

	const stack = "plant-store-local"
	resources := local.resources(t, stack)
	plants, tokens, api := resources["PlantsTable"], resources["TokensTable"], resources["HttpApi"]
	url := local.outputs(t, stack)["Url"]
	issue := func() (token string) {
		printed := local.must(t, "bin/plantstore", "token", "issue", "--stack", stack, "--subject", "heartbeat")
		return strings.TrimSpace(lineWith(printed, "pst_"))
	}
	beats := func(t *testing.T, token, want string) {
		t.Helper()
		if got := beat(t, url, token); !strings.HasPrefix(got, want) {
			t.Errorf("the heartbeat gets %s, want %s", got, want)
		}
	}
	token := issue()
	const alive = `{"name":"heartbeat"}`

	var before, after struct{ Count int }
	count := []string{"dynamodb", "scan", "--table-name", plants, "--select", "COUNT"}
	local.aws(t, &before, count...)
	for range 60 {
		beats(t, token, alive)
	}
	local.aws(t, &after, count...)
	if created := after.Count - before.Count; created != 1 {
		t.Errorf("an hour creates %d plants, want 1", created)
	}

	var routes struct {
		Items []struct{ RouteId string } //nolint:revive,staticcheck // AWS's name
	}
	local.aws(t, &routes, "apigatewayv2", "get-routes", "--api-id", api)
	route := []string{"aws", "apigatewayv2", "update-route", "--api-id", api, "--route-id", routes.Items[0].RouteId, "--authorization-type"}
	local.must(t, append(route, "NONE")...)
	beats(t, token, `{"error":5001,`)
	local.must(t, append(route, "CUSTOM")...)
	beats(t, token, alive)

	local.must(t, "bin/plantstore", "token", "revoke", "--stack", stack, token)
	beats(t, token, `{"error":2003,`)
	token = issue()
	beats(t, token, alive)

	local.must(t, "aws", "dynamodb", "delete-table", "--table-name", plants)
	beats(t, token, `{"error":5001,`)
	local.must(t, "aws", "dynamodb", "delete-table", "--table-name", tokens)
	local.must(t, "aws", "dynamodb", "create-table", "--table-name", tokens, "--billing-mode", "PAY_PER_REQUEST",
		"--attribute-definitions", "AttributeName=id,AttributeType=S", "--key-schema", "AttributeName=id,KeyType=HASH")
	beats(t, token, `{"error":2003,`)
}

// beat sends the heartbeat, and returns the body of the answer.
func beat(t *testing.T, url, token string) string {
	t.Helper()
	body, err := exec.CommandContext(t.Context(), "curl", "-sS", url+"/plants", "-H", "Authorization: Bearer "+token,
		"-H", "Content-Type: application/json", "-H", "Idempotency-Key: heartbeat", "-d", `{"id":-1,"name":"heartbeat"}`).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// lineWith returns the first line of a text that begins with start.
func lineWith(text, start string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, start) {
			return line
		}
	}
	return ""
}
