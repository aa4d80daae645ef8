package state_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

var fewParties = state.PartyLimits{Parties: 3, Silence: time.Minute}

func partyOf(id string, members ...string) *pb.Party {
	p := &pb.Party{Id: id, Code: "CODE" + id, Size: 64}
	for _, m := range members {
		p.Members = append(p.Members, &pb.Member{Player: m})
	}
	if len(members) > 0 {
		p.Leader = members[0]
	}
	return p
}

// leaves removes a member.
func leaves(player string) func(*pb.Party) (*pb.Party, error) {
	return func(p *pb.Party) (*pb.Party, error) {
		p.Members = slices.DeleteFunc(p.GetMembers(), func(m *pb.Member) bool { return m.GetPlayer() == player })
		if len(p.GetMembers()) == 0 {
			return nil, nil
		}
		return p, nil
	}
}

func joins(player string) func(*pb.Party) (*pb.Party, error) {
	return func(p *pb.Party) (*pb.Party, error) {
		p.Members = append(p.Members, &pb.Member{Player: player})
		return p, nil
	}
}

// change changes a party for no particular player.
func change(
	t *testing.T, s *state.Store, id string, l state.PartyLimits, how func(*pb.Party) (*pb.Party, error),
) error {
	t.Helper()
	_, _, err := s.ChangeParty(t.Context(), project, id, l, state.Leaving{}, how)
	return err
}

// Promise 11.
func TestPlayerIsInOneParty(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		must(t, s.CreateParty(t.Context(), project, partyOf("1", "ada", "bob"), fewParties))
		kindOf(t, s.CreateParty(t.Context(), project, partyOf("2", "bob"), fewParties), problem.Conflict)
		must(t, s.CreateParty(t.Context(), project, partyOf("2", "eve"), fewParties))
		kindOf(t, change(t, s, "2", fewParties, joins("ada")), problem.Conflict)
		for _, player := range []string{"ada", "bob"} {
			must(t, change(t, s, "1", fewParties, leaves(player)))
		}
		_, err := s.Party(t.Context(), project, "1")
		kindOf(t, err, problem.NotFound)
		must(t, change(t, s, "2", fewParties, joins("ada")))
		for player, want := range map[string]string{"ada": "2", "bob": "", "eve": "2"} {
			if id, err := s.PartyOf(t.Context(), project, player); err != nil || id != want {
				t.Errorf("%s is in party %q, %v, want %q", player, id, err, want)
			}
		}
		if id, err := s.PartyWith(t.Context(), project, "CODE1"); err != nil || id != "" {
			t.Errorf("the code of a party that is gone lets players join %q, %v", id, err)
		}
	})
}

func TestPartiesHaveLimits(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		for i := range 3 {
			must(t, s.CreateParty(t.Context(), project, partyOf(fmt.Sprint(i), fmt.Sprint("player ", i)), fewParties))
		}
		kindOf(t, s.CreateParty(t.Context(), project, partyOf("3", "ada"), fewParties), problem.Limited)
		if id, err := s.PartyOf(t.Context(), project, "ada"); err != nil || id != "" {
			t.Errorf("a player is in a party that was refused: %q, %v", id, err)
		}
		other := partyOf("0", "ada")
		other.Id = "4"
		if err := s.CreateParty(t.Context(), project, other, state.PartyLimits{Parties: 9, Silence: time.Minute}); !errors.Is(
			err, state.ErrCodeTaken) {
			t.Errorf("a code that is taken: %v", err)
		}
		err := change(t, s, "0", fewParties, func(p *pb.Party) (*pb.Party, error) {
			p.Members[0].Properties = map[string][]byte{"save": make([]byte, state.MaxPartySize)}
			return p, nil
		})
		if kindOf(t, err, problem.Invalid); !strings.Contains(err.Error(), "49152") {
			t.Errorf("a party that is too large: %v", err)
		}
	})
}

// The leader of a party of the largest size leaves, and the next one has a longer name.
func TestLeaderLeavesALargeParty(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		p := partyOf("1", "a", strings.Repeat("b", 128))
		p.Members[1].Properties = map[string][]byte{"save": make([]byte, state.MaxPartySize-512)}
		p.Members[1].Properties["more"] = make([]byte, state.MaxPartySize-proto.Size(p)-32)
		must(t, s.CreateParty(t.Context(), project, p, fewParties))
		must(t, change(t, s, "1", fewParties, func(p *pb.Party) (*pb.Party, error) {
			p.Members, p.Leader = p.Members[1:], p.Members[1].Player
			return p, nil
		}))
		if p, err := s.Party(t.Context(), project, "1"); err != nil || proto.Size(p) <= state.MaxPartySize {
			t.Errorf("it has %d bytes, %v", proto.Size(p), err)
		}
	})
}

// TestRacesInPartiesLoseNobody lets players join and leave at the same time.
// Promise 11.
func TestRacesInPartiesLoseNobody(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		for _, id := range []string{"1", "2"} {
			must(t, s.CreateParty(t.Context(), project, partyOf(id, "leader "+id), fewParties))
		}
		var racing sync.WaitGroup
		var joined atomic.Int32
		for i := range 8 {
			player := fmt.Sprint("player ", i)
			for _, id := range []string{"1", "2"} {
				racing.Go(func() {
					err := change(t, s, id, fewParties, joins(player))
					switch {
					case err == nil:
						joined.Add(1)
					case problem.KindOf(err) != problem.Conflict:
						t.Error(err)
					}
				})
			}
		}
		racing.Wait()
		members := map[string]string{}
		for _, id := range []string{"1", "2"} {
			p, err := s.Party(t.Context(), project, id)
			must(t, err)
			for _, m := range p.GetMembers() {
				if members[m.GetPlayer()] != "" {
					t.Errorf("%s is in both parties", m.GetPlayer())
				}
				members[m.GetPlayer()] = id
			}
		}
		if joined.Load() != 8 || len(members) != 10 {
			t.Errorf("%d joined, %d members", joined.Load(), len(members))
		}
		for player, id := range members {
			if is, err := s.PartyOf(t.Context(), project, player); err != nil || is != id {
				t.Errorf("%s is in %q, %v, want %q", player, is, err, id)
			}
		}
	})
}

// A member was heard of by a Redis whose clock was a day ahead. From the first sweep after a minute, which follows no
// other one, it has a whole minute.
func TestMembersHeardOfByAnotherClockLeave(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		must(t, s.At(epoch0.Add(day)).CreateParty(t.Context(), project, partyOf("1", "ada"), fewParties))
		for seconds := 0; seconds <= 120; seconds += 10 {
			_, silent, err := s.At(at(seconds)).SweepParties(t.Context(), project, time.Minute, 15*time.Second)
			if must(t, err); len(silent) > 0 != (seconds == 120) {
				t.Errorf("silent after %d s: %v", seconds, silent)
			}
		}
	})
}

// Promise 11.
func TestSilentMembersAreFound(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		first, now := open(state.Options{}), epoch0
		s := first
		wait := func(d time.Duration) {
			now = now.Add(d)
			s = first.At(now)
		}
		sweep := func(want string) {
			t.Helper()
			n, silent, err := s.SweepParties(t.Context(), project, time.Minute, 15*time.Second)
			if must(t, err); n != 1 {
				t.Errorf("%d parties", n)
			}
			if got := fmt.Sprint(silent); got != want {
				t.Errorf("silent are %s, want %s", got, want)
			}
		}
		hear := func(player string, want bool) {
			t.Helper()
			if member, err := s.HearOfMember(t.Context(), project, "1", player, 7*time.Second); err != nil || member != want {
				t.Errorf("%s: %v, %v", player, member, err)
			}
		}
		remove := func(player string) error {
			limits := fewParties
			limits.OnlySilent = true
			return change(t, s, "1", limits, leaves(player))
		}
		must(t, s.CreateParty(t.Context(), project, partyOf("1", "ada", "bob"), fewParties))
		// There was no sweep before, so no member is silent for a minute.
		for range 6 {
			sweep("[]")
			wait(10 * time.Second)
		}
		hear("ada", true)
		hear("eve", false)
		sweep("[{1 [bob]}]")
		wait(10 * time.Second)
		hear("bob", true)
		if err := remove("bob"); !errors.Is(err, state.ErrHeard) {
			t.Errorf("a member who was heard of after the look left: %v", err)
		}
		sweep("[]")
		// There was no sweep for a while: all have their whole time again.
		wait(10 * time.Minute)
		sweep("[]")
		for range 5 {
			wait(10 * time.Second)
			sweep("[]")
		}
		wait(10 * time.Second)
		sweep("[{1 [ada bob]}]")
		must(t, remove("bob"))
	})
}
