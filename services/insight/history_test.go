package insight_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/state"
)

// history is the matches of a ticket that waits for an hour, each as one line.
func (w *world) history(t *testing.T, ticket string) (*response.TicketHistory, string) {
	t.Helper()
	h := w.studio.History(t.Context(), "demo", ticket, w.store.Now().Add(-time.Hour))
	var lines []string
	for _, m := range h.Matches {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprint(m.Match, " ", m.State, " ", m.Failed, " ", m.Reason, " ",
			m.Detail, " ", m.Config, " ", m.Ended != "")), " "))
	}
	return h, strings.Join(lines, "\n")
}

func TestHistorySaysWhichMatchesOfATicketFailed(t *testing.T) {
	w := start(t, nil)
	if h, lines := w.history(t, "a"); lines != "" || !h.Complete || h.Error != "" {
		t.Errorf("before the first event: %+v", h)
	}
	because := func(e *pb.Event, reason, detail string) *pb.Event {
		e.Reason, e.Detail = reason, detail
		return e
	}
	scored := of(claimed, "m-1", "one", "a", "b")
	scored.Function, scored.Upload, scored.Score = "duel", 3, 1.5
	proposed, rejected := of(pb.Event_KIND_CLAIMED, "m-3", "one", "a"), of(pb.Event_KIND_RELEASED, "m-3", "", "a")
	proposed.Backfill, proposed.Place, rejected.Backfill = "game", "backfill/game", "game"
	w.publish(t, "demo", of(created, "", "", "a"), scored)
	w.publish(t, "demo", of(claimed, "m-0", "two", "c", "d"),
		because(of(pb.Event_KIND_RELEASED, "m-0", "two", "c"), "left", ""),
		because(of(pb.Event_KIND_RELEASED, "m-1", "one", "a"), "left", ""))
	w.publish(t, "demo", of(claimed, "m-2", "two", "a", "c"), because(of(pb.Event_KIND_FAILED, "m-2", "two", "a", "c"),
		"fleet-empty", "no server"))
	w.publish(t, "demo", proposed, because(rejected, "lapsed", ""))
	w.publish(t, "demo", of(claimed, "m-4", "two", "a"), of(pb.Event_KIND_ALLOCATING, "m-4", "two", "a"),
		because(of(pb.Event_KIND_FULL, "m-4", "two"), "timeout", "slow"))
	w.publish(t, "other", of(claimed, "m-5", "two", "a"))
	h, lines := w.history(t, "a")
	if want := "m-4 allocating false timeout slow two false\nm-3 released true lapsed one true\n" +
		"m-2 failed true fleet-empty no server two true\nm-1 released true left one true"; lines != want {
		t.Errorf("got\n%s\nwant\n%s", lines, want)
	}
	one := h.Matches[3]
	if !h.Complete || h.Error != "" || one.Function != "duel" || one.Upload != 3 || *one.Score != 1.5 {
		t.Errorf("%+v, the first match %+v", h, one)
	}
	w.publish(t, "demo", of(assigned, "m-4", "two", "a"))
	if _, lines := w.history(t, "a"); !strings.HasPrefix(lines, "m-4 assigned false two true\n") {
		t.Errorf("once it has a server: %s", lines)
	}
	if h.Ended != nil {
		t.Errorf("a ticket that waits ended: %+v", h.Ended)
	}
	for ticket, want := range map[string]string{"e1": "silent", "e2": "expired", "e3": "deleted", "e4": "replaced"} {
		kind, reason := pb.Event_KIND_EXPIRED, want
		switch want {
		case "expired":
			reason = "read"
		case "deleted":
			kind, reason = pb.Event_KIND_CANCELLED, "claimed"
		case "replaced":
			kind = pb.Event_KIND_CANCELLED
		}
		w.publish(t, "demo", because(of(kind, "", "", "x", ticket), reason, ""))
		if h, lines := w.history(t, ticket); h.Ended == nil || h.Ended.Reason != want || lines != "" {
			t.Errorf("%s: %+v, %s", want, h.Ended, lines)
		}
	}
}

func TestHistoryIsTheLatestMatches(t *testing.T) {
	w := start(t, nil)
	for i := range 13 {
		id := fmt.Sprint("m-", i)
		w.publish(t, "demo", of(claimed, id, "one", "a"), of(pb.Event_KIND_RELEASED, id, "one", "a"))
	}
	h, lines := w.history(t, "a")
	if len(h.Matches) != 10 || h.Complete || h.Error != "" || !strings.HasPrefix(lines, "m-12 released") ||
		h.Matches[9].Match != "m-3" {
		t.Errorf("%+v\n%s", h, lines)
	}
}

// A history that would take too much work ends early, and says so.
func TestHistoryLooksAtSoManyEventsOnly(t *testing.T) {
	w := start(t, nil)
	many := make([]*pb.Event, 20_000)
	for i := range many {
		many[i] = &pb.Event{Kind: created}
	}
	w.publish(t, "demo", of(claimed, "m", "one", "a"))
	for range 11 {
		w.publish(t, "demo", many...)
	}
	h, _ := w.history(t, state.NewID(w.store.Now()))
	if h.Complete || h.Error == "" {
		t.Errorf("%+v", h)
	}
}
