package deploy

import (
	"bytes"
	"context"
	"crypto/rand"
	"maps"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// TestRestore restores a table with the items 1 and 2 into one that has 2 and 3.
func TestRestore(t *testing.T) {
	endpoint := dynamotest.Endpoint(t)
	python := processtest.Python(t, "sam") // it has boto3
	number := key{name: "id", kind: types.ScalarAttributeTypeN}
	text := key{name: "isbn", kind: types.ScalarAttributeTypeS}
	for _, test := range []struct {
		name    string
		key     key
		options []string
		says    string
		want    map[string]string // the origin of each item by its key
	}{
		{
			name: "with a number as key, a newer item stays", key: number,
			says: "part 199 of 200: 1 items written, 1 were there",
			want: map[string]string{"1": "restored", "2": "newer", "3": "newer"},
		},
		{
			name: "with a text as key, a newer item stays", key: text,
			says: "part 199 of 200: 1 items written, 1 were there",
			want: map[string]string{"1": "restored", "2": "newer", "3": "newer"},
		},
		{
			name: "a newer item is replaced if asked", key: text, options: []string{"--overwrite"},
			says: "2 items written, 0 were there",
			want: map[string]string{"1": "restored", "2": "restored", "3": "newer"},
		},
		{
			name: "parts of an earlier run are left out", key: number, options: []string{"--first", "200"},
			want: map[string]string{"2": "newer", "3": "newer"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client := dynamotest.Client(endpoint)
			from := test.key.table(t, client, "restored", "1", "2")
			to := test.key.table(t, client, "newer", "2", "3")
			output, err := restore(t, python, endpoint, append(test.options, from, to)...)
			if err != nil || !strings.Contains(output, test.says) {
				t.Errorf("restore = %v, %s, want %q", err, output, test.says)
			}
			if got := test.key.items(t, client, to); !maps.Equal(got, test.want) {
				t.Errorf("afterwards the table has %v, want %v", got, test.want)
			}
		})
	}

	t.Run("a run that AWS stops says how to go on", func(t *testing.T) {
		t.Parallel()
		to := number.table(t, dynamotest.Client(endpoint), "newer")
		output, err := restore(t, python, endpoint, "--first", "7", "no-table", to)
		if wayOn := "repeat the command with --first 7"; err == nil || !strings.Contains(output, wayOn) {
			t.Errorf("restore = %v, %s, want %q", err, output, wayOn)
		}
	})
}

// TestRestoreWithKilledProcess checks that a run ends, and says how to go on, if one of its processes
// is killed, for example for lack of memory.
func TestRestoreWithKilledProcess(t *testing.T) {
	python := processtest.Python(t, "sam")
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0") // accepts, and never answers
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = silent.Close() })
	command := exec.CommandContext(ctx, python, "restore", "--overwrite", "--first", "7", "from", "to")
	command.Env = processtest.Environment("http://"+silent.Addr().String(), "AWS_DEFAULT_REGION=us-east-1")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	var output bytes.Buffer
	command.Stderr = &output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	scan, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = scan.Close() }()
	newest := exec.CommandContext(ctx, "pkill", "-KILL", "-n", "-g", strconv.Itoa(command.Process.Pid))
	if err := newest.Run(); err != nil {
		t.Fatal(err)
	}
	err = command.Wait()
	if wayOn := "repeat the command with --first 7"; err == nil || !strings.Contains(output.String(), wayOn) {
		t.Errorf("restore = %v, %s, want %q", err, &output, wayOn)
	}
}

// restore runs deploy/restore, and returns what it prints.
func restore(t *testing.T, python, endpoint string, arguments ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), python, append([]string{"restore"}, arguments...)...)
	command.Env = processtest.Environment(endpoint, "AWS_DEFAULT_REGION=us-east-1")
	output, err := command.CombinedOutput()
	return string(output), err
}

// A key is that of a table.
type key struct {
	name string
	kind types.ScalarAttributeType
}

// table creates a table with items of these keys, and deletes it when the test ends.
func (k key) table(t *testing.T, client *dynamodb.Client, origin string, keys ...string) (name string) {
	t.Helper()
	name = origin + "-" + rand.Text()
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: &k.name, AttributeType: k.kind}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: &k.name, KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &name})
		if err != nil {
			t.Error(err)
		}
	})
	for _, value := range keys {
		var attribute types.AttributeValue = &types.AttributeValueMemberN{Value: value}
		if k.kind == types.ScalarAttributeTypeS {
			attribute = &types.AttributeValueMemberS{Value: value}
		}
		item := map[string]types.AttributeValue{k.name: attribute, "origin": &types.AttributeValueMemberS{Value: origin}}
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// items returns the origin of each item of a table by its key.
func (k key) items(t *testing.T, client *dynamodb.Client, table string) map[string]string {
	t.Helper()
	answer, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	items := map[string]string{}
	for _, item := range answer.Items {
		var value string
		switch attribute := item[k.name].(type) {
		case *types.AttributeValueMemberN:
			value = attribute.Value
		case *types.AttributeValueMemberS:
			value = attribute.Value
		}
		items[value] = item["origin"].(*types.AttributeValueMemberS).Value
	}
	return items
}
