package documents

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// TestAWSCommands checks that the AWS CLI accepts each command that a document shows. A command with a mistake sends no
// request to the server that stands for AWS.
func TestAWSCommands(t *testing.T) {
	if _, err := exec.LookPath("aws"); err != nil {
		processtest.Lacks(t, "the AWS CLI: pip install -r tools/awscli.txt")
	}
	for _, command := range awsCommands(t) {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			shell := exec.CommandContext(t.Context(), "bash", "-c", command)
			environment, calls := processtest.AWS(t)
			shell.Env = environment
			output, err := shell.CombinedOutput()
			if calls() == 0 {
				t.Errorf("%s sent no request: %v\n%s", command, err, output)
			}
		})
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
			bash := exec.CommandContext(t.Context(), "bash", "-xc", aws+script)
			bash.Dir = t.TempDir()
			bash.Env = []string{"PATH=/none", "HOME=" + bash.Dir, "stack=stack", "plants=plants"}
			trace, _ := bash.CombinedOutput() // most examples fail without their programs
			if strings.Contains(string(trace), "syntax error") {
				t.Errorf("%s: %s", document, trace)
			}
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
	slices.Sort(commands)
	return slices.Compact(commands)
}
