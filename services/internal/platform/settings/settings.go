// Package settings helps with structs of settings, which lie in the packages that they belong to. A struct's tags have
// the flag's name, default, help and group; the command line embeds the struct, and the constructor takes it.
package settings

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/alecthomas/kong"
)

// Default returns settings with the defaults that their tags have.
func Default[T any]() T {
	var s T
	vars := kong.Vars{"sandbox": "require", "listen": "", "logformat": "json", "metrics": ""}
	if err := kong.ApplyDefaults(&s, vars); err != nil {
		panic(err) //nolint:forbidigo // a tag is wrong: the program is
	}
	return s
}

// Positive names the flags of durations that are not more than 0.
func Positive(flags map[string]time.Duration) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if flags[name] <= 0 {
			errs = append(errs, errors.New("--"+name+": must be more than 0"))
		}
	}
	return errors.Join(errs...)
}
