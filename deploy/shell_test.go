package deploy

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// TestRevoke runs deploy/shell, and with it the commands of docs/emergencies.md that revoke tokens.
func TestRevoke(t *testing.T) {
	if _, err := exec.LookPath("aws"); err != nil {
		processtest.SkipWithout(t, "the AWS CLI: see CONTRIBUTING.md, Tools")
	}
	page, err := os.ReadFile("../docs/emergencies.md")
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	boolean := func(value bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: value} }
	tokens := []struct {
		token.Token
		revoked types.AttributeValue // by hand, if any
	}{
		// A thief may choose an id.
		{Token: token.Token{ID: `- and 'more\`, Subject: "alice", CreatedAt: day}},
		{Token: token.Token{ID: `--help"`, Subject: "alice", CreatedAt: day}},
		{Token: token.Token{ID: "before", Subject: "alice", CreatedAt: day.Add(-time.Second)}},
		{Token: token.Token{ID: "bob's", Subject: "bob", CreatedAt: day}},
		{Token: token.Token{ID: "Alice's", Subject: "Alice", CreatedAt: day.Add(-time.Second)}},
		{Token: token.Token{ID: "false", Subject: "alice", CreatedAt: day}, revoked: boolean(false)},
		{Token: token.Token{ID: "null", Subject: "alice", CreatedAt: day}, revoked: &types.AttributeValueMemberNULL{Value: true}},
		{Token: token.Token{ID: "revoked", Subject: "bob", CreatedAt: day}, revoked: boolean(true)},
	}
	tests := []struct {
		name   string
		begins string // how the command on the page begins
		says   string
		want   []string // the ids of the tokens that are revoked afterwards
	}{
		{name: "one", begins: "aws dynamodb update-item", want: []string{"before", "revoked"}},
		{
			name: "those of a subject", begins: "revoke 'subject", says: "5 tokens are revoked\n",
			want: []string{`- and 'more\`, `--help"`, "before", "false", "null", "revoked"},
		},
		{
			name: "those since a date", begins: "revoke 'created_at", says: "6 tokens are revoked\n",
			want: []string{`- and 'more\`, `--help"`, "bob's", "false", "null", "revoked"},
		},
		{
			name: "all", begins: "revoke 'id", says: "8 tokens are revoked\n",
			want: []string{`- and 'more\`, `--help"`, "Alice's", "before", "bob's", "false", "null", "revoked"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client, _, table := dynamotest.NewTables(t)
			store := &dynamo.Tokens{Client: client, Table: table}
			for _, issued := range tokens {
				issued.Digest = "d"
				issued.ExpiresAt = time.Now().Add(time.Hour)
				if err := store.Add(t.Context(), issued.Token); err != nil {
					t.Fatal(err)
				}
				if issued.revoked != nil {
					setRevoked(t, client, table, issued.ID, issued.revoked)
				}
			}
			command := exec.CommandContext(t.Context(), "bash", "-c", ". deploy/shell STACK >&- 2>&-; tokens="+table+"\nset -euo pipefail\n"+
				strings.ReplaceAll(line(t, string(page), test.begins), `"ID"`, `"before"`))
			command.Dir = ".."
			command.Env = append(os.Environ(), processtest.Environment(dynamotest.Endpoint(t),
				"AWS_ENDPOINT_URL="+dynamotest.Endpoint(t))...) // which refuses at once to describe a stack
			if output, err := command.CombinedOutput(); err != nil || string(output) != test.says {
				t.Errorf("it ends with %v and prints %s, want %q", err, output, test.says)
			}
			if got := revokedIDs(t, client, table); !slices.Equal(got, test.want) {
				t.Errorf("the revoked tokens are %q, want %q", got, test.want)
			}
		})
	}
}

// TestRevokeFails checks that revoke says when it has not revoked every token that it was asked to.
func TestRevokeFails(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, found, says string }{
		{name: "AWS refuses to revoke one", found: `[{"id":{"S":"i"}}]`, says: "not all tokens are revoked: repeat this\n"},
		{name: "the condition is true for none", found: `[]`, says: "no token was revoked: the condition is true for none\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), "bash", "-c", `aws() { echo '`+test.found+`'; }; xargs() { return 123; }
. ./shell STACK >&- 2>&-
revoke 'id = :value' x`)
			if output, err := command.CombinedOutput(); err == nil || string(output) != test.says {
				t.Errorf("revoke ends with %v and prints %s, want a failure with %q", err, output, test.says)
			}
		})
	}
}

// line returns the line of a page that begins so.
func line(t *testing.T, page, begins string) string {
	t.Helper()
	for line := range strings.Lines(page) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, begins) {
			return line
		}
	}
	t.Fatalf("no line begins with %s", begins)
	return ""
}

// setRevoked sets the attribute revoked of a token.
func setRevoked(t *testing.T, client *dynamodb.Client, table, id string, value types.AttributeValue) {
	t.Helper()
	_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName:                 &table,
		Key:                       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}},
		UpdateExpression:          aws.String("SET revoked = :value"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":value": value},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// revokedIDs returns the sorted ids of the tokens whose attribute revoked is true, as every version of the
// service understands it.
func revokedIDs(t *testing.T, client *dynamodb.Client, table string) []string {
	t.Helper()
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{
		TableName:                 &table,
		ConsistentRead:            aws.Bool(true),
		FilterExpression:          aws.String("revoked = :true"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":true": &types.AttributeValueMemberBOOL{Value: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, item := range out.Items {
		if id, ok := item["id"].(*types.AttributeValueMemberS); ok {
			ids = append(ids, id.Value)
		}
	}
	slices.Sort(ids)
	return ids
}
