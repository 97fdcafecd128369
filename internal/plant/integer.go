package plant

import (
	"cmp"
	"strconv"
	"strings"
)

var (
	errFraction = &InvalidError{"id must be an integer"}
	errRange    = &InvalidError{"id must be from -9223372036854775808 to 9223372036854775807"}
)

// parseInt64 returns the id that a JSON number literal denotes. By JSON
// Schema 2020-12, section 6.1.1, any number with a zero fraction is an integer,
// however it is written: 1.0, 1e3, 1200e-2.
//
// The work is linear in the length of the literal, whatever its exponent says:
// the value is never built, only its digits without the zeros at both ends and
// the power of ten that they stand at.
func parseInt64(literal string) (int64, error) {
	unsigned, negative := strings.CutPrefix(literal, "-")
	mantissa, exponent := unsigned, ""
	if i := strings.IndexAny(unsigned, "eE"); i >= 0 {
		mantissa, exponent = unsigned[:i], unsigned[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return 0, nil
	}
	// One that is out of range becomes the nearest of 42 bits: no literal has as
	// many digits as it would take to bring it back.
	power, _ := strconv.ParseInt(cmp.Or(exponent, "0"), 10, 42)
	scale := int(power) - len(fraction) + len(digits) - len(significant)
	if scale < 0 {
		return 0, errFraction
	}
	if len(significant)+scale > len("9223372036854775808") {
		return 0, errRange
	}
	sign := ""
	if negative {
		sign = "-"
	}
	id, err := strconv.ParseInt(sign+significant+strings.Repeat("0", scale), 10, 64)
	if err != nil {
		return 0, errRange
	}
	return id, nil
}
