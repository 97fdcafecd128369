package plant

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
)

// What is wrong with a value, of any kind, that is no id. Decode puts the name of the member before it.
var (
	errNotInteger = errors.New("must be an integer")
	errRange      = errors.New("must be from -9223372036854775808 to 9223372036854775807")
)

// parseInt64 returns the integer that a JSON number denotes. In JSON Schema 2020-12 (section 6.1.1) a
// number without a fractional part is an integer however it is written: 1.0, 1e3, 1200e-2.
//
// The work is linear in the length of the literal, whatever its exponent: in math/big, 1e999999999 would
// use all memory. A float would lose digits.
//
// The number is significant times ten to the power of scale. significant has no zeros at its ends. For 1.20e1,
// significant is 12 and scale is 0: the exponent, which is 1, less the two digits of the fraction, plus the one
// zero that was cut off.
func parseInt64(literal string) (int64, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	unsigned := strings.TrimPrefix(mantissa, "-")
	sign := mantissa[:len(mantissa)-len(unsigned)]
	whole, fraction, _ := strings.Cut(unsigned, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return 0, nil
	}
	// If an exponent does not fit in 42 bits, ParseInt returns the nearest value that does, about ±2·10¹². No body
	// has so many digits (see MaxBody), so both lead to the same error below. With 64 bits, the sums could overflow.
	power, _ := strconv.ParseInt(cmp.Or(exponent, "0"), 10, 42)
	scale := power + int64(len(digits)-len(significant)-len(fraction))
	if scale < 0 {
		return 0, errNotInteger
	}
	if int64(len(significant))+scale > int64(len("9223372036854775808")) {
		return 0, errRange
	}
	id, err := strconv.ParseInt(sign+significant+strings.Repeat("0", int(scale)), 10, 64)
	if err != nil {
		return 0, errRange
	}
	return id, nil
}
