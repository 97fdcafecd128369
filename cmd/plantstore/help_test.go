package main

import (
	"regexp"
	"strings"
	"testing"
)

// The help of every command has an example, and each example is a valid call.
func TestExamplesOfHelp(t *testing.T) {
	parser := newParser(t.Context())
	// An example is an indented line: plantstore and its arguments, up to a pipe, a comment or a
	// redirection.
	example := regexp.MustCompile(`(?m)^ {4}(?:TOKEN=\$\()?plantstore ([^|#)<\n]+)`)
	for _, command := range append(parser.Model.Leaves(true), parser.Model.Node) {
		calls := example.FindAllStringSubmatch(command.Detail+"\n"+command.Help, -1)
		for _, call := range calls {
			if _, err := parser.Parse(strings.Fields(call[1])); err != nil {
				t.Errorf("help of %s: plantstore %s: %v", command.Path(), call[1], err)
			}
		}
		if len(calls) == 0 {
			t.Errorf("help of %s has no example", command.Path())
		}
	}
}
