package documents

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// TestAWSCommands checks that the AWS CLI accepts each command that a document shows, by running it against a server that
// stands for AWS. A command with a mistake sends no request.
func TestAWSCommands(t *testing.T) {
	if _, err := exec.LookPath("aws"); err != nil {
		processtest.Lacks(t, "the AWS CLI: pip install -r tools/awscli.txt")
	}
	environment, calls := processtest.AWS(t)
	environment = append(environment, "stack=stack", "plants=plants", "application=application")
	commands := awsCommands(t)
	for _, command := range commands {
		before := calls()
		shell := exec.CommandContext(t.Context(), "bash", "-c", command)
		shell.Env = environment
		if output, err := shell.CombinedOutput(); calls() == before {
			t.Errorf("%s sent no request: %v\n%s", command, err, output)
		}
	}
	if len(commands) < 15 {
		t.Errorf("the documents have the commands %q, want more", commands)
	}
}

// awsCommands returns the commands of the AWS CLI in the code blocks of the documents.
func awsCommands(t *testing.T) (commands []string) {
	t.Helper()
	for _, document := range tracked(t) {
		if !strings.HasSuffix(document, ".md") {
			continue
		}
		for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(read(t, document), -1) {
			text := strings.ReplaceAll(block[1], "\\\n", "")
			for _, found := range regexp.MustCompile(`(\$\(|\b)aws [a-z]+ .*`).FindAllString(text, -1) {
				found = regexp.MustCompile(`   #.*| \|.*|; do .*`).ReplaceAllString(found, "")
				if inner, ok := strings.CutPrefix(found, "$("); ok {
					found = inner[:strings.LastIndex(inner, ")")]
				}
				commands = append(commands, strings.ReplaceAll(found, " ARN ", " arn:aws:dynamodb:us-east-1:123456789012:backup "))
			}
		}
	}
	return commands
}
