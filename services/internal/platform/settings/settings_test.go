package settings_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/platform/settings"
)

type lamps struct {
	Wait  time.Duration `name:"lamp-wait" default:"3s"`
	Count int           `default:"4" bounds:"1.."`
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

func TestCheckAsksValidate(t *testing.T) {
	for count, want := range map[int]string{0: "--count: must be 1 or more", 5: "--count: at most 4"} {
		if err := settings.Check(&lamps{Count: count}); err == nil || err.Error() != want {
			t.Errorf("%d: %v, want %s", count, err, want)
		}
	}
}

type bounded struct {
	Count int           `bounds:"1..64"`
	Many  int64         `bounds:"0.."`
	Share float64       `name:"part" bounds:"0.5.."`
	Pause time.Duration `bounds:">0"`
	Wait  time.Duration `bounds:"1s..1m"`
	Free  int
}

func TestBounds(t *testing.T) {
	good := bounded{Count: 64, Share: 0.5, Pause: 1, Wait: time.Minute, Free: -1}
	if err := settings.Check(&good); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*bounded){
		"--count: must be 1 to 64":                        func(b *bounded) { b.Count = 65 },
		"--count: must be 1 to 64\n--wait: must be 1s to": func(b *bounded) { b.Count, b.Wait = 0, time.Minute+1 },
		"--many: must be 0 or more":                       func(b *bounded) { b.Many = -1 },
		"--part: must be 0.5 or more":                     func(b *bounded) { b.Share = math.NaN() },
		"--pause: must be more than 0":                    func(b *bounded) { b.Pause = 0 },
	} {
		b := good
		change(&b)
		if err := settings.Check(&b); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	infinite := good
	if infinite.Share = math.Inf(1); settings.Check(&infinite) == nil {
		t.Error("an infinite share is taken")
	}
	for _, wrong := range []any{&struct {
		Wait time.Duration `bounds:"1.."`
	}{Wait: time.Hour}, &struct {
		Count int `bounds:"one.."`
	}{}} {
		if err := settings.Check(wrong); err == nil || !strings.Contains(err.Error(), "bounds") {
			t.Errorf("a tag that is none: %v", err)
		}
	}
}
