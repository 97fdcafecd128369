package plant

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// During a deployment both versions must compute the same key for a request.
func TestNewWriteKey(t *testing.T) {
	tests := []struct {
		name                    string
		subject, idempotencyKey string
		hashed                  string
	}{
		{"a subject and a key", "ann", "key", "\x00\x00\x00\x00\x00\x00\x00\x03annkey"},
		{"the same characters, with a longer subject", "annk", "ey", "\x00\x00\x00\x00\x00\x00\x00\x04annkey"},
		{"a subject of 300 characters", strings.Repeat("s", 300), "key", "\x00\x00\x00\x00\x00\x00\x01\x2c" + strings.Repeat("s", 300) + "key"},
		{"another key", "ann", "Key=", "\x00\x00\x00\x00\x00\x00\x00\x03annKey="},
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
