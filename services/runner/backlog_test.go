package runner

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// A project's runs in hand are bounded, in number and in bytes. Others are not concerned, and neither is what comes
// after they went.
func TestBacklogIsBounded(t *testing.T) {
	b := newBacklog()
	large := &pb.RunRequest{Settings: make([]byte, 1<<20)}
	fill := func(f functionKey, r *pb.RunRequest) (n int, removes []func(), err error) {
		for {
			remove, err := b.add(f, r)
			if err != nil {
				return n, removes, err
			}
			n, removes = n+1, append(removes, remove)
		}
	}
	expect := func(f functionKey, r *pb.RunRequest, want int, says string) (removes []func()) {
		t.Helper()
		n, removes, err := fill(f, r)
		if n != want || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %d runs, then %v; want %d and %q", f, n, err, want, says)
		}
		return removes
	}
	small := &pb.RunRequest{}
	all := expect(functionKey{"p", "f"}, small, maxFunctionRuns, "runs of the function would be more than the 1024")
	all = append(all, expect(functionKey{"p", "g"}, small, maxFunctionRuns, "runs of the function")...)
	expect(functionKey{"p", "h"}, small, 0, "2049 runs of the project would be more than the 2048")
	expect(functionKey{"q", "f"}, large, 31, fmt.Sprintf("bytes in runs of the project would be more than the %d",
		maxProjectBytes))
	for _, remove := range all {
		remove()
	}
	if b.share("p") != 0 || b.share("q") < .9 || len(b.loads) != 2 {
		t.Errorf("%v are left", b.loads)
	}
	expect(functionKey{"p", "h"}, small, maxFunctionRuns, "runs of the function")
}

// All projects together have a bound. The one with most is refused first, and one that has nothing finds room.
func TestBacklogOfAllProjectsIsBounded(t *testing.T) {
	b := newBacklog()
	large := &pb.RunRequest{Settings: make([]byte, 1<<20)}
	fill := func(project string, r *pb.RunRequest) (n int) {
		for ; ; n++ {
			if _, err := b.add(functionKey{project, "f"}, r); err != nil {
				return n
			}
		}
	}
	if n := fill("quiet", &pb.RunRequest{Settings: make([]byte, 8<<20)}); n != 3 {
		t.Errorf("a project has %d runs of 8 MiB", n)
	}
	for n := range 100 {
		before := b.share("quiet")
		fill(fmt.Sprint("flood", n), large)
		if b.share("quiet") != before {
			t.Error("a run that was taken is gone")
		}
	}
	if used, limit := b.memory.Used(); used > limit || used < limit*9/10 {
		t.Errorf("%d bytes of %d are used", used, limit)
	}
	_, err := b.add(functionKey{"flood0", "f"}, &pb.RunRequest{})
	if err == nil || !strings.Contains(err.Error(), "bytes in runs of the project, beside others, would be more than") {
		t.Errorf("one more run of the project with most: %v", err)
	}
	if _, err := b.add(functionKey{"new", "f"}, &pb.RunRequest{}); err != nil {
		t.Errorf("the first run of a project: %v", err)
	}
	// Many small runs take memory, too.
	small := newBacklog()
	for n := range 20 {
		for m := range 3 {
			for range maxFunctionRuns {
				_, _ = small.add(functionKey{fmt.Sprint(n), fmt.Sprint(m)}, &pb.RunRequest{})
			}
		}
	}
	if used, limit := small.memory.Used(); used > limit || used < limit*9/10 {
		t.Errorf("%d bytes of %d are used by small runs", used, limit)
	}
}

// A run beyond the bound is refused at once, and nothing is kept of it. There is room again when the others ended.
// Promise 9.
func TestRunsBeyondTheBacklogAreRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestFunction(t, time.Second)
		var waiting []<-chan string
		for range maxFunctionRuns {
			waiting = append(waiting, accept(t, f))
		}
		synctest.Wait()
		for range 100 {
			refused := accept(t, f)
			select {
			case text := <-refused: // without waiting: accept itself answered
				if !strings.Contains(text, "too much waits on this runner: 1025 runs of the function") {
					t.Fatalf("it is refused with %q", text)
				}
			default:
				t.Fatal("it is not refused at once")
			}
		}
		for _, one := range waiting {
			if text := <-one; strings.Contains(text, "too much") {
				t.Fatalf("one within the bound is refused: %q", text)
			}
		}
		synctest.Wait()
		if text := <-accept(t, f); strings.Contains(text, "too much") {
			t.Errorf("the next one: %q", text)
		}
		f.stop(t.Context(), f.env.Settings.Drain)
		if len(f.env.backlog.loads) > 0 {
			t.Errorf("%v are left", f.env.backlog.loads)
		}
	})
}
