package deploy

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// A restoreAWS is DynamoDB Local with what restore needs besides: a stack, restores and backups. The table of
// plants has the plants 2 and 3 now, and had those of before.
type restoreAWS struct {
	stack          string // that restore is asked for
	plants, tokens string // its tables
	before         map[string]string

	client   *dynamodb.Client
	endpoint string // of DynamoDB Local
	server   *httptest.Server
	creating atomic.Int32 // answers in which a restored table is not active yet
	restores atomic.Int32

	mutex     sync.Mutex
	intercept func(operation string) (answer string)
	summary   map[string]any    // of the restored table
	requests  map[string]string // the last one of each operation
}

const (
	stackName    = "plant-store-test"
	newestBackup = "arn:aws:dynamodb:us-east-1:000000000000:table/x/backup/-newest"
)

// now has the names of the plants that the stack's table has, by id.
var now = map[string]string{"2": "now", "3": "now"}

func newRestoreAWS(t *testing.T) *restoreAWS {
	t.Helper()
	a := &restoreAWS{
		stack:    stackName,
		before:   map[string]string{"1": "before", "2": "before"},
		requests: map[string]string{},
	}
	a.plants, a.tokens = "plants-"+rand.Text(), "tokens-"+rand.Text()
	a.endpoint = dynamotest.Endpoint(t)
	a.client = dynamotest.Client(a.endpoint)
	a.newTable(t, a.plants, now)
	a.createTable(t, a.tokens, types.ScalarAttributeTypeS)
	t.Cleanup(func() { a.delete(t, a.tokens) })
	a.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.serve(t, w, r) }))
	t.Cleanup(a.server.Close)
	return a
}

// answer lets AWS answer requests as intercept says: with JSON, with the code of an error, or as usual if it
// returns nothing.
func (a *restoreAWS) answer(intercept func(operation string) (answer string)) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.intercept = intercept
}

// refuse lets AWS refuse an operation.
func (a *restoreAWS) refuse(operation, code string) {
	a.answer(func(requested string) string {
		if requested == operation {
			return code
		}
		return ""
	})
}

// meanwhile calls a function while AWS answers an operation.
func (a *restoreAWS) meanwhile(operation string, call func()) {
	a.answer(func(requested string) string {
		if requested == operation {
			call()
		}
		return ""
	})
}

// isRestored says what AWS says of the restored table.
func (a *restoreAWS) isRestored(summary map[string]any) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.summary = summary
}

func (a *restoreAWS) serve(t *testing.T, w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // it is empty if the client has gone
	_, operation, isDynamo := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if !isDynamo {
		a.serveStack(w, string(body))
		return
	}
	a.mutex.Lock()
	a.requests[operation] = string(body)
	intercept := a.intercept
	a.mutex.Unlock()
	if intercept != nil {
		switch answer := intercept(operation); {
		case strings.HasPrefix(answer, "{"):
			_, _ = io.WriteString(w, answer)
			return
		case answer != "":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"__type":%q,"message":"refused"}`, answer)
			return
		}
	}
	const newest = `{"BackupArn":"` + newestBackup + `","BackupName":"b","BackupStatus":"AVAILABLE","BackupType":"SYSTEM","BackupCreationDateTime":2}`
	switch operation {
	case "DescribeContinuousBackups":
		_, _ = io.WriteString(w, `{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED","PointInTimeRecoveryDescription":
			{"PointInTimeRecoveryStatus":"ENABLED","EarliestRestorableDateTime":1767225600,"LatestRestorableDateTime":1769904000}}}`)
	case "UpdateContinuousBackups", "TagResource":
		_, _ = io.WriteString(w, `{}`)
	case "RestoreTableToPointInTime":
		a.restores.Add(1)
		a.restore(t)
		_, _ = io.WriteString(w, `{}`)
	case "ListBackups":
		_, _ = io.WriteString(w, `{"BackupSummaries":[`+newest+`,`+strings.NewReplacer("-newest", "-older", ":2}", ":1}").Replace(newest)+`]}`)
	case "DescribeBackup":
		_, _ = fmt.Fprintf(w, `{"BackupDescription":{"BackupDetails":%s,"SourceTableDetails":{"TableName":%q,"OnDemandThroughput":{"MaxReadRequestUnits":-1,"MaxWriteRequestUnits":7}},
			"SourceTableFeatureDetails":{}}}`, newest, a.tokens)
	case "RestoreTableFromBackup":
		a.createTable(t, a.tokens, types.ScalarAttributeTypeS)
		_, _ = io.WriteString(w, `{}`)
	default:
		a.forward(w, r, operation, body)
	}
}

// forward passes a request on to DynamoDB Local, and adds to a table's description what that lacks.
func (a *restoreAWS) forward(w http.ResponseWriter, r *http.Request, operation string, body []byte) {
	request, err := http.NewRequestWithContext(r.Context(), http.MethodPost, a.endpoint, bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	request.Header = r.Header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return // the command was killed
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	var answer map[string]any
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return
	}
	if table, ok := answer["Table"].(map[string]any); ok && operation == "DescribeTable" {
		a.describe(table)
	}
	w.WriteHeader(response.StatusCode)
	_ = json.NewEncoder(w).Encode(answer) // it fails only if the command was killed
}

// describe completes the description of a restored table.
func (a *restoreAWS) describe(table map[string]any) {
	name := table["TableName"]
	switch name {
	case a.plants:
		return
	case a.tokens:
		table["OnDemandThroughput"] = map[string]any{"MaxWriteRequestUnits": 7}
	}
	if a.creating.Add(-1) > 0 { // a table that is active shows no summary
		a.mutex.Lock()
		defer a.mutex.Unlock()
		table["TableStatus"] = "CREATING"
		table["RestoreSummary"] = a.summary
	}
}

// serveStack answers a request to CloudFormation.
func (a *restoreAWS) serveStack(w http.ResponseWriter, request string) {
	switch {
	case !strings.Contains(request, "StackName="+stackName):
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack '%s' does not exist</Message></Error></ErrorResponse>`, a.stack)
	case strings.Contains(request, "Action=DescribeStacks"):
		_, _ = io.WriteString(w, `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>x</StackName><Tags>
			<member><Key>Project</Key><Value>plant-store</Value></member><member><Key>Stage</Key><Value>test</Value></member>
			</Tags></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`)
	default:
		table := a.plants
		if strings.Contains(request, "LogicalResourceId=TokensTable") {
			table = a.tokens
		}
		_, _ = fmt.Fprintf(w, `<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail>
			<PhysicalResourceId>%s</PhysicalResourceId></StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>`, table)
	}
}

const at = "2026-01-31T12:00:00Z"

// restoredName returns the name of the table that is restored to the time at.
func (a *restoreAWS) restoredName() string { return a.plants + "-20260131T120000Z" }

// restore makes the table that AWS makes when it restores the table of plants to the time at.
func (a *restoreAWS) restore(t *testing.T) {
	a.newTable(t, a.restoredName(), a.before)
	a.isRestored(a.summaryOf(a.plants, at))
}

// summaryOf returns what AWS says of a table that was restored from another.
func (a *restoreAWS) summaryOf(table, at string) map[string]any {
	moment, _ := time.Parse(time.RFC3339, at) // it is a constant
	return map[string]any{
		"SourceTableArn":    "arn:aws:dynamodb:ddblocal:000000000000:table/" + table,
		"RestoreDateTime":   moment.Unix(),
		"RestoreInProgress": true,
	}
}

// newTable makes a table with plants, which is deleted when the test ends. Their key is a number, whichever key
// the service has.
func (a *restoreAWS) newTable(t *testing.T, name string, plants map[string]string) {
	a.createTable(t, name, types.ScalarAttributeTypeN)
	t.Cleanup(func() { a.delete(t, name) })
	a.put(t, name, plants)
}

func (a *restoreAWS) createTable(t *testing.T, name string, key types.ScalarAttributeType) {
	_, err := a.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: key}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Error(err)
	}
}

// put stores plants with these names by their ids. Those of now are newer than others.
func (a *restoreAWS) put(t *testing.T, table string, plants map[string]string) {
	for id, name := range plants {
		created := "2026-01-31T11:00:00Z"
		if name == "now" {
			created = "2026-01-31T13:00:00Z"
		}
		item := map[string]types.AttributeValue{
			"id":         &types.AttributeValueMemberN{Value: id},
			"name":       &types.AttributeValueMemberS{Value: name},
			"tag":        &types.AttributeValueMemberS{Value: ""},
			"it's":       &types.AttributeValueMemberS{Value: "no attribute of ours"},
			"created_at": &types.AttributeValueMemberS{Value: created},
		}
		if _, err := a.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
			t.Error(err)
		}
	}
}

func (a *restoreAWS) delete(t *testing.T, table string) {
	ctx := context.WithoutCancel(t.Context())
	if _, err := a.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &table}); err != nil {
		t.Error(err)
	}
}

func (a *restoreAWS) unprotect(t *testing.T, table string) {
	ctx := context.WithoutCancel(t.Context())
	if _, err := a.client.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &table, DeletionProtectionEnabled: aws.Bool(false)}); err != nil {
		t.Error(err)
	}
}

// names returns the names of the plants in a table by their ids.
func (a *restoreAWS) names(t *testing.T, table string) map[string]string {
	t.Helper()
	answer, err := a.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, item := range answer.Items {
		names[text(item["id"])] = text(item["name"])
	}
	return names
}

// named replaces the names of tables in the arguments of restore by those that there are here.
func (a *restoreAWS) named(t *testing.T, arguments []string) []string {
	t.Helper()
	named := make([]string, len(arguments))
	for i, argument := range arguments {
		switch argument {
		case "plants":
			argument = a.plants
		case "tokens":
			argument = a.tokens
		case "older", "empty":
			plants := map[string]string{"1": "older", "2": "older"}
			if argument == "empty" {
				plants = nil
			}
			argument += "-" + a.plants
			a.newTable(t, argument, plants)
		}
		named[i] = argument
	}
	return named
}

// run runs deploy/restore, and returns what it prints.
func (a *restoreAWS) run(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	output, err := a.command(t.Context(), t, arguments...).CombinedOutput()
	return string(output), err
}

func (a *restoreAWS) command(ctx context.Context, t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	python := processtest.Python(t, "sam") // it has boto3
	command := exec.CommandContext(ctx, python, append([]string{"restore", "--stack", a.stack}, arguments...)...)
	command.Env = processtest.Environment(a.server.URL, "AWS_DEFAULT_REGION=us-east-1", "AWS_ENDPOINT_URL="+a.server.URL)
	return command
}

// requested returns the last request for an operation.
func (a *restoreAWS) requested(operation string) string {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	var request any
	_ = json.Unmarshal([]byte(a.requests[operation]), &request) // it is empty if there was none
	ordered, _ := json.Marshal(request)
	return string(ordered)
}

// text returns the value of an attribute that is a number or a string.
func text(value types.AttributeValue) string {
	switch v := value.(type) {
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberS:
		return v.Value
	}
	return ""
}
