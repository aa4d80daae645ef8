package runner_test

import (
	"context"
	"slices"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/adhoc"
)

func TestListIsAnsweredFromTheIndexWithoutARun(t *testing.T) {
	w := newWorld(t)
	w.put(project, "guest", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("guest", 1)
	requester := adhoc.Requester{Bus: w.bus}
	ask := func(l *pb.Listing, pools map[string]*pb.Pool) adhoc.Answer {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return requester.Ask(ctx, &pb.RunRequest{Project: project, Function: "guest", Position: w.position(), Pools: pools,
			Settings: []byte(`{"do":"trap"}`), Listing: l}) // a run would fail
	}
	if a := ask(&pb.Listing{Limit: 5}, nil); a.Failure != "" || a.Listed == nil || len(a.Listed.GetTickets()) > 0 {
		t.Fatalf("before the first ticket: %+v", a)
	}
	var ids []string
	for skill := range 5 {
		ids = append(ids, w.ticket(float64(skill), nil))
	}
	low := 2.0
	filters := []*pb.Filter{{Attribute: "skill", Min: &low}}
	a := ask(&pb.Listing{Limit: 2, Filters: filters}, nil)
	if a.Failure != "" || !slices.Equal(a.Listed.GetTickets(), ids[2:4]) || a.Listed.GetTotal() != 3 ||
		!a.Listed.GetMore() || a.Cost <= 0 {
		t.Fatalf("the first page: %+v", a)
	}
	a = ask(&pb.Listing{Limit: 2, After: ids[3], AfterCreated: a.Listed.GetLastCreated()},
		map[string]*pb.Pool{"high": {Filters: filters}})
	if a.Failure != "" || !slices.Equal(a.Listed.GetTickets(), ids[4:]) || a.Listed.GetMore() {
		t.Fatalf("the last page: %+v", a)
	}
	if a := ask(&pb.Listing{Limit: 1_000_000, Player: "owner-2"}, nil); !slices.Equal(a.Listed.GetTickets(), ids[1:2]) {
		t.Errorf("of a player: %+v", a)
	}
}

func TestPartsSayWhichUploadRuns(t *testing.T) {
	w := newWorld(t)
	w.put(project, "guest", w.guest)
	w.must(w.store.ChangeFunction(t.Context(), project, "guest", func(f *pb.Function) (*pb.Function, error) {
		f.Version = 7
		return f, nil
	}))
	w.startRunner("runner-1", quickSettings())
	w.waitServing("guest", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)
	parts := make(chan *pb.RunPart, 16)
	run, err := w.bus.StartRun(t.Context(), &pb.RunRequest{Run: "r", Project: project, Function: "guest",
		Position: w.position(), Budget: 20_000, Settings: []byte(`{"do":"pair"}`)}, func(p bus.Part) { parts <- p.RunPart })
	w.must(err)
	defer run.Stop()
	for p := range parts {
		if len(p.GetProposals()) > 0 && p.GetUpload() != 7 {
			t.Errorf("a part with proposals is of upload %d", p.GetUpload())
		}
		if p.GetLast() {
			if p.GetError() != "" || p.GetUpload() != 7 {
				t.Errorf("the last part: %v", p)
			}
			return
		}
	}
}
