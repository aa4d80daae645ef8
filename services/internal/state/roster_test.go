package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// rosterOf is a roster of players without anything else.
func rosterOf(ids ...string) *pb.Roster {
	roster := &pb.Roster{}
	for _, id := range ids {
		roster.Players = append(roster.Players, &pb.RosterPlayer{Id: id})
	}
	return roster
}

// idsIn are the players of a roster.
func idsIn(roster *pb.Roster) []string {
	ids := []string{}
	for _, p := range roster.GetPlayers() {
		ids = append(ids, p.GetId())
	}
	return ids
}

func TestRosterIsShownAndStaysUntilItIsReplaced(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		setUp(t, s)
		g := game("g", 3)
		g.Queue = new("ranked")
		g.Roster = &pb.Roster{Players: []*pb.RosterPlayer{
			{Id: "ada", Team: "red", Role: "tank", AttributeNames: []string{"level", "skill"},
				AttributeValues: []float64{3, 1.5}},
			{Id: "bob é"},
		}}
		createGame(t, s, g)
		m := follow(t, s)
		want := version(g, 1)
		m.seesGame(t, want)
		other := game("g", 1)
		position(t, s, other)
		if diff := cmp.Diff(g.Roster, other.Roster, protocmp.Transform()); diff != "" || other.GetQueue() != "ranked" {
			t.Errorf("a replacement without a roster answers %s", diff)
		}
		want = version(other, 2)
		m.seesGame(t, want)
		follow(t, s).seesGame(t, want) // from a snapshot
		empty := game("g", 1)
		empty.Roster = &pb.Roster{}
		position(t, s, empty)
		if empty.Roster == nil || len(empty.Roster.GetPlayers()) > 0 {
			t.Errorf("after an empty roster: %v", empty.Roster)
		}
		a := approve(t, s, "g", 1)
		if a.Backfill.Roster == nil || len(a.Backfill.Roster.GetPlayers()) > 0 {
			t.Errorf("the approval has the roster %v", a.Backfill.Roster)
		}
	})
}

func position(t *testing.T, s *state.Store, b *pb.Backfill) {
	t.Helper()
	if _, err := s.ReplaceBackfill(t.Context(), project, b); err != nil {
		t.Fatal(err)
	}
}

// proposes proposes tickets to the game "g" as it is now, and returns why that is refused.
func proposes(
	t *testing.T, s *state.Store, revision int64, terms state.ClaimOptions, seconds int, tickets ...string,
) string {
	t.Helper()
	generation, err := s.Generation(t.Context(), project, "g")
	must(t, err)
	c := fill(revision, &pb.Backfill{Id: "g", Generation: generation}, game("g", 1), tickets...)
	mustClaim(t, s.At(at(seconds)), terms, c)
	return c.Refusal
}

func TestNobodyJoinsAGameTwice(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		terms.Approval = at(20).Sub(at(0))
		g := game("g", 5)
		g.Roster = rosterOf("ada", "bo")
		createGame(t, s, g)
		for i, ticket := range []*pb.Ticket{
			group("of-ada", 0, "ada"), group("with-ada", 1, "zoe", "ada"), group("bob", 2, "bob"),
			group("bob-again", 3, "bob", "kim"),
			group("eve", 4, "eve"), group("owned", 5),
		} {
			must(t, s.At(at(i)).Creator(nil).Create(t.Context(), project, ticket))
		}
		owned := group("owned-too", 6)
		owned.Owner = "owner-of-owned"
		must(t, s.Creator(nil).Create(t.Context(), project, owned))
		for i, c := range []struct {
			tickets []string
			want    string
		}{
			{[]string{"of-ada"}, "players"}, {[]string{"bob", "with-ada"}, "players"}, {[]string{"bob", "bob-again"}, "players"},
			{[]string{"bob"}, ""}, {[]string{"bob-again"}, "players"}, {[]string{"owned"}, ""},
			{[]string{"owned-too"}, "players"},
		} {
			if got := proposes(t, s, revision, terms, 10, c.tickets...); got != c.want {
				t.Fatalf("%d: %v is refused for %q, want %q", i, c.tickets, got, c.want)
			}
		}
		// Approved, they are in the game as its server does not say otherwise.
		a := approve(t, s, "g", 11)
		if diff := cmp.Diff([]string{"bob", "owned"}, idsOf(a.Assigned)); diff != "" {
			t.Fatal(diff)
		}
		joined := idsIn(a.Backfill.GetRoster())
		slices.Sort(joined)
		if diff := cmp.Diff([]string{"ada", "bo", "bob", "owner-of-owned"}, joined); diff != "" {
			t.Error(diff)
		}
		if got := proposes(t, s, revision, terms, 12, "bob-again"); got != "players" {
			t.Errorf("who joined is refused for %q", got)
		}
		// A server that may not have learned of them does not take them out.
		g = game("g", 5)
		g.Roster = rosterOf()
		position(t, s.At(at(13)), g)
		if got := proposes(t, s, revision, terms, 30, "bob-again"); got != "players" {
			t.Errorf("soon after bob joined, the other ticket is refused for %q", got)
		}
		if got := proposes(t, s, revision, terms, 30, "of-ada"); got != "" {
			t.Errorf("who has left is refused for %q", got)
		}
		if got := proposes(t, s, revision, terms, 32, "bob-again"); got != "" {
			t.Errorf("much later it is refused for %q", got)
		}
		// A rejection forgets the proposed players.
		position(t, s.At(at(33)), game("g", 5))
		if got := proposes(t, s, revision, terms, 34, "with-ada"); got != "" {
			t.Errorf("after a rejection: refused for %q", got)
		}
	})
}

// A game whose server sends no roster takes players again, as before there were rosters. Its first roster may lack
// players that joined a little while ago.
func TestGameWithoutARosterKnowsNobody(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		createGame(t, s, game("g", 5))
		must(t, s.Creator(nil).Create(t.Context(), project, group("one", 0, "ada")))
		must(t, s.Creator(nil).Create(t.Context(), project, group("two", 1, "ada")))
		terms.Approval = at(20).Sub(at(0))
		if got := proposes(t, s, revision, terms, 1, "one"); got != "" {
			t.Fatal(got)
		}
		a := approve(t, s, "g", 2)
		if len(a.Assigned) != 1 || a.Backfill.Roster != nil {
			t.Fatalf("%d tickets, roster %v", len(a.Assigned), a.Backfill.Roster)
		}
		if got := proposes(t, s, revision, terms, 3, "two"); got != "" {
			t.Errorf("refused for %q", got)
		}
		named := game("g", 5)
		named.Roster = rosterOf("bob")
		_, err := s.At(at(4)).ReplaceBackfill(t.Context(), project, named) // rejects the second
		must(t, err)
		for _, seconds := range []int{5, 21, 23} {
			want := "players"
			if seconds == 23 {
				want = ""
			}
			if got := proposes(t, s, revision, terms, seconds, "two"); got != want {
				t.Errorf("at %d s refused for %q, want %q", seconds, got, want)
			}
		}
	})
}

// Functions are shown the attributes of joining players, and none of their properties.
func TestPlayersWhoJoinAreShown(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		terms.Approval = at(20).Sub(at(0))
		g := game("g", 5)
		g.Roster = rosterOf("ada")
		createGame(t, s, g)
		long := strings.Repeat("é", 128)
		big := group("t", 0, "bob", long)
		big.AttributeNames, big.AttributeValues = []string{"skill"}, []float64{7}
		big.Queues = []string{"casual"}
		big.Players[0].AttributeNames, big.Players[0].AttributeValues = []string{"role", "x"}, []float64{2, -0.5}
		big.Players[0].Properties = map[string][]byte{"secret": []byte(strings.Repeat("s", 20_000))}
		big.Players[1].Properties = map[string][]byte{"p": {1}}
		must(t, s.Creator(nil).Create(t.Context(), project, big))
		if got := proposes(t, s, revision, terms, 1, "t"); got != "" {
			t.Fatal(got)
		}
		a := approve(t, s, "g", 2)
		want := rosterOf("ada", "bob", long)
		want.Players[1].AttributeNames, want.Players[1].AttributeValues = []string{"role", "x"}, []float64{2, -0.5}
		if diff := cmp.Diff(want, a.Backfill.Roster, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		shown := version(game("g", 1), 1)
		shown.Roster = want
		follow(t, s).seesGame(t, shown)
	})
}

func TestRosterIsBounded(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{Backfills: 10, BackfillMemory: 1}})
		revision, terms := setUp(t, s)
		terms.Approval = at(20).Sub(at(0))
		name := func(kind string, i int) string { return fmt.Sprintf("%s-%03d-%s", kind, i, strings.Repeat("x", 240)) }
		g := game("g", 5)
		g.Roster = rosterOf()
		createGame(t, s, g)
		// Three tickets of 250 players each fit; with each of them the names take 60 KiB.
		refused, joined := "", 0
		for n := 0; n < 8 && refused == ""; n++ {
			one := group(fmt.Sprint("t", n), n)
			for i := range 250 {
				one.Players = append(one.Players, &pb.Player{Id: name(fmt.Sprint("p", n), i),
					AttributeNames: []string{"a"}, AttributeValues: []float64{1}})
			}
			must(t, s.At(at(n)).Creator(nil).Create(t.Context(), project, one))
			if refused = proposes(t, s, revision, terms, n, one.GetId()); refused == "" {
				joined += len(approve(t, s, "g", n).Assigned)
			}
		}
		if refused != "full" || joined < 3 {
			t.Errorf("after %d tickets it is refused for %q", joined, refused)
		}
		h := game("h", 5)
		var ids []string
		for i := range 999 {
			ids = append(ids, name("q", i))
		}
		h.Roster = rosterOf(ids...)
		if _, err := s.CreateBackfill(t.Context(), project, h); problem.KindOf(err) != problem.Limited {
			t.Errorf("beyond the memory of all games: %v", err)
		}
		must(t, third(s.DeleteBackfill(t.Context(), project, "g", "")))
		createGame(t, s, h)
	})
}

// seat puts the tickets of a claim into a team of the game, with these properties of each.
func seat(c *state.Claim, team string, properties map[string]string) {
	p := c.Match.GetProposal()
	p.Teams = []*pb.Team{{Name: "other"}, {Name: team, Tickets: c.Tickets}}
	p.TicketProperties = map[string][]byte{}
	for id, text := range properties {
		p.TicketProperties[id] = []byte(text)
	}
}

// The roster has the teams and roles of joining players, as their function wanted it.
func TestPlayersWhoJoinHaveTeamsAndRoles(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		terms.Approval = at(20).Sub(at(0))
		g := game("g", 5)
		g.Roster = rosterOf("ada")
		createGame(t, s, g)
		pair := group("pair", 0, "bob", "cy")
		pair.Players[0].AttributeNames, pair.Players[0].AttributeValues = []string{"skill"}, []float64{7}
		alone := group("alone", 1)
		alone.Owner = "dan"
		for _, one := range []*pb.Ticket{pair, alone, group("odd", 2, "eve"), group("long", 3, "fay")} {
			must(t, s.At(at(1)).Creator(nil).Create(t.Context(), project, one))
		}
		c := fill(revision, g, game("g", 1), "pair", "alone", "odd", "long")
		seat(c, "red", map[string]string{
			"pair": `{"a": 1, "roles": ["tank", "healer"]}`, "alone": `{"roles": ["damage"]}`, "odd": `{"roles": {"x": 1}}`,
			"long": `{"roles": ["` + strings.Repeat("r", 257) + `"]}`,
		})
		mustClaim(t, s.At(at(1)), terms, c)
		if c.Refusal != "" {
			t.Fatal(c.Refusal)
		}
		a := approve(t, s, "g", 2)
		want := map[string]*pb.RosterPlayer{
			"ada": {Id: "ada"},
			"bob": {Id: "bob", AttributeNames: []string{"skill"}, AttributeValues: []float64{7}, Team: "red", Role: "tank"},
			"cy":  {Id: "cy", Team: "red", Role: "healer"},
			"dan": {Id: "dan", Team: "red", Role: "damage"},
			"eve": {Id: "eve", Team: "red"},
			"fay": {Id: "fay", Team: "red"},
		}
		got := map[string]*pb.RosterPlayer{}
		for _, p := range a.Backfill.GetRoster().GetPlayers() {
			got[p.GetId()] = p
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
	})
}
