package bus_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/embedded"
)

// told publishes a message for each position.
func told(t *testing.T, b *bus.Bus, project string, positions ...uint64) {
	t.Helper()
	for _, position := range positions {
		_, tail, err := b.LastEvents(t.Context(), project)
		if err != nil {
			t.Fatal(err)
		}
		events := &pb.Events{Project: project, Events: []*pb.Event{{Position: position}}}
		_, _, err = b.PublishEvents(t.Context(), events, tail)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// read is what a reader gets: the positions, those before which events are lost, and the numbers of the messages.
type read struct {
	positions, lost, sequences []uint64
}

func (r *read) take(m bus.EventMessage) {
	for _, e := range m.GetEvents() {
		if r.positions = append(r.positions, e.GetPosition()); m.Lost {
			r.lost = append(r.lost, e.GetPosition())
		}
	}
	r.sequences = append(r.sequences, m.Sequence)
}

func TestReadEventsBeginsAtAPlace(t *testing.T) {
	b := connect(t, server(t))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	get := func(from bus.EventStart) (r read, end uint64) {
		t.Helper()
		end, err := b.ReadEvents(ctx, "a.b", from, false, func(m bus.EventMessage) bool { r.take(m); return true })
		if err != nil {
			t.Fatal(err)
		}
		return r, end
	}
	if r, end := get(bus.EventStart{}); len(r.positions) > 0 || end != 0 {
		t.Errorf("before the first event: %v, %d", r, end)
	}
	told(t, b, "a.b", 1, 2)
	told(t, b, "other", 100)
	told(t, b, "a.b", 3)
	for name, c := range map[string]struct {
		from bus.EventStart
		want []uint64
	}{
		"all":              {bus.EventStart{}, []uint64{1, 2, 3}},
		"behind one":       {bus.EventStart{After: 1}, []uint64{2, 3}},
		"with that again":  {bus.EventStart{After: 1, Again: true}, []uint64{1, 2, 3}},
		"behind another's": {bus.EventStart{After: 3}, []uint64{3}},
		"behind all":       {bus.EventStart{After: 4}, nil},
		"since long ago":   {bus.EventStart{Since: time.Now().Add(-time.Hour)}, []uint64{1, 2, 3}},
		"since later":      {bus.EventStart{Since: time.Now().Add(time.Hour)}, nil},
	} {
		if r, end := get(c.from); !slices.Equal(r.positions, c.want) || len(r.lost) > 0 || end != 4 {
			t.Errorf("%s: got %v, the end is %d, want %v", name, r, end, c.want)
		}
	}
	if r, _ := get(bus.EventStart{After: 1000}); !slices.Equal(r.positions, []uint64{1, 2, 3}) ||
		!slices.Equal(r.lost, []uint64{1}) {
		t.Errorf("behind a place of another stream: %+v", r)
	}
	// A reader that stops gets no more events.
	var r read
	if _, err := b.ReadEvents(ctx, "a.b", bus.EventStart{}, true, func(m bus.EventMessage) bool {
		r.take(m)
		return len(r.positions) < 2
	}); err != nil || !slices.Equal(r.positions, []uint64{1, 2}) {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestReadEventsFollows(t *testing.T) {
	b := connect(t, server(t))
	told(t, b, "demo", 1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	messages, ended := make(chan bus.EventMessage), make(chan error, 1)
	go func() {
		_, err := b.ReadEvents(ctx, "demo", bus.EventStart{New: true}, true, func(m bus.EventMessage) bool {
			messages <- m
			return true
		})
		ended <- err
	}()
	if m := next(t, messages); len(m.GetEvents()) > 0 || m.Sequence != 1 {
		t.Errorf("the place at the beginning is %+v", m)
	}
	var want []uint64
	for position := uint64(2); position < 30; position++ { // more than are asked for at once
		want = append(want, position)
	}
	var r read
	for _, position := range want {
		told(t, b, "demo", position)
		r.take(next(t, messages))
	}
	if !slices.Equal(r.positions, want) || len(r.lost) > 0 {
		t.Errorf("got %+v", r)
	}
	cancel()
	if err := next(t, ended); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestReadEventsSaysWhatIsLost(t *testing.T) {
	b := connect(t, server(t))
	told(t, b, "demo", 1, 2)
	if err := b.PurgeProject(t.Context(), "demo"); err != nil {
		t.Fatal(err)
	}
	told(t, b, "demo", 3, 4)
	var r read
	_, err := b.ReadEvents(t.Context(), "demo", bus.EventStart{After: 1}, false, func(m bus.EventMessage) bool {
		r.take(m)
		return true
	})
	if err != nil || !slices.Equal(r.positions, []uint64{3, 4}) || !slices.Equal(r.lost, []uint64{3}) {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A project's last message goes by its age, while others publish. Its next one says that nothing was between.
func TestReadEventsOfAQuietProject(t *testing.T) {
	b := connect(t, server(t))
	var err error
	var tail bus.EventTail
	for position := range uint64(3) {
		told(t, b, "other", 10, 11)
		if err := errors.Join(err, b.PurgeProject(t.Context(), "demo")); err != nil {
			t.Fatal(err)
		}
		tail, _, err = b.PublishEvents(t.Context(), &pb.Events{Project: "demo", After: tail.Sequence,
			Events: []*pb.Event{{Position: position}}}, bus.EventTail{})
	}
	if err != nil || tail.Sequence != 9 {
		t.Fatal(tail, err)
	}
	for from, lost := range map[bus.EventStart]bool{
		{After: 3}: true, {After: 6}: false, {After: 7}: false, {After: 6, Again: true}: true, {After: 7, Again: true}: false,
	} {
		var r read
		if _, err := b.ReadEvents(t.Context(), "demo", from, false, func(m bus.EventMessage) bool {
			r.take(m)
			return true
		}); err != nil || len(r.lost) > 0 != lost {
			t.Errorf("from %+v: %+v, %v", from, r, err)
		}
	}
}

// Behind the last message of all none is lost when it is removed: nothing happened for long.
func TestReadEventsAfterALongSilence(t *testing.T) {
	url := server(t)
	b := connect(t, url)
	told(t, b, "demo", 1)
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	begins, err := conn.SubscribeSync("$JS.API.CONSUMER.CREATE.MM_EVENTS.>")
	if err := errors.Join(err, conn.Flush(), b.PurgeProject(t.Context(), "demo")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	messages := make(chan bus.EventMessage, 1)
	go func() {
		_, _ = b.ReadEvents(ctx, "demo", bus.EventStart{After: 1, Again: true}, true, func(m bus.EventMessage) bool {
			messages <- m
			return false
		})
	}()
	if _, err := begins.NextMsgWithContext(ctx); err != nil {
		t.Fatal(err)
	}
	told(t, b, "demo", 2)
	if m := next(t, messages); m.Lost || m.Sequence != 2 {
		t.Errorf("got %+v", m)
	}
}

// Messages that are there when reading begins may be gone before they are asked for. That costs one wait, and messages
// that are there no question.
func TestReadEventsEndsWithoutWhatIsGone(t *testing.T) {
	all := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} // the first eight are asked for at once
	for name, c := range map[string]struct {
		behindEight func(stream jetstream.Stream) error
		want        []uint64
		lost        bool
		questions   int
	}{
		"nothing is gone": {func(jetstream.Stream) error { return nil }, all, false, 0},
		"all is removed":  {func(s jetstream.Stream) error { return s.Purge(t.Context()) }, all[:8], false, 1},
		"some is removed": {func(s jetstream.Stream) error {
			return s.Purge(t.Context(), jetstream.WithPurgeSequence(11))
		}, slices.Concat(all[:8], all[10:]), false, 1},
		"all is lost": {func(s jetstream.Stream) error {
			for name := range s.ConsumerNames(t.Context()).Name() {
				consumer, err := s.Consumer(t.Context(), name)
				if err != nil {
					return err
				}
				stolen, err := consumer.Fetch(4)
				if err != nil {
					return err
				}
				for range stolen.Messages() { // until it is closed
				}
			}
			return nil
		}, all[:8], true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := server(t)
			b := connect(t, url)
			told(t, b, "demo", all...)
			conn, err := nats.Connect(url)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			questions, err := conn.SubscribeSync("$JS.API.CONSUMER.INFO.MM_EVENTS.*")
			if err != nil {
				t.Fatal(err)
			}
			js, err := jetstream.New(conn)
			if err != nil {
				t.Fatal(err)
			}
			stream, err := js.Stream(t.Context(), "MM_EVENTS")
			if err != nil {
				t.Fatal(err)
			}
			var r read
			_, err = b.ReadEvents(t.Context(), "demo", bus.EventStart{}, false, func(m bus.EventMessage) bool {
				if r.take(m); len(r.positions) == 8 {
					if err := c.behindEight(stream); err != nil {
						t.Error(err)
					}
				}
				return true
			})
			if !slices.Equal(r.positions, c.want) || (problem.KindOf(err) == problem.Unavailable) != c.lost ||
				(err != nil) != c.lost {
				t.Errorf("got %v, %v", r.positions, err)
			}
			if err := conn.Flush(); err != nil {
				t.Fatal(err)
			}
			if n, _, err := questions.Pending(); err != nil || n != c.questions {
				t.Errorf("%d questions, %v", n, err)
			}
		})
	}
}

func TestReadEventsNeedsTheBus(t *testing.T) {
	n, err := embedded.StartNATS(t.Context(), embedded.NATSOptions{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	b := connect(t, n.URL())
	told(t, b, "demo", 1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	first, ended := make(chan bus.EventMessage, 1), make(chan error, 1)
	go func() {
		_, err := b.ReadEvents(ctx, "demo", bus.EventStart{}, true, func(m bus.EventMessage) bool { first <- m; return true })
		ended <- err
	}()
	next(t, first)
	_ = n.Close()
	if err := next(t, ended); problem.KindOf(err) != problem.Unavailable {
		t.Errorf("when the bus is gone, a reader ends with %v", err)
	}
}
