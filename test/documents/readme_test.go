package documents

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/test/dynamotest"
)

// place is a file that runs a command of README.md, and the text in it that does.
type place struct{ file, text string }

// exercised says where each command of README.md is run.
func exercised() map[string]place {
	const (
		byHand = "the test of a local DynamoDB by hand"
		here   = "test/documents/readme_test.go"
	)
	return map[string]place{
		"make run":                     {here, "func TestMakeRun"},
		"make help":                    {here, "func TestMakeHelp"},
		"make check":                   {".ci/run", "\nmake check\n"},
		"make test":                    {"Makefile", "\n\t$(MAKE) test\n"}, // of make check
		"make plantstore":              {here, byHand},
		"tools/dynamodb-local bash":    {here, byHand},
		"bin/plantstore tables create": {here, byHand},
		"bin/plantstore token issue --subject alice":                         {here, byHand},
		"bin/plantstore serve":                                               {"test/contract/targets_test.go", "func serveOnDynamoDB"},
		"bin/plantstore serve --endpoint-url URL":                            {"cmd/plantstore/help.go", "serve --endpoint-url http"},
		"bin/plantstore --help":                                              {"cmd/plantstore/plantstore_test.go", `"--help"`},
		"bin/plantstore token list":                                          {"cmd/plantstore/plantstore_test.go", `"token", "list"`},
		"bin/plantstore token revoke ID":                                     {"cmd/plantstore/plantstore_test.go", `"token", "revoke"`},
		"bin/plantstore token issue --stack plant-store-dev --subject alice": {"cmd/plantstore/plantstore_test.go", `"token", "issue", "--stack"`},
		"pip install -r tools/requirements.txt":                              {".ci/run", "venv tools/requirements.txt"},
		"make schemathesis EXAMPLES=2000 SEED=1":                             {"test/contract/schemathesis_test.go", `"../../tools/schemathesis"`},
		"pip install -r tools/schemathesis.txt":                              {".ci/run", "venv tools/schemathesis.txt"},
		"make sam-local":                                                     {"Makefile", "\nsam-local: build"},
		"make dynamodb":                                                      {".ci/sam-local", "\ntyped \"make dynamodb\""},
		"make invoke EVENT=events/createplant/create.json":                   {".ci/sam-local", "\ntyped \"make invoke EVENT=events/createplant/create.json\""},
		"make contract URL=https://... TOKEN=pst_...":                        {".ci/sam-local", "\nmake contract URL="},
		"make contract":                                                      {".ci/sam-local", "\nmake contract URL="},
		"make deploy ENV=dev":                                                {here, "func TestMakeDeploy"},
		"make deploy":                                                        {here, "func TestMakeDeploy"},
	}
}

// Every command of README.md is run by a test or by CI.
func TestCommandsOfReadme(t *testing.T) {
	readme := read(t, "README.md")
	places := exercised()
	command := regexp.MustCompile("(?:^|`)((?:make|pip|bin/plantstore|tools/\\S+)(?: [^`#]+)?)(?:`|#|$)")
	found := map[string]bool{}
	for line := range strings.Lines(readme) {
		for _, match := range command.FindAllStringSubmatch(strings.TrimSpace(line), -1) {
			found[strings.TrimSpace(match[1])] = true
		}
	}
	for name := range found {
		p, known := places[name]
		if !known {
			t.Errorf("README.md has the command %q: say here where it is run", name)
		} else if !strings.Contains(read(t, p.file), p.text) {
			t.Errorf("%q is to be run by %s, which has no %q", name, p.file, p.text)
		}
	}
	for name := range places {
		if !found[name] {
			t.Errorf("README.md no longer has the command %q", name)
		}
	}
}

// make run prints the line that README.md shows, which gets the answers that
// README.md shows.
func TestMakeRun(t *testing.T) {
	readme := read(t, "README.md")
	command := exec.Command("make", "run", "ADDR=127.0.0.1:0") //nolint:noctx // it stops by a signal
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer command.Wait()                                      //nolint:errcheck // make tells of the signal
	defer syscall.Kill(-command.Process.Pid, syscall.SIGTERM) //nolint:errcheck // it runs
	curl := ""
	for lines := bufio.NewScanner(stdout); curl == "" && lines.Scan(); {
		if strings.Contains(lines.Text(), "curl") {
			curl = strings.TrimSpace(lines.Text())
		}
	}
	shown := regexp.MustCompile(`pst_\w+`).ReplaceAllString(curl, "<ACCESS_TOKEN>")
	shown = regexp.MustCompile(`127.0.0.1:\d+`).ReplaceAllString(shown, "127.0.0.1:8080")
	if curl == "" || !strings.Contains(readme, "\n"+shown+"\n") {
		t.Fatalf("make run prints %q, want the line of README.md", shown)
	}
	for _, mark := range []string{"```json\n%s```", "gets status 400 and `%s`"} {
		out, err := exec.CommandContext(t.Context(), "bash", "-c", curl).Output()
		answer := string(out)
		if !strings.HasPrefix(mark, "```") {
			answer = strings.TrimSpace(answer)
		}
		if want := strings.Replace(mark, "%s", answer, 1); err != nil || !strings.Contains(readme, want) {
			t.Errorf("%s = %s, %v, want what README.md shows", shown, answer, err)
		}
	}
}

// This is the test of a local DynamoDB by hand: each line of README.md's block is
// typed into the shell that the line before it opened.
func TestLocalDynamoDBByHand(t *testing.T) {
	_, block, _ := strings.Cut(read(t, "README.md"), "On a local DynamoDB by hand:\n\n```sh\n")
	block, _, _ = strings.Cut(block, "\nbin/plantstore serve\n```")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-e")
	command.Env = append(os.Environ(), "AWS_ENDPOINT_URL_DYNAMODB="+dynamotest.Endpoint(t))
	command.Stdin = strings.NewReader(block)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if want := regexp.MustCompile(`(?s)Tables plants and tokens exist\.\npst_\w+\n$`); err != nil || strings.Count(block, "\n") != 3 || !want.MatchString(stdout.String()) {
		t.Errorf("%s = %q, %q, %v, want %s", block, stdout.String(), stderr.String(), err, want)
	}
}

// make help shows each target that is for people.
func TestMakeHelp(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "make", "help").Output()
	for _, target := range regexp.MustCompile(`(?m)^([a-z-]+):.*## `).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		if err != nil || !strings.Contains(string(out), "make "+target[1]+" ") {
			t.Errorf("make help = %s, %v, want a line for %s", out, err, target[1])
		}
	}
}

// No test has an AWS account: that make deploy builds and then deploys what
// samconfig.toml names is all that can be seen here.
func TestMakeDeploy(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "make", "-n", "deploy", "ENV=dev").CombinedOutput()
	if want := regexp.MustCompile(`(?s)sam build.*sam deploy --config-env dev `); err != nil || !want.Match(out) {
		t.Errorf("make -n deploy ENV=dev = %s, %v, want %s", out, err, want)
	}
}
