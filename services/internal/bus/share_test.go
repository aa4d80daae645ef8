package bus_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/settings"
)

// A project that fills the room for logs, with however many functions, loses only its own lines.
func TestProjectsShareTheRoomForLogs(t *testing.T) {
	url := server(t)
	b := connectWith(t, bus.Options{Server: bus.Server{URL: url}, Logs: bus.Logs{Total: 1}})
	say := func(project, function, text string) {
		t.Helper()
		err := b.PublishLog(t.Context(), project, function, &pb.LogLines{Instance: "i", Text: text})
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range 20 {
		say("quiet", "f", fmt.Sprint(n))
	}
	// Five times what there is room for, with a look after each tenth of the room.
	lines, removed := 0, uint64(0)
	for range 50 {
		for range 25 {
			for _, function := range []string{"f", "g", "h", "i"} {
				lines++
				say("loud", function, strings.Repeat("x", bus.MaxLogText))
			}
		}
		say("loud", "last", fmt.Sprint(lines))
		for deadline := time.Now().Add(patience); stream(t, url, "MM_LOGS").State.LastSeq != uint64(20+lines+lines/100); {
			if time.Now().After(deadline) {
				t.Fatal("lines do not arrive")
			}
		}
		n, err := b.ShareLogs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		removed += n
	}
	left := stream(t, url, "MM_LOGS", jetstream.WithSubjectFilter(">")).State.Subjects
	if left["mm.log.quiet.f"] != 20 {
		t.Errorf("%d lines of 20 are left", left["mm.log.quiet.f"])
	}
	if left["mm.log.loud.last"] != 50 {
		t.Errorf("of the function that says little %d lines of 50 are left", left["mm.log.loud.last"])
	}
	for _, function := range []string{"f", "g", "h", "i"} {
		if n := left["mm.log.loud."+function]; n < 100 || n > 300 {
			t.Errorf("%s has %d lines", function, n)
		}
	}
	if bytes := stream(t, url, "MM_LOGS").State.Bytes; bytes > 1<<20*8/10 || removed < 4000 {
		t.Errorf("%d messages are removed, %d bytes are left", removed, bytes)
	}
}

func TestRoomForEventsIsMadeForARate(t *testing.T) {
	for name, test := range map[string]struct {
		events bus.Events
		want   int64
	}{
		"by bytes":           {bus.Events{Bytes: 1 << 20}, 1 << 20},
		"by rate":            {bus.Events{Bytes: 1 << 20, Rate: 100, Age: time.Hour}, 100 * 300 * 3600},
		"the larger of both": {bus.Events{Bytes: 1 << 28, Rate: 1, Age: time.Hour}, 1 << 28},
	} {
		url := server(t)
		connectWith(t, bus.Options{Server: bus.Server{URL: url}, Events: test.events})
		if got := stream(t, url, "MM_EVENTS").Config.MaxBytes; got != test.want {
			t.Errorf("%s: room for %d bytes, want %d", name, got, test.want)
		}
	}
	for _, wrong := range []bus.Events{{Bytes: 1, Rate: -1}, {Bytes: 1, Rate: 1 << 40}, {Bytes: 1, Age: -1}, {}} {
		if settings.Check(&wrong) == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
}

// Projects that fill the room for events lose only their own, also when other projects have many more messages. What
// they publish goes on without a gap, and so it does after the publisher changed.
func TestProjectsShareTheRoomForEvents(t *testing.T) {
	url := server(t)
	const room, size, quiet = 2 << 20, 16 << 10, 500
	b := connectWith(t, bus.Options{Server: bus.Server{URL: url}, Events: bus.Events{Bytes: room}})
	ends, removed := map[string]bus.EventTail{}, map[string]uint64{}
	publish := func(project string, bytes int) {
		t.Helper()
		event := &pb.Event{Reason: strings.Repeat("x", bytes)}
		end, n, err := b.PublishEvents(t.Context(), &pb.Events{Project: project, Events: []*pb.Event{event}}, ends[project])
		if err != nil {
			t.Fatal(err)
		}
		ends[project], removed[project] = end, removed[project]+n
	}
	for range quiet {
		publish("quiet", 10)
	}
	for range 3 * room / size { // three times the room
		publish("loud", size)
	}
	left := stream(t, url, "MM_EVENTS", jetstream.WithSubjectFilter(">")).State.Subjects
	if n := left["mm.event.loud"]; n < room/size/2 || n > room/size*3/4 {
		t.Errorf("alone beside the quiet one, the loud one has %d messages of %d", n, room/size)
	}
	_, end, err := b.LastEvents(t.Context(), "loud")
	if err != nil || end.Sequence != ends["loud"].Sequence {
		t.Fatalf("%v, %v, want %v", end, err, ends["loud"])
	}
	ends["loud"] = end // another process goes on
	for range 3 * room / size {
		publish("loud", size)
		publish("noisy", size)
	}
	left = stream(t, url, "MM_EVENTS", jetstream.WithSubjectFilter(">")).State.Subjects
	if left["mm.event.quiet"] != quiet || removed["quiet"] > 0 {
		t.Errorf("%d of the quiet one's %d messages are left", left["mm.event.quiet"], quiet)
	}
	for _, project := range []string{"loud", "noisy"} {
		if n := left["mm.event."+project]; n < room/size/4 || n > room/size/2 {
			t.Errorf("%s has %d messages of %d", project, n, room/size)
		}
		if removed[project] == 0 {
			t.Errorf("%s is not said to have lost events", project)
		}
	}
	if bytes := stream(t, url, "MM_EVENTS").State.Bytes; bytes > room*95/100 {
		t.Errorf("%d bytes of %d are taken", bytes, room)
	}
}

// The work queue takes no more than it has room for, and says so; what it took stays.
func TestWorkQueueIsBoundedInBytes(t *testing.T) {
	b := connectWith(t, bus.Options{Server: bus.Server{URL: server(t)}, MatchBytes: 8 << 10})
	ids := make([]string, 2000)
	for i := range ids {
		ids[i] = fmt.Sprintf("match-%04d", i)
	}
	sent, err := b.EnqueueMatches(t.Context(), "demo", nil, slices.Collect(slices.Chunk(ids, 10))...)
	if err == nil || len(sent) == 0 || len(sent) == len(ids) {
		t.Fatalf("%d matches are sent, %v", len(sent), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var got []string
	worked := make(chan string)
	go func() {
		_ = b.ConsumeMatches(ctx, 1, func(_ context.Context, w *pb.MatchWork, _ int) error {
			worked <- w.GetMatch()
			return nil
		})
	}()
	for range sent {
		select {
		case id := <-worked:
			got = append(got, id)
		case <-time.After(patience):
			t.Fatalf("%d matches came, want %d", len(got), len(sent))
		}
	}
	cancel()
	if slices.Sort(got); !slices.Equal(got, sent) {
		t.Errorf("%q came, sent were %q", got, sent)
	}
	// There is room again.
	for deadline := time.Now().Add(patience); ; {
		if again, _ := b.EnqueueMatches(t.Context(), "demo", nil, []string{"match-1999"}); len(again) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the queue does not take matches again")
		}
	}
}

// A queue that an older version made gets its bound, and keeps its matches.
func TestOlderWorkQueueGetsItsBound(t *testing.T) {
	url := server(t)
	js, end := jetStream(t, url)
	defer end()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "MM_MATCHES", Subjects: []string{"mm.match.*"}, Retention: jetstream.WorkQueuePolicy,
		Duplicates: 2 * time.Minute,
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "mm.match.demo", nil); err != nil {
		t.Fatal(err)
	}
	connect(t, url)
	queue := stream(t, url, "MM_MATCHES")
	if queue.Config.MaxBytes <= 0 || queue.Config.Discard != jetstream.DiscardNew || queue.State.Msgs != 1 {
		t.Errorf("%+v", queue)
	}
}
