package plant

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// Every version must compute the same key, because a retry may reach another version.
func TestNewWriteKey(t *testing.T) {
	tests := []struct {
		name                    string
		subject, idempotencyKey string
		hashed                  string
	}{
		{"a subject and a key", "ann", "Key=", "\x00\x00\x00\x00\x00\x00\x00\x03annKey="},
		{"the same characters, with a longer subject", "annK", "ey=", "\x00\x00\x00\x00\x00\x00\x00\x04annKey="},
		{
			"a subject of 300 characters", strings.Repeat("s", 300), "key",
			"\x00\x00\x00\x00\x00\x00\x01\x2c" + strings.Repeat("s", 300) + "key",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sum := sha256.Sum256([]byte(test.hashed))
			want := hex.EncodeToString(sum[:])
			got := NewWriteKey(test.subject, test.idempotencyKey)
			if got != want {
				t.Errorf("NewWriteKey(%q, %q) = %s, want %s", test.subject, test.idempotencyKey, got, want)
			}
		})
	}
}
