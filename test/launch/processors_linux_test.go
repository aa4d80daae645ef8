package launch

import (
	"os"
	"testing"
	"time"
)

func TestParseProcessors(t *testing.T) {
	got := parseProcessors("cpu  100 20 30 1000 40 5 6 70 50 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
	want := Processors{All: 1271 * tick, Busy: 150 * tick, Stolen: 70 * tick}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := parseProcessors("cpu  100 x 30\n"); got != (Processors{}) {
		t.Errorf("not numbers: %+v", got)
	}
}

func TestParseProcess(t *testing.T) {
	pid, p, ok := parseProcess("4711 (a (b) c) S 12 4711 4711 0 -1 4194560 1 2 3 4 100 20 3 4000 20 0 8 0 123 456\n")
	if want := (Process{Parent: 12, Used: 4123 * tick}); !ok || pid != 4711 || p != want {
		t.Errorf("%d %+v %v, want %+v", pid, p, ok, want)
	}
	for _, text := range []string{"", "12 no name", "12 (x) S 1", "x (x) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"} {
		if _, _, ok := parseProcess(text); ok {
			t.Errorf("%q is a process", text)
		}
	}
}

func TestOursAreAllDescendants(t *testing.T) {
	all := map[int]Process{
		1: {0, time.Hour}, 10: {1, 1}, 11: {10, 2}, 12: {11, 4}, 20: {1, time.Hour}, 21: {20, time.Hour},
		30: {99, time.Hour}, // its parent has ended
		40: {41, time.Hour}, 41: {40, time.Hour},
	}
	if got := ours(10, all); got != 7 {
		t.Errorf("%d, want 7", got)
	}
}

func TestWhatThisProcessDoesIsOurs(t *testing.T) {
	before := ProcessorsNow()
	deadline := time.Now().Add(time.Minute)
	for {
		now := ProcessorsNow() // reads many files
		if now.Ours-before.Ours >= 200*time.Millisecond {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("of %+v since %+v nothing is ours", now, before)
		}
	}
	if one := Processes()[os.Getpid()]; one.Parent != os.Getppid() || one.Used == 0 {
		t.Errorf("this process is %+v", one)
	}
}
