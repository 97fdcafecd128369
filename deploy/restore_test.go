package deploy

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// TestRestore restores a table with the items 1 and 2 into one that has 2 and 3.
func TestRestore(t *testing.T) {
	for _, test := range []struct {
		name    string
		options []string
		says    string
		want    map[string]string // the origin of each item by its key
	}{
		{
			name: "a newer item stays",
			says: "part 199 of 200: 1 items written, 1 were there",
			want: map[string]string{"1": "restored", "2": "newer", "3": "newer"},
		},
		{
			name: "a newer item is replaced if asked", options: []string{"--overwrite", "--rate", "100"},
			says: "part 199 of 200: 2 items written, 0 were there",
			want: map[string]string{"1": "restored", "2": "restored", "3": "newer"},
		},
		{
			name: "parts of an earlier run are left out", options: []string{"--first", "199"},
			says: "part 199 of 200: 0 items written, 0 were there",
			want: map[string]string{"2": "newer", "3": "newer"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			from := newTable(t, "restored", "1", "2")
			to := newTable(t, "newer", "2", "3")
			output, err := restore(t, dynamotest.Endpoint(t), append(test.options, from, to)...)
			if err != nil || !strings.Contains(output, test.says) {
				t.Errorf("restore = %v, %s, want %q", err, output, test.says)
			}
			if got := items(t, to); !maps.Equal(got, test.want) {
				t.Errorf("afterwards the table has %v, want %v", got, test.want)
			}
		})
	}
}

// TestRestoreFails checks what a run without a result says, and its exit status.
func TestRestoreFails(t *testing.T) {
	for _, test := range []struct {
		name    string
		options []string
		says    string
		status  int
	}{
		{name: "a run that AWS stops says how to go on", options: []string{"--first", "7"}, says: "repeat the command with --first 7", status: 1},
		{name: "there are 200 parts", options: []string{"--first", "200"}, says: "--first is a part from 0 to 199", status: 2},
		{name: "a rate is at least an item a second", options: []string{"--rate", "0"}, says: "--rate is 1 or more", status: 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			output, err := restore(t, dynamotest.Endpoint(t), append(test.options, "--overwrite", "no-table", "no-table")...)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != test.status || !strings.Contains(output, test.says) {
				t.Errorf("restore = %v, %s, want the exit status %d and %q", err, output, test.status, test.says)
			}
		})
	}
}

// TestRestoreGoesOn checks that a run which fails names the first part that it has not copied. Parts are
// copied at the same time, and DynamoDB refuses one of them.
func TestRestoreGoesOn(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var scan struct{ Segment int }
		if err := json.NewDecoder(r.Body).Decode(&scan); err != nil {
			return // the process has been ended
		}
		if scan.Segment == 20 {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"__type":"AccessDeniedException"}`) // the client may have gone
			return
		}
		_, _ = io.WriteString(w, `{"Items":[]}`)
	}))
	t.Cleanup(server.Close)
	output, err := restore(t, server.URL, "--overwrite", "from", "to")
	if want := "repeat the command with --first 20\n"; err == nil || !strings.HasSuffix(output, want) {
		t.Errorf("restore = %v, %s, want a failure and %q", err, output, want)
	}
}

// copyItems copies three items with --rate 32, and prints for how many seconds it waits in all. The client
// and the clock are stand-ins.
const copyItems = `
from types import SimpleNamespace as Names
restore = {"__name__": "restore"}
exec(open("restore").read(), restore)
waits = []
restore["time"] = Names(monotonic=lambda: 0, sleep=waits.append)
restore["client"] = Names(
    get_paginator=lambda operation: Names(paginate=lambda **options: [{"Items": [{}, {}, {}]}]),
    put_item=lambda **options: None,
    exceptions=Names(ConditionalCheckFailedException=KeyError),
)
restore["copy"](Names(source="from", target="to", rate=32), {}, 0)
print(sum(waits))
`

// TestRestoreRate checks that the processes, of which there are 16, share the rate.
func TestRestoreRate(t *testing.T) {
	t.Parallel()
	output, err := exec.CommandContext(t.Context(), processtest.Python(t, "sam"), "-c", copyItems).CombinedOutput()
	if err != nil || string(output) != "1.5\n" {
		t.Errorf("for three of 32 items a second, one of 16 processes waits %s s, %v, want 1.5", output, err)
	}
}

// restore runs deploy/restore with the DynamoDB at endpoint, and returns what it prints.
func restore(t *testing.T, endpoint string, arguments ...string) (string, error) {
	t.Helper()
	python := processtest.Python(t, "sam") // it has boto3
	command := exec.CommandContext(t.Context(), python, append([]string{"restore"}, arguments...)...)
	command.Env = processtest.Environment(endpoint, "AWS_DEFAULT_REGION=us-east-1")
	output, err := command.CombinedOutput()
	return string(output), err
}

// keyName is no key of ours: restore must ask for the key of a table.
const keyName = "key"

// newTable returns a table with items of these keys.
func newTable(t *testing.T, origin string, keys ...string) (name string) {
	t.Helper()
	client := dynamotest.Client(dynamotest.Endpoint(t))
	name = rand.Text()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String(keyName), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String(keyName), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
			t.Error(err)
		}
	})
	for _, key := range keys {
		item := map[string]types.AttributeValue{
			keyName:  &types.AttributeValueMemberS{Value: key},
			"origin": &types.AttributeValueMemberS{Value: origin},
		}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// items returns the origin of each item of a table by its key.
func items(t *testing.T, table string) map[string]string {
	t.Helper()
	client := dynamotest.Client(dynamotest.Endpoint(t))
	answer, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	origins := map[string]string{}
	for _, item := range answer.Items {
		key := item[keyName].(*types.AttributeValueMemberS).Value
		origins[key] = item["origin"].(*types.AttributeValueMemberS).Value
	}
	return origins
}
