package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/test/launch"
)

// memory is what processes hold, in MiB.
type memory struct {
	// Runner is the runner's own process, without what it shares with instances. Instances are its children. Index is
	// what the runner says that its index takes; 0 when it does not say.
	Runner, Instances, Index float64
	// Modules is what the runner's folder of compiled modules holds, and Disk what the folders of all processes hold.
	Modules, Disk float64
	// Parts are all other processes.
	Parts map[string]float64
}

// watch reads the memory of all processes now and then, and keeps the highest values.
type watch struct {
	system *launch.Installation

	mu   sync.Mutex
	high memory
}

// run watches until ctx ends.
func (w *watch) run(ctx context.Context) {
	for n := 0; pause(ctx, 100*time.Millisecond); n++ {
		now := memory{Parts: map[string]float64{}}
		runner := w.system.PID(catalog.Runner)
		now.Runner = held(runner, "RssAnon:", "RssFile:")
		if n%10 == 0 {
			for _, child := range launch.Children(runner) {
				now.Instances += held(child, "RssAnon:", "RssFile:", "RssShmem:")
			}
			for _, part := range w.system.Parts() {
				if part != catalog.Runner {
					now.Parts[part] = held(w.system.PID(part), "VmRSS:")
				}
			}
			now.Index = w.index(ctx)
			now.Modules, now.Disk = size(filepath.Join(w.system.Dir(), catalog.Runner)), size(w.system.Dir())
		}
		w.mu.Lock()
		w.high = w.high.higher(now)
		w.mu.Unlock()
	}
}

// reset forgets what was seen, and returns it.
func (w *watch) reset() memory {
	w.mu.Lock()
	defer w.mu.Unlock()
	high := w.high
	w.high = memory{}
	return high
}

func (m memory) higher(n memory) memory {
	out := memory{max(m.Runner, n.Runner), max(m.Instances, n.Instances), max(m.Index, n.Index),
		max(m.Modules, n.Modules), max(m.Disk, n.Disk), map[string]float64{}}
	for _, part := range launch.Parts() {
		if high := max(m.Parts[part], n.Parts[part]); high > 0 {
			out.Parts[part] = high
		}
	}
	return out
}

// held is the sum of lines of a process's status, in MiB; 0 when it has ended.
func held(pid int, lines ...string) (mib float64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		for _, name := range lines {
			var kib float64
			if rest, ok := strings.CutPrefix(line, name); ok {
				_, _ = fmt.Sscan(rest, &kib)
				mib += kib / 1024
			}
		}
	}
	return mib
}

// size is the size of a folder's files, in MiB.
func size(dir string) (mib float64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it was removed
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			mib += float64(info.Size()) / (1 << 20)
		}
		return nil
	})
	return mib
}

// used is the processor time of all parts until now, without the runner's instances.
func (w *watch) used() map[string]time.Duration {
	all, processes := map[string]time.Duration{}, launch.Processes()
	for _, part := range w.system.Parts() {
		all[part] = processes[w.system.PID(part)].Used
	}
	for _, p := range processes {
		if p.Parent == w.system.PID(catalog.Runner) {
			all["instances"] += p.Used
		}
	}
	all["generator"] = processes[os.Getpid()].Used
	return all
}

// cores are how many processors each part used since it had used before.
func cores(now, before map[string]time.Duration, over time.Duration) map[string]float64 {
	all := map[string]float64{}
	for part, used := range now {
		if n := (used - before[part]).Seconds() / over.Seconds(); n >= 0.005 {
			all[part] = math.Round(n*100) / 100
		}
	}
	return all
}

// index is the sum of the runner's metrics of the bytes of its index over all projects, in MiB.
func (w *watch) index(ctx context.Context) (mib float64) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.system.Metrics(catalog.Runner), http.NoBody)
	if err != nil {
		return 0
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "matchmaker_index_") || !strings.Contains(line, "bytes") {
			continue
		}
		line = strings.TrimSpace(line)
		if n, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64); err == nil {
			mib += n / (1 << 20)
		}
	}
	return mib
}

// bystander is a project that uploads a small function now and then.
type bystander struct {
	functions *client.Client

	mu      sync.Mutex
	uploads []upload
}

// upload is one upload of the bystander.
type upload struct {
	began time.Time
	took  time.Duration
	fault string
}

// uploadPatience is how long the bystander waits for an answer.
const uploadPatience = 90 * time.Second

// run uploads until ctx ends. after ends the last upload.
func (b *bystander) run(ctx, after context.Context) {
	for n := 0; pause(ctx, 2*time.Second); n++ {
		limited, cancel := context.WithTimeout(after, uploadPatience)
		u := upload{began: time.Now()}
		if err := b.functions.PutFunction(limited, "small", "", bytes.NewReader(small(n))); err != nil {
			u.fault = err.Error()
		}
		u.took = time.Since(u.began)
		cancel()
		b.mu.Lock()
		b.uploads = append(b.uploads, u)
		b.mu.Unlock()
	}
}

// between is the longest upload that began between two times, and how many of them failed.
func (b *bystander) between(from, to time.Time) (longest time.Duration, failed int, fault string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, u := range b.uploads {
		if u.began.Before(from) || !u.began.Before(to) {
			continue
		}
		longest = max(longest, u.took)
		if u.fault != "" {
			failed, fault = failed+1, u.fault
		}
	}
	return longest, failed, fault
}
