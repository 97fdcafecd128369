package documents

import (
	"os/exec"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// TestAWSCommands checks that the AWS CLI accepts each command that a document shows. A command with a mistake sends no
// request.
func TestAWSCommands(t *testing.T) {
	python := exec.CommandContext(t.Context(), processtest.Python(t, "aws"), "test/documents/aws.py")
	python.Env = []string{"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_DEFAULT_REGION=us-east-1", "AWS_MAX_ATTEMPTS=1"}
	python.Stdin = strings.NewReader(strings.Join(awsCommands(t), "\n"))
	var messages strings.Builder
	python.Stderr = &messages
	mistakes, err := python.Output()
	if err != nil || len(mistakes) > 0 {
		t.Errorf("the AWS CLI refuses %s: %v\n%s", mistakes, err, &messages)
	}
}

// awsCommands returns the commands of the AWS CLI in the shell examples of the documents. bash prints the commands that it
// runs, and finds no program but this aws.
func awsCommands(t *testing.T) (commands []string) {
	t.Helper()
	const aws = "aws() { echo text; }\n"
	for _, document := range documents(t) {
		for example := range strings.SplitSeq(read(t, document), "```") {
			script, isShell := strings.CutPrefix(example, "sh\n")
			if !isShell {
				continue
			}
			if out, err := exec.CommandContext(t.Context(), "bash", "-nc", script).CombinedOutput(); err != nil {
				t.Errorf("%s has an example that bash cannot read: %s\n%s", document, out, script)
			}
			bash := exec.CommandContext(t.Context(), "bash", "-xc", aws+script)
			bash.Dir = t.TempDir()
			bash.Env = []string{"PATH=/none", "HOME=" + bash.Dir, "stack=stack", "plants=plants"}
			trace, _ := bash.CombinedOutput() // most examples fail without their programs
			for line := range strings.Lines(string(trace)) {
				if _, command, ok := strings.Cut(line, "+ aws "); ok {
					command = strings.ReplaceAll(command, " ARN", " arn:aws:dynamodb:us-east-1:123456789012:backup")
					commands = append(commands, "aws "+strings.TrimSpace(command))
				}
			}
		}
	}
	if len(commands) < 15 {
		t.Errorf("the documents have the commands %q, want more", commands)
	}
	return commands
}
