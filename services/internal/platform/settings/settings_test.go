package settings_test

import (
	"errors"
	"testing"
	"time"

	"matchmaker.dev/services/internal/platform/settings"
)

type lamps struct {
	Wait  time.Duration `name:"lamp-wait" default:"3s"`
	Count int           `default:"4"`
	Inner struct {
		Bright bool `default:"true" negatable:""`
	} `embed:""`
}

func (l *lamps) Validate() error {
	if l.Count > 4 {
		return errors.New("--count: at most 4")
	}
	return nil
}

func TestDefaultHasTheDefaultsOfTheTags(t *testing.T) {
	if got := settings.Default[lamps](); got.Wait != 3*time.Second || got.Count != 4 || !got.Inner.Bright {
		t.Errorf("got %+v", got)
	}
}

func TestPositiveNamesEachFlag(t *testing.T) {
	err := settings.Positive(map[string]time.Duration{"b": 0, "a": -1, "c": 1})
	if want := "--a: must be more than 0\n--b: must be more than 0"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := settings.Positive(map[string]time.Duration{"c": 1}); err != nil {
		t.Error(err)
	}
}
