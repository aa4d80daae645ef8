package bus

import (
	"maps"
	"testing"
)

func TestSharesOfLogs(t *testing.T) {
	for name, test := range map[string]struct {
		logs map[string]uint64
		most uint64
		want map[string]uint64
	}{
		"nothing":    {nil, 10, map[string]uint64{}},
		"all fit":    {map[string]uint64{"l.a.f": 4, "l.b.f": 6}, 10, map[string]uint64{}},
		"one floods": {map[string]uint64{"l.a.f": 2, "l.b.f": 100}, 10, map[string]uint64{"l.b.f": 8}},
		"many functions do not give a project more": {
			map[string]uint64{"l.a.f": 5, "l.b.f": 50, "l.b.g": 50, "l.b.h": 50, "l.b.quiet": 1}, 10,
			map[string]uint64{"l.b.f": 1, "l.b.g": 1, "l.b.h": 1},
		},
		"a flood of one function spares the project's others": {
			map[string]uint64{"l.a.f": 10, "l.b.loud": 1000, "l.b.quiet": 3}, 30, map[string]uint64{"l.b.loud": 17},
		},
		"two flood": {
			map[string]uint64{"l.a.f": 100, "l.b.f": 200, "l.c.f": 3}, 13, map[string]uint64{"l.a.f": 5, "l.b.f": 5},
		},
	} {
		if got := shares(test.logs, test.most); !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
