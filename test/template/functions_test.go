package template

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/test/processtest"
	"plantstore/test/runtimeapi"
)

// TestFunctions checks that each function has a role and a log of its own, and does on DynamoDB what its role allows.
func TestFunctions(t *testing.T) {
	template, seen := parse(t, "template.yaml"), map[string]bool{}
	for name, resource := range template.resources(t, function) {
		group := strings.TrimPrefix(resource.text("Properties.LoggingConfig.LogGroup"), "!Ref ")
		id := strings.TrimSuffix(strings.TrimPrefix(resource.text("Properties.Role"), "!GetAtt "), ".Arn")
		policies := template.resources(t, role)[id].text("Properties.Policies")
		allowed := find(`dynamodb:(\w+) Effect:Allow Resource:!GetAtt (\w+)\.Arn`, policies)
		if seen[group] || template.resources(t, logGroup)[group] == nil || len(allowed) != 1 ||
			!strings.Contains(policies, "logs:PutLogEvents> Effect:Allow Resource:!GetAtt "+group+".Arn") {
			t.Fatalf("%s has the role %s and logs to %s, want a role and a log of its own", name, id, group)
		}
		seen[group] = true
		t.Run(name, func(t *testing.T) { testFunction(t, template, name, allowed[0][1], allowed[0][2]) })
	}
}

// testFunction runs a function as Lambda does, with the variables that the template declares, on its sample events.
// Without its table's name, the function must exit with status 1 and log the variable's name.
func testFunction(t *testing.T, template tree, name, operation, on string) {
	var connections, requests atomic.Int32
	dynamoDB := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			connections.Add(1)
			return
		}
		var request struct {
			TableName string
			Item, Key map[string]map[string]any
		}
		err := json.NewDecoder(r.Body).Decode(&request)
		target := r.Header.Get("X-Amz-Target")
		if requests.Add(1); err != nil || !strings.HasSuffix(target, "."+operation) || request.TableName != on {
			t.Errorf("%s on %s (%v), and the role allows %s on %s", target, request.TableName, err, operation, on)
		}
		for _, item := range template.list("Resources." + on + ".Properties.AttributeDefinitions") {
			key, kind := item.(tree).text("AttributeName"), item.(tree).text("AttributeType")
			if request.Item[key][kind] == nil && request.Key[key][kind] == nil {
				t.Errorf("%s of %+v, want the key %s of type %s", target, request, key, kind)
			}
		}
		w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE([]byte("{}"))))
		fmt.Fprint(w, "{}") // a write is done, a read finds nothing
	}))
	defer dynamoDB.Close()
	environment := []string{"AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret"}
	tableVariable := ""
	for variable, value := range variables(template, template.sub("Resources."+name)) {
		if value == "!Ref "+on {
			tableVariable = variable
		} else if value != "" {
			environment = append(environment, variable+"="+fmt.Sprint(value))
		}
	}
	environment = append(environment, "AWS_ENDPOINT_URL_DYNAMODB="+dynamoDB.URL)
	binary := processtest.Build(t, command(name))
	log, err := invoke(t, binary, environment, []byte("{}"))
	if !strings.HasSuffix(fmt.Sprint(err), "exit status 1") || !strings.Contains(log, tableVariable+" is not set") {
		t.Errorf("without %s: %v, log %s, want exit status 1 and the variable's name", tableVariable, err, log)
	}
	var events [][]byte
	files, _ := filepath.Glob("events/" + command(name) + "/*.json") // the pattern is well-formed
	for _, file := range files {
		events = append(events, []byte(read(t, file)))
	}
	log, err = invoke(t, binary, append(environment, tableVariable+"="+on), events...)
	if err != nil || connections.Load() != 1 || requests.Load() == 0 {
		t.Errorf("%v: %d connections before the first event, %d requests (%v), want one and some; log %s",
			files, connections.Load(), requests.Load(), err, log)
	}
}

// invoke starts a function, hands it the events, stops it and returns its log.
func invoke(t *testing.T, binary string, environment []string, events ...[]byte) (log string, err error) {
	t.Helper()
	f, err := runtimeapi.Start(binary, environment...)
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range events {
		if err == nil {
			_, _, err = f.Invoke(event, 10*time.Second)
		}
	}
	f.Stop()
	return f.Log.String(), err
}
