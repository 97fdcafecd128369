package plant

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
)

// A number is read exactly and in time, however long its digits and its exponent are.
// TestParseInt64IsExact has the ordinary numbers.
func TestParseInt64(t *testing.T) {
	million := strings.Repeat("0", 1_000_000)
	tests := []struct {
		name    string
		literal string
		want    int64
		err     error
	}{
		{"zero with a large exponent", "0e999999999", 0, nil},
		{"the largest, with a fraction", "9.223372036854775807e18", math.MaxInt64, nil},
		{"a million zeros that the exponent takes away", "1" + million + "e-1000000", 1, nil},
		{"a million zeros that the exponent makes up for", "0." + million + "1e1000001", 1, nil},
		{"a million zeros", "1" + million, 0, errRange},
		{"a million zeros, and a fraction", "1" + million + "e-1000001", 0, errNotInteger},
		{"an exponent that is 0 in 32 bits", "1e4294967296", 0, errRange},
		{"a positive exponent beyond 64 bits", "1e99999999999999999999999999", 0, errRange},
		{"a negative exponent beyond 64 bits", "1e-99999999999999999999999999", 0, errNotInteger},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseInt64(test.literal)
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("parseInt64(%.60q) = %d, %v, want %d, %v", test.literal, got, err, test.want, test.err)
			}
		})
	}
}

// Every combination of these parts denotes what math/big computes.
func TestParseInt64IsExact(t *testing.T) {
	wholes := []string{
		"0", "-0", "7", "-12", "1200", "922337203685477580", "9007199254740993",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
	}
	fractions := []string{"", ".0", ".5", ".70", ".00012", ".8"}
	exponents := []string{"", "e0", "E1", "e+3", "E-2", "e-0", "e18", "e19", "e-19"}
	for _, whole := range wholes {
		for _, fraction := range fractions {
			for _, exponent := range exponents {
				literal := whole + fraction + exponent
				want, wantErr := exactInt64(t, literal)
				got, err := parseInt64(literal)
				if got != want || !errors.Is(err, wantErr) {
					t.Errorf("parseInt64(%q) = %d, %v, want %d, %v", literal, got, err, want, wantErr)
				}
			}
		}
	}
}

// exactInt64 is parseInt64 by math/big.
func exactInt64(t *testing.T, literal string) (int64, error) {
	t.Helper()
	exact, ok := new(big.Rat).SetString(literal)
	if !ok {
		t.Fatalf("math/big cannot read %q", literal)
	}
	if !exact.IsInt() {
		return 0, errNotInteger
	}
	if !exact.Num().IsInt64() {
		return 0, errRange
	}
	return exact.Num().Int64(), nil
}
