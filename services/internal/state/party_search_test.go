package state_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// searches starts the search of a party, with a ticket of all members.
func searches(t *testing.T, s *state.Store, id, ticket string) {
	t.Helper()
	p, err := s.Party(t.Context(), project, id)
	must(t, err)
	settings, err := s.Settings(t.Context(), project)
	must(t, err)
	var players []string
	for _, m := range p.GetMembers() {
		players = append(players, m.GetPlayer())
	}
	one := group(ticket, 1, players...)
	p.Search = &pb.Search{Ticket: ticket}
	changed, _, _, err := s.StartSearch(t.Context(), project, p, one, settings, time.Minute, time.Second)
	if err != nil || changed {
		t.Fatal(changed, err)
	}
}

// stops ends the search after another change of the party.
func stops(how func(*pb.Party) (*pb.Party, error)) func(*pb.Party) (*pb.Party, error) {
	return func(p *pb.Party) (*pb.Party, error) {
		p, err := how(p)
		if p != nil {
			p.Search = nil
		}
		return p, err
	}
}

// What is refused leaves the party, its search and the match that asks it as they were.
func TestRefusedChangeOfAPartyEndsNoSearch(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		pausing(t, s)
		must(t, s.CreateParty(t.Context(), project, partyOf("1", "ada", "bob"), fewParties))
		must(t, s.CreateParty(t.Context(), project, partyOf("2", "eve"), fewParties))
		searches(t, s, "1", "a")
		large := func(p *pb.Party) (*pb.Party, error) {
			p.Members = append(p.Members, &pb.Member{Player: "zoe", Properties: map[string][]byte{
				"save": make([]byte, state.MaxPartySize)}})
			return p, nil
		}
		refuses := func(p *pb.Party) (*pb.Party, error) { return p, errors.New("the party is full") }
		silent := fewParties
		silent.OnlySilent = true
		check := func(phase string, more map[string]func() error) {
			t.Helper()
			before, err := s.Contents(t.Context())
			must(t, err)
			cases := map[string]func() error{
				"of another party": func() error { return change(t, s, "1", fewParties, stops(joins("eve"))) },
				"too large":        func() error { return change(t, s, "1", fewParties, stops(large)) },
				"full":             func() error { return change(t, s, "1", fewParties, stops(refuses)) },
				"heard":            func() error { return change(t, s, "1", silent, stops(leaves("bob"))) },
			}
			maps.Copy(cases, more)
			for name, refused := range cases {
				if err := refused(); err == nil {
					t.Errorf("%s, %s: not refused", phase, name)
				}
				after, err := s.Contents(t.Context())
				must(t, err)
				if diff := cmp.Diff(before, after); diff != "" {
					t.Fatalf("%s, %s: %s", phase, name, diff)
				}
			}
		}
		check("waits", nil)
		mustClaim(t, s, terms, offer(revision, "m", "a"))
		check("asks", map[string]func() error{"a stranger joins": func() error {
			_, _, err := s.ChangeParty(t.Context(), project, "1", fewParties,
				state.Leaving{By: "zoe", Decline: []string{"zoe"}}, stops(joins("zoe")))
			kindOf(t, err, problem.Conflict)
			return err
		}})
		mustSay(t, s, true, true, "a")
		check("accepted", nil)
	})
}

// A change that ends the search ends it in the same step.
func TestChangeOfAPartyEndsItsSearch(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		settings := pausing(t, s)
		must(t, s.CreateParty(t.Context(), project, partyOf("1", "ada", "bob", "eve"), fewParties))
		ends := func(ticket string, by state.Leaving, how func(*pb.Party) (*pb.Party, error), declined bool) {
			t.Helper()
			p, ended, err := s.ChangeParty(t.Context(), project, "1", fewParties, by, how)
			must(t, err)
			if ended.Ticket != ticket || ended.Declined != declined || p.GetSearch() != nil {
				t.Errorf("ended %+v, the party has %v", ended, p)
			}
			if ticket != "" {
				_, err = s.Ticket(t.Context(), project, ticket)
				kindOf(t, err, problem.NotFound)
			}
		}
		searches(t, s, "1", "a")
		ends("a", state.Leaving{By: "zoe"}, stops(joins("zoe")), false)
		isWaiting(t, s)
		searches(t, s, "1", "b")
		mustClaim(t, s, terms, offer(revision, "m", "b"))
		// Only players of the ticket decline by that.
		ends("b", state.Leaving{By: "bob", Decline: []string{"bob", "mallory"}}, stops(leaves("bob")), true)
		endAcceptances(t, s)
		wantPause(t, createBy(t, s, settings, group("n", 9, "bob")), "bob", 30*time.Second)
		must(t, createBy(t, s, settings, group("n", 9, "mallory")))
		// A result stays.
		searches(t, s, "1", "c")
		mustClaim(t, s, terms, direct(revision, "d", "1.2.3.4:5", "c"))
		ends("", state.Leaving{By: "eve"}, stops(leaves("eve")), false)
		if result, err := s.Ticket(t.Context(), project, "c"); err != nil || result.Assignment.GetConnection() == "" {
			t.Errorf("the result is %v, %v", result, err)
		}
	})
}

// A leader cannot search again and again with a member that is away and misses each match.
func TestMemberWhoIsNotThereMissesOneMatch(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		first, now := open(state.Options{}), epoch0
		s := first
		wait := func(d time.Duration) {
			now = now.Add(d)
			s = first.At(now)
		}
		revision, terms := setUp(t, s)
		settings := pausing(t, s)
		must(t, s.CreateParty(t.Context(), project, partyOf("1", "ada", "bob"), fewParties))
		hear := func(player string) {
			t.Helper()
			must(t, second(s.HearOfMember(t.Context(), project, "1", player, time.Second)))
		}
		search := func(ticket string) error {
			t.Helper()
			p, err := s.Party(t.Context(), project, "1")
			must(t, err)
			p.Search = &pb.Search{Ticket: ticket}
			_, _, _, err = s.StartSearch(t.Context(), project, p, group(ticket, 1, "ada", "bob"), settings, time.Minute,
				time.Second)
			return err
		}
		wait(10 * time.Second)
		must(t, search("a"))
		mustClaim(t, s, terms, offer(revision, "m", "a"))
		mustSay(t, s, false, true, "a", "ada")
		wait(20 * time.Second)
		if ended := endAcceptances(t, s); len(ended.Ended()) != 1 {
			t.Fatalf("ended: %+v", ended)
		}
		wait(5 * time.Second)
		hear("ada")
		wantPause(t, search("b"), "bob", 25*time.Second)
		wait(25 * time.Second)
		kindOf(t, search("b"), problem.Conflict)
		isWaiting(t, s)
		hear("bob")
		must(t, search("b"))
		isWaiting(t, s, "b")
	})
}
