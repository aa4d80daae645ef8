package state_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// TestStateOfThisVersion: what writeAll writes is what goOn expects.
func TestStateOfThisVersion(t *testing.T) {
	url, _ := limited(t, "0")
	s := openStore(t, state.Options{Server: state.Server{URL: url}, History: 1000})
	writeAll(t, s)
	goOn(t, s)
}

// opponents are the two tickets of a match.
func opponents(match string) []string { return []string{match + "-a", match + "-b"} }

// writeAll writes some of everything: two configs, a function, a director that leads, and tickets, matches and a
// backfill ticket in each of their states.
func writeAll(t *testing.T, s *state.Store) {
	t.Helper()
	ctx := t.Context()
	revision, terms := setUp(t, s)
	terms.Approval = time.Minute
	_, _, err := s.PutConfig(ctx, project, &pb.Config{Id: "Ranked"}, state.AnyRevision)
	must(t, err)
	must(t, s.ChangeFunction(ctx, project, "duel", func(*pb.Function) (*pb.Function, error) {
		return &pb.Function{Name: "duel", Version: 3}, nil
	}))
	must(t, second(s.Heartbeat(ctx, "director-1", 1, time.Minute)))
	must(t, s.Allow(ctx, project, "configs", state.Rate{PerSecond: 1, Burst: 10}))

	follow(t, s).sees(t) // names the feed
	matches := []string{"claimed", "allocating", "hosted", "direct", "unused", "released"}
	ids := []string{"waiting", "joined", "proposed", "deleted"}
	for _, match := range matches {
		ids = append(ids, opponents(match)...)
	}
	create(t, s, ids...)
	large := ticket("large", 60)
	large.Properties = map[string][]byte{"blob": []byte(strings.Repeat("large ", 400))}
	must(t, s.At(at(60)).Creator(nil).Create(ctx, project, large))
	must(t, second(s.DeleteTicket(ctx, project, "deleted", "")))

	createGame(t, s, game("game", 3))
	fillGame := func(id string) {
		t.Helper()
		generation, err := s.Generation(ctx, project, "game")
		must(t, err)
		seen := game("game", 3)
		seen.Generation = generation
		c := fill(revision, seen, game("game", 2), id)
		if mustClaim(t, s, terms, c); c.Refusal != "" {
			t.Fatalf("refused: %q", c.Refusal)
		}
	}
	fillGame("joined")
	approve(t, s, "game", 0)
	fillGame("proposed")

	claims := map[string]*state.Claim{}
	var all []*state.Claim
	for _, match := range matches {
		c := claim(revision, match, opponents(match)...)
		if match == "direct" {
			c = direct(revision, match, "1.2.3.4:5", opponents(match)...)
		}
		claims[match] = c
		all = append(all, c)
	}
	mustClaim(t, s, terms, all...)
	for _, match := range []string{"allocating", "hosted", "unused"} {
		must(t, second(s.BeginAllocation(ctx, project, claims[match].Match, tenSecondLease("one", 10*time.Second))))
	}
	for _, id := range opponents("unused") {
		must(t, second(s.DeleteTicket(ctx, project, id, "")))
	}
	for _, match := range []string{"hosted", "unused"} {
		results := map[string]*pb.Assignment{}
		for _, id := range opponents(match) {
			results[id] = &pb.Assignment{Connection: "5.6.7.8:9"}
		}
		_, _, err := s.Assign(ctx, project, claims[match].Match, state.Outcome{Holder: "one", Readable: time.Minute,
			Connection: "5.6.7.8:9"}, results)
		must(t, err)
	}
	must(t, second(s.DeleteTicket(ctx, project, "released-a", "")))
	status, err := s.BeginAllocation(ctx, project, claims["released"].Match, tenSecondLease("one", 10*time.Second))
	if err != nil || status.Status != state.MatchDropped {
		t.Fatalf("a match that a ticket has left: %+v, %v", status, err)
	}
	entries, err := s.History(ctx, project, nil, 100)
	must(t, err)
	must(t, s.SetBookmark(ctx, project, entries[2].Bookmark))
}

// goOn reads what writeAll wrote, and takes all of it further until nothing is left.
func goOn(t *testing.T, s *state.Store) {
	t.Helper()
	ctx := t.Context()
	if known, err := s.Projects(ctx); err != nil || !slices.Equal(known, []string{project}) {
		t.Errorf("projects: %v, %v", known, err)
	}
	configs, err := s.Configs(ctx, project)
	if err != nil || len(configs) != 2 || configs["c"].GetFunction() != "duel" {
		t.Fatalf("configs: %v, %v", configs, err)
	}
	_, _, err = s.PutConfig(ctx, project, &pb.Config{Id: "ranked"}, state.AnyRevision)
	kindOf(t, err, problem.Conflict)
	if f, err := s.Function(ctx, project, "duel"); err != nil || f.GetVersion() != 3 {
		t.Errorf("function: %v, %v", f, err)
	}

	waiting := []string{"waiting", "large", "released-b"}
	m := follow(t, s)
	m.sees(t, waiting...)
	got, err := s.Ticket(ctx, project, "waiting")
	must(t, err)
	if diff := cmp.Diff(ticket("waiting", 0), got.Body, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	for id, want := range map[string]string{"direct-a": "1.2.3.4:5", "hosted-b": "5.6.7.8:9", "joined": "game:1",
		"claimed-a": "", "proposed": ""} {
		if got := assigned(t, s, id); got.GetConnection() != want {
			t.Errorf("%s is sent to %q, want %q", id, got.GetConnection(), want)
		}
	}

	// Another director takes over, but not before the lease has expired.
	if epoch, err := s.AcquireLease(ctx, project, "director-2", time.Second); err != nil || epoch != 0 {
		t.Errorf("the lease of another director was taken: epoch %d, %v", epoch, err)
	}
	epoch, err := s.At(at(1)).AcquireLease(ctx, project, "director-2", time.Second)
	if err != nil || epoch <= 1 {
		t.Errorf("epoch %d, %v", epoch, err)
	}
	terms := state.ClaimOptions{Epoch: epoch, Claim: 10 * time.Second, Readable: time.Minute}
	next := direct(configs["c"].GetRevision(), "next", "1.2.3.4:6", "waiting", "large")
	if mustClaim(t, s, terms, next); next.Refusal != "" {
		t.Errorf("refused: %q", next.Refusal)
	}

	allocating, err := s.Match(ctx, project, "allocating")
	must(t, err)
	begin := func(holder string, want state.MatchStatus) {
		t.Helper()
		b, err := s.At(at(5)).BeginAllocation(ctx, project, allocating, tenSecondLease(holder, 10*time.Second))
		if err != nil || b.Status != want {
			t.Errorf("%s begins: %+v, %v", holder, b, err)
		}
	}
	begin("two", state.MatchLeased)
	begin("one", state.MatchActive)
	results := map[string]*pb.Assignment{}
	for _, id := range opponents("allocating") {
		results[id] = &pb.Assignment{Connection: "9.9.9.9:9"}
	}
	status, ids, err := s.At(at(6)).Assign(ctx, project, allocating, state.Outcome{Holder: "one", Readable: time.Minute,
		Connection: "9.9.9.9:9"}, results)
	if err != nil || status != state.MatchActive || len(ids) != 2 {
		t.Errorf("assign: %v %v, %v", status, ids, err)
	}
	for _, id := range opponents("allocating") {
		if got := assigned(t, s, id); got.GetConnection() != "9.9.9.9:9" {
			t.Errorf("%s is sent to %q", id, got.GetConnection())
		}
	}
	if approved := approve(t, s, "game", 7); !slices.Equal(idsOf(approved.Assigned), []string{"proposed"}) {
		t.Errorf("the approval assigned %v", idsOf(approved.Assigned))
	}
	released, _, err := s.At(at(10)).ReleaseOverdueMatches(ctx, project, 10)
	if err != nil || len(released) != 1 || released[0] != "claimed" {
		t.Errorf("released: %v, %v", released, err)
	}
	m.sees(t, "released-b", "claimed-a", "claimed-b")
	wantDeallocations(t, s, at(11), "unused")

	mark, err := s.Bookmark(ctx, project)
	must(t, err)
	history, err := s.History(ctx, project, mark, 100)
	if err != nil || len(history) < 5 {
		t.Fatalf("history: %v, %v", history, err)
	}
	for _, entry := range history {
		for _, event := range entry.Events {
			if event.GetKind() == pb.Event_KIND_GAP {
				t.Errorf("events are missing: %v", event)
			}
		}
	}

	late := s.At(at(100_000))
	_, _, err = late.DeleteSilentBackfills(ctx, project, time.Minute, 10)
	must(t, err)
	for range 3 {
		must(t, second(late.Expire(ctx, project, time.Hour, time.Minute, 100)))
	}
	strays, err := s.Strays(ctx, project)
	if err != nil || len(strays) != 0 {
		t.Errorf("strays: %v, %v", strays, err)
	}
}
