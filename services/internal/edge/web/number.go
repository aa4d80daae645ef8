package web

import (
	"errors"
	"strconv"
	"strings"
)

// The reasons why a JSON number is no integer of 64 bits.
var (
	ErrFraction = errors.New("an integer is expected, got a fraction")
	ErrRange    = errors.New("the number is out of range")
)

// longestExponent is the most digits of an exponent that are looked at: more than any integer needs.
const longestExponent = 4

// ParseInteger reads a JSON number without a fraction, exactly: 3, 3.0 and 30e-1 are 3. Libraries that know one kind of
// number write integers as any of them.
func ParseInteger(number string) (int64, error) {
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return n, nil
	}
	sign, rest := "", number
	if trimmed, negative := strings.CutPrefix(rest, "-"); negative {
		sign, rest = "-", trimmed
	}
	mantissa, power, _ := strings.Cut(strings.ToLower(rest), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return 0, nil // whatever the exponent
	}
	exponent, err := exponentOf(power)
	if err != nil {
		return 0, err
	}
	exponent -= len(fraction)
	for ; exponent < 0 && strings.HasSuffix(digits, "0"); exponent++ {
		digits = digits[:len(digits)-1]
	}
	const longest = 19 // digits of the largest integer
	switch {
	case exponent < 0:
		return 0, ErrFraction
	case len(digits)+exponent > longest:
		return 0, ErrRange
	}
	n, err := strconv.ParseInt(sign+digits+strings.Repeat("0", exponent), 10, 64)
	if err != nil {
		return 0, ErrRange
	}
	return n, nil
}

// exponentOf reads what stands behind the e, "" for 0.
func exponentOf(power string) (int, error) {
	digits := strings.TrimPrefix(power, "+")
	digits, negative := strings.CutPrefix(digits, "-")
	digits = strings.TrimLeft(digits, "0")
	switch {
	case digits == "":
		return 0, nil
	case len(digits) > longestExponent && negative:
		return 0, ErrFraction // a body has fewer digits than that
	case len(digits) > longestExponent:
		return 0, ErrRange
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0, ErrRange
	}
	if negative {
		n = -n
	}
	return n, nil
}
