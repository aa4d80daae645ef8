package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
)

// beginCanary lets an upload be the canary, or changes its configs. The developer may ask too often meanwhile.
func (p *project) beginCanary(t *testing.T, r client.CanaryRequest) {
	t.Helper()
	eventually(t, fmt.Sprintf("upload %d is a canary", r.Version), func() bool {
		f, err := p.developer(t).CanaryFunction(within(t), "pairs", r)
		switch {
		case client.Status(err) == http.StatusTooManyRequests:
			return false
		case err != nil:
			t.Fatal(err)
		case f.Canary == nil || f.Canary.Version != r.Version || f.Shadow != nil:
			t.Fatalf("the canary: %+v", f.Canary)
		}
		return true
	})
}

// inShadow puts an upload of the function into the shadow, and waits until it runs: its module is compiled then, and a
// canary starts at once.
func (p *project) inShadow(t *testing.T, module []byte) {
	t.Helper()
	err := p.developer(t).UploadFunction(within(t), "pairs", client.FunctionUpload{Shadow: true}, bytes.NewReader(module))
	if err != nil {
		t.Fatal(err)
	}
	p.awaitFunction(t, "the shadow runs", func(f *client.Function) bool { return f.Shadow != nil && f.Shadow.Runs > 0 })
}

// byBoth waits until both uploads matched tickets of the configs that get the canary.
func (p *project) byBoth(t *testing.T) *client.Function {
	t.Helper()
	return p.awaitFunction(t, "both uploads match tickets", func(f *client.Function) bool {
		if f.Canary == nil {
			t.Fatalf("the canary ended: %+v", f.CanaryEnded)
		}
		for _, q := range f.Canary.Report {
			if q.Name == "wait" && q.CanaryOf > 0 && q.CurrentOf > 0 {
				return true
			}
		}
		return false
	})
}

// canary: an upload runs for one config, then for two, and then for all, as the studio says. The next one fails, and
// goes back by itself, while the other config goes on.
func canary(t *testing.T, p *project) {
	studio := p.developer(t)
	p.upload(t, "pairs", p.s.made.actor)
	for side, config := range []string{"left", "right"} {
		p.put(t, config, rules{function: "pairs", settings: map[string]any{"connection": "127.0.0.1:9"},
			side: float64(side + 1)})
		p.keepComing(t, 4, config, attributes{"number": 1, "side": float64(side + 1)})
	}
	p.inShadow(t, withSection(unzip(t, p.s.made.actor)))
	p.beginCanary(t, client.CanaryRequest{Version: 2, Configs: []string{"left"}})
	p.byBoth(t)
	p.beginCanary(t, client.CanaryRequest{Version: 2, Configs: []string{"left", "right"}})
	if f := p.byBoth(t); len(f.Canary.Configs) != 2 || f.Canary.Failed > 0 || f.Upload != 1 {
		t.Errorf("the canary is %+v", f.Canary)
	}
	if _, err := studio.PromoteFunction(within(t), "pairs", 2); err != nil {
		t.Fatal(err)
	}
	f := p.awaitFunction(t, "it runs for all", func(f *client.Function) bool {
		return f.Upload == 2 && f.Status.State == client.Running
	})
	if e := f.CanaryEnded; f.Canary != nil || e == nil || !e.Promoted {
		t.Errorf("the canary ended so: %+v", e)
	}

	bad, err := os.ReadFile(p.s.made.duel) // which does not know the actor's settings
	if err != nil {
		t.Fatal(err)
	}
	p.inShadow(t, bad)
	p.beginCanary(t, client.CanaryRequest{Version: 3, Configs: []string{"left"}})
	f = p.awaitFunction(t, "the canary goes back", func(f *client.Function) bool { return f.Canary == nil })
	if e := f.CanaryEnded; e.Promoted || f.Upload != 2 || e.Version != 3 || f.Returned != nil ||
		!strings.Contains(e.Reason, "that were repeated on upload 2 did not: ") ||
		!strings.Contains(e.Reason, "is not a setting") {
		t.Errorf("a canary that fails ended so: %+v", e)
	}
	p.functionEvents(t, "uploaded 1", "shadow 2", "canary 2", "canary 2", "promoted 2", "shadow 3", "canary 3",
		"withdrawn 3")
	p.match(t, attributes{"number": 1, "side": 1})
}

// canaryOfBlocks: an upload runs in about every second block of time, until the studio ends it.
func canaryOfBlocks(t *testing.T, p *project) {
	p.upload(t, "pairs", p.s.made.actor)
	p.put(t, "config", rules{function: "pairs", settings: map[string]any{"connection": "127.0.0.1:9"}})
	p.keepComing(t, 4, "player", attributes{"number": 1})
	p.inShadow(t, withSection(unzip(t, p.s.made.actor)))
	p.beginCanary(t, client.CanaryRequest{Version: 2, BlockSeconds: 2, Percent: 50})
	p.byBoth(t)
	f, err := p.developer(t).CanaryFunction(within(t), "pairs", client.CanaryRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if e := f.CanaryEnded; f.Canary != nil || f.Upload != 1 || e.Promoted || e.Version != 2 {
		t.Errorf("the canary ended so: %+v", e)
	}
	p.functionEvents(t, "uploaded 1", "shadow 2", "canary 2", "withdrawn 2")
	p.matchBy(t, 1, 1)
}
