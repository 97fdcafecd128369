package plant

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// During a deployment both versions must compute the same key for a request.
func TestNewWriteKey(t *testing.T) {
	for _, test := range []struct{ subject, idempotencyKey, hashed string }{
		{"ann", "key", "\x00\x00\x00\x00\x00\x00\x00\x03annkey"},
		{"annk", "ey", "\x00\x00\x00\x00\x00\x00\x00\x04annkey"},
		{"ann", "key=", "\x00\x00\x00\x00\x00\x00\x00\x03annkey="},
	} {
		sum := sha256.Sum256([]byte(test.hashed))
		if got, want := NewWriteKey(test.subject, test.idempotencyKey), hex.EncodeToString(sum[:]); got != want {
			t.Errorf("NewWriteKey(%q, %q) = %s, want %s", test.subject, test.idempotencyKey, got, want)
		}
	}
}
