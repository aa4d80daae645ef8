package main

import (
	"strings"
	"testing"
	"time"
)

func TestTooBusy(t *testing.T) {
	before := processors{all: 100 * time.Second, busy: 50 * time.Second, stolen: time.Second, ours: 20 * time.Second}
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
		now := processors{all: before.all + 10*time.Second, busy: before.busy + c.busy, stolen: before.stolen + c.stolen,
			ours: before.ours + c.ours}
		got := now.since(before).tooBusy()
		if got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := (processors{}).since(processors{}).tooBusy(); got != "" {
		t.Errorf("a system that tells nothing: %q", got)
	}
}

func TestDescribe(t *testing.T) {
	m := describe(t.Context())
	if m.Processors < 1 || m.Go == "" || m.System == "" {
		t.Errorf("%+v", m)
	}
	if !strings.Contains(m.Redis, ".") || !strings.Contains(m.NATS, ".") {
		t.Errorf("Redis %q and NATS %q have no versions", m.Redis, m.NATS)
	}
	if got := field("a:\t1\nmodel name\t: Some  Thing: 2\nmodel name: other\n", "model name"); got != "Some Thing: 2" {
		t.Errorf("the model is %q", got)
	}
}
