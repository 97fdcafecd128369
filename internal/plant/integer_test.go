package plant

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestParseInt64(t *testing.T) {
	million := strings.Repeat("0", 1_000_000)
	tests := []struct {
		literal string
		want    int64
		err     error
	}{
		{"0e999999999", 0, nil},
		{"9.223372036854775807e18", math.MaxInt64, nil},
		{"1" + million + "e-1000000", 1, nil},
		{"0." + million + "1e1000001", 1, nil},
		{"1" + million, 0, errRange},
		{"1" + million + "e-1000001", 0, errNotInteger},
		{"1e4294967296", 0, errRange}, // the exponent is 0 in 32 bits
		{"1e99999999999999999999999999", 0, errRange},
		{"1e-99999999999999999999999999", 0, errNotInteger},
	}
	for _, test := range tests {
		if got, err := parseInt64(test.literal); got != test.want || !errors.Is(err, test.err) {
			t.Errorf("parseInt64(%.60q) = %d, %v, want %d, %v", test.literal, got, err, test.want, test.err)
		}
	}
}

// math/big computes what every combination of these parts denotes.
func TestParseInt64IsExact(t *testing.T) {
	for _, whole := range strings.Fields("0 -0 7 -12 1200 922337203685477580 9007199254740993 " +
		"9223372036854775807 -9223372036854775808 9223372036854775808 -9223372036854775809") {
		for _, fraction := range []string{"", ".0", ".5", ".70", ".00012", ".8"} {
			for _, exponent := range []string{"", "e0", "E1", "e+3", "E-2", "e-0", "e18", "e19", "e-19"} {
				literal := whole + fraction + exponent
				exact, ok := new(big.Rat).SetString(literal)
				var want error
				switch {
				case !ok:
					t.Fatalf("math/big cannot read %q", literal)
				case !exact.IsInt():
					want = errNotInteger
				case !exact.Num().IsInt64():
					want = errRange
				}
				got, err := parseInt64(literal)
				if !errors.Is(err, want) || err == nil && got != exact.Num().Int64() {
					t.Errorf("parseInt64(%q) = %d, %v, want %s, %v", literal, got, err, exact, want)
				}
			}
		}
	}
}
