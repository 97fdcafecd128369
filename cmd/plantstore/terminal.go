package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// printable returns text, quoted if a terminal would not print all of it.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// progress returns a function that prints how many tokens were read, once that
// takes longer than a second, and nil if standard error is not a terminal.
func progress() func(tokens int) {
	info, err := os.Stderr.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	start := time.Now()
	return func(tokens int) {
		if time.Since(start) > time.Second {
			fmt.Fprintf(os.Stderr, "\r%d tokens read ", tokens)
		}
	}
}
