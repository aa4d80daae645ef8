package e2e

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

// functionLife: while players come, a bad upload runs, and the function goes back by itself. For a ticket that no
// upload can take it does not. A config stays with the upload that it names, and an upload in the shadow makes
// no match.
func functionLife(t *testing.T, p *project) {
	const number = 1
	studio := p.developer(t)
	play := func(part string) map[string]any {
		return map[string]any{"part": part, "connection": "127.0.0.1:9", "poison": 13}
	}
	p.upload(t, "pairs", p.s.made.actor)
	p.put(t, "config", rules{function: "pairs", settings: play("pair")})
	p.match(t, attributes{"number": number})
	p.awaitFunction(t, "upload 1 is noted to work", func(*client.Function) bool {
		versions, err := studio.GetFunctionVersions(within(t), "pairs")
		return err == nil && versions[0].Worked
	})

	matched, stop := p.keepComing(t, 8, "player", attributes{"number": number})
	f := p.awaitFunction(t, "runs are counted",
		func(f *client.Function) bool { return f.Health != nil && f.Health.Runs > 0 })
	if h := f.Health; h.Failed > 0 || h.Milliseconds == nil || h.Milliseconds.P50 <= 0 || h.MemoryBytes == nil ||
		h.MemoryBytes.P99 < 1<<16 || h.LastError != "" {
		t.Errorf("how its runs go: %+v", h)
	}
	first := matched.Load()
	eventually(t, "100 players are matched", func() bool { return matched.Load() >= first+100 })
	p.upload(t, "pairs", p.s.made.duel) // which does not know the actor's settings
	f = p.awaitFunction(t, "the function goes back", func(f *client.Function) bool { return f.Returned != nil })
	back := f.Returned
	if f.Upload != 1 || back.From != 2 || back.To != 1 || back.Failed < back.Passed || back.Passed < 3 ||
		!strings.Contains(back.Error, "is not a setting") {
		t.Errorf("it went back: %+v", back)
	}
	versions, err := studio.GetFunctionVersions(within(t), "pairs")
	if err != nil || len(versions) != 2 || versions[0].Version != 2 || versions[0].Worked || versions[0].Health == nil {
		t.Fatalf("the uploads are %+v, %v", versions, err)
	}
	t.Logf("a bad upload cost %d failed runs of %d, and was out after %v", back.Failed, back.Runs,
		back.Time.Sub(versions[0].Uploaded))
	before := matched.Load()
	eventually(t, "players are matched again", func() bool { return matched.Load() > before+10 })
	stop()
	p.logs(t, "pairs", "upload 1 runs again")
	p.functionEvents(t, "uploaded 1", "uploaded 2", "returned 1")

	// Another upload of the same module, and a ticket that neither can take.
	module := unzip(t, p.s.made.actor)
	upload := func(u client.FunctionUpload, file []byte) *client.Function {
		t.Helper()
		if err := studio.UploadFunction(within(t), "pairs", u, bytes.NewReader(file)); err != nil {
			t.Fatal(err)
		}
		return p.awaitFunction(t, "", func(*client.Function) bool { return true })
	}
	upload(client.FunctionUpload{Note: "the module alone"}, module)
	p.awaitFunction(t, "upload 3 runs", func(f *client.Function) bool {
		return f.Upload == 3 && f.Status.State == client.Running && !f.ReturnsUntil.IsZero()
	})
	p.match(t, attributes{"number": number})
	poisoned := p.ticket(t, "poisoned", attributes{"number": 13})
	p.logs(t, "pairs", "to repeat failed runs")
	p.awaitFunction(t, "runs fail", func(f *client.Function) bool { return f.Health != nil && f.Health.Failed >= 5 })
	poisoned.mustWait(t)
	poisoned.delete(t)
	p.match(t, attributes{"number": number})
	if f := p.awaitFunction(t, "", func(*client.Function) bool { return true }); f.Upload != 3 || f.Returned != nil {
		t.Errorf("a ticket that no upload can take made the function go back: %+v", f.Returned)
	}

	// A config names upload 1. The next upload cannot run it, and the studio wants no return.
	if _, err := studio.SetFunctionReturn(within(t), "pairs", false); err != nil {
		t.Fatal(err)
	}
	pin := func(number int64) error {
		_, err := studio.PutConfig(within(t), "config", client.Config{Matchmaking: client.Matchmaking{
			TargetFunction: client.FunctionTarget{Name: "pairs", Version: "1", Upload: number},
			Config:         []byte(`{"part":"pair","connection":"127.0.0.1:9"}`),
		}}, "")
		return err
	}
	if err := pin(7); err == nil || !strings.Contains(err.Error(), "is not kept") {
		t.Errorf("a config names an upload that is not kept: %v", err)
	}
	if err := pin(1); err != nil {
		t.Fatal(err)
	}
	p.upload(t, "pairs", p.s.made.duel)
	p.awaitFunction(t, "upload 4 runs",
		func(f *client.Function) bool { return f.Upload == 4 && f.Status.State == client.Running })
	p.matchBy(t, number, 1)

	// An upload in the shadow cannot run the config, and no player notices.
	if _, err := studio.RollbackFunction(within(t), "pairs", 3); err != nil {
		t.Fatal(err)
	}
	p.awaitFunction(t, "upload 3 runs again",
		func(f *client.Function) bool { return f.Upload == 3 && f.Status.State == client.Running })
	// A runner that has not heard of it yet may judge the settings by upload 4.
	eventually(t, "the config names no upload any more", func() bool { return pin(0) == nil })
	duel, err := os.ReadFile(p.s.made.duel)
	if err != nil {
		t.Fatal(err)
	}
	shadowed := upload(client.FunctionUpload{Shadow: true}, duel)
	if shadowed.Upload != 3 || shadowed.Shadow == nil || shadowed.Shadow.Version != 5 {
		t.Errorf("an upload in the shadow: %+v", shadowed)
	}
	f = p.awaitFunction(t, "the shadow is compared", func(f *client.Function) bool {
		p.matchBy(t, number, 3)
		return f.Shadow != nil && f.Shadow.Runs > 1
	})
	if s := f.Shadow; s.Failed == 0 || s.CurrentFailed > 0 || s.Health == nil ||
		!strings.Contains(s.Health.LastError, "is not a setting") {
		t.Errorf("compared: %+v, %+v", s, s.Health)
	}
	if f, err := studio.PromoteFunction(within(t), "pairs", 5); err != nil || f.Upload != 5 || f.Shadow != nil {
		t.Errorf("promoted: %+v, %v", f, err)
	}
	p.functionEvents(t, "uploaded 1", "uploaded 2", "returned 1", "uploaded 3", "uploaded 4", "rollback 3", "shadow 5",
		"promoted 5")
}

// awaitFunction waits until the function pairs is as it should be.
func (p *project) awaitFunction(t *testing.T, what string, fit func(*client.Function) bool) (f *client.Function) {
	t.Helper()
	eventually(t, what, func() bool {
		found, err := p.developer(t).GetFunction(within(t), "pairs")
		switch {
		case client.Status(err) == http.StatusTooManyRequests:
			return false
		case err != nil:
			t.Fatal(err)
		}
		f = found
		return fit(f)
	})
	return f
}

// matchBy lets two tickets be matched by an upload.
func (p *project) matchBy(t *testing.T, number float64, upload int64) {
	t.Helper()
	now := time.Now().UnixNano() // players of their own: each may create a ticket a second
	ada := p.ticket(t, fmt.Sprint("ada-", now), attributes{"number": number})
	bob := p.ticket(t, fmt.Sprint("bob-", now), attributes{"number": number})
	together(t, ada, bob)
	eventually(t, "the event of the match", func() bool {
		told := events(t, p.developer(t), client.EventQuery{Ticket: ada.id, Kinds: []string{"assigned"}})
		if len(told) == 0 {
			return false
		}
		if e := told[0]; e.Upload != upload || e.Function != "pairs" {
			t.Errorf("matched by upload %d of %q, want %d", e.Upload, e.Function, upload)
		}
		return true
	})
}

// functionEvents waits until the events of functions are these.
func (p *project) functionEvents(t *testing.T, want ...string) {
	t.Helper()
	var told []string
	eventually(t, "the events of the function: "+strings.Join(want, ", "), func() bool {
		told = nil
		for _, e := range events(t, p.developer(t), client.EventQuery{Kinds: []string{"function"}}) {
			told = append(told, fmt.Sprint(e.Reason, " ", e.Upload))
		}
		return strings.Join(told, ", ") == strings.Join(want, ", ")
	})
}

// keepComing lets players come, so many at a time, each after one before is matched but not at once, and counts those
// who are matched. The test's own context ends before its cleanups, which stop them: they do not use it.
func (p *project) keepComing(t *testing.T, most int, name string, a attributes) (matched *atomic.Int64, stop func()) {
	all := context.WithoutCancel(t.Context())
	ctx, cancel := context.WithCancel(all)
	matched = new(atomic.Int64)
	var players sync.WaitGroup
	for n := range most {
		players.Go(func() {
			next := time.NewTicker(2 * playerPace)
			defer next.Stop()
			for i := 0; ctx.Err() == nil; i++ {
				<-next.C
				k, err := p.create(all, fmt.Sprintf("%s-%d-%d", name, n, i), a)
				if err == nil {
					_, err = k.await(ctx)
				}
				switch {
				case err == nil:
					matched.Add(1)
				case ctx.Err() == nil:
					t.Error(err)
					return
				case k != nil: // it waits alone, and would be matched with a later one
					k.leave(all)
				}
			}
		})
	}
	stop = sync.OnceFunc(func() {
		cancel()
		players.Wait()
	})
	t.Cleanup(stop)
	return matched, stop
}

// unzip returns the only module of an archive.
func unzip(t *testing.T, archive string) []byte {
	t.Helper()
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".wasm") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		module, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return module
	}
	t.Fatal("there is no module in " + archive)
	return nil
}
