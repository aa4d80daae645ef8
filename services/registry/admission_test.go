package registry

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/internal/problem"
)

func TestUploadsWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(1)
		first, err := a.enter(t.Context(), "one", func() {})
		must(t, err)
		for _, project := range []string{"one", "two"} {
			_, err = a.enter(t.Context(), project, func() {})
			if f, ok := errors.AsType[*problem.Error](err); !ok || f.Kind != problem.Limited || f.RetryAfter <= 0 {
				t.Errorf("the second upload got %v", err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := a.enter(ctx, "one", func() {}); !errors.Is(err, context.Canceled) {
			t.Errorf("an upload that was canceled got %v", err)
		}
		time.AfterFunc(time.Second, first.leave)
		second, err := a.enter(t.Context(), "two", func() {})
		must(t, err)
		second.leave()
		if !a.idle() {
			t.Error("places are not given back")
		}
	})
}

func TestUploadsOfAProjectHoldUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(8)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		for range 20 {
			go func() {
				if slow, err := a.enter(ctx, "slow", func() {}); err == nil {
					<-ctx.Done()
					slow.leave()
				}
			}()
		}
		synctest.Wait()
		began := time.Now()
		for range 2 {
			_, err := a.enter(t.Context(), "other", func() {})
			must(t, err)
		}
		if waited := time.Since(began); waited > 0 {
			t.Errorf("waited %v", waited)
		}
	})
}

// However many projects wait for the compiler, all places are free to receive uploads. How many wait is bounded.
func TestUploadsThatCompileLeaveTheirPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(4)
		a.used.Add("small", time.Hour, time.Now()) // nobody gives way to it
		var waiting []*place
		for n := range 4 * unpackedPlaces {
			p, err := a.enter(t.Context(), fmt.Sprint("project", n), func() {})
			must(t, err)
			must(t, p.keepModule())
			waiting = append(waiting, p)
		}
		p, err := a.enter(t.Context(), "small", func() {})
		must(t, err)
		if err := p.keepModule(); problem.KindOf(err) != problem.Limited {
			t.Errorf("one more got %v", err)
		}
		waiting[0].leave()
		must(t, p.keepModule())
		p.leave()
		for _, p := range waiting[1:] {
			p.leave()
		}
		if !a.idle() {
			t.Error("places are not given back")
		}
	})
}

// The reads of one project leave room for those of others, and give their places back.
func TestReadsOfLogsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newReads()
		var reading []*place
		for project := range 5 {
			for n := range projectReads + 1 {
				p, err := a.enter(t.Context(), fmt.Sprint(project), func() { t.Error("a read gave way") })
				if n < projectReads && len(reading) < allReads {
					must(t, err)
					p.keepFile()
					reading = append(reading, p)
				} else if f, ok := errors.AsType[*problem.Error](err); !ok || f.Kind != problem.Limited || f.RetryAfter <= 0 {
					t.Errorf("read %d of project %d: %v", n, project, err)
				}
			}
		}
		for _, p := range reading {
			p.leave()
		}
		if !a.idle() {
			t.Error("places are not given back")
		}
	})
}

// idle returns whether nobody has a place or waits.
func (a *admission) idle() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.receiving)+len(a.unpacked)+len(a.waiting) == 0 && a.timer == nil
}

// sends makes a project upload that sends so many bytes ten times a second, until it ends.
func (a *admission) sends(ctx context.Context, project string, bytes int, ended chan<- error) {
	interrupted := make(chan struct{}, 1)
	p, err := a.enter(ctx, project, func() { interrupted <- struct{}{} })
	if err != nil {
		ended <- err
		return
	}
	defer p.leave()
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-tick.C:
			p.arrived(bytes)
		case <-interrupted:
			ended <- p.why()
			return
		case <-ctx.Done():
			ended <- nil
			return
		}
	}
}

// However many strangers send, and however fast, a project that has no place gets one soon. Nobody is interrupted
// while nobody waits.
func TestSendersGiveWay(t *testing.T) {
	for _, c := range []struct {
		name              string
		projects, each    int
		bytes             int
		within            time.Duration
		kind              problem.Kind
		untouchedByOthers bool
	}{
		{"slow ones", 4, 2, 1 << 10, slack + review, problem.Invalid, true},
		{"fast ones of few projects", 4, 2, 1 << 20, tenure + review, problem.Limited, true},
		{"fast ones of many projects", 8, 1, 1 << 20, tenure + review, problem.Limited, true},
		{"many who wait", 40, 4, 1 << 20, tenure + review, problem.Limited, false},
		{"slow ones who wait", 40, 4, 1 << 10, tenure + review, problem.Invalid, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAdmission(8)
				ctx, end := context.WithCancel(t.Context())
				ended := make(chan error, c.projects*c.each)
				for range c.each {
					for n := range c.projects {
						go a.sends(ctx, fmt.Sprint("stranger", n), c.bytes, ended)
						synctest.Wait()
					}
				}
				if c.untouchedByOthers {
					pass(time.Minute)
					synctest.Wait()
					if n := len(ended); n > 0 {
						t.Errorf("%d were interrupted for nobody", n)
					}
				}
				began := time.Now()
				p, err := a.enter(t.Context(), "victim", func() {})
				must(t, err)
				if waited := time.Since(began); waited > c.within {
					t.Errorf("waited %v", waited)
				}
				synctest.Wait()
				if len(ended) == 0 {
					t.Fatal("nobody gave way")
				}
				if err := <-ended; problem.KindOf(err) != c.kind {
					t.Errorf("who gave way got %v", err)
				}
				p.leave()
				end()
				synctest.Wait()
				if !a.idle() {
					t.Error("places are not given back")
				}
			})
		})
	}
}

// When strangers fill the places for modules, that of one gives way to a project without any.
func TestModulesGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(8)
		var waiting []*place
		for n := range 8 * unpackedPlaces {
			p, err := a.enter(t.Context(), fmt.Sprint("stranger", n/2), func() {})
			must(t, err)
			must(t, p.keepModule())
			waiting = append(waiting, p)
		}
		pass(time.Second)
		p, err := a.enter(t.Context(), "victim", func() {})
		must(t, err)
		must(t, p.keepModule())
		gaveWay := 0
		for _, p := range append(waiting, p) {
			if err := p.why(); err != nil {
				gaveWay++
				if !errors.Is(context.Cause(p.ctx), err) || problem.KindOf(err) != problem.Limited {
					t.Errorf("gave way with %v, %v", err, context.Cause(p.ctx))
				}
			}
			p.leave()
		}
		if gaveWay != 1 || p.why() != nil {
			t.Errorf("%d gave way", gaveWay)
		}
	})
}

// However many uploads of strangers wait, there is room for one of a project that has none.
func TestWaitingIsNeverFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(1)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, maxWaiting+2)
		for n := range maxWaiting + 1 {
			go a.sends(ctx, fmt.Sprint("stranger", n/maxProjectWaiting), 1<<20, ended)
		}
		synctest.Wait()
		go a.sends(ctx, "victim", 1<<20, ended)
		synctest.Wait()
		a.mu.Lock()
		waits, all := count(a.waiting, "victim"), len(a.waiting)
		a.mu.Unlock()
		if waits != 1 || all != maxWaiting || len(ended) != 1 {
			t.Errorf("%d of the victim and %d in all wait, %d were refused", waits, all, len(ended))
		}
		end()
	})
}

// pass lets time pass in a bubble of synctest.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the bubble's time
