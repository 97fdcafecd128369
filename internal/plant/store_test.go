package plant

import "testing"

func TestNewWriteKey(t *testing.T) {
	type request struct{ subject, key string }
	tests := []struct {
		name string
		a, b request
		same bool
	}{
		{"the same request", request{"ann", "k"}, request{"ann", "k"}, true},
		{"another key", request{"ann", "k"}, request{"ann", "l"}, false},
		{"another subject", request{"ann", "k"}, request{"bob", "k"}, false},
		{"the boundary moved", request{"ann", "ak"}, request{"anna", "k"}, false},
	}
	for _, test := range tests {
		a, b := NewWriteKey(test.a.subject, test.a.key), NewWriteKey(test.b.subject, test.b.key)
		if (a == b) != test.same {
			t.Errorf("%s: NewWriteKey(%v) == NewWriteKey(%v) is %t, want %t", test.name, test.a, test.b, a == b, test.same)
		}
	}
}
