package e2e

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

// pausing is the actor's module for which tickets must have waited so long.
func (p *project) pausing(t *testing.T, pause time.Duration, variant byte) []byte {
	t.Helper()
	const text = "the actor waits 0000 ms"
	module := unzip(t, p.s.made.actor)
	if bytes.Count(module, []byte(text)) != 1 {
		t.Fatal("the actor's module does not say once for how long tickets wait")
	}
	module = bytes.Replace(module, []byte(text), fmt.Appendf(nil, "the actor waits %04d ms", pause.Milliseconds()), 1)
	return append(module, 0, 2, 1, variant) // an empty section of its own, so that two of them differ
}

// canary: an upload that is like the one before runs for one config, then for two, and then for all. One for which
// players wait longer goes back.
func canary(t *testing.T, p *project) {
	// Functions run once a second when nobody comes: these are waits of about one second, and of three.
	const usual, long = 300 * time.Millisecond, 2200 * time.Millisecond
	studio := p.developer(t)
	upload := func(u client.FunctionUpload, module []byte) {
		t.Helper()
		if err := studio.UploadFunction(within(t), "pairs", u, bytes.NewReader(module)); err != nil {
			t.Fatal(err)
		}
	}
	upload(client.FunctionUpload{}, p.pausing(t, usual, 'a'))
	settings := map[string]any{"part": "late", "connection": "127.0.0.1:9"}
	for side, config := range []string{"left", "middle", "right"} {
		p.put(t, config, rules{function: "pairs", settings: settings, side: float64(side + 1)})
		p.keepComing(t, 8, config, attributes{"number": 1, "side": float64(side + 1)})
	}
	begin := func(number, least int64, tolerance int) {
		t.Helper()
		p.awaitShadow(t)
		eventually(t, fmt.Sprintf("upload %d is a canary", number), func() bool {
			f, err := studio.CanaryFunction(within(t), "pairs", client.CanaryRequest{Version: number,
				Configs: []string{"left"}, Steps: []int{60, 100}, LeastMatches: least, TolerancePercent: tolerance})
			switch {
			case err != nil && strings.Contains(err.Error(), "are needed to compare"),
				client.Status(err) == http.StatusTooManyRequests:
				return false
			case err != nil:
				t.Fatal(err)
			case f.Canary == nil || f.Canary.Version != number || f.Shadow != nil:
				t.Fatalf("the canary: %+v", f.Canary)
			}
			return true
		})
	}
	upload(client.FunctionUpload{Shadow: true}, p.pausing(t, usual, 'b'))
	// On a busy machine waits become longer meanwhile, by a quarter or so. Those of the next canary are three times as
	// long.
	begin(2, 20, 150)
	if testing.Short() { // how waits compare on a busy machine is chance: the studio decides
		if _, err := studio.PromoteFunction(within(t), "pairs", 2); err != nil && client.Status(err) != http.StatusConflict {
			t.Fatal(err)
		}
		p.awaitFunction(t, "it runs for all", func(f *client.Function) bool { return f.Canary == nil && f.Upload == 2 })
		return
	}
	f := p.awaitFunction(t, "the canary ends", func(f *client.Function) bool { return f.Canary == nil })
	t.Logf("%+v", f.CanaryEnded)
	if e := f.CanaryEnded; !e.Promoted || f.Upload != 2 || e.Version != 2 || !strings.Contains(e.Reason, ", wait ") {
		t.Fatalf("a canary that is like the other upload ended so: %+v", e)
	}
	eventually(t, "the event says how it grew", func() bool {
		return strings.Contains(p.lastReason(t, "grown"), `to the configs "left", "`)
	})

	upload(client.FunctionUpload{Shadow: true}, p.pausing(t, long, 'c'))
	begin(3, 10, 0)
	p.awaitFunction(t, "the canary is compared", func(f *client.Function) bool {
		return f.Canary == nil || len(f.Canary.Findings) > 0 && f.Canary.Runs > 0
	})
	// Another upload is refused, unless the canary ended meanwhile.
	runs := int64(2)
	switch err := studio.UploadFunction(within(t), "pairs", client.FunctionUpload{},
		bytes.NewReader(p.pausing(t, usual, 'd'))); {
	case err == nil:
		runs = 4
	case client.Status(err) != http.StatusConflict:
		t.Errorf("another upload meanwhile: %v", err)
	}
	f = p.awaitFunction(t, "the canary ends", func(f *client.Function) bool { return f.Canary == nil })
	t.Logf("%+v", f.CanaryEnded)
	if e := f.CanaryEnded; e.Promoted || f.Upload != runs || e.Version != 3 || !strings.Contains(e.Reason, "wait ") ||
		!strings.HasPrefix(e.Reason, "it is worse: ") {
		t.Errorf("a canary for which players wait longer ended so: %+v", e)
	}
	eventually(t, "the event says why", func() bool { return p.lastReason(t, "withdrawn") == f.CanaryEnded.Reason })
}

// canaryOfBlocks: an upload for which players wait longer runs in every second block of time or so, and goes back.
func canaryOfBlocks(t *testing.T, p *project) {
	studio := p.developer(t)
	for i, pause := range []time.Duration{0, 900 * time.Millisecond} {
		err := studio.UploadFunction(within(t), "pairs", client.FunctionUpload{Shadow: i > 0},
			bytes.NewReader(p.pausing(t, pause, 'a')))
		if err != nil {
			t.Fatal(err)
		}
	}
	p.put(t, "config", rules{function: "pairs", settings: map[string]any{"part": "late", "connection": "127.0.0.1:9"}})
	p.keepComing(t, 4, "player", attributes{"number": 1})
	p.awaitShadow(t)
	_, err := studio.CanaryFunction(within(t), "pairs", client.CanaryRequest{Version: 2, BlockSeconds: 2,
		Steps: []int{50, 100}, LeastMatches: 20})
	if err != nil {
		t.Fatal(err)
	}
	var last *client.FunctionCanary
	t.Cleanup(func() {
		if last != nil && t.Failed() {
			t.Logf("the canary was %+v", *last)
		}
	})
	f := p.awaitFunction(t, "the canary ends", func(f *client.Function) bool {
		last = cmp.Or(f.Canary, last)
		return f.Canary == nil
	})
	t.Logf("%+v", f.CanaryEnded)
	if e := f.CanaryEnded; e.Promoted || f.Upload != 1 || !strings.HasPrefix(e.Reason, "it is worse: ") {
		t.Errorf("a canary for which players wait longer ended so: %+v", e)
	}
	p.functionEvents(t, "uploaded 1", "shadow 2", "canary 2", "withdrawn 2")
}

// awaitShadow waits until the upload in the shadow runs: its module is compiled then, and the canary starts at once.
func (p *project) awaitShadow(t *testing.T) {
	t.Helper()
	p.awaitFunction(t, "the shadow runs", func(f *client.Function) bool { return f.Shadow != nil && f.Shadow.Runs > 0 })
}

// lastReason is the detail of the function's last event of a reason that is told now, "" if none is yet.
func (p *project) lastReason(t *testing.T, reason string) (detail string) {
	t.Helper()
	for _, e := range events(t, p.developer(t), client.EventQuery{Kinds: []string{"function"}}) {
		if e.Reason == reason {
			detail = e.Detail
		}
	}
	return detail
}
