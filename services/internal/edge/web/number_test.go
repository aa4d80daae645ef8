package web

import (
	"errors"
	"math/big"
	"strings"
	"testing"
)

func TestParseInteger(t *testing.T) {
	for number, want := range map[string]int64{
		"0": 0, "-0": 0, "0.0": 0, "-0.0e9": 0, "0e999999999999": 0, "0e-999999999999": 0,
		"1": 1, "1.0": 1, "1e0": 1, "1E+0": 1, "10e-1": 1, "1.50e1": 15, "-1.0": -1, "0.1e1": 1, "1e000000000001": 10,
		"1730800000123.0": 1730800000123, "1.730800000123e12": 1730800000123, "9007199254740993.0": 9007199254740993,
		"9223372036854775807.000": 1<<63 - 1, "-9223372036854775808.0": -1 << 63, "9.223372036854775807e18": 1<<63 - 1,
		"1" + strings.Repeat("0", 60) + "e-60": 1,
	} {
		if got, err := ParseInteger(number); got != want || err != nil {
			t.Errorf("%s: got %d, %v, want %d", number, got, err, want)
		}
	}
	for number, want := range map[string]error{
		"1.5": ErrFraction, "1e-1": ErrFraction, "0.1": ErrFraction, "-2.0000000000000000001": ErrFraction,
		"1e-999999999999999999999": ErrFraction, "1e999999999999999999999": ErrRange, "1e19": ErrRange, "1e400": ErrRange,
		"9223372036854775808": ErrRange, "9223372036854775808.0": ErrRange, "-9223372036854775809e0": ErrRange,
		strings.Repeat("9", 1000): ErrRange, "1." + strings.Repeat("0", 400): errLong,
	} {
		if got, err := ParseInteger(number); !errors.Is(err, want) {
			t.Errorf("%s: got %d, %v, want %v", number, got, err, want)
		}
	}
}

// FuzzParseInteger compares with arithmetic on numbers of any size.
func FuzzParseInteger(f *testing.F) {
	for _, seed := range []string{"1.0", "-12.50e1", "10e-1", "9223372036854775807.0", "1e18"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, number string) {
		if len(number) > 30 || strings.Trim(number, "0123456789+-.eE") != "" || strings.HasPrefix(number, "+") {
			return
		}
		_, power, _ := strings.Cut(strings.ToLower(number), "e")
		if len(power) > 4 {
			return
		}
		exact, ok := new(big.Rat).SetString(number)
		if !ok {
			return
		}
		got, err := ParseInteger(number)
		switch {
		case !exact.IsInt() && !errors.Is(err, ErrFraction):
			t.Errorf("%s: got %d, %v", number, got, err)
		case exact.IsInt() && !exact.Num().IsInt64() && !errors.Is(err, ErrRange):
			t.Errorf("%s: got %d, %v", number, got, err)
		case exact.IsInt() && exact.Num().IsInt64() && (err != nil || got != exact.Num().Int64()):
			t.Errorf("%s: got %d, %v", number, got, err)
		}
	})
}
