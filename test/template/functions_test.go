package template

import (
	"bytes"
	"compress/flate"
	"debug/elf"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/test/processtest"
	"plantstore/test/runtimeapi"
)

// TestBuiltFunctions checks what `sam build` has built. SAM does not tell the Makefile for which processor it builds.
func TestBuiltFunctions(t *testing.T) {
	if os.Getenv("BUILT") == "" {
		t.Skip("skipped: `make build` runs this on what it built")
	}
	built := parse(t, ".aws-sam/build/template.yaml")
	architecture := built.text("Parameters.Architecture.Default")
	parameters := parse(t, ".aws-sam/build/parameters.yaml")
	if parameters.text("Architecture") != architecture || parameters.text("Build") == "" {
		t.Errorf("`sam deploy` gets the parameters %v, want a name and the architecture %s", parameters, architecture)
	}
	for name, resource := range built.resources(t, function) {
		binary, err := elf.Open(filepath.Join(".aws-sam/build", resource.text("Properties.CodeUri"), "bootstrap"))
		if err != nil {
			t.Fatal(err)
		}
		libraries, err := binary.ImportedLibraries()
		want := map[string]elf.Machine{"arm64": elf.EM_AARCH64, "x86_64": elf.EM_X86_64}[architecture]
		if err != nil || len(libraries) > 0 || binary.Machine != want {
			t.Errorf("%s is for %v and needs %v (%v), want %v alone", name, binary.Machine, libraries, err, want)
		}
	}
}

// TestFunctionsBuildTheSameAndSmall checks that the same source gives the same bytes in any folder, so that a
// deployment without a change deploys nothing, and that their zip, which a cold start loads, has at most 3.8 MB.
func TestFunctionsBuildTheSameAndSmall(t *testing.T) {
	elsewhere := t.TempDir()
	run(t, "cp", "-R", "cmd", "internal", "go.mod", "go.sum", "Makefile", elsewhere)
	for name := range parse(t, "template.yaml").resources(t, function) {
		var binaries []string
		for _, folder := range []string{".", elsewhere} {
			artifacts := t.TempDir()
			run(t, "make", "-C", folder, "build-"+name, "ARCH=x86_64", "ARTIFACTS_DIR="+artifacts)
			binaries = append(binaries, read(t, filepath.Join(artifacts, "bootstrap")))
		}
		var zip bytes.Buffer
		w, _ := flate.NewWriter(&zip, flate.DefaultCompression) // the level is valid
		_, _ = w.Write([]byte(binaries[0]))                     // a buffer takes everything
		_ = w.Close()
		if binaries[0] != binaries[1] || zip.Len() > 3_800_000 {
			t.Errorf("%s: same bytes in another folder = %t, zipped = %d bytes, want true and at most 3.8 MB",
				name, binaries[0] == binaries[1], zip.Len())
		}
	}
}

func run(t *testing.T, command string, arguments ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), command, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", command, arguments, err, out)
	}
}

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
		testFunction(t, template, name, allowed[0][1], allowed[0][2])
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
		key := template.list("Resources." + on + ".Properties.AttributeDefinitions")[0].(tree)
		id, kind, target := key.text("AttributeName"), key.text("AttributeType"), r.Header.Get("X-Amz-Target")
		if requests.Add(1); err != nil || !strings.HasSuffix(target, "."+operation) || request.TableName != on ||
			request.Item[id][kind] == nil && request.Key[id][kind] == nil {
			t.Errorf("%s of %+v (%v), want %s on %s with the key %s of type %s", target, request, err, operation, on, id, kind)
		}
		w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE([]byte("{}"))))
		fmt.Fprint(w, "{}") // a write is done, a read finds nothing
	}))
	defer dynamoDB.Close()
	var environment []string
	tableVariable := ""
	for _, path := range []string{"Globals.Function", "Resources." + name + ".Properties"} {
		for variable, value := range template.sub(path + ".Environment.Variables") {
			switch value := fmt.Sprint(value); {
			case value == "!Ref "+on:
				tableVariable = variable
			case !strings.HasPrefix(value, "!Ref "): // a parameter: see TestStacks
				environment = append(environment, variable+"="+value)
			}
		}
	}
	environment = append(environment, processtest.Environment(dynamoDB.URL)...)
	command := strings.ToLower(strings.TrimSuffix(name, "Function"))
	binary := processtest.Build(t, "cmd/"+command)
	files, _ := filepath.Glob("events/" + command + "/*.json") // the pattern is well-formed
	if len(files) == 0 {
		t.Fatalf("events/%s has no sample event: add one to tools/seed/events.go", command)
	}
	log, err := invoke(t, binary, environment, files[0])
	if !strings.HasSuffix(fmt.Sprint(err), "exit status 1") || !strings.Contains(log, tableVariable+" is not set") {
		t.Errorf("without %s: %v, log %s, want exit status 1 and the variable's name", tableVariable, err, log)
	}
	log, err = invoke(t, binary, append(environment, tableVariable+"="+on, "BUILD=b1"), files...)
	if err != nil || connections.Load() != 1 || requests.Load() == 0 {
		t.Errorf("%v: %d connections before the first event, %d requests (%v), want one and some; log %s",
			files, connections.Load(), requests.Load(), err, log)
	}
	joined := strings.Count(log, `"lambda_request_id":"8476a536-`)
	if joined != len(files) || strings.Count(log, `"build":"b1"`) != joined || strings.Count(log, `"cold_start"`) != 1 {
		t.Errorf("%d events are logged as %s, want a line for each with Lambda's request id and the build", len(files), log)
	}
}

// invoke starts a function, hands it the events in files, stops it and returns its log.
func invoke(t *testing.T, binary string, environment []string, files ...string) (log string, err error) {
	t.Helper()
	f, err := runtimeapi.Start(binary, environment...)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files) && err == nil; i++ {
		_, _, err = f.Invoke([]byte(read(t, files[i])), 10*time.Second)
	}
	f.Stop()
	return f.Log.String(), err
}
