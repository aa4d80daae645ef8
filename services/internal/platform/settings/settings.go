// Package settings helps with structs of settings, which lie in the packages that they belong to. A struct's tags have
// the flag's name, default, bounds, help and group; the command line embeds the struct, and the constructor takes it.
package settings

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

var vars = kong.Vars{"sandbox": "require", "listen": "", "logformat": "json", "metrics": ""}

// Default returns settings with the defaults that their tags have.
func Default[T any]() T {
	var s T
	if err := kong.ApplyDefaults(&s, vars); err != nil {
		panic(err) //nolint:forbidigo // a tag is wrong: the program is
	}
	return s
}

// Check names the flags of a struct of settings whose values are outside of their bounds, or that its Validate refuses.
func Check(s any) error {
	parser, err := kong.New(s, vars)
	if err != nil {
		return err
	}
	err = Bounds(parser.Model.Flags)
	if checked, ok := s.(interface{ Validate() error }); ok {
		err = errors.Join(err, checked.Validate())
	}
	return err
}

// Bounds names the flags whose values are outside of the bounds that their tags have: bounds:"1..64" for 1 to 64, "1.."
// for 1 or more, and ">0". The bounds of a duration are durations.
func Bounds(flags []*kong.Flag) error {
	var errs []error
	for _, f := range flags {
		if bounds := f.Tag.Get("bounds"); bounds != "" {
			errs = append(errs, check(f.Name, f.Target, bounds))
		}
	}
	return errors.Join(errs...)
}

func check(flag string, value reflect.Value, bounds string) error {
	low, high, ranged := strings.Cut(strings.TrimPrefix(bounds, ">"), "..")
	n, least, err := numbers(value, low)
	most := math.MaxFloat64
	if err == nil && high != "" {
		_, most, err = numbers(value, high)
	}
	expected := low + " to " + high
	switch {
	case err != nil:
		return fmt.Errorf("--%s: bounds %q: %w", flag, bounds, err)
	case n >= least && n <= most && (ranged || n > least):
		return nil
	case !ranged:
		expected = "more than " + low
	case high == "":
		expected = low + " or more"
	}
	return fmt.Errorf("--%s: must be %s", flag, expected)
}

// numbers returns a value, and a bound of its type, so that they compare.
func numbers(v reflect.Value, bound string) (value, limit float64, err error) {
	if v.CanFloat() {
		value = v.Float()
	} else {
		value = float64(v.Int())
	}
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(bound)
		return value, float64(d), err
	}
	limit, err = strconv.ParseFloat(bound, 64)
	return value, limit, err
}
