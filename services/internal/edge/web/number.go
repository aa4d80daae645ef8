package web

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// The reasons why a JSON number is not read as an integer of 64 bits.
var (
	ErrFraction = errors.New("an integer is expected, got a fraction")
	ErrRange    = errors.New("the number is out of range")
	errLong     = errors.New("the number is too long")
)

// longestNumber bounds exact arithmetic, in characters: no library writes an integer with more.
const longestNumber = 400

// ParseInteger reads a JSON number without a fraction, exactly: 3, 3.0 and 30e-1 are 3. Libraries that know one kind of
// number write integers as any of them.
func ParseInteger(number string) (int64, error) {
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return n, nil
	}
	near, err := strconv.ParseFloat(number, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
	switch {
	case err != nil || math.Abs(near) > 1<<63:
		return 0, ErrRange
	case len(number) > longestNumber:
		return 0, errLong
	case strings.Trim(mantissa, "-0.") == "":
		return 0, nil // whatever the exponent
	case math.Abs(near) < 1:
		return 0, ErrFraction
	}
	exact, ok := new(big.Rat).SetString(number) // the exponent is small now
	switch {
	case ok && !exact.IsInt():
		return 0, ErrFraction
	case !ok || !exact.Num().IsInt64():
		return 0, ErrRange
	}
	return exact.Num().Int64(), nil
}
