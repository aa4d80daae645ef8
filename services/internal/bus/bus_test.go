package bus_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/embedded"
	"matchmaker.dev/services/internal/fault"
)

const patience = 30 * time.Second

// server starts a NATS server and returns its URL.
func server(t *testing.T) string {
	t.Helper()
	n, err := embedded.StartNATS(t.Context(), embedded.NATSOptions{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n.URL()
}

func connect(t *testing.T, url string) *bus.Bus {
	t.Helper()
	b, err := bus.Connect(bus.Options{URL: url, Name: t.Name(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	if err := b.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// next is what a channel brings in time.
func next[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	var v T
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	return v
}

func TestReadyOnlyWithServerAndStreams(t *testing.T) {
	b, err := bus.Connect(bus.Options{URL: "nats://127.0.0.1:1", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal("a server that does not answer yet is no error:", err)
	}
	if err := b.Ready(t.Context()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("without a server: %v", err)
	}
	_ = b.Close(t.Context())
	if err := connect(t, server(t)).Ready(t.Context()); err != nil {
		t.Errorf("with one: %v", err)
	}
}

func TestPokesOfProjectsWithDots(t *testing.T) {
	b := connect(t, server(t))
	type poke struct {
		project string
		*pb.Poke
	}
	got := make(chan poke, 1)
	if _, err := b.OnPoke(func(project string, p *pb.Poke) { got <- poke{project, p} }); err != nil {
		t.Fatal(err)
	}
	if err := b.Poke(t.Context(), "my.game-1", &pb.Poke{Position: 7, Configs: true}); err != nil {
		t.Fatal(err)
	}
	if p := next(t, got); p.project != "my.game-1" || p.GetPosition() != 7 || !p.GetConfigs() {
		t.Errorf("heard %v", p)
	}
}

func TestAssignedComesInMessagesThatFit(t *testing.T) {
	b := connect(t, server(t))
	got := make(chan []string, 10)
	if _, err := b.OnAssigned(func(_ string, tickets []string) { got <- tickets }); err != nil {
		t.Fatal(err)
	}
	ids := make([]string, 30_000) // more than a message may hold
	for i := range ids {
		ids[i] = fmt.Sprintf("0199e000-0000-7000-8000-%012d", i)
	}
	if err := b.Assigned(t.Context(), "demo", ids); err != nil {
		t.Fatal(err)
	}
	var heard []string
	for len(heard) < len(ids) {
		heard = append(heard, next(t, got)...)
	}
	if !slices.Equal(heard, ids) {
		t.Error("other tickets were heard")
	}
}

func TestRunIsAnsweredInPartsAndCarriesTheTrace(t *testing.T) {
	url := server(t)
	director, runner := connect(t, url), connect(t, url)
	id := trace.TraceID{1, 2, 3}
	seen := make(chan trace.TraceID, 1)
	_, err := runner.ServeRuns("demo", "duel", func(ctx context.Context, r *pb.RunRequest, answer bus.Answer) {
		seen <- trace.SpanContextFromContext(ctx).TraceID()
		for i := range 3 {
			if err := answer(&pb.RunPart{Last: i == 2, Proposals: []*pb.Proposal{{Score: float64(i)}}}); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: trace.SpanID{1}}))
	// The runner's subscription may reach the server after the director's first question.
	parts := startRun(ctx, t, director, "duel")
	if got := next(t, seen); got != id {
		t.Errorf("the runner saw trace %s", got)
	}
	for i, p := range parts {
		if p.GetIndex() != uint32(i) || p.GetProposals()[0].GetScore() != float64(i) || p.GetLast() != (i == 2) {
			t.Errorf("part %d is %v", i, p)
		}
	}
	if len(parts) != 3 {
		t.Errorf("%d parts", len(parts))
	}
}

// startRun starts runs until one is answered by a runner, and returns its parts.
func startRun(ctx context.Context, t *testing.T, b *bus.Bus, function string) []*pb.RunPart {
	t.Helper()
	deadline := time.Now().Add(patience)
	for n := 0; time.Now().Before(deadline); n++ {
		got := make(chan *pb.RunPart, 10)
		run, err := b.StartRun(ctx, &pb.RunRequest{Run: fmt.Sprint("r", n), Project: "demo", Function: function}, func(p *pb.RunPart) { got <- p })
		if err != nil {
			t.Fatal(err)
		}
		var parts []*pb.RunPart
		for {
			p := next(t, got)
			parts = append(parts, p)
			if p.GetLast() {
				break
			}
		}
		run.Stop()
		if parts[0].GetError() != bus.NoRunner {
			return parts
		}
	}
	t.Fatal("no runner ever answered")
	return nil
}

func TestRunWithoutRunnerIsAnsweredAtOnce(t *testing.T) {
	b := connect(t, server(t))
	got := make(chan *pb.RunPart, 1)
	if _, err := b.StartRun(t.Context(), &pb.RunRequest{Run: "r", Project: "demo", Function: "none"}, func(p *pb.RunPart) { got <- p }); err != nil {
		t.Fatal(err)
	}
	if p := next(t, got); !p.GetLast() || p.GetError() != bus.NoRunner {
		t.Errorf("answer %v", p)
	}
}

func TestWorkComesUntilItIsDone(t *testing.T) {
	b := connect(t, server(t))
	var mu sync.Mutex
	attempts := map[string]int{}
	done := make(chan string, 10)
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		err := b.Work(ctx, 4, func(_ context.Context, w *pb.MatchWork, attempt int) error {
			mu.Lock()
			attempts[w.GetMatch()] = attempt
			mu.Unlock()
			if w.GetMatch() == "stubborn" && attempt < 3 {
				return errors.New("not yet")
			}
			done <- w.GetProject() + "/" + w.GetMatch()
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	sent, err := b.Send(t.Context(), "demo", []string{"easy", "stubborn", "easy"})
	if err != nil || len(sent) != 3 {
		t.Fatal(sent, err)
	}
	finished := []string{next(t, done), next(t, done)}
	slices.Sort(finished)
	if !slices.Equal(finished, []string{"demo/easy", "demo/stubborn"}) {
		t.Errorf("finished %v", finished)
	}
	stop()
	working.Wait()
	mu.Lock()
	defer mu.Unlock()
	if attempts["stubborn"] != 3 || attempts["easy"] != 1 {
		t.Errorf("attempts %v", attempts)
	}
	if len(done) > 0 {
		t.Errorf("a match that was sent twice came twice")
	}
}

func TestWorkOfAStoppedAllocatorGoesToAnother(t *testing.T) {
	url := server(t)
	first, second := connect(t, url), connect(t, url)
	taken := make(chan string, 1)
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		_ = first.Work(ctx, 1, func(ctx context.Context, w *pb.MatchWork, _ int) error {
			taken <- w.GetMatch()
			<-ctx.Done()
			return ctx.Err()
		})
	})
	if _, err := second.Send(t.Context(), "demo", []string{"m"}); err != nil {
		t.Fatal(err)
	}
	next(t, taken)
	stop()
	working.Wait()
	ctx2, stop2 := context.WithCancel(t.Context())
	working.Go(func() {
		_ = second.Work(ctx2, 1, func(_ context.Context, w *pb.MatchWork, _ int) error {
			taken <- w.GetMatch()
			return nil
		})
	})
	if got := next(t, taken); got != "m" {
		t.Errorf("got %q", got)
	}
	stop2()
	working.Wait()
}

func TestLogsAreReadBySpanOfTime(t *testing.T) {
	b := connect(t, server(t))
	since := time.Now().Add(-time.Minute)
	for _, text := range []string{"one", "two"} {
		if err := b.Log(t.Context(), "demo", "my.function", &pb.LogLines{Instance: "i", Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(patience)
	for {
		lines, err := b.Logs(t.Context(), "demo", "my.function", since)
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) == 2 && lines[0].GetText() == "one" && lines[1].GetText() == "two" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("read %v", lines)
		}
	}
	for name, span := range map[string]struct {
		function string
		since    time.Time
	}{"another function": {"other", since}, "a later span": {"my.function", time.Now().Add(time.Hour)}} {
		if lines, err := b.Logs(t.Context(), "demo", span.function, span.since); err != nil || len(lines) > 0 {
			t.Errorf("%s: %v, %v", name, lines, err)
		}
	}
}

// Who reads on from the position of the read before gets every line, and each once.
func TestLogsAreFollowed(t *testing.T) {
	b := connect(t, server(t))
	began := time.Now().Add(-time.Minute)
	var read []string
	position := uint64(0)
	follow := func(since time.Time) {
		t.Helper()
		lines, next, err := b.LogsAfter(t.Context(), "demo", "duel", since, position)
		if err != nil || next < position {
			t.Fatalf("after %d comes %d, %v", position, next, err)
		}
		position = next
		for _, l := range lines {
			read = append(read, l.GetText())
		}
	}
	follow(began) // the log is empty
	var want []string
	var writers sync.WaitGroup
	write := func(function, text string) {
		if err := b.Log(t.Context(), "demo", function, &pb.LogLines{Instance: "i", Text: text}); err != nil {
			t.Error(err)
		}
	}
	for i := range 60 {
		text := fmt.Sprint(i)
		want = append(want, text)
		writers.Go(func() { write("duel", text); write("other", "another's") })
		follow(began)
	}
	writers.Wait()
	for deadline := time.Now().Add(patience); len(read) < len(want) && time.Now().Before(deadline); {
		follow(began)
	}
	follow(began)
	slices.Sort(read)
	slices.Sort(want)
	if !slices.Equal(read, want) {
		t.Fatalf("read %q, written %q", read, want)
	}

	// Also behind a position the time counts, and a position of a log that was lost does not.
	read = nil
	last := position
	write("duel", "new")
	for deadline := time.Now().Add(patience); position == last && time.Now().Before(deadline); {
		follow(time.Now().Add(time.Hour))
	}
	if len(read) > 0 || position <= last {
		t.Errorf("of a later span, at %d after %d: %q", position, last, read)
	}
	position += 1000
	lines, next, err := b.LogsAfter(t.Context(), "demo", "duel", began, position)
	if err != nil || len(lines) != len(want)+1 || next >= position {
		t.Errorf("after a position that is too high: %d lines, at %d, %v", len(lines), next, err)
	}
}

func TestModules(t *testing.T) {
	b := connect(t, server(t))
	if _, err := b.Module(t.Context(), "none.wasm"); !errors.Is(err, bus.ErrNoModule) {
		t.Errorf("a module that is not there: %v", err)
	}
	module := slices.Repeat([]byte{0, 'a', 's', 'm'}, 500_000) // more than a message may hold
	for range 2 {
		if err := b.PutModule(t.Context(), "m.wasm", module); err != nil {
			t.Fatal(err)
		}
	}
	got, err := b.Module(t.Context(), "m.wasm")
	if err != nil || !slices.Equal(got, module) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestNothingIsWorkedOnAfterAStop(t *testing.T) {
	b := connect(t, server(t))
	const matches = 300
	var ids []string
	for i := range matches {
		ids = append(ids, fmt.Sprintf("m%d", i))
	}
	if sent, err := b.Send(t.Context(), "demo", ids); err != nil || len(sent) != matches {
		t.Fatal(len(sent), err)
	}
	done := map[string]bool{}
	for len(done) < matches {
		var (
			mu    sync.Mutex
			over  bool
			taken int
		)
		ctx, stop := context.WithCancel(t.Context())
		err := b.Work(ctx, 4, func(_ context.Context, w *pb.MatchWork, _ int) error {
			mu.Lock()
			defer mu.Unlock()
			if over {
				t.Errorf("%s was worked on after Work had returned", w.GetMatch())
			}
			if done[w.GetMatch()] {
				return nil // its acknowledgement came too late
			}
			done[w.GetMatch()] = true
			if taken++; taken == 25 || len(done) == matches {
				stop()
			}
			return nil
		})
		mu.Lock()
		over = true
		mu.Unlock()
		stop()
		if err != nil {
			t.Fatal(err)
		}
	}
}
