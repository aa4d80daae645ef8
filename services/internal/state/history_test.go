package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// readHistory reads the history after a bookmark, one line per event, and returns the last bookmark.
func readHistory(t *testing.T, s *state.Store, after *pb.Bookmark) ([]string, *pb.Bookmark) {
	t.Helper()
	var lines []string
	for {
		entries, err := s.History(t.Context(), project, after, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 0 {
			return lines, after
		}
		for _, entry := range entries {
			for _, e := range entry.Events {
				lines = append(lines, line(e))
			}
			after = entry.Bookmark
		}
	}
}

func line(e *pb.Event) string {
	kind := strings.ToLower(strings.TrimPrefix(e.GetKind().String(), "KIND_"))
	words := []string{kind}
	for _, word := range []string{e.GetReason(), e.GetError(), e.GetMatch(), e.GetBackfill(), strings.Join(e.GetTickets(),
		",")} {
		if word != "" {
			words = append(words, word)
		}
	}
	if e.GetEpoch() > 0 {
		words = append(words, fmt.Sprintf("(director %d)", e.GetEpoch()-uint64(epoch0.UnixMilli())+1))
	}
	return strings.Join(words, " ")
}

func wantHistory(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("the history says\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// must fails the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func second[A, B any](_ A, b B) B        { return b }
func third[A, B, C any](_ A, _ B, c C) C { return c }

func TestHistoryHasAllEventsOfATicket(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b", "c", "d", "e", "f", "g", "h")
		dropped, overdue, served := claim(revision, "dropped", "a", "b"), claim(revision, "overdue", "b",
			"c"), claim(revision, "served", "c", "d")
		atOnce, failed := direct(revision, "at-once", "1.2.3.4:5", "e", "f"), direct(revision, "failed", "", "g")
		failed.Match.Proposal.Error = "PoolTimeout"
		mustClaim(t, s, terms, dropped, atOnce, failed)
		must(t, second(s.DeleteTicket(t.Context(), project, "a", "")))
		must(t, third(take(t.Context(), s, dropped.Match, epoch0, at(10))))
		mustClaim(t, s, terms, overdue)
		must(t, third(s.At(at(10)).ReleaseOverdueMatches(t.Context(), project, 10)))
		mustClaim(t, s, terms, served)
		must(t, third(take(t.Context(), s, served.Match, epoch0, at(10))))
		must(t, second(s.DeleteTicket(t.Context(), project, "c", "")))
		must(t, third(s.At(at(1)).Assign(t.Context(), project, served.Match, state.Outcome{Holder: "one",
			Readable: time.Hour}, map[string]*pb.Assignment{"c": {}, "d": {}})))
		must(t, second(s.DeleteTicket(t.Context(), project, "d", "")))
		must(t, second(s.DeleteTicket(t.Context(), project, "h", "")))
		must(t, second(s.At(at(60)).Expire(t.Context(), project, 0, time.Minute, 10)))
		must(t, s.AppendEvent(t.Context(), project, &pb.Event{Kind: pb.Event_KIND_RETURNED, Match: "served",
			Tickets: []string{"x", "y"}}))

		lines, end := readHistory(t, s, nil)
		wantHistory(t, lines,
			"created a", "created b", "created c", "created d", "created e", "created f", "created g", "created h",
			"claimed dropped a,b (director 1)", "assigned at-once e,f (director 1)", "failed function PoolTimeout failed g "+
				"(director 1)",
			"cancelled claimed a",
			"released left dropped b",
			"claimed overdue b,c (director 1)",
			"released deadline overdue b,c",
			"claimed served c,d (director 1)",
			"allocating served c,d",
			"cancelled claimed c",
			"assigned served d",
			"cancelled resolved d",
			"cancelled waiting h",
			"expired abandoned b",
			"expired read e,f,g",
			"returned served x,y",
		)
		if lines, _ := readHistory(t, s, end); len(lines) > 0 {
			t.Errorf("read twice: %s", lines)
		}
		all, err := s.History(t.Context(), project, nil, 100)
		must(t, err)
		claimed := all[8].Events
		if e := claimed[0]; e.GetConfig() != "c" || e.GetRevision() != revision || e.GetTime() != epoch0.UnixMilli() {
			t.Errorf("an event without its config, revision or time: %v", e)
		}
		if claimed[0].GetPosition() != claimed[2].GetPosition() ||
			claimed[0].GetPosition() <= all[7].Events[0].GetPosition() {
			t.Errorf("positions %v", claimed)
		}
	})
}

func TestHistoryIsOffByDefault(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		create(t, s, "a")
		must(t, s.AppendEvent(t.Context(), project, &pb.Event{Kind: pb.Event_KIND_RETURNED}))
		if lines, _ := readHistory(t, s, nil); len(lines) > 0 {
			t.Error(lines)
		}
	})
}

func TestHistoryContinuesAfterTheBookmark(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		if b, err := s.Bookmark(t.Context(), project); err != nil || b != nil {
			t.Fatal(b, err)
		}
		for i := range 300 { // the server trims whole nodes of a hundred
			create(t, s, fmt.Sprint("t", i))
		}
		_, end := readHistory(t, s, nil)
		must(t, s.SetBookmark(t.Context(), project, end))
		create(t, s, "next")
		from, err := s.Bookmark(t.Context(), project)
		must(t, err)
		lines, _ := readHistory(t, s, from)
		wantHistory(t, lines, "created next")
		// Published events are trimmed.
		lines, _ = readHistory(t, s, nil)
		if len(lines) > 150 || lines[0] != "gap trimmed" {
			t.Errorf("%d events are kept, first %s", len(lines), lines[0])
		}
	})
}

func TestTrimmedHistoryHasAGap(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 10})
		create(t, s, "first")
		_, at := readHistory(t, s, nil)
		for i := range 500 {
			create(t, s, fmt.Sprint("t", i))
		}
		lines, _ := readHistory(t, s, at)
		if lines[0] != "gap trimmed" || lines[len(lines)-1] != "created t499" || len(lines) > 200 ||
			slices.Contains(lines[1:], "gap trimmed") {
			t.Errorf("%d events, from %s to %s", len(lines), lines[0], lines[len(lines)-1])
		}
	})
}

func TestReplacedHistoryHasAGap(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		create(t, s, "a", "b", "c")
		_, end := readHistory(t, s, nil)
		must(t, s.Flush(t.Context()))
		lines, _ := readHistory(t, s, end)
		wantHistory(t, lines, "gap replaced")
		create(t, s, "d")
		lines, _ = readHistory(t, s, end)
		wantHistory(t, lines, "gap replaced", "created d")
		// The new history reaches the old position. Only the check shows the difference.
		create(t, s, "e", "f", "g", "h")
		lines, now := readHistory(t, s, end)
		wantHistory(t, lines, "gap replaced", "created d", "created e", "created f", "created g", "created h")
		if lines, _ := readHistory(t, s, now); len(lines) > 0 {
			t.Errorf("read twice: %s", lines)
		}
	})
}

func TestHistoryThatWasPutBackContinuesAfterTheBookmark(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		create(t, s, "a", "b")
		_, before := readHistory(t, s, nil)
		must(t, s.SetBookmark(t.Context(), project, before))
		create(t, s, "lost")
		_, end := readHistory(t, s, before)
		must(t, s.PutBack(t.Context(), project))
		create(t, s, "other")
		lines, _ := readHistory(t, s, end)
		wantHistory(t, lines, "gap replaced", "created other")
		// The new history goes on beyond the old position, which is now within an entry.
		must(t, s.PutBack(t.Context(), project))
		must(t, s.AppendEvent(t.Context(), project, &pb.Event{Kind: pb.Event_KIND_RETURNED, Match: "m"}))
		create(t, s, "another")
		lines, _ = readHistory(t, s, end)
		wantHistory(t, lines, "gap replaced", "returned m", "created another")
	})
}

// A function proposes as many matches with as much to tell as it can. The bus takes no message of more than 1 MiB, with
// a quarter of that from entries before: a larger entry would keep all events of the project back.
func TestEventsOfAScriptFitIntoAMessage(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 100_000})
		revision, terms := setUp(t, s)
		var claims []*state.Claim
		for i := range 512 {
			id := fmt.Sprint("t", i)
			create(t, s, id)
			c := direct(revision, fmt.Sprint("m", i), "here", id)
			for len(c.Match.Proposal.Teams) < 32 {
				c.Match.Proposal.Teams = append(c.Match.Proposal.Teams, &pb.Team{Name: strings.Repeat("x", 256)})
			}
			claims = append(claims, c)
		}
		mustClaim(t, s, terms, claims...)
		entries, err := s.History(t.Context(), project, nil, 10_000)
		must(t, err)
		assigned := 0
		for _, entry := range entries {
			size := 0
			for _, e := range entry.Events {
				size += proto.Size(e)
				if e.GetKind() == pb.Event_KIND_ASSIGNED {
					assigned++
				}
			}
			if size > 768<<10 {
				t.Errorf("an entry has %d bytes", size)
			}
		}
		if assigned != len(claims) {
			t.Errorf("%d matches are assigned", assigned)
		}
	})
}
