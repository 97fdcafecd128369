package token

import "strings"

// IsVisibleASCII reports whether text is 1 to longest visible ASCII characters, as subjects, the ids of
// tokens and idempotency keys are.
func IsVisibleASCII(text string, longest int) bool {
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	return len(text) >= 1 && len(text) <= longest && !strings.ContainsFunc(text, invisible)
}

// ConsistsOf reports whether text has only characters of set.
func ConsistsOf(text, set string) bool { return strings.Trim(text, set) == "" }
