//go:build amd64 || arm64

package sandbox_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/sandbox"
)

// taken starts an instance that is taken over, and attacks in its first run.
func taken(t *testing.T, attack string) (*sandbox.Instance, *logLines) {
	t.Helper()
	b := attackBox(t, attack)
	return start(t, b, load(t, b, reactor(echo()).bytes()))
}

// attackBox makes a Supervisor whose instances are taken over.
func attackBox(t *testing.T, attack string) *sandbox.Supervisor {
	t.Helper()
	return boxOf(t, sandbox.Options{Dir: t.TempDir(), Binary: attackers(t), Args: []string{attacker, attack},
		Limits: sandbox.Limits{Run: time.Minute, Start: time.Minute}})
}

// gets runs an attack and returns what it got.
func gets(t *testing.T, i *sandbox.Instance) map[string]int {
	t.Helper()
	var got map[string]int
	if err := json.Unmarshal([]byte(run(t, i, "x")), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// kilobytes reads a field of /proc/<pid>/status.
func kilobytes(t *testing.T, pid int, field string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSuffix(status(t, pid, field), " kB"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTakenOverChildMakesNoThreads(t *testing.T) {
	t.Parallel()
	i, _ := taken(t, "threads")
	before := status(t, i.Pid(), "Threads")
	if n := gets(t, i)["made"]; n != 0 {
		t.Errorf("it made %d threads", n)
	}
	if after := status(t, i.Pid(), "Threads"); after != before {
		t.Errorf("it had %s threads and has %s", before, after)
	}
	if n, err := strconv.Atoi(before); err != nil || n > 12 {
		t.Errorf("it has %s threads", before)
	}
}

func TestTakenOverChildMakesFewPageTables(t *testing.T) {
	t.Parallel()
	i, _ := taken(t, "page tables")
	got := gets(t, i)
	if got["read"]+got["refused flag"] != 0 || got["far"] > 40 || got["left"] > 8 { // a few are not that far
		t.Errorf("it got pages, by how it tried: %v", got)
	}
	// Seven spans of 4 GiB, at 2 MiB for each GiB.
	if kb := kilobytes(t, i.Pid(), "VmPTE"); kb > 64<<10 {
		t.Errorf("it has %d kB of page tables", kb)
	}
	if kb := kilobytes(t, i.Pid(), "VmSize"); kb > 8<<20 {
		t.Errorf("it has %d kB of address space", kb)
	}
}

func TestTakenOverChildMapsItsMemoryOnce(t *testing.T) {
	t.Parallel()
	i, _ := taken(t, "memory twice")
	if n := gets(t, i)["made"]; n != 0 {
		t.Errorf("it mapped its memory %d times more", n)
	}
}

// Whatever a child sends counts: its run fails after a bounded number of frames and lines.
func TestEachFrameCounts(t *testing.T) {
	t.Parallel()
	for attack, most := range map[string]int{"empty frames": 0, "short lines": 1520, "long frames": 2268} {
		t.Run(attack, func(t *testing.T) {
			i, log := taken(t, attack)
			_, _, err := i.Run(t.Context(), []byte("x"), 0)
			if e, ok := errors.AsType[*sandbox.Error](err); !ok || !strings.Contains(e.Detail, "limit of its log") {
				t.Errorf("Run = %v", err)
			}
			if n := len(log.lines); n > most {
				t.Errorf("%d lines, want %d at most", n, most)
			}
		})
	}
}

// What a child writes to its standard error is read up to a limit, and measured.
func TestStandardErrorIsBounded(t *testing.T) {
	t.Parallel()
	b := attackBox(t, "mutters")
	i, _ := start(t, b, load(t, b, reactor(echo()).bytes()))
	// The limit, what the pipe holds, and what was read last.
	if n := gets(t, i)["made"]; n > 64+64+32+1 {
		t.Errorf("%d KiB were read", n)
	}
	if use := b.MostUsed(); use.Errors < 64<<10 {
		t.Errorf("%d bytes are measured", use.Errors)
	}
}

// attackers is the binary with the children that attack.
func attackers(t *testing.T) string {
	t.Helper()
	file, err := built.attackers()
	if err != nil {
		t.Fatal(err)
	}
	return file
}
