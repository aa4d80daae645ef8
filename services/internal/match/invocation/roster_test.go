package invocation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/sandbox"
)

// inGame is a player in a game, with a role and an attribute that no function reads.
func inGame(id, team, role string, value float64) *pb.RosterPlayer {
	return &pb.RosterPlayer{Id: id, Team: team, Role: role, AttributeNames: []string{"role", "unread"},
		AttributeValues: []float64{value, 9}}
}

// games are backfill tickets with these players.
func games(t *testing.T, rosters ...[]*pb.RosterPlayer) *pool.Backfills {
	t.Helper()
	all := pool.NewBackfills()
	for i, players := range rosters {
		one := newBackfill(fmt.Sprint("g", i), int64(i+1), 1)
		if players != nil {
			one.Roster = &pb.Roster{Players: players}
		}
		if err := all.Put(one); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// readsRoster returns a function that notes the players in each game, and the tickets that must not join.
func readsRoster(saw *[]string) *matchfn.Function {
	return matchfn.New(func(r *matchfn.Run) error {
		*saw = nil
		roster := r.BackfillPlayers()
		role, handles, waiting := roster.Attribute("role"), roster.Handles(), map[uint64]string{}
		for i, h := range r.Players().Handles() {
			waiting[h] = r.Players().ID(uint32(i))
		}
		for game := range uint32(r.Backfills()) {
			first, end := roster.Of(game)
			for p := first; p < end; p++ {
				*saw = append(*saw, fmt.Sprint(game, " ", roster.ID(p), " ", roster.Team(p), " ", roster.Role(p), " ", role[p],
					" waits as ", waiting[handles[p]]))
			}
			*saw = append(*saw, fmt.Sprint(game, " bars ", roster.Barred(game)))
		}
		return nil
	}, matchfn.Attributes(), matchfn.Properties(), matchfn.Players("role"), matchfn.PlayerHandles(), matchfn.PlayerIDs(),
		matchfn.BackfillPlayers())
}

func TestFunctionsSeeWhoIsInTheGame(t *testing.T) {
	var saw []string
	function := readsRoster(&saw)
	index := indexOf(t, 4, parties)
	all := games(t, []*pb.RosterPlayer{inGame("p3-1", "red", "tank", 2), inGame("stranger", "", "", -1)}, nil,
		[]*pb.RosterPlayer{inGame("owner0", "blue", "", 0), {Id: "p3-1"}, {Id: "p2-0"}}, []*pb.RosterPlayer{})
	needs := NeedsOf(sandbox.Manifest{Attributes: []string{}, Properties: []string{}, Players: &block.PlayerManifest{
		Attributes: []string{"role"}, Handles: true, IDSettings: []string{"avoid"}, Backfills: true}})
	run := func(session *Session) {
		t.Helper()
		_, err := new(Invoker).Invoke(t.Context(), &Run{
			Request: &pb.RunRequest{Now: 9000, Backfills: true, Settings: []byte(`{"avoid":1}`)}, Index: index,
			Backfills: all, Session: session, Began: time.Now(), Deadline: time.Now().Add(time.Minute),
		}, native{Function: function}, needs)
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"0 p3-1 red tank 2 waits as p3-1", "0 stranger   -1 waits as ", "0 bars [3]", "1 bars []",
		"2 owner0 blue  0 waits as ", "2 p3-1   NaN waits as p3-1", "2 p2-0   NaN waits as p2-0",
		"2 bars [0 2 3]", "3 bars []",
	}
	run(nil)
	if diff := cmp.Diff(want, saw); diff != "" {
		t.Error(diff)
	}
}

// matcherFunc is a matcher that keeps nothing.
type matcherFunc func(r *matchfn.Run) error

func (f matcherFunc) Match(r *matchfn.Run) error { return f(r) }

func put(t *testing.T, index *pool.Index, one *pb.Ticket) {
	t.Helper()
	body, err := proto.Marshal(one)
	if err != nil {
		t.Fatal(err)
	}
	if err := index.Put(one.GetId(), body); err != nil {
		t.Fatal(err)
	}
}

// A function that keeps tickets is told of them by their numbers, those that it has and those that are new.
func TestBarredTicketsOfAFunctionThatKeepsThem(t *testing.T) {
	var barred [][]uint32
	function := matchfn.NewMatcher(func(*matchfn.Settings) (matchfn.Matcher, error) {
		return matcherFunc(func(r *matchfn.Run) error {
			barred = append(barred, r.BackfillPlayers().Barred(0))
			return nil
		}), nil
	}, matchfn.Attributes(), matchfn.Properties(), matchfn.BackfillPlayers())
	ticket := func(i int) *pb.Ticket {
		return &pb.Ticket{Id: fmt.Sprintf("t%04d", i), Owner: fmt.Sprint("owner", i), Created: int64(1000 + i)}
	}
	index := indexOf(t, 20, ticket)
	all := games(t, []*pb.RosterPlayer{{Id: "owner3"}, {Id: "owner21"}, {Id: "twice"}})
	session := &Session{least: 4, most: 1000, bases: map[string]*base{}}
	i := native{Function: function}
	for range 2 {
		_, err := new(Invoker).Invoke(t.Context(), &Run{
			Request: &pb.RunRequest{Now: 9000, Backfills: true}, Index: index, Backfills: all, Session: session,
			Began: time.Now(), Deadline: time.Now().Add(time.Minute),
		}, i, NeedsOf(sandbox.Manifest{Attributes: []string{}, Properties: []string{}, Changes: true,
			Players: &block.PlayerManifest{Backfills: true}}))
		if err != nil {
			t.Fatal(err)
		}
		for n := 20; n < 22; n++ {
			put(t, index, ticket(n))
		}
		for n := 22; n < 24; n++ {
			one := ticket(n)
			one.Players = []*pb.Player{{Id: "twice"}, {Id: strings.Repeat("x", n)}}
			put(t, index, one)
		}
	}
	// Of the two tickets of twice only the older one is seen.
	if diff := cmp.Diff([][]uint32{{3}, {3, 21, 22}}, barred); diff != "" {
		t.Error(diff)
	}
}
