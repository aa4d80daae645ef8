// Package settingstest tests the tags of the settings of a program.
package settingstest

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"matchmaker.dev/services/internal/platform/settings"
)

// Bounds fails for tags of bounds, and of rates, that are wrong or that nothing looks at. It wants some that are right.
func Bounds(t *testing.T, model *kong.Application) {
	t.Helper()
	flags, rates, right := map[string]bool{}, map[string]string{}, 0
	err := kong.Visit(model, func(part kong.Visitable, next kong.Next) error {
		switch v := part.(type) {
		case *kong.Flag:
			flags[v.Name] = true
			if rate := v.Tag.Get("rate"); rate != "" {
				rates[v.Name] = rate
			}
			err := settings.Bounds([]*kong.Flag{v})
			switch {
			case err != nil && strings.Contains(err.Error(), "bounds"):
				t.Error(err)
			case v.Tag.Has("bounds"):
				right++
			case v.Tag.Has("rate"):
				t.Errorf("--%s has a rate, and no bounds", v.Name)
			}
			return nil // not its value, which is looked at as an argument
		case *kong.Value:
			if v.Tag.Has("bounds") || v.Tag.Has("rate") {
				t.Errorf("<%s>: bounds of arguments are not looked at", v.Name)
			}
		}
		return next(nil)
	})
	if err != nil || right == 0 {
		t.Errorf("%d bounds are right: %v", right, err)
	}
	for burst, rate := range rates {
		if !flags[rate] {
			t.Errorf("--%s: there is no --%s", burst, rate)
		}
	}
}
