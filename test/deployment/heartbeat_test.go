package deployment

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestHeartbeat deploys with the commands of docs/local-aws.md, which print one that creates a plant. It then
// types the request of docs/operations.md, "Heartbeat", and that of docs/emergencies.md, "Is it healthy?".
func TestHeartbeat(t *testing.T) {
	needs(t, "aws", "curl")
	local := start(t)
	printed := regexp.MustCompile(`(?m)^curl .*`).FindString(local.must(t, "make", "deploy", "ENV=local", "PORT="+local.port))
	heartbeat := func(page string) string {
		content, err := os.ReadFile(filepath.Join(local.folder, page))
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`curl .*"name":"heartbeat".*`).FindString(string(content))
	}
	variables := []string{"url=" + local.output(t, "plant-store-local", "Url"), "token=" + regexp.MustCompile(`pst_\w+`).FindString(printed)}
	tests := []struct{ name, command, want string }{
		{name: "the printed command", command: printed, want: `{"name":"Monstera","tag":"indoor"}` + "\n"},
		{name: "the heartbeat", command: heartbeat("docs/operations.md"), want: `{"name":"heartbeat"}`},
		{name: "the same request in an emergency", command: heartbeat("docs/emergencies.md"), want: `{"name":"heartbeat"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), "bash", "-c", test.command)
			command.Env = append(os.Environ(), variables...)
			out, err := command.Output()
			if err != nil || string(out) != test.want {
				t.Errorf("%s = %s, %v, want %s", test.command, out, err, test.want)
			}
		})
	}
}
