package runner

import (
	"log/slog"
	"testing"

	"matchmaker.dev/services/internal/state"
)

func TestNothingIsSeenOfAnIndexThatIsRead(t *testing.T) {
	f := newFeed("p", 4, slog.New(slog.DiscardHandler))
	f.again = func() {}
	read := func(position uint64) { f.Reset(); f.Apply(nil, position) }
	read(7)
	for name, test := range map[string]struct {
		before, during func()
		want           uint64
	}{
		"at rest":               {want: 7},
		"before it is complete": {before: f.Reset},
		"read anew meanwhile":   {during: func() { read(9) }},
		"owners are needed":     {before: f.needOwners},
		"one change more":       {during: func() { f.Apply([]state.Change{{Ticket: "t"}}, 8) }, want: 7},
	} {
		read(7)
		if test.before != nil {
			test.before()
		}
		seen := f.startLook()
		if test.during != nil {
			test.during()
		}
		if got := seen(); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
