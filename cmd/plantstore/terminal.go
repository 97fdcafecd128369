package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// printable returns text, quoted if a terminal would not print every character of
// it.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// progress returns a function that prints how many tokens were read, if file is a
// terminal, once that takes longer than a second. Otherwise it returns nil.
func progress(file *os.File) func(tokens int) {
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	start := time.Now()
	return func(tokens int) {
		if time.Since(start) > time.Second {
			fmt.Fprintf(file, "\r%d tokens read ", tokens)
		}
	}
}
