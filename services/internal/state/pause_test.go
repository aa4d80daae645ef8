package state_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// pausing lets players of the project pause for 30 seconds at first, and for two minutes at most.
func pausing(t *testing.T, s *state.Store) *pb.ProjectSettings {
	t.Helper()
	settings := &pb.ProjectSettings{Acceptance: &pb.AcceptanceRules{FirstPause: 30_000, LongestPause: 120_000}}
	must(t, s.PutSettings(t.Context(), project, settings, state.AnyRevision))
	return settings
}

// createBy creates a ticket by the settings of the project.
func createBy(t *testing.T, s *state.Store, settings *pb.ProjectSettings, one *pb.Ticket) error {
	t.Helper()
	_, err := s.Creator(nil).CreateAs(t.Context(), project, state.Creation{Ticket: one, Settings: settings})
	return err
}

// wantPause checks that a ticket is refused for that long because of a player.
func wantPause(t *testing.T, err error, player string, after time.Duration) {
	t.Helper()
	var e *problem.Error
	if !errors.As(err, &e) || e.Kind != problem.Limited || e.RetryAfter != after || e.Limit == nil ||
		e.Limit.Name != "acceptance.pause" || !strings.Contains(e.Detail, fmt.Sprintf("player %q declined", player)) {
		t.Fatalf("got %+v, want a pause of %s for %v", err, player, after)
	}
}

func TestPlayersPauseWhoMissedAMatch(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		settings := pausing(t, s)
		n, now := 0, epoch0
		// miss lets a ticket of ada and bob, and one of carol, be asked. ada and carol accept, bob does not.
		miss := func(how func(ticket, match string)) {
			t.Helper()
			n++
			group, other, match := group(fmt.Sprint("group-", n), n, "ada", "bob"), ticket("other", n), fmt.Sprint("m", n)
			other.Owner, other.Id = "carol", fmt.Sprint("other-", n)
			must(t, createBy(t, s.At(now), settings, group))
			must(t, createBy(t, s.At(now), settings, other))
			m := offer(revision, match, group.Id, other.Id)
			mustClaim(t, s.At(now), terms, m)
			if m.Refusal != "" {
				t.Fatal(m.Refusal)
			}
			for id, player := range map[string]string{group.Id: "ada", other.Id: "carol"} {
				if _, err := s.At(now).AnswerMatch(t.Context(), project, state.Answer{Ticket: id, Match: match, Accept: true,
					Players: []string{player}}); err != nil {
					t.Fatal(err)
				}
			}
			how(group.Id, match)
			if ended := endAcceptances(t, s.At(now)); len(ended.Failed) != 1 {
				t.Fatalf("ended: %+v", ended)
			}
			must(t, second(s.DeleteTicket(t.Context(), project, other.Id, "")))
		}
		decline := func(ticket, match string) {
			must(t, second(s.At(now).AnswerMatch(t.Context(), project, state.Answer{Ticket: ticket, Match: match,
				Players: []string{"bob"}})))
		}
		silent := func(string, string) { now = now.Add(20 * time.Second) }
		leave := func(ticket, _ string) {
			must(t, third(s.At(now).Leave(t.Context(), project,
				state.Leaving{Ticket: ticket, Player: "bob", By: "bob", Decline: []string{"bob"}})))
		}
		pauses := func(player string, left time.Duration) {
			t.Helper()
			one := group("refused", n, "zoe", player)
			wantPause(t, createBy(t, s.At(now), settings, one), player, left)
			now = now.Add(left - time.Millisecond)
			wantPause(t, createBy(t, s.At(now), settings, one), player, time.Millisecond)
			now = now.Add(time.Millisecond)
			must(t, createBy(t, s.At(now), settings, one))
			must(t, second(s.DeleteTicket(t.Context(), project, one.Id, "")))
		}
		miss(decline)
		for _, player := range []string{"ada", "carol"} { // players that accepted search on at once
			one := ticket("free", n)
			one.Owner = player
			must(t, createBy(t, s.At(now), settings, one))
			must(t, second(s.DeleteTicket(t.Context(), project, one.Id, "")))
		}
		pauses("bob", 30*time.Second)
		miss(silent)
		pauses("bob", 60*time.Second)
		miss(leave)
		pauses("bob", 120*time.Second)
		miss(decline)
		pauses("bob", 120*time.Second)
		now = now.Add(120*time.Second - time.Millisecond)
		miss(decline)
		pauses("bob", 120*time.Second)
		now = now.Add(120 * time.Second) // without missing a match
		miss(decline)
		pauses("bob", 30*time.Second)
		// A clock that was ahead makes no pause longer than the longest.
		miss(decline)
		now = now.Add(-time.Hour)
		wantPause(t, createBy(t, s.At(now), settings, group("refused", n, "bob")), "bob", 120*time.Second)
		// Without the setting no player pauses.
		must(t, s.PutSettings(t.Context(), project, new(pb.ProjectSettings), state.AnyRevision))
		settings, err := s.Settings(t.Context(), project)
		must(t, err)
		must(t, createBy(t, s.At(now), settings, group("free", n, "bob")))
		keys, err := s.AllKeys(t.Context(), "*:pauses:*")
		if must(t, err); len(keys) == 0 {
			t.Fatal("no pauses are stored")
		}
		for _, key := range keys {
			ttl, err := s.TTL(t.Context(), key)
			if must(t, err); ttl <= 0 || ttl > 480*time.Second {
				t.Errorf("%s is kept for %v", key, ttl)
			}
		}
	})
}

// A player that is silent, or leaves through a replacement, does not get around the pause.
func TestTicketThatIsAskedIsNotReplacedWherePlayersPause(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		settings := pausing(t, s)
		settings.Tickets = &pb.TicketRules{PlayerLimit: 1, WhenReached: "replace"}
		must(t, s.PutSettings(t.Context(), project, settings, state.AnyRevision))
		old, newer := ticket("old", 0), ticket("newer", 1)
		newer.Owner = old.Owner
		must(t, createBy(t, s, settings, old))
		must(t, createBy(t, s, settings, ticket("other", 0)))
		mustClaim(t, s, terms, offer(revision, "m", "old", "other"))
		kindOf(t, createBy(t, s, settings, newer), problem.Conflict)
		mustSay(t, s, true, false, "old")
		kindOf(t, createBy(t, s, settings, newer), problem.Conflict) // until the director has ended the acceptance
		endAcceptances(t, s)
		wantPause(t, createBy(t, s, settings, newer), old.Owner, 30*time.Second)
	})
}

// However creates race with the end of an acceptance, a ticket is there before the pause or is refused by it.
func TestPauseHoldsUnderRaces(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		settings := pausing(t, s)
		must(t, createBy(t, s, settings, ticket("a", 0)))
		must(t, createBy(t, s, settings, ticket("b", 0)))
		mustClaim(t, s, terms, offer(revision, "m", "a", "b"))
		mustSay(t, s, true, false, "a")
		var ended atomic.Bool
		var racing sync.WaitGroup
		for n := range 8 {
			racing.Go(func() {
				for i := range 20 {
					one, after := ticket(fmt.Sprint("late-", n, "-", i), 0), ended.Load()
					one.Owner = "owner-of-a"
					err := createBy(t, s, settings, one)
					if err == nil && after {
						t.Errorf("%s was created in the pause", one.Id)
					}
					if err != nil && problem.KindOf(err) != problem.Limited {
						t.Error(err)
					}
				}
			})
		}
		endAcceptances(t, s)
		ended.Store(true)
		racing.Wait()
		one := ticket("last", 0)
		one.Owner = "owner-of-a"
		wantPause(t, createBy(t, s, settings, one), one.Owner, 30*time.Second)
	})
}
