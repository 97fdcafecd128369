package deployment

import "testing"

const kept = `{"id":-4,"name":"Kept"}`

// deletionClaims are about a stack that was deleted.
var deletionClaims = []claim{
	{name: "deleting the stack keeps its tables", check: func(r *rehearsal, t *testing.T) string {
		r.post(t, kept)
		r.oldPlants, r.oldTokens = r.resource(t, rehearsalStack, "PlantsTable"), r.resource(t, rehearsalStack, "TokensTable")
		r.must(t, "aws", "cloudformation", "delete-stack", "--stack-name", rehearsalStack)
		r.must(t, "aws", "cloudformation", "wait", "stack-delete-complete", "--stack-name", rehearsalStack)
		if output, err := r.run(t, "aws", "cloudformation", "describe-stacks", "--stack-name", rehearsalStack); err == nil {
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
