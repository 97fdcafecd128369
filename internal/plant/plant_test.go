package plant

import "testing"

func TestEqual(t *testing.T) {
	bodies := []string{
		`{"id":1,"name":"oak"}`,
		`{"id":1,"name":"oak","tag":""}`,
		`{"id":1,"name":"oak","tag":"fern"}`,
		`{"id":1,"name":"elm"}`,
		`{"id":2,"name":"oak"}`,
	}
	for i, one := range bodies {
		for j, other := range bodies {
			p, errP := Decode([]byte(one))
			q, errQ := Decode([]byte(other))
			if got := p.Equal(q); got != (i == j) || errP != nil || errQ != nil {
				t.Errorf("%s is equal to %s: %t, want %t", one, other, got, i == j)
			}
		}
	}
}
