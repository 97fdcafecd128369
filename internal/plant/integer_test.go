package plant

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestParseInt64(t *testing.T) {
	zeros := strings.Repeat("0", 1_000_000)
	tests := []struct {
		literal string
		want    int64
		err     error
	}{
		{"0", 0, nil},
		{"-0", 0, nil},
		{"0.0", 0, nil},
		{"-0.000e-5", 0, nil},
		{"0e999999999", 0, nil},
		{"0e-99999999999999999999999", 0, nil},
		{"42", 42, nil},
		{"-42", -42, nil},
		{"1.0", 1, nil},
		{"1e3", 1000, nil},
		{"1E+3", 1000, nil},
		{"1e-0", 1, nil},
		{"1200e-2", 12, nil},
		{"0.5e1", 5, nil},
		{"0.00012e5", 12, nil},
		{"12.3400e2", 1234, nil},
		{"9223372036854775807", math.MaxInt64, nil},
		{"-9223372036854775808", math.MinInt64, nil},
		{"9.223372036854775807e18", math.MaxInt64, nil},
		{"922337203685477580700e-2", math.MaxInt64, nil},
		{"9007199254740993", 9007199254740993, nil},
		{"1" + zeros + "e-1000000", 1, nil},
		{"0." + zeros + "1e1000001", 1, nil},
		{"0." + zeros[:999_999] + "1e1000001", 10, nil},
		{"9223372036854775808", 0, errRange},
		{"-9223372036854775809", 0, errRange},
		{"1e19", 0, errRange},
		{"9.223372036854775808e18", 0, errRange},
		{"1e999999999", 0, errRange},
		{"-1e99999999999999999999999999", 0, errRange},
		{"1" + zeros, 0, errRange},
		{"1.5", 0, errFraction},
		{"1e-1", 0, errFraction},
		{"-0.1", 0, errFraction},
		{"1e-999999999", 0, errFraction},
		{"1" + zeros + "e-1000001", 0, errFraction},
		{"9223372036854775807.5", 0, errFraction},
	}
	for _, test := range tests {
		got, err := parseInt64(test.literal)
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("parseInt64(%.60q) = %d, %v, want %d, %v", test.literal, got, err, test.want, test.err)
		}
	}
}

// The judge is math/big, which is exact, on exponents that it can bear.
func FuzzParseInt64(f *testing.F) {
	f.Add(int64(1), uint64(0), int16(0), true)
	f.Add(int64(math.MinInt64), uint64(0), int16(-3), true)
	f.Add(int64(12), uint64(3400), int16(18), false)
	f.Fuzz(func(t *testing.T, whole int64, fraction uint64, exponent int16, withFraction bool) {
		literal := big.NewInt(whole).String()
		if withFraction {
			literal += "." + new(big.Int).SetUint64(fraction).String()
		}
		literal += "e" + big.NewInt(int64(exponent%400)).String()
		exact, ok := new(big.Rat).SetString(literal)
		if !ok {
			t.Fatalf("math/big does not take %q", literal)
		}
		got, err := parseInt64(literal)
		switch {
		case !exact.IsInt():
			if !errors.Is(err, errFraction) {
				t.Errorf("parseInt64(%q) = %d, %v, want %v", literal, got, err, errFraction)
			}
		case !exact.Num().IsInt64():
			if !errors.Is(err, errRange) {
				t.Errorf("parseInt64(%q) = %d, %v, want %v", literal, got, err, errRange)
			}
		case err != nil || got != exact.Num().Int64():
			t.Errorf("parseInt64(%q) = %d, %v, want %s", literal, got, err, exact.Num())
		}
	})
}
