package plant

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// A number is read exactly and in time, however it is written, and however long its digits and its
// exponent are.
func TestParseInt64(t *testing.T) {
	million := strings.Repeat("0", 1_000_000)
	tests := []struct {
		name    string
		literal string
		want    int64
		err     error
	}{
		{"minus zero", "-0", 0, nil},
		{"minus zero with a negative exponent", "-0e-9", 0, nil},
		{"digits and zeros", "-1200", -1200, nil},
		{"a fraction of zeros", "12.00", 12, nil},
		{"a fraction", "12.05", 0, errNotInteger},
		{"an exponent that takes zeros away", "1200e-2", 12, nil},
		{"an exponent that takes a digit away", "1200E-3", 0, errNotInteger},
		{"an exponent that adds zeros", "-7e+3", -7000, nil},
		{"an exponent that leaves a fraction", "0.125e2", 0, errNotInteger},
		{"a number that is no float64", "9007199254740993", 9007199254740993, nil},
		{"the smallest", "-9223372036854775808", math.MinInt64, nil},
		{"one less than the smallest", "-9223372036854775809", 0, errRange},
		{"one more than the largest", "9223372036854775808", 0, errRange},
		{"the largest power of ten", "1e18", 1_000_000_000_000_000_000, nil},
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
