package settings_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

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
	Short time.Duration `bounds:">0..2s"`
	Size  uint8         `bounds:"2.."`
	Rate  float64       `bounds:"0..1000"`
	Burst int           `bounds:"1..64" rate:"rate"`
	Free  int
}

func TestBounds(t *testing.T) {
	good := bounded{Count: 64, Share: 0.5, Pause: 1, Wait: time.Minute,
		Short: 2 * time.Second, Size: 2, Rate: 0.1, Burst: 64, Free: -1}
	if err := settings.Check(&good); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*bounded){
		"--count: must be 1 to 64":                        func(b *bounded) { b.Count = 65 },
		"--count: must be 1 to 64\n--wait: must be 1s to": func(b *bounded) { b.Count, b.Wait = 0, time.Minute+1 },
		"--many: must be 0 or more":                       func(b *bounded) { b.Many = -1 },
		"--part: must be finite":                          func(b *bounded) { b.Share = math.NaN() },
		"--part: must be finite\n":                        func(b *bounded) { b.Share, b.Pause = math.Inf(1), 0 },
		"--part: must be 0.5 or more":                     func(b *bounded) { b.Share = math.Inf(-1) },
		"--short: must be more than 0, up to 2s":          func(b *bounded) { b.Short = 0 },
		"--short: must be more than 0, up to 2s\n":        func(b *bounded) { b.Short, b.Size = 2*time.Second+1, 1 },
		"--size: must be 2 or more":                       func(b *bounded) { b.Size = 1 },
		"--burst: must be 1 to 64 unless --rate is 0":     func(b *bounded) { b.Burst = 0 },
		"--rate: must be 0 to 1000":                       func(b *bounded) { b.Rate = math.NaN() },
		"--burst: must be 0 or more":                      func(b *bounded) { b.Rate, b.Burst = 0, -1 },
		"--pause: must be more than 0":                    func(b *bounded) { b.Pause = 0 },
	} {
		b := good
		change(&b)
		if err := settings.Check(&b); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	unlimited := good
	unlimited.Rate = 0
	for _, unlimited.Burst = range []int{0, 65} {
		if err := settings.Check(&unlimited); err != nil {
			t.Error(err)
		}
	}
	for _, wrong := range []any{&struct {
		Wait time.Duration `bounds:"1.."`
	}{Wait: time.Hour}, &struct {
		Count int `bounds:"one.."`
	}{}, &struct {
		Count int `bounds:"1"`
	}{Count: 2}, &struct {
		Count int `bounds:"1.. 5"`
	}{Count: 2}, &struct {
		Counts []int `bounds:"1.."`
	}{}, &struct {
		Name string `bounds:"1.."`
	}{}} {
		if err := settings.Check(wrong); err == nil || !strings.Contains(err.Error(), "bounds") {
			t.Errorf("a tag that is none: %v", err)
		}
	}
}

type line struct {
	Shop struct {
		Lamps lamps         `embed:""`
		Pause time.Duration `bounds:">0"`
	} `cmd:""`
}

func (l *line) Validate() error { return l.Shop.Lamps.Validate() }

// What Validate refuses does not hide what is out of bounds. Mistakes that come before flags have values stand alone.
func TestParseTellsAllMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"shop --count 5 --pause 1s": "--count: at most 4",
		"shop --count 5":            "--count: at most 4\n--pause: must be more than 0",
		"shop --count 0":            "--count: must be 1 or more\n--pause: must be more than 0",
		"shop --pause 1s":           "",
		"shop --lamps":              "unknown flag --lamps",
	} {
		parser, err := kong.New(&line{})
		if err != nil {
			t.Fatal(err)
		}
		command, err := settings.Parse(parser, strings.Fields(args))
		if command == nil || (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	t.Setenv("PAUSE", "soon")
	var l struct {
		Pause time.Duration `env:"PAUSE" bounds:">0"`
	}
	parser, err := kong.New(&l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := settings.Parse(parser, nil); err == nil || strings.Contains(err.Error(), "must be") {
		t.Errorf("a value that is none: %v", err)
	}
}
