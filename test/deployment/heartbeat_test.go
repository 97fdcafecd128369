package deployment

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestHeartbeat deploys with the commands of README.md, which print one that creates a plant. It then
// sends the request of docs/operations.md, "Heartbeat", in outages.
func TestHeartbeat(t *testing.T) {
	needs(t, "aws", "curl")
	local := start(t)
	curl := regexp.MustCompile(`(?m)^curl .*`).FindString(local.must(t, "make", "deploy", "ENV=local", "PORT="+local.port))
	out, err := exec.CommandContext(t.Context(), "bash", "-c", curl).Output()
	if want := `{"name":"Monstera","tag":"indoor"}` + "\n"; err != nil || string(out) != want {
		t.Fatalf("%s = %s, %v, want %s", curl, out, err, want)
	}

	const stack = "plant-store-local"
	url := local.output(t, stack, "Url")
	var token string
	issue := func() {
		printed := local.must(t, "bin/plantstore", "token", "issue", "--stack", stack, "--subject", "heartbeat")
		token = regexp.MustCompile(`pst_\w+`).FindString(printed)
	}
	beats := func(want string) {
		t.Helper()
		body, err := exec.CommandContext(t.Context(), "curl", "-sS", url+"/plants", "-H", "Authorization: Bearer "+token,
			"-H", "Content-Type: application/json", "-H", "Idempotency-Key: heartbeat", "-d", `{"id":-1,"name":"heartbeat"}`).Output()
		if err != nil || !strings.HasPrefix(string(body), want) {
			t.Errorf("the heartbeat gets %s, %v, want %s", body, err, want)
		}
	}
	const alive = `{"name":"heartbeat"}`
	issue()
	beats(alive)

	api := local.resource(t, stack, "HttpApi")
	route := local.query(t, "Items[0].RouteId", "apigatewayv2", "get-routes", "--api-id", api)
	update := []string{"aws", "apigatewayv2", "update-route", "--api-id", api, "--route-id", route, "--authorization-type"}
	local.must(t, append(update, "NONE")...)
	beats(`{"error":5001,`)
	local.must(t, append(update, "CUSTOM")...)
	beats(alive)

	local.must(t, "bash", "-c", "bin/plantstore token revoke --stack "+stack+" - <<<"+token)
	beats(`{"error":2003,`)
	issue()
	beats(alive)

	tokens := local.resource(t, stack, "TokensTable")
	local.must(t, "aws", "dynamodb", "delete-table", "--table-name", local.resource(t, stack, "PlantsTable"))
	beats(`{"error":5001,`)
	local.must(t, "aws", "dynamodb", "delete-table", "--table-name", tokens)
	local.must(t, "aws", "dynamodb", "create-table", "--table-name", tokens, "--billing-mode", "PAY_PER_REQUEST",
		"--attribute-definitions", "AttributeName=id,AttributeType=S", "--key-schema", "AttributeName=id,KeyType=HASH")
	beats(`{"error":2003,`)
}
