package bus_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

// awaitRunner waits until a function of a project is served.
func awaitRunner(t *testing.T, b *bus.Bus, project, function string) {
	t.Helper()
	n := 0
	waittest.Until(t, "a runner answers", func() bool {
		n++
		parts := make(chan *pb.RunPart, 10)
		run, err := b.StartRun(t.Context(), &pb.RunRequest{Run: fmt.Sprint("w", n), Project: project, Function: function},
			func(p bus.Part) { parts <- p.RunPart })
		if err != nil {
			t.Fatal(err)
		}
		defer run.Stop()
		first := next(t, parts)
		return first.GetRunner() != "" || first.GetLast() && first.GetError() == ""
	})
}

// The reader of a long answer rests after each part that took it a millisecond, and never after short ones.
func TestReaderOfALongAnswerRests(t *testing.T) {
	rests := 0
	b := connectWith(t, bus.Options{Server: bus.Server{URL: server(t)}, Rest: func() { rests++ }})
	const n = 20
	if _, err := b.ServeRuns("runner-1", "p", "f", func(_ context.Context, r *pb.RunRequest, answer bus.SendPart) {
		for range n {
			if err := answer(&pb.RunPart{Error: strings.Repeat("x", int(r.GetBudget()))}); err != nil {
				t.Error(err)
			}
		}
		if err := answer(&pb.RunPart{Last: true}); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int64]int{64 << 10: n, 1 << 10: 0} {
		rests = 0
		done := make(chan struct{})
		r := &pb.RunRequest{Run: fmt.Sprint(size), Project: "p", Function: "f", Budget: size}
		run, err := b.StartRun(t.Context(), r, func(p bus.Part) {
			for began := time.Now(); time.Since(began) < time.Millisecond; { // it works
			}
			if p.GetLast() {
				close(done)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Stop()
		if next(t, done); rests != want {
			t.Errorf("%d rests in %d parts of %d bytes, want %d", rests, n, size, want)
		}
	}
}

// No reader takes the parts of one project, which come without end. They neither fill the memory nor hold up the parts
// of another project, and their run ends with an error that says why.
// Promise 9.
func TestPartsOfAProjectWaitForNoOtherProject(t *testing.T) {
	url := server(t)
	director, err := bus.Connect(t.Context(), bus.Options{
		Server: bus.Server{URL: url}, PartsPending: 1 << 20, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = director.Close(context.WithoutCancel(t.Context())) })
	waittest.Until(t, "the bus is connected", director.Connected)
	runner := connect(t, url)
	flood, more := make(chan bus.SendPart, 100), strings.Repeat("x", 64<<10)
	for project, handle := range map[string]func(run string, answer bus.SendPart){
		"flood": func(run string, answer bus.SendPart) {
			if run == "f" { // and none of those by which awaitRunner finds out that the runner is there
				flood <- answer
			}
		},
		"quiet": func(_ string, answer bus.SendPart) { _ = answer(&pb.RunPart{Last: true}) },
	} {
		if _, err := runner.ServeRuns("runner-1", project, "duel",
			func(_ context.Context, r *pb.RunRequest, answer bus.SendPart) { handle(r.GetRun(), answer) }); err != nil {
			t.Fatal(err)
		}
		awaitRunner(t, director, project, "duel")
	}

	read, parts := make(chan struct{}), make(chan *pb.RunPart, 1000)
	run, err := director.StartRun(t.Context(), &pb.RunRequest{Run: "f", Project: "flood", Function: "duel"},
		func(p bus.Part) {
			<-read
			parts <- p.RunPart
		})
	if err != nil || run.Bytes == 0 {
		t.Fatal(run, err)
	}
	defer run.Stop()
	answer := next(t, flood)
	for range 100 {
		if err := answer(&pb.RunPart{Proposals: []*pb.Proposal{{Connection: more}}}); err != nil {
			t.Fatal(err)
		}
	}
	quiet := make(chan *pb.RunPart, 10)
	other, err := director.StartRun(t.Context(), &pb.RunRequest{Run: "q", Project: "quiet", Function: "duel"},
		func(p bus.Part) { quiet <- p.RunPart })
	if err != nil {
		t.Fatal(err)
	}
	defer other.Stop()
	if last := next(t, quiet); !last.GetLast() {
		t.Errorf("the other project got %v", last)
	}

	// What the runner sent before the ping has arrived, or was dropped.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, b := range []*bus.Bus{runner, director} {
		if err := b.Ping(ctx); err != nil {
			t.Fatal(err)
		}
	}
	close(read)
	n := 0
	for p := next(t, parts); ; p = next(t, parts) {
		if n++; n == 8 { // room again: the next part has a gap before it
			if err := answer(&pb.RunPart{Last: true}); err != nil {
				t.Fatal(err)
			}
		}
		if p.GetLast() {
			if p.GetError() != bus.Dropped {
				t.Errorf("the run ended with %q", p.GetError())
			}
			break
		}
	}
	if n > 20 {
		t.Errorf("%d parts of 64 KiB waited, want at most 1 MiB of them", n)
	}
}
