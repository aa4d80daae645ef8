package launch

import (
	"strings"
	"testing"
	"time"
)

func TestTooBusy(t *testing.T) {
	before := Processors{All: 100 * time.Second, Busy: 50 * time.Second, Stolen: time.Second, Ours: 20 * time.Second}
	for name, c := range map[string]struct {
		busy, stolen, ours time.Duration
		want               string
	}{
		"only we":              {8 * time.Second, 0, 8 * time.Second, ""},
		"a little beside us":   {8500 * time.Millisecond, 100 * time.Millisecond, 8 * time.Second, ""},
		"a compiler":           {10 * time.Second, 0, 8 * time.Second, "other processes took 20 %"},
		"the host":             {8 * time.Second, 500 * time.Millisecond, 8 * time.Second, "the host 5 %"},
		"ticks that we missed": {7 * time.Second, 0, 8 * time.Second, ""},
	} {
		now := Processors{All: before.All + 10*time.Second, Busy: before.Busy + c.busy, Stolen: before.Stolen + c.stolen,
			Ours: before.Ours + c.ours}
		got := now.Since(before).TooBusy()
		if got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := (Processors{}).Since(Processors{}).TooBusy(); got != "" {
		t.Errorf("a system that tells nothing: %q", got)
	}
}
