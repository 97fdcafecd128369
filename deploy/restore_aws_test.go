package deploy

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// A restoreAWS is DynamoDB Local with what restore needs besides: a stack, restores and backups. The stack's table
// of plants has the plants 2 and 3, and had those of before. Its table of tokens is empty.
type restoreAWS struct {
	t      *testing.T
	id     string // ends the name of each table
	client *dynamodb.Client
	before map[string]string

	// What an operation answers first: JSON, or the code of an error, or "" for its usual answer.
	first map[string][]string
	// What somebody types at the terminal. Without it, there is no terminal.
	typed string
	// Whether somebody presses Ctrl-C when restore pauses.
	interrupted bool

	mutex    sync.Mutex
	requests map[string][]string // by operation
}

const (
	stackName      = "plant-store-test"
	restoreTime    = "2026-01-31T12:00:00Z"
	restoreSeconds = 1769860800 // restoreTime since 1970
	newestBackup   = "arn:aws:dynamodb:us-east-1:000000000000:table/x/backup/-newest"
)

// plantsNow has the names of the plants that the stack's table has, by id.
var plantsNow = map[string]string{"2": "now", "3": "now"}

func newRestoreAWS(t *testing.T) *restoreAWS {
	t.Helper()
	a := &restoreAWS{
		t: t, id: rand.Text(), client: dynamotest.Client(dynamotest.Endpoint(t)),
		before: map[string]string{"1": "before", "2": "before"},
		first:  map[string][]string{}, requests: map[string][]string{},
	}
	a.newPlants("plants", plantsNow)
	a.newTable("tokens", types.ScalarAttributeTypeS)
	return a
}

// table returns the full name of a table. The one of plants is restored into the table restored.
func (a *restoreAWS) table(name string) string {
	if name == "restored" {
		return a.table("plants") + "-20260131T120000Z"
	}
	return name + "-" + a.id
}

// newTable makes a table, which is deleted when the test ends.
func (a *restoreAWS) newTable(name string, key types.ScalarAttributeType) {
	_, err := a.client.CreateTable(a.t.Context(), &dynamodb.CreateTableInput{
		TableName:            aws.String(a.table(name)),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: key}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		a.t.Error(err)
	}
	a.t.Cleanup(func() {
		_, err := a.client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: aws.String(a.table(name))})
		if err != nil {
			a.t.Error(err)
		}
	})
}

// newPlants makes a table with plants of these names, by id. Their key is a number, whichever key the service has.
func (a *restoreAWS) newPlants(table string, names map[string]string) {
	a.newTable(table, types.ScalarAttributeTypeN)
	for id, name := range names {
		a.put(table, id, name)
	}
}

// put stores a plant. Those of now and of smoke-test, which has a subject of its own, are half a second newer than others.
func (a *restoreAWS) put(table, id, name string) {
	created, subject := "2026-01-31T13:00:00Z", "alice"
	if name == "now" || name == "smoke-test" {
		created = "2026-01-31T13:00:00.5Z"
	}
	if name == "smoke-test" {
		subject = name
	}
	item := map[string]types.AttributeValue{
		"id":         &types.AttributeValueMemberN{Value: id},
		"name":       &types.AttributeValueMemberS{Value: name},
		"tag":        &types.AttributeValueMemberS{Value: ""},
		"it's":       &types.AttributeValueMemberS{Value: "no attribute of ours"},
		"created_at": &types.AttributeValueMemberS{Value: created},
		"created_by": &types.AttributeValueMemberS{Value: subject},
	}
	_, err := a.client.PutItem(a.t.Context(), &dynamodb.PutItemInput{TableName: aws.String(a.table(table)), Item: item})
	if err != nil {
		a.t.Error(err)
	}
}

// putStrange stores an item with names that no statement has room for.
func (a *restoreAWS) putStrange(table string) {
	item := map[string]types.AttributeValue{"id": &types.AttributeValueMemberN{Value: "4"}}
	for i := range 10 {
		item[strings.Repeat("n", 900)+fmt.Sprint(i)] = &types.AttributeValueMemberBOOL{}
	}
	_, err := a.client.PutItem(a.t.Context(), &dynamodb.PutItemInput{TableName: aws.String(a.table(table)), Item: item})
	if err != nil {
		a.t.Error(err)
	}
}

// plants returns the names of the plants in the stack's table, by id.
func (a *restoreAWS) plants() map[string]string {
	a.t.Helper()
	names := map[string]string{}
	scan := dynamodb.NewScanPaginator(a.client, &dynamodb.ScanInput{TableName: aws.String(a.table("plants"))})
	for scan.HasMorePages() {
		page, err := scan.NextPage(a.t.Context())
		if err != nil {
			a.t.Fatal(err)
		}
		for _, item := range page.Items {
			id, name := item["id"].(*types.AttributeValueMemberN), item["name"].(*types.AttributeValueMemberS)
			names[id.Value] = name.Value
		}
	}
	return names
}

// creating returns a description of the table restored while AWS still restores it, from a table to a time.
func (a *restoreAWS) creating(from string, seconds int) string {
	return fmt.Sprintf(`{"Table":{"TableName":%q,"TableStatus":"CREATING","RestoreSummary":{
		"SourceTableArn":"arn:aws:dynamodb:ddblocal:000000000000:table/%s","RestoreDateTime":%d,"RestoreInProgress":true}}}`,
		a.table("restored"), a.table(from), seconds)
}

// terminal is Python that runs a command in a terminal, and passes on what is typed.
const terminal = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"

// paused is Python that runs restore with a clock that only its pauses move, and prints how long these are.
const paused = `
import atexit, os, runpy, signal, sys, time

clock = 0
def sleep(seconds):
    global clock
    clock += seconds
    if os.environ["INTERRUPTED"] == "true":
        signal.raise_signal(signal.SIGINT)

time.sleep, time.monotonic, sys.argv = sleep, lambda: clock, sys.argv[1:]
atexit.register(lambda: print(f"paused for {clock:.3f} s", flush=True))
runpy.run_path("restore", run_name="__main__")
`

// run runs deploy/restore. In its options, $ is before the name of a table.
func (a *restoreAWS) run(options string) (output string, status int) {
	a.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(a.serve))
	defer server.Close()
	python := processtest.Python(a.t, "sam") // it has boto3
	arguments := []string{python, "-c", paused, "restore", "--stack", stackName}
	arguments = append(arguments, strings.Fields(os.Expand(options, a.table))...)
	if a.typed != "" {
		arguments = append([]string{python, "-c", terminal}, arguments...)
	}
	command := exec.CommandContext(a.t.Context(), arguments[0], arguments[1:]...)
	command.Stdin = strings.NewReader(a.typed)
	command.Env = processtest.Environment(server.URL, "AWS_ENDPOINT_URL="+server.URL, fmt.Sprint("INTERRUPTED=", a.interrupted))
	printed, _ := command.CombinedOutput() // the error is in the status
	return string(printed), command.ProcessState.ExitCode()
}

func (a *restoreAWS) serve(w http.ResponseWriter, r *http.Request) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	body, _ := io.ReadAll(r.Body) // what is missing makes the answer an error
	_, operation, isDynamo := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if !isDynamo {
		a.serveStack(w, string(body))
		return
	}
	a.requests[operation] = append(a.requests[operation], string(body))
	answer := ""
	if first := a.first[operation]; len(first) > 0 {
		answer, a.first[operation] = first[0], first[1:]
	}
	switch {
	case strings.HasPrefix(answer, "{"):
		_, _ = io.WriteString(w, answer)
	case answer != "":
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"__type":%q,"message":"refused"}`, answer)
	default:
		a.serveDynamo(w, r, operation, body)
	}
}

// serveDynamo answers what DynamoDB Local lacks, and passes the rest on to it.
func (a *restoreAWS) serveDynamo(w http.ResponseWriter, r *http.Request, operation string, body []byte) {
	const backup = `{"BackupArn":%q,"BackupName":"b","BackupStatus":%q,"BackupType":"SYSTEM","BackupCreationDateTime":%d}`
	newest := fmt.Sprintf(backup, newestBackup, "AVAILABLE", 2)
	switch operation {
	case "DescribeContinuousBackups":
		_, _ = io.WriteString(w, `{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED","PointInTimeRecoveryDescription":
			{"PointInTimeRecoveryStatus":"ENABLED","EarliestRestorableDateTime":1767225600,"LatestRestorableDateTime":1769904000}}}`)
	case "RestoreTableFromBackup", "TagResource", "UpdateContinuousBackups", "UpdateTable":
		_, _ = io.WriteString(w, `{}`)
	case "RestoreTableToPointInTime":
		a.newPlants("restored", a.before)
		_, _ = io.WriteString(w, `{}`)
	case "ListBackups":
		older, unfinished := fmt.Sprintf(backup, "-older", "AVAILABLE", 1), fmt.Sprintf(backup, "-unfinished", "CREATING", 3)
		_, _ = fmt.Fprintf(w, `{"BackupSummaries":[%s,%s,%s]}`, older, newest, unfinished)
	case "DescribeBackup":
		_, _ = fmt.Fprintf(w, `{"BackupDescription":{"BackupDetails":%s,"SourceTableDetails":{"TableName":%q,
			"OnDemandThroughput":{"MaxReadRequestUnits":-1,"MaxWriteRequestUnits":7}}}}`, newest, a.table("tokens"))
	default:
		endpoint, _ := url.Parse(dynamotest.Endpoint(a.t)) // the client uses it too
		r.Body = io.NopCloser(bytes.NewReader(body))
		httputil.NewSingleHostReverseProxy(endpoint).ServeHTTP(w, r)
	}
}

// serveStack answers a request to CloudFormation.
func (a *restoreAWS) serveStack(w http.ResponseWriter, request string) {
	if strings.Contains(request, "Action=DescribeStacks") {
		_, _ = io.WriteString(w, `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>x</StackName><Tags>
			<member><Key>Project</Key><Value>plant-store</Value></member><member><Key>Stage</Key><Value>test</Value></member>
			</Tags></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`)
		return
	}
	table := a.table("plants")
	if strings.Contains(request, "LogicalResourceId=TokensTable") {
		table = a.table("tokens")
	}
	_, _ = fmt.Fprintf(w, `<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail>
		<PhysicalResourceId>%s</PhysicalResourceId></StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>`, table)
}
