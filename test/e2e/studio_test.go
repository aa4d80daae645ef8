package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// firstDay: a studio opens two queues. A party of three and two friends meet in the ranked one, which asks. One
// declines, one's process is killed, the leader leaves; and a player in the casual queue loses her answer on the wire.
// Each is matched once, and no player reads what another carries.
func firstDay(t *testing.T, p *project) {
	p.upload(t, "arena", p.s.made.arena)
	p.upload(t, "duel", p.s.made.duel)
	for name, c := range map[string]client.Config{
		"ranked": {
			Matchmaking: client.Matchmaking{TargetFunction: client.FunctionTarget{Name: "arena", Version: "1"},
				Config: []byte(`{"players":5,"widen":0}`)},
			Acceptance: &client.AcceptanceRule{Seconds: 120},
		},
		"casual": {Matchmaking: client.Matchmaking{TargetFunction: client.FunctionTarget{Name: "duel", Version: "1"},
			Config: []byte(`{"widen":0}`)}},
	} {
		c.Queue, c.Hosting = name, &client.Hosting{Profile: "profile", FleetID: "fleet"}
		if _, err := p.developer(t).PutConfig(within(t), name, c, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.developer(t).PutSettings(within(t), client.ProjectSettings{Tickets: &client.TicketRules{
		PerPlayer: &client.PerPlayer{Limit: 1}}}, ""); err != nil {
		t.Fatal(err)
	}

	// Three and two make parties by their codes.
	three := p.gather(t, "ada", "bob", "eve")
	two := p.gather(t, "dave", "erin")
	for _, unknown := range []string{"AAAAAAAAA", two.party.Code[1:] + "A"} {
		if _, err := p.player(t, "mallory").JoinParty(within(t), unknown, client.PartyMembership{}); client.Status(err) !=
			http.StatusNotFound {
			t.Errorf("a code that nobody has: %v", err)
		}
	}
	three.search(t, "ranked")
	two.search(t, "ranked")
	// A player that searches with friends has no second ticket.
	_, err := p.player(t, "erin").CreateTicket(within(t), client.TicketRequest{Queues: []string{"casual"}})
	if client.Status(err) != http.StatusConflict || !strings.Contains(err.Error(), two.ticket()) {
		t.Errorf("erin's second ticket: %v, want 409 that names %s", err, two.ticket())
	}

	// All are asked, and read of each other who is there and no more. Dave declines: the friends' search ends, the
	// party's goes on at its age.
	match := three.asked(t)
	if other := two.asked(t); other != match {
		t.Fatalf("the party is asked by match %s, the friends by %s", match, other)
	}
	before := three.read(t, "bob")
	two.say(t, "erin", match, true)
	two.say(t, "dave", match, false)
	for _, player := range two.players() {
		p.mustEnd(t, player, two.ticket())
	}
	eventually(t, "the party waits again", func() bool { return three.read(t, "bob").Acceptance == nil })
	if after := three.read(t, "bob"); after.Created != before.Created || after.Assignment != nil {
		t.Errorf("after the decline the party's ticket is %+v, before %+v", after, before)
	}
	declined := two.ticket()

	// The leader leaves: that ends the search. Bob follows her, frank comes in her place.
	left := three.ticket()
	if err := p.player(t, "ada").LeaveParty(within(t), three.party.ID, "ada"); err != nil {
		t.Fatal(err)
	}
	p.mustEnd(t, "ada", left)
	party, err := p.player(t, "bob").GetParty(within(t), three.party.ID, "bob")
	if err != nil || party.Code == three.party.Code {
		t.Fatalf("ada still knows the code of %+v, %v", party, err)
	}
	three.party = party
	three.join(t, "frank")
	if three.party.Leader != "bob" || fmt.Sprint(three.players()) != "[bob eve frank]" {
		t.Fatalf("after ada the party is %+v", three.party)
	}
	three.search(t, "ranked")

	// Eve's client dies while she waits for the match.
	crashes := p.watcher(t, "eve")
	crashes.await(t, "watching the search", func() bool { return crashes.log.contains(three.ticket()) })
	if crashes.Kill(); !strings.Contains(crashes.Err().Error(), "signal: killed") {
		t.Fatalf("eve's client was not killed: %v", crashes.Err())
	}
	two.search(t, "ranked")
	match = three.asked(t)
	two.asked(t)
	for _, player := range []string{"bob", "frank"} {
		three.say(t, player, match, true)
	}
	two.say(t, "dave", match, true)
	two.say(t, "erin", match, true)
	// New processes of her client find the party, its ticket and the match again.
	var found client.Party
	if p.run(t, &found, "eve", "party", "get"); found.Search == nil || found.Search.Ticket != three.ticket() {
		t.Fatalf("eve finds the party %+v", found)
	}
	var asks client.Ticket
	if p.run(t, &asks, "eve", "ticket", "get", found.Search.Ticket); asks.Acceptance == nil ||
		asks.Acceptance.Match != match || fmt.Sprint(asks.Acceptance.Unanswered) != "[eve]" {
		t.Fatalf("eve finds the ticket %+v", asks)
	}
	p.run(t, nil, "eve", "ticket", "accept", asks.ID)
	var matched client.Ticket
	if p.run(t, &matched, "eve", "ticket", "resume"); matched.ID != three.ticket() {
		t.Fatalf("eve goes on with %+v", matched)
	}

	// Gina's answer is lost on the wire, and her client asks again.
	gina := p.createLosing(t, "gina", client.TicketRequest{Queues: []string{"casual"},
		Attributes: attributes{"skill": 1200}, Properties: secretOf("gina")})
	// Ada plays on alone, in the casual queue.
	ada := p.enter(t, "ada", "casual")

	// Each is matched once: the five with each other, ada with gina.
	together(t, gina, ada)
	casual := gina.connection(t)
	ranked := (&ticket{p: p, id: three.ticket(), player: "bob"}).connection(t)
	if matched.Assignment == nil || matched.Assignment.Connection != ranked {
		t.Errorf("eve's new client is sent to %+v, bob to %s", matched.Assignment, ranked)
	}
	for _, group := range []*gathering{three, two} {
		for _, player := range group.players() {
			k := &ticket{p: p, id: group.ticket(), player: player}
			if at := k.connection(t); at == casual || at != ranked {
				t.Errorf("%s plays at %s", player, at)
			}
		}
	}
	for id, want := range map[string][]string{
		declined:       {"created", "claimed", "accepted", "declined", "expired declined"},
		left:           {"created", "claimed", "released declined", "cancelled waiting"},
		three.ticket(): {"created", "claimed", "accepted", "allocating", "assigned"},
		two.ticket():   {"created", "claimed", "accepted", "allocating", "assigned"},
		gina.id:        {"created", "claimed", "allocating", "assigned"},
		ada.id:         {"created", "claimed", "allocating", "assigned"},
	} {
		p.expectEvents(t, &ticket{p: p, id: id}, want...)
	}
	tickets, err := p.player(t, "gina").Tickets(within(t), "gina")
	if err != nil || len(tickets) != 1 || tickets[0].ID != gina.id {
		t.Errorf("gina has the tickets %+v, %v", tickets, err)
	}

	// No player reads what another carries, of her own party or of another.
	for _, group := range []*gathering{three, two} {
		for _, reader := range []string{"bob", "eve", "frank", "dave", "erin", "gina", "mallory"} {
			got, err := p.player(t, reader).GetTicket(within(t), group.ticket())
			if !slices.Contains(group.players(), reader) {
				if client.Status(err) != http.StatusNotFound {
					t.Errorf("%s reads the ticket of %v: %+v, %v", reader, group.players(), got, err)
				}
				continue
			}
			own, err := p.player(t, reader).MyParty(within(t), "")
			if err != nil {
				t.Fatal(err)
			}
			checkSecrets(t, reader, got)
			checkSecrets(t, reader, own)
		}
	}
}

// player is the client of a player.
func (p *project) player(t *testing.T, name string) *client.Client {
	t.Helper()
	return p.as(t, issuer.Claims{Kind: auth.Player, Subject: name})
}

// mustEnd fails the test unless a player's ticket ends.
func (p *project) mustEnd(t *testing.T, player, id string) {
	t.Helper()
	if got, err := p.player(t, player).Wait(within(t), id); client.Status(err) != http.StatusNotFound {
		t.Errorf("%s: the ticket %s is %+v, %v, want 404", player, id, got, err)
	}
}

// secretOf are the properties of a player, which no other player may read.
func secretOf(player string) map[string][]byte {
	return map[string][]byte{"password": []byte("secret-of-" + player)}
}

// checkSecrets checks that what a player reads has her own secret and no other one.
func checkSecrets(t *testing.T, reader string, read any) {
	t.Helper()
	text, err := json.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	for _, player := range []string{"ada", "bob", "eve", "frank", "dave", "erin", "gina"} {
		secret, err := json.Marshal(secretOf(player)["password"])
		if err != nil {
			t.Fatal(err)
		}
		if reads := strings.Contains(string(text), string(secret)); reads != (player == reader) {
			t.Errorf("%s reads the secret of %s: %v", reader, player, reads)
		}
	}
}

// gathering is a party.
type gathering struct {
	p     *project
	party *client.Party
}

// gather makes a party of players: the first makes it, the others join.
func (p *project) gather(t *testing.T, leader string, others ...string) *gathering {
	t.Helper()
	party, err := p.player(t, leader).CreateParty(within(t), 0, client.PartyMembership{Properties: secretOf(leader)})
	if err != nil {
		t.Fatal(err)
	}
	g := &gathering{p, party}
	for _, player := range others {
		g.join(t, player)
	}
	return g
}

func (g *gathering) join(t *testing.T, player string) {
	t.Helper()
	code := strings.ToLower(g.party.Code[:3] + "-" + g.party.Code[3:]) // as people type it
	party, err := g.p.player(t, player).JoinParty(within(t), code, client.PartyMembership{Properties: secretOf(player)})
	if err != nil {
		t.Fatalf("%s: %v", player, err)
	}
	g.party = party
}

func (g *gathering) players() []string {
	var names []string
	for _, m := range g.party.Members {
		names = append(names, m.ID)
	}
	return names
}

func (g *gathering) ticket() string { return g.party.Search.Ticket }

// search lets the leader search in a queue.
func (g *gathering) search(t *testing.T, queue string) {
	t.Helper()
	party, err := g.p.player(t, g.party.Leader).StartPartySearch(within(t), g.party.ID,
		client.TicketRequest{Attributes: attributes{"skill": 1200}, Queues: []string{queue}})
	if err != nil || party.Search == nil {
		t.Fatalf("the search of %v: %+v, %v", g.players(), party, err)
	}
	g.party = party
}

// read reads the party's ticket as a player.
func (g *gathering) read(t *testing.T, player string) *client.Ticket {
	t.Helper()
	var got *client.Ticket
	eventually(t, player+" may read", func() bool { // a player that waits for long has used up the limit on reads
		var err error
		got, err = g.p.player(t, player).GetTicket(within(t), g.ticket())
		if err != nil && client.Status(err) != http.StatusTooManyRequests {
			t.Fatalf("%s: %v", player, err)
		}
		return err == nil
	})
	return got
}

// asked waits until each of the players is asked by a match, and returns it.
func (g *gathering) asked(t *testing.T) string {
	t.Helper()
	matches := map[string]bool{}
	for _, player := range g.players() {
		eventually(t, player+" is asked", func() bool {
			a := g.read(t, player).Acceptance
			if a != nil {
				matches[a.Match] = true
			}
			return a != nil
		})
	}
	if len(matches) != 1 {
		t.Fatalf("%v are asked by the matches %v", g.players(), matches)
	}
	return slices.Collect(maps.Keys(matches))[0]
}

func (g *gathering) say(t *testing.T, player, match string, accept bool) {
	t.Helper()
	said := client.MatchAnswer{Ticket: g.ticket(), Match: match, Accept: accept}
	if err := g.p.player(t, player).AnswerMatch(within(t), said); err != nil {
		t.Fatalf("%s: %v", player, err)
	}
}
