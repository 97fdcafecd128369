package examples

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"plantstore/test/openapitest"
	"plantstore/test/processtest"
)

// README.md names each member of a NewPlant. It shows the command that `make run` prints, and what that
// prints when it is run, run again, and run with another key. The command sends the token to no proxy.
func TestReadme(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(content)
	for _, member := range openapitest.Members("NewPlant") {
		if !strings.Contains(readme, "`"+member+"`") {
			t.Errorf("README.md does not name the member %s", member)
		}
	}
	server := processtest.Serve(t, processtest.Build(t, "cmd/plantstore"))
	_, command, _ := strings.Cut(server.Greeting, "  curl")
	command = "curl " + strings.TrimSpace(command)
	shown := strings.NewReplacer(server.URL, "http://127.0.0.1:8080", server.Token, "<ACCESS_TOKEN>").Replace(command)
	if !strings.Contains(readme, "\n"+shown+"\n") {
		t.Errorf("make run prints %q, which README.md lacks", shown)
	}
	another := strings.Replace(command, "Idempotency-Key: first", "Idempotency-Key: second", 1)
	for _, typed := range []string{command, command, another} {
		curl := exec.CommandContext(t.Context(), "sh", "-c", typed)
		curl.Env = append(os.Environ(), "http_proxy=http://127.0.0.1:1", "no_proxy=")
		printed, err := curl.Output()
		if err != nil {
			t.Fatal(err)
		}
		if want := "```json\n" + string(printed) + "```"; !strings.Contains(readme, want) {
			t.Errorf("%s prints %s, and README.md lacks %q", typed, printed, want)
		}
	}
}
