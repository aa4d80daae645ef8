package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"matchmaker.dev/services/internal/platform/catalog"
)

// A soak takes soakSamples samples. What comes in the first soakWarm of them is not judged: until then results, tokens
// and events of the beginning are still kept.
const (
	soakSamples = 60
	soakWarm    = 24
)

// soakWave is how long the players of a wave arrive. Their measurements are dropped when the last of them has left.
const soakWave = 5 * time.Second

// soak lets players arrive at a constant rate, with hosting and without, and tells of each process's memory, of what
// Redis stores and of the streams whether it is level after the warm-up.
type soak struct {
	Matchmaker string        `help:"The server binary." default:"bin/matchmaker" type:"existingfile"`
	Function   string        `help:"The match function: one against one by skill." default:"bin/functions/duel.zip" type:"existingfile"`
	For        time.Duration `help:"How long players arrive. Results, tokens and events last a tenth of it." default:"1h"`
	Rate       int           `help:"How many arrive a second with hosting, and as many without." default:"200" placeholder:"N"`
	Seed       uint64        `help:"Seed of skills and arrivals." default:"1"`
}

// Validate is called by kong.
func (s *soak) Validate() error {
	if s.Rate < 1 || s.For < time.Minute {
		return errors.New("--rate: must be 1 or more, --for: at least 1m")
	}
	return nil
}

// Run is called by kong.
func (s *soak) Run(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	keys, lasts := filepath.Join(dir, "keys"), (s.For / 10).String()
	command := exec.CommandContext(ctx, s.Matchmaker, "keys", "server", keys)
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	i, err := install(ctx, s.Matchmaker, os.Stderr, func(s catalog.Service) []string {
		args := []string{"--event-age", lasts}
		switch s.Name {
		case catalog.Director, catalog.Backfill:
			args = append(args, "--readable", lasts)
		case catalog.Allocator:
			args = append(args, "--readable", lasts, "--server-keys", keys, "--server-token-time", lasts)
		}
		return args
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.Close()) }()
	var projects [2]*project
	for k, name := range []string{"hosted", "direct"} {
		if projects[k], err = i.newProject(ctx, name, s.Function); err != nil {
			return err
		}
		if err := projects[k].put(ctx, duel, anybody(k == 0)); err != nil {
			return err
		}
	}
	playing, stop := context.WithCancel(ctx)
	defer stop()
	var arriving sync.WaitGroup
	defer arriving.Wait()
	defer stop()
	var players [2]endless
	for k, p := range projects {
		arriving.Go(func() { players[k].play(playing, p, k == 0, s.Rate, s.Seed) })
	}
	r, err := dialRedis(ctx, i.Redis())
	if err != nil {
		return err
	}
	defer r.close()
	lines := newLines()
	every := time.NewTicker(s.For / soakSamples)
	defer every.Stop()
	for n := range soakSamples {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-every.C:
		}
		if err := lines.sample(i, r); err != nil {
			return err
		}
		progress(os.Stderr, "%d of %d: %d assigned, %s", n+1, soakSamples, players[0].sum()+players[1].sum(),
			lines.last("redis: all", "redis: keys", "nats: all", "allocator"))
	}
	stop()
	arriving.Wait()
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.SetTitle("soak: %d/s with hosting and %d/s without for %s; results, tokens and events last %s;\n"+
		"judged is what comes after %s; %d tickets were assigned, %d were not", s.Rate, s.Rate, s.For, lasts,
		s.For*soakWarm/soakSamples, players[0].assigned+players[1].assigned, players[0].failed+players[1].failed)
	t.AppendHeader(table.Row{"", "mean", "least", "most", "a day more", "95 %", "verdict"})
	grows := lines.judge(t, s.For/soakSamples)
	t.Render()
	day := lines.reckon(s.Rate, s.For/10)
	fmt.Fprintf(out, "By these, Redis would store %.0f MiB at %s tickets a second with hosting, however long it takes; "+
		"%d are allowed.\n", day, count(soakRate), soakMost)
	if failed := players[0].failed + players[1].failed; failed > 0 {
		return fmt.Errorf("%d tickets were not assigned, the first: %w", failed, errors.Join(players[0].err, players[1].err))
	}
	if day > soakMost {
		return fmt.Errorf("too much is stored: %.0f MiB at %s tickets a second with hosting", day, count(soakRate))
	}
	if len(grows) > 0 {
		return fmt.Errorf("not level: %s", strings.Join(grows, ", "))
	}
	return nil
}

// endless are players that arrive until ctx ends.
type endless struct {
	mu               sync.Mutex
	assigned, failed int
	err              error // of the first that failed
}

// play begins a wave each soakWave, whether or not the players of earlier ones still wait. Each wave has connections of
// its own, since services end idle ones.
func (e *endless) play(ctx context.Context, p *project, hosted bool, rate int, seed uint64) {
	var waves sync.WaitGroup
	defer waves.Wait()
	next := time.NewTicker(soakWave)
	defer next.Stop()
	for ; ctx.Err() == nil; seed++ {
		a := p.arrive(manner{hosted: hosted}, rate, soakWave, seed)
		waves.Go(func() {
			a.play(ctx, a.tickets)
			a.pool.stop()
			e.count(ctx, a.tickets)
		})
		select {
		case <-ctx.Done():
		case <-next.C:
		}
	}
}

// sum is how many were assigned so far.
func (e *endless) sum() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.assigned
}

// count adds the players of a wave. Players that still waited at the end are not counted.
func (e *endless) count(ctx context.Context, tickets []arrival) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for k := range tickets {
		switch err := tickets[k].err; {
		case err == nil:
			e.assigned++
		case ctx.Err() == nil:
			if e.failed++; e.err == nil {
				e.err = err
			}
		}
	}
}

// lines are the samples of everything that is measured, by its name.
type lines struct {
	values map[string][]float64 // MiB, or a number
	n      int
}

func newLines() *lines { return &lines{values: map[string][]float64{}} }

// sample takes one sample of everything.
func (l *lines) sample(i *installation, r *redis) error {
	now := map[string]float64{}
	for part, use := range i.sample() {
		now[part] = use.memory
	}
	if err := r.sizes(now); err != nil {
		return err
	}
	if err := streamSizes(filepath.Join(i.Dir(), "nats"), now); err != nil {
		return err
	}
	for name, value := range now {
		for len(l.values[name]) < l.n {
			l.values[name] = append(l.values[name], 0)
		}
		l.values[name] = append(l.values[name], value)
	}
	l.n++
	for name := range l.values {
		for len(l.values[name]) < l.n {
			l.values[name] = append(l.values[name], 0)
		}
	}
	return nil
}

// last is the last sample of some lines as text.
func (l *lines) last(names ...string) string {
	var parts []string
	for _, name := range names {
		if all := l.values[name]; len(all) > 0 {
			parts = append(parts, fmt.Sprintf("%s %.1f", name, all[len(all)-1]))
		}
	}
	return strings.Join(parts, ", ")
}

// judge adds a row for each line, and returns the names of the lines that grow.
func (l *lines) judge(t table.Writer, every time.Duration) (grows []string) {
	names := make([]string, 0, len(l.values))
	for name := range l.values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		judged := l.values[name][soakWarm:]
		slope, error95 := trend(judged)
		verdict := "level"
		if isGrowing(judged, slope, error95) {
			verdict = "GROWS"
			grows = append(grows, name)
		}
		day := float64(24*time.Hour) / float64(every)
		t.AppendRow(table.Row{name, fmt.Sprintf("%.2f", average(judged)), fmt.Sprintf("%.2f", slices.Min(judged)),
			fmt.Sprintf("%.2f", slices.Max(judged)), fmt.Sprintf("%+.1f", slope*day), fmt.Sprintf("± %.1f", error95*day),
			verdict})
	}
	return grows
}

// What a soak stored is reckoned up for soakRate tickets a second, all of them with hosting, and may be soakMost MiB
// then. Results are kept for soakReadable, and a server for soakServer, the defaults of --readable and
// --server-token-time; a server is kept for soakGrace longer than its token.
const (
	soakRate     = 1000
	soakMost     = 1024
	soakReadable = 10 * time.Minute
	soakServer   = 30 * time.Minute
	soakGrace    = time.Minute
)

// reckon is how many MiB Redis would store at soakRate, where it stored this at rate tickets a second with hosting and
// as many without, and kept results and servers for lasts. What is neither of a result nor of a server does not grow
// with the rate.
func (l *lines) reckon(rate int, lasts time.Duration) float64 {
	stored := func(families ...string) (mib float64) {
		for _, f := range families {
			if all := l.values["redis: "+f]; len(all) > 0 {
				mib += average(all[soakWarm:])
			}
		}
		return mib
	}
	results, servers := stored("t:*", "resolved"), stored("m:*", "ended")
	rest := max(0, stored("all")-results-servers)
	return rest + results*soakRate*soakReadable.Seconds()/(float64(2*rate)*lasts.Seconds()) +
		servers*soakRate*(soakServer+soakGrace).Seconds()/(float64(rate)*(lasts+soakGrace).Seconds())
}

// streamSizes adds the MiB that the files of each stream take.
func streamSizes(dir string, now map[string]float64) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if errors.Is(err, os.ErrNotExist) {
				return nil // it was removed meanwhile
			}
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it was removed meanwhile
		}
		_, rest, found := strings.Cut(path, string(filepath.Separator)+"streams"+string(filepath.Separator))
		if !found {
			return nil
		}
		stream, _, _ := strings.Cut(rest, string(filepath.Separator))
		now["nats: "+stream] += float64(info.Size()) / (1 << 20)
		now["nats: all"] += float64(info.Size()) / (1 << 20)
		return nil
	})
}
