package state_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/state"
)

// BenchmarkJoin measures how long it takes a reader to have all waiting tickets and to follow the feed, while entries
// come at a rate. Each has a ticket and is a change of its own.
func BenchmarkJoin(b *testing.B) {
	for _, waiting := range []int{10_000, 100_000, 1_000_000} {
		for _, rate := range []int{0, 20_000} {
			b.Run(fmt.Sprintf("waiting=%d/rate=%d", waiting, rate), func(b *testing.B) { benchmarkJoin(b, waiting, rate) })
		}
	}
}

func benchmarkJoin(b *testing.B, waiting, rate int) {
	server, err := embedded.StartRedis(b.Context(), embedded.RedisOptions{Dir: b.TempDir(), AOF: true,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil || !server.Persistent() {
		b.Fatalf("a redis-server or valkey-server is needed: install one (%v)", err)
	}
	b.Cleanup(func() { _ = server.Close() })
	s, err := state.Open(state.Options{Server: state.Server{URL: server.URL()}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for first := 0; first < waiting; first += crowdSize {
		if err := fillProject(b.Context(), s, project, first, min(crowdSize, waiting-first), 0); err != nil {
			b.Fatal(err)
		}
	}
	body, err := proto.Marshal(bulky("new", 0, 0))
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	var running sync.WaitGroup
	b.Cleanup(func() { stop(); running.Wait() })
	var entries int
	var resets int
	for b.Loop() {
		lively := make(chan struct{})
		j := &joiner{store: s, live: make(chan struct{})}
		writing, enough := context.WithCancel(ctx)
		var writer sync.WaitGroup
		writer.Go(func() { entries += appendAtRate(writing, s, rate, string(body), lively) })
		<-lively
		following, unfollow := context.WithCancel(ctx)
		running.Go(func() { s.Follow(following, project, j, nil) })
		<-j.live
		enough()
		writer.Wait()
		unfollow()
		resets += j.resets - 1
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/join")
	b.ReportMetric(float64(entries)/b.Elapsed().Seconds(), "entries/s")
	b.ReportMetric(float64(resets)/float64(b.N), "restarts")
}

// appendAtRate appends entries until ctx ends, and returns how many. It closes lively once it is at it.
func appendAtRate(ctx context.Context, s *state.Store, rate int, body string, lively chan struct{}) (n int) {
	const atOnce = 200
	begin := time.Now()
	once := sync.OnceFunc(func() { close(lively) })
	defer once()
	for ctx.Err() == nil && rate > 0 {
		if err := s.AppendEntries(ctx, project, atOnce, "+new", body); err != nil {
			return n
		}
		n += atOnce
		once()
		pause := time.NewTimer(time.Duration(n)*time.Second/time.Duration(rate) - time.Since(begin))
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
	}
	return n
}

// joiner is a sink that only counts. live is closed when the reader has all that the feed had after the snapshot.
type joiner struct {
	store  *state.Store
	live   chan struct{}
	resets int
	target uint64
	done   bool
}

func (j *joiner) Reset() { j.resets, j.target = j.resets+1, 0 }

func (j *joiner) Apply(_ []state.Change, position uint64) {
	if position == 0 || j.done {
		return
	}
	if j.target == 0 {
		var err error
		if j.target, err = j.store.Position(context.Background(), project); err != nil {
			panic(err)
		}
	}
	if position >= j.target {
		j.done = true
		close(j.live)
	}
}
