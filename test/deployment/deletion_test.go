package deployment

import (
	"strings"
	"testing"
)

const kept = `{"id":-4,"name":"Kept"}`

// deletionClaims are about a stack that was deleted.
var deletionClaims = []claim{
	{name: "deleting the stack keeps its tables", show: func(r *rehearsal, t *testing.T) string {
		r.post(t, kept)
		r.oldPlants, r.oldTokens = r.resource(t, stack, "PlantsTable"), r.resource(t, stack, "TokensTable")
		r.must(t, "aws", "cloudformation", "delete-stack", "--stack-name", stack)
		r.must(t, "aws", "cloudformation", "wait", "stack-delete-complete", "--stack-name", stack)
		if output, err := r.run(t, "aws", "cloudformation", "describe-stacks", "--stack-name", stack); err == nil {
			t.Errorf("after its deletion, the stack is %s", output)
		}
		for _, table := range []string{r.oldPlants, r.oldTokens} {
			if count := r.query(t, "Count", "dynamodb", "scan", "--table-name", table, "--select", "COUNT"); count == "0" {
				t.Errorf("%s is empty, want what was written", table)
			}
		}
		return r.oldPlants + ", " + r.oldTokens
	}},
}

// removalClaims are about what a rehearsal leaves.
var removalClaims = []claim{
	{name: "what cannot be removed is listed with its command, and is removed when it can be", show: func(r *rehearsal, t *testing.T) string {
		protect := func(option string) {
			r.must(t, "aws", "cloudformation", "update-termination-protection", "--stack-name", roles, option)
		}
		protect("--enable-termination-protection")
		listed := r.remove(t)
		protect("--no-enable-termination-protection")
		if want := "aws cloudformation delete-stack --stack-name " + roles + "\n"; !strings.HasPrefix(listed, want) {
			t.Errorf("a protected stack is listed as %q, want %q", listed, want)
		}
		group := "/aws/lambda/" + stack
		r.must(t, "aws", "logs", "create-log-group", "--log-group-name", group) // as if the deletion of the stack had left it
		if left := r.remove(t); left != "" {
			t.Errorf("afterwards, this is left: %s", left)
		}
		groups := r.query(t, "logGroups[].logGroupName", "logs", "describe-log-groups", "--log-group-name-prefix", group)
		tables := r.query(t, "TableNames[?starts_with(@, '"+stack+"-')]", "dynamodb", "list-tables")
		if groups+tables != "" {
			t.Errorf("afterwards, there are %s %s", groups, tables)
		}
		return listed
	}},
}
