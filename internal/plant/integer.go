package plant

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
)

var (
	errNotInteger = errors.New("must be an integer")
	errRange      = errors.New("must be from -9223372036854775808 to 9223372036854775807")
)

// maxExponent is more than the number of digits in any body, and small enough that adding to it does not overflow.
const maxExponent = 1 << 40

// parseInt64 returns the value of a JSON number that is an integer, such as 1.0, 1e3 and 1200e-2. Source: JSON Schema
// 2020-12, section 6.1.1. A float64 would lose digits, and math/big would use up all memory for 1e999999999.
func parseInt64(literal string) (int64, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimRight(whole+fraction, "0") // -0.20 gives -02; len(whole) counts the sign and leading zeros too
	if digits == "" || digits == "-" {
		return 0, nil
	}
	power, _ := strconv.ParseInt(cmp.Or(exponent, "0"), 10, 64) // on overflow, the smallest or the largest int64
	power = max(-maxExponent, min(power, maxExponent))
	point := int64(len(whole)) + power  // index of the decimal point in the digits
	zeros := point - int64(len(digits)) // to append: 1.20e3 is 12 and two zeros
	if zeros < 0 {                      // a digit follows the point
		return 0, errNotInteger
	}
	if zeros > 18 { // 10¹⁹ is out of range
		return 0, errRange
	}
	id, err := strconv.ParseInt(digits+strings.Repeat("0", int(zeros)), 10, 64)
	if err != nil {
		return 0, errRange
	}
	return id, nil
}
