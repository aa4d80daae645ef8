package bus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest/proxy"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

const patience = 2 * time.Minute

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
	return connectWith(t, bus.Options{Server: bus.Server{URL: url}, Name: t.Name()})
}

// connectWith connects with options of the test's own, and makes the streams.
func connectWith(t *testing.T, o bus.Options) *bus.Bus {
	t.Helper()
	o.Log, o.Wait = slog.New(slog.DiscardHandler), embeddedtest.Patience
	b, err := bus.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	embeddedtest.Prepare(t, b)
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
	b, err := bus.Connect(t.Context(), bus.Options{Server: bus.Server{URL: "nats://127.0.0.1:1"},
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal("a server that does not answer yet is no error:", err)
	}
	if err := b.Ready(t.Context()); problem.KindOf(err) != problem.Unavailable {
		t.Errorf("without a server: %v", err)
	}
	_ = b.Close(t.Context())
	if err := connect(t, server(t)).Ready(t.Context()); err != nil {
		t.Errorf("with one: %v", err)
	}
}

// TestSilentServerIsGivenUp: a server that says nothing any more is noticed, though its connection is never ended.
func TestSilentServerIsGivenUp(t *testing.T) {
	far := strings.TrimPrefix(server(t), "nats://")
	l, err := proxy.Listen(t.Context(), func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", far)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b, err := bus.Connect(t.Context(), bus.Options{Server: bus.Server{URL: "nats://" + l.Address()},
		Pulse: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close(context.Background()) }()
	embeddedtest.Prepare(t, b)
	l.Set(proxy.Silent)
	waittest.Until(t, "the silence is noticed", func() bool { return !b.Connected() })
	if err := b.Ready(t.Context()); err != nil {
		t.Errorf("what needs no bus is not to end with it: %v", err)
	}
	l.Set(proxy.Open)
	waittest.Until(t, "it is there again", b.Connected)
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
	b.Poke(t.Context(), "my.game-1", &pb.Poke{Position: 7, Configs: true})
	if p := next(t, got); p.project != "my.game-1" || p.GetPosition() != 7 || !p.GetConfigs() {
		t.Errorf("heard %v", p)
	}
}

func TestAssignedComesInMessagesThatFit(t *testing.T) {
	b := connect(t, server(t))
	got := make(chan []string, 10)
	if _, err := b.OnResults(func(_ string, a bus.Assigned) { got <- a.Tickets() }); err != nil {
		t.Fatal(err)
	}
	ids := make([]string, 30_000) // more than a message may hold
	for i := range ids {
		ids[i] = fmt.Sprintf("0199e000-0000-7000-8000-%012d", i)
	}
	b.NotifyAssigned(t.Context(), "demo", ids)
	var heard []string
	for len(heard) < len(ids) {
		heard = append(heard, next(t, got)...)
	}
	if !slices.Equal(heard, ids) {
		t.Error("other tickets were heard")
	}
}

// Small results travel with the wake-up, each once, and the messages still fit. Large and incomplete ones must be read.
func TestResultsComeWithTheirTickets(t *testing.T) {
	b := connect(t, server(t))
	got := make(chan bus.Assigned, 10_000)
	if _, err := b.OnResults(func(_ string, a bus.Assigned) { got <- a }); err != nil {
		t.Fatal(err)
	}
	large := &pb.Assignment{MatchProperties: []byte(strings.Repeat("x", 2<<10))}
	incomplete := &pb.Assignment{Connection: "here", Outcome: "m"} // the rest is stored with its match
	var shared *pb.Assignment
	ids, results := make([]string, 30_000), make([]*pb.Assignment, 30_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("0199e000-0000-7000-8000-%012d", i)
		switch i % 5 {
		case 0:
			shared = &pb.Assignment{Connection: ids[i], MatchProperties: []byte(strings.Repeat("x", 700))}
			results[i] = shared
		case 1:
			results[i] = shared
		case 2:
			results[i] = large
		case 4:
			results[i] = incomplete
		}
	}
	b.NotifyResults(t.Context(), "demo", ids, results)
	for heard := 0; heard < len(ids); {
		a := next(t, got)
		sent := a.Message.GetSent()
		for i, id := range a.Tickets() {
			a.Message.Sent = time.Now().UnixMilli() // however long it took
			want := results[heard]
			if want == large || want == incomplete {
				want = nil
			}
			if result := a.Result(i); id != ids[heard] || !proto.Equal(result, want) {
				t.Fatalf("of ticket %d, %s, heard %v, want %v", heard, id, result, want)
			}
			heard++
		}
		if a.Result(len(a.Tickets())) != nil {
			t.Error("a ticket that is not there has a result")
		}
		if a.Message.Sent = sent - 1100; a.Result(0) != nil {
			t.Error("an old result need not be read")
		}
	}
}

func TestRunIsAnsweredInPartsAndCarriesTheTrace(t *testing.T) {
	url := server(t)
	director, runner := connect(t, url), connect(t, url)
	id := trace.TraceID{1, 2, 3}
	seen := make(chan trace.TraceID, 1)
	_, err := runner.ServeRuns("runner-1", "demo", "duel",
		func(ctx context.Context, r *pb.RunRequest, answer bus.SendPart) {
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
	ctx := trace.ContextWithSpanContext(t.Context(),
		trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: trace.SpanID{1}}))
	// The runner's subscription may reach the server after the director's first question.
	parts := startRun(ctx, t, director, "duel")
	if got := next(t, seen); got != id {
		t.Errorf("the runner saw trace %s", got)
	}
	if taken := parts[0]; taken.GetRunner() != "runner-1" || taken.GetLast() {
		t.Errorf("first comes %v, want who has taken the run", taken)
	}
	for i, p := range parts[1:] {
		if p.GetIndex() != uint32(i+1) || p.GetProposals()[0].GetScore() != float64(i) || p.GetLast() != (i == 2) {
			t.Errorf("part %d is %v", i, p)
		}
	}
	if len(parts) != 4 {
		t.Errorf("%d parts", len(parts))
	}
}

// startRun starts runs until one is answered by a runner, and returns its parts.
func startRun(ctx context.Context, t *testing.T, b *bus.Bus, function string) []*pb.RunPart {
	t.Helper()
	deadline := time.Now().Add(patience)
	for n := 0; time.Now().Before(deadline); n++ {
		got := make(chan *pb.RunPart, 10)
		run, err := b.StartRun(ctx, &pb.RunRequest{Run: fmt.Sprint("r", n), Project: "demo", Function: function},
			func(p bus.Part) { got <- p.RunPart })
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
	if _, err := b.StartRun(t.Context(), &pb.RunRequest{Run: "r", Project: "demo", Function: "none"},
		func(p bus.Part) { got <- p.RunPart }); err != nil {
		t.Fatal(err)
	}
	if p := next(t, got); !p.GetLast() || p.GetError() != bus.NoRunner {
		t.Errorf("answer %v", p)
	}
}

func TestWorkComesUntilItIsDone(t *testing.T) {
	for name, groups := range map[string][][]string{
		"together": {{"easy", "stubborn", "patient"}},
		"alone":    {{"easy"}, {"stubborn"}, {"patient"}},
	} {
		t.Run(name, func(t *testing.T) { worksUntilDone(t, groups) })
	}
}

func worksUntilDone(t *testing.T, groups [][]string) {
	b := connect(t, server(t))
	var mu sync.Mutex
	attempts := map[string][]int{}
	done := make(chan string, 10)
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		err := b.ConsumeMatches(ctx, 4, func(_ context.Context, w *pb.MatchWork, attempt int) error {
			mu.Lock()
			attempts[w.GetMatch()] = append(attempts[w.GetMatch()], attempt)
			mu.Unlock()
			switch {
			case w.GetMatch() == "stubborn" && attempt < 3:
				return errors.New("not yet")
			case w.GetMatch() == "patient" && attempt < 4:
				return bus.RetryAfter(time.Millisecond)
			}
			done <- w.GetProject() + "/" + w.GetMatch()
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	for _, group := range slices.Concat(groups, groups) {
		sent, err := b.EnqueueMatches(t.Context(), "demo", nil, group)
		if err != nil || !slices.Equal(sent, group) {
			t.Fatal(sent, err)
		}
	}
	finished := []string{next(t, done), next(t, done), next(t, done)}
	slices.Sort(finished)
	if !slices.Equal(finished, []string{"demo/easy", "demo/patient", "demo/stubborn"}) {
		t.Errorf("finished %v", finished)
	}
	stop()
	working.Wait()
	want := map[string][]int{"easy": {1}, "stubborn": {1, 2, 3}, "patient": {1, 2, 3, 4}}
	if diff := cmp.Diff(want, attempts); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if len(done) > 0 {
		t.Errorf("a match that was sent twice came twice")
	}
}

// For a while a server takes matches and does not answer, as when it cannot reach the leader of their stream. Later
// ones are sent in spite of that, and until then that is an error.
func TestMatchesAreSentAfterOthersWereLost(t *testing.T) {
	url := server(t)
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = conn.Subscribe("mm.match.*", func(*nats.Msg) {})
	if err := errors.Join(err, conn.Flush()); err != nil {
		t.Fatal(err)
	}
	b, err := bus.Connect(t.Context(), bus.Options{Server: bus.Server{URL: url}, Log: slog.New(slog.DiscardHandler),
		Wait: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	waittest.Until(t, "it is connected", b.Connected)
	lost := make([][]string, 4000)
	for i := range lost {
		lost[i] = []string{fmt.Sprint("lost", i)}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for range 2 {
		if sent, err := b.EnqueueMatches(ctx, "demo", nil, lost...); err == nil || len(sent) > 0 {
			t.Errorf("%d were sent, %v", len(sent), err)
		}
	}
	embeddedtest.Prepare(t, b)
	waittest.Until(t, "one is sent", func() bool {
		sent, err := b.EnqueueMatches(t.Context(), "demo", nil, []string{"m"})
		return err == nil && len(sent) == 1
	})
}

// Claimed matches come with their content if it is small and has no keys. A match that is sent again comes once.
func TestMatchesComeWithTheirContent(t *testing.T) {
	b := connect(t, server(t))
	came := make(chan *pb.MatchWork, 10)
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		_ = b.ConsumeMatches(ctx, 4, func(_ context.Context, w *pb.MatchWork, _ int) error {
			came <- w
			return nil
		})
	})
	small, large := &pb.Match{Id: "small", Config: "c"}, &pb.Match{Id: "large", Config: string(make([]byte, 2<<10))}
	keys := &pb.Match{Id: "keys", Hosting: &pb.Hosting{Fleet: "f", Keys: []byte("sealed")}}
	sends := func(all ...*pb.Match) {
		t.Helper()
		contents, ids := map[string]*pb.Match{}, make([]string, len(all))
		for i, m := range all {
			contents[m.GetId()], ids[i] = m, m.GetId()
		}
		sent, err := b.EnqueueMatches(t.Context(), "demo", contents, ids)
		if err != nil || len(sent) != len(all) {
			t.Fatal(sent, err)
		}
		for range all {
			w := next(t, came)
			m := all[slices.IndexFunc(all, func(m *pb.Match) bool { return m.GetId() == w.GetMatch() })]
			body, err := proto.Marshal(m)
			if m == large || m == keys {
				body = nil
			}
			if got := slices.Concat(w.GetBodies()...); err != nil || !bytes.Equal(got, body) {
				t.Errorf("%s came with %q, want %q", m.GetId(), got, body)
			}
		}
	}
	sends(small)
	if sent, err := b.EnqueueMatches(t.Context(), "demo", nil, []string{"small"}); err != nil || len(sent) != 1 {
		t.Fatal(sent, err)
	}
	sends(&pb.Match{Id: "third"}, large, &pb.Match{Id: "fourth"}, keys)
	stop()
	working.Wait()
	if len(came) > 0 {
		t.Errorf("%v came again", <-came)
	}
}

// A match that takes long holds up none that came in the same message, and takes one slot.
func TestMatchesOfAMessageDoNotWaitForEachOther(t *testing.T) {
	b := connect(t, server(t))
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprint("m", i)
	}
	release, done := make(chan struct{}), make(chan string, len(ids))
	var running, most atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		_ = b.ConsumeMatches(ctx, 3, func(_ context.Context, w *pb.MatchWork, _ int) error {
			for now := running.Add(1); ; {
				before := most.Load()
				if now <= before || most.CompareAndSwap(before, now) {
					break
				}
			}
			defer running.Add(-1)
			if w.GetMatch() == "m0" || w.GetMatch() == "m40" {
				<-release
			}
			done <- w.GetMatch()
			return nil
		})
	})
	if _, err := b.EnqueueMatches(t.Context(), "demo", nil, ids); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range len(ids) - 2 {
		seen[next(t, done)] = true
	}
	if seen["m0"] || seen["m40"] || len(seen) != len(ids)-2 {
		t.Errorf("%d matches are done", len(seen))
	}
	close(release)
	next(t, done)
	next(t, done)
	stop()
	working.Wait()
	if most.Load() > 3 {
		t.Errorf("%d matches were in hand at once, want 3", most.Load())
	}
}

func TestWorkOfAStoppedAllocatorGoesToAnother(t *testing.T) {
	url := server(t)
	first, second := connect(t, url), connect(t, url)
	taken := make(chan string, 1)
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() {
		_ = first.ConsumeMatches(ctx, 1, func(ctx context.Context, w *pb.MatchWork, _ int) error {
			taken <- w.GetMatch()
			<-ctx.Done()
			return ctx.Err()
		})
	})
	if _, err := second.EnqueueMatches(t.Context(), "demo", nil, []string{"m"}); err != nil {
		t.Fatal(err)
	}
	next(t, taken)
	stop()
	working.Wait()
	ctx2, stop2 := context.WithCancel(t.Context())
	working.Go(func() {
		_ = second.ConsumeMatches(ctx2, 1, func(_ context.Context, w *pb.MatchWork, _ int) error {
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

// readLog is all lines of a function from a start, and the position behind them.
func readLog(t *testing.T, b *bus.Bus, function string, from bus.LogStart) (texts []string, position uint64) {
	t.Helper()
	position, err := b.ReadLog(t.Context(), "demo", function, from, func(l *pb.LogLines) bool {
		texts = append(texts, l.GetText())
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts, position
}

func TestLogsAreReadBySpanOfTime(t *testing.T) {
	b := connect(t, server(t))
	since := time.Now().Add(-time.Minute)
	for _, text := range []string{"one", "two"} {
		if err := b.PublishLog(t.Context(), "demo", "my.function", &pb.LogLines{Instance: "i", Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(patience)
	for {
		lines, _ := readLog(t, b, "my.function", bus.LogStart{Since: since})
		if slices.Equal(lines, []string{"one", "two"}) {
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
		if lines, _ := readLog(t, b, span.function, bus.LogStart{Since: span.since}); len(lines) > 0 {
			t.Errorf("%s: %v", name, lines)
		}
	}
}

// A reader that continues from the position of its last read gets every line, and each once.
func TestLogsAreFollowed(t *testing.T) {
	b := connect(t, server(t))
	began := time.Now().Add(-time.Minute)
	var read []string
	position := uint64(0)
	follow := func(since time.Time) {
		t.Helper()
		lines, next := readLog(t, b, "duel", bus.LogStart{Since: since, After: position})
		if next < position {
			t.Fatalf("after %d comes %d", position, next)
		}
		position = next
		read = append(read, lines...)
	}
	follow(began) // the log is empty
	var want []string
	var writers sync.WaitGroup
	write := func(function, text string) {
		if err := b.PublishLog(t.Context(), "demo", function, &pb.LogLines{Instance: "i", Text: text}); err != nil {
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
	lines, next := readLog(t, b, "duel", bus.LogStart{Since: began, After: position})
	if len(lines) != len(want)+1 || next >= position {
		t.Errorf("after a position that is too high: %d lines, at %d", len(lines), next)
	}
}

// A reader gets a log as long as many batches whole, a part at a time. Nothing is left of the readers.
func TestLogsAreReadInParts(t *testing.T) {
	url := server(t)
	b := connect(t, url)
	const messages = 1000
	for n := range messages {
		for _, function := range []string{"duel", "other"} {
			if err := b.PublishLog(t.Context(), "demo", function, &pb.LogLines{Instance: "i", Text: fmt.Sprint(n)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var read []string
	position, began := uint64(0), time.Now().Add(-time.Hour)
	for deadline := time.Now().Add(patience); len(read) < messages; {
		most := 300
		next, err := b.ReadLog(t.Context(), "demo", "duel", bus.LogStart{Since: began, After: position},
			func(l *pb.LogLines) bool {
				if most--; most < 0 {
					return false
				}
				read = append(read, l.GetText())
				return true
			})
		if err != nil || next < position {
			t.Fatalf("behind %d: %d, %v", position, next, err)
		}
		position = next
		if time.Now().After(deadline) {
			t.Fatalf("read %d lines", len(read))
		}
	}
	for n, text := range read {
		if text != fmt.Sprint(n) {
			t.Fatalf("line %d is %q", n, text)
		}
	}
	if left := stream(t, url, "MM_LOGS").State.Consumers; left != 0 {
		t.Errorf("%d consumers are left", left)
	}
}

// jetStream speaks to a server as no part of the service does, until it is closed.
func jetStream(t *testing.T, url string) (js jetstream.JetStream, end func()) {
	t.Helper()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	js, err = jetstream.New(conn, jetstream.WithDefaultTimeout(embeddedtest.Patience))
	if err != nil {
		t.Fatal(err)
	}
	return js, conn.Close
}

// stream is what the server says of a stream.
func stream(t *testing.T, url, name string, o ...jetstream.StreamInfoOpt) *jetstream.StreamInfo {
	t.Helper()
	js, end := jetStream(t, url)
	defer end()
	s, err := js.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Info(t.Context(), o...)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// By default the log of a function that runs on many instances, of which each writes something every second, goes back
// as far as it is read by default.
func TestLogsAreOfHalfAnHour(t *testing.T) {
	const instances, halfAnHour = 32, 30 * 60
	url := server(t)
	connect(t, url)
	if most := stream(t, url, "MM_LOGS").Config.MaxMsgsPerSubject; most < instances*halfAnHour {
		t.Errorf("%d messages are kept", most)
	}
}

// A function that floods its log loses its own oldest lines, and no other function does; all logs survive a restart of
// the server.
func TestLogsAreKeptBySize(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	run := func() (*embedded.NATS, *bus.Bus) {
		t.Helper()
		n, err := embedded.StartNATS(t.Context(), embedded.NATSOptions{Dir: dir, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		b, err := bus.Connect(t.Context(), bus.Options{Server: bus.Server{URL: n.URL()}, Log: log, LogMessages: 10,
			Wait: embeddedtest.Patience})
		if err != nil {
			t.Fatal(err)
		}
		embeddedtest.Prepare(t, b)
		return n, b
	}
	stop := func(n *embedded.NATS, b *bus.Bus) {
		_ = b.Close(context.Background())
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	n, b := run()
	say := func(function, text string) {
		if err := b.PublishLog(t.Context(), "demo", function, &pb.LogLines{Instance: "i", Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	say("quiet", "once")
	say("loud", strings.Repeat("x", 5*bus.MaxLogText)) // more than a message may have: dropped
	for n := range 50 {
		say("loud", fmt.Sprint(n))
	}
	start := bus.LogStart{Since: time.Now().Add(-time.Hour)}
	check := func() {
		t.Helper()
		for deadline := time.Now().Add(patience); ; {
			loud, _ := readLog(t, b, "loud", start)
			quiet, _ := readLog(t, b, "quiet", start)
			if len(loud) == 10 && loud[0] == "40" && loud[9] == "49" && slices.Equal(quiet, []string{"once"}) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("loud says %q, quiet %q", loud, quiet)
			}
		}
	}
	check()
	stop(n, b)
	n, b = run()
	defer func() { stop(n, b) }()
	check()
}

func TestModules(t *testing.T) {
	url := server(t)
	b := connect(t, url)
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
	if names, err := b.Modules(t.Context()); err != nil || !slices.Equal(names, []string{"m.wasm"}) {
		t.Errorf("there are %v, %v", names, err)
	}
	for range 2 {
		if err := b.DeleteModule(t.Context(), "m.wasm"); err != nil {
			t.Error(err)
		}
	}
	if left := stream(t, url, "OBJ_MM_MODULES").State.Msgs; left > 0 {
		t.Errorf("%d messages are left of a module that was removed", left)
	}
	if names, err := b.Modules(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("there are still %v, %v", names, err)
	}
	if _, err := b.Module(t.Context(), "m.wasm"); !errors.Is(err, bus.ErrNoModule) {
		t.Errorf("a module that was removed: %v", err)
	}
}

func TestNothingIsWorkedOnAfterAStop(t *testing.T) {
	b := connect(t, server(t))
	const matches = 300
	var ids []string
	for i := range matches {
		ids = append(ids, fmt.Sprintf("m%d", i))
	}
	if sent, err := b.EnqueueMatches(t.Context(), "demo", nil, ids); err != nil || len(sent) != matches {
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
		err := b.ConsumeMatches(ctx, 4, func(_ context.Context, w *pb.MatchWork, _ int) error {
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
