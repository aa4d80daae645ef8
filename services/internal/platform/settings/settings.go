// Package settings helps with structs of settings, which lie in the packages that they belong to. A struct's tags have
// the flag's name, default, bounds, help and group; the command line embeds the struct, and the constructor takes it.
package settings

import (
	"cmp"
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
func Default[T any]() (s T) {
	Complete(&s)
	return s
}

// Complete gives the members of a struct that are zero the defaults that their tags have.
func Complete(s any) {
	if err := kong.ApplyDefaults(s, vars); err != nil {
		panic(err) //nolint:forbidigo // a tag is wrong: the program is
	}
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

// invalid is the exit code of kong's errors of what was parsed but makes no sense, as of flags that do not exist.
const invalid = 80

// Parse parses a command line. Its error also names the flags whose values are outside of their bounds, unless an error
// came before the flags had their values.
func Parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	line, err := parser.Parse(args)
	if parse, wrong := errors.AsType[*kong.ParseError](err); wrong {
		line = parse.Context
		if parse.ExitCode() != invalid || line.Error != nil {
			return line, err
		}
	}
	return line, errors.Join(err, Bounds(line.Flags()))
}

// Bounds names the flags whose values are outside of the bounds that their tags have: bounds:"1..64" for 1 to 64, "1.."
// for 1 or more, ">0" for more than 0, and ">0..64". The bounds of a duration are durations. A burst with rate:"NAME"
// may also be 0 or more where the flag NAME is 0, which means no limit.
func Bounds(flags []*kong.Flag) error {
	var errs []error
	zero := map[string]bool{}
	for _, f := range flags {
		zero[f.Name] = f.Target.IsZero()
	}
	for _, f := range flags {
		bounds, rate, unless := f.Tag.Get("bounds"), f.Tag.Get("rate"), ""
		if zero[rate] {
			bounds = "0.."
		} else if rate != "" {
			unless = " unless --" + rate + " is 0"
		}
		if err := check(f.Target, bounds); err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w%s", f.Name, err, unless))
		}
	}
	return errors.Join(errs...)
}

func check(value reflect.Value, bounds string) error {
	if bounds == "" {
		return nil
	}
	low, high, ranged := strings.Cut(bounds, "..")
	low, above := strings.CutPrefix(low, ">")
	n, least, err := numbers(value, low)
	most := math.MaxFloat64
	if err == nil && high != "" {
		_, most, err = numbers(value, high)
	}
	expected := low + " to " + high
	switch {
	case err != nil || !ranged && !above:
		return fmt.Errorf("bounds %q of %s: %w", bounds, value.Type(), cmp.Or(err, errors.ErrUnsupported))
	case n <= most && (n > least || n == least && !above):
		return nil
	case high == "" && !(n <= most):
		expected = "finite"
	case above && high != "":
		expected = "more than " + low + ", up to " + high
	case above:
		expected = "more than " + low
	case high == "":
		expected = low + " or more"
	}
	return errors.New("must be " + expected)
}

// numbers returns a value, and a bound of its type, so that they compare.
func numbers(v reflect.Value, bound string) (value, limit float64, err error) {
	switch {
	case v.CanFloat():
		value = v.Float()
	case v.CanUint():
		value = float64(v.Uint())
	case v.CanInt():
		value = float64(v.Int())
	default:
		return 0, 0, errors.ErrUnsupported
	}
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(bound)
		return value, float64(d), err
	}
	limit, err = strconv.ParseFloat(bound, 64)
	return value, limit, err
}
