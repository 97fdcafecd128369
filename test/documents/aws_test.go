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
		t.Run(command, func(t *testing.T) {
			before := calls()
			shell := exec.CommandContext(t.Context(), "bash", "-c", command)
			shell.Env = environment
			output, err := shell.CombinedOutput()
			if calls() == before {
				t.Errorf("%s sent no request: %v\n%s", command, err, output)
			}
		})
	}
	if len(commands) < 15 {
		t.Errorf("the documents have the commands %q, want more", commands)
	}
}

// The examples of the documents, in shell, and the commands of the AWS CLI in them.
var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	awsCommand = regexp.MustCompile(`(\$\(|\b)aws [a-z]+ .*`)
	afterwards = regexp.MustCompile(`   #.*| \|.*|; do .*`)
)

// awsCommands returns the commands of the AWS CLI in the examples of the documents.
func awsCommands(t *testing.T) (commands []string) {
	t.Helper()
	for _, document := range documents(t) {
		for _, block := range shellBlock.FindAllStringSubmatch(read(t, document), -1) {
			text := strings.ReplaceAll(block[1], "\\\n", "")
			for _, found := range awsCommand.FindAllString(text, -1) {
				command := afterwards.ReplaceAllString(found, "")
				if inner, ok := strings.CutPrefix(command, "$("); ok {
					command = inner[:strings.LastIndex(inner, ")")]
				}
				commands = append(commands, strings.ReplaceAll(command, " ARN ", " arn:aws:dynamodb:us-east-1:123456789012:backup "))
			}
		}
	}
	return commands
}
