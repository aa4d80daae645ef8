package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/allocator/gameserver/gameservertest"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// queues: configs match the tickets of their queue, a ticket in two queues is matched once, and a ticket whose queue is
// not served any more says so.
func queues(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.serve(t, "ranked", "ranked")
	p.serve(t, "casual", "casual")
	p.serve(t, "plain", "")
	enter := func(player string, queues ...string) *ticket { return p.enter(t, player, queues...) }
	// None of these fits another: each waits somewhere else.
	ada, plain, other := enter("ada", "ranked"), enter("plain"), enter("other", "nobody")
	// Bob waits in both queues: the ranked match takes him, and in the other one carol waits on for dave.
	bob := enter("bob", "casual", "ranked")
	together(t, ada, bob)
	carol := enter("carol", "casual")
	dave := enter("dave", "casual", "nobody")
	together(t, carol, dave)
	if carol.connection(t) == bob.connection(t) {
		t.Error("the ranked and the casual match have one server")
	}
	plain.mustWait(t)
	other.mustWait(t)
	together(t, plain, enter("also plain"))
	p.expectEvents(t, bob, "created", "claimed", "allocating", "assigned")

	eve := enter("eve", "ranked", "casual")
	expect := func(k *ticket, unserved ...string) {
		t.Helper()
		got, err := k.api(t).GetTicket(within(t), k.id)
		if err != nil || got.Assignment != nil || !slices.Equal(got.UnservedQueues, unserved) {
			t.Errorf("%s: got %+v, %v, want a ticket that waits, of whose queues %q are unserved", k.player, got, err, unserved)
		}
	}
	expect(eve)
	expect(other, "nobody")
	if err := p.developer(t).DeleteConfig(within(t), "ranked"); err != nil {
		t.Fatal(err)
	}
	expect(eve, "ranked")
	p.serve(t, "casual", "other") // it changes its queue
	expect(eve, "casual", "ranked")
	p.serve(t, "casual", "ranked")
	expect(eve, "casual")
	together(t, eve, enter("frank", "ranked"))

	// From now on a queue must be served.
	rules := client.ProjectSettings{Tickets: &client.TicketRules{EndsTold: true, RefuseUnserved: true}}
	if _, err := p.developer(t).PutSettings(within(t), rules, ""); err != nil {
		t.Fatal(err)
	}
	refused := &ticket{p: p, player: "refused"}
	_, err := refused.api(t).CreateTicket(within(t), client.TicketRequest{Queues: []string{"nobody"}})
	if client.Status(err) != http.StatusBadRequest || !strings.Contains(err.Error(), `the queues that there are: "ranked"`) {
		t.Errorf("a ticket in a queue that nobody serves: %v", err)
	}
	stranded := enter("stranded", "ranked")
	p.serve(t, "casual", "casual")
	if a := stranded.result(t); a.Error != "unserved" {
		t.Errorf("a ticket whose queue nobody serves any more gets %+v", a)
	}
	other.mustWait(t) // it was created before
}

// stream: a client that follows its ticket is told of the match, and why a ticket ended.
func stream(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	follow := func(k *ticket) (told chan string, result chan *client.Assignment) {
		told, result = make(chan string, 64), make(chan *client.Assignment, 1)
		api, ctx := k.api(t), within(t)
		go func() {
			a, err := api.Follow(ctx, k.id, func(e client.TicketEvent) { told <- strings.TrimSpace(e.Kind + " " + e.Reason) })
			if err != nil && client.Status(err) != http.StatusNotFound {
				t.Errorf("%s: %v", k.player, err)
			}
			close(told)
			result <- a
		}()
		if first := <-told; first != "waiting" {
			t.Fatalf("%s is told %q first, want waiting", k.player, first)
		}
		return told, result
	}
	last := func(told chan string) (last string) {
		for one := range told {
			last = one
		}
		return last
	}
	ada, lonely := p.ticket(t, "ada", attributes{"skill": 1200}), p.ticket(t, "lonely", attributes{"skill": 9000})
	toAda, result := follow(ada)
	toLonely, none := follow(lonely)
	bob := p.ticket(t, "bob", attributes{"skill": 1210})
	if a := <-result; a == nil || a.Connection != bob.connection(t) {
		t.Errorf("ada follows to %+v, bob plays at %s", a, bob.connection(t))
	}
	if got := last(toAda); got != "assigned" {
		t.Errorf("ada was told %q last, want assigned", got)
	}
	lonely.delete(t)
	if got := last(toLonely); got != "ended deleted" || <-none != nil {
		t.Errorf("lonely was told %q last, want ended deleted", got)
	}
}

// queuedGame: running games get tickets of their queue alone: a game that was started for a match of a queue, and one
// whose server asks as in the first generation.
func queuedGame(t *testing.T, p *project) {
	p.upload(t, "arena", p.s.made.arena)
	p.upload(t, "duel", p.s.made.duel)
	c := client.Config{
		Matchmaking: client.Matchmaking{TargetFunction: client.FunctionTarget{Name: "arena", Version: "1"},
			Config: []byte(`{"players":3,"widen":0}`)},
		Queue: "ranked", Hosting: &client.Hosting{Profile: "profile", FleetID: "fleet"},
	}
	if _, err := p.developer(t).PutConfig(within(t), "arena", c, ""); err != nil {
		t.Fatal(err)
	}
	var players []*ticket
	for i := range 3 {
		players = append(players, p.enter(t, fmt.Sprint("first-", i), "ranked"))
	}
	server := together(t, players[0], players[1])
	together(t, players[1], players[2])
	for _, k := range players {
		k.hello(t, server)
	}
	late, plain := p.enter(t, "late", "casual", "ranked"), p.enter(t, "plain")
	late.mustWait(t)
	if err := gameservertest.Bye(within(t), server, players[0].id); err != nil {
		t.Fatal(err)
	}
	if got := late.connection(t); got != server {
		t.Errorf("late is sent to %s, and should be in the game at %s", got, server)
	}
	if err := gameservertest.Bye(within(t), server, players[1].id); err != nil {
		t.Fatal(err)
	}
	if got := p.enter(t, "later", "ranked").connection(t); got != server {
		t.Errorf("later is sent to %s, and should be in the game at %s", got, server)
	}
	plain.mustWait(t) // though it is older

	also := p.enter(t, "also plain")
	const running = "203.0.113.7:7777"
	search := func(queue string, want int) {
		t.Helper()
		server := p.as(t, issuer.Claims{Kind: auth.Server, Subject: "server"})
		eventually(t, fmt.Sprintf("a search in the queue %q finds %d", queue, want), func() bool {
			got, err := server.BackfillV1(within(t), client.BackfillV1Request{
				Connection: running, Function: client.FunctionTarget{Name: "duel", Version: "1"}, Queue: queue,
				Config: []byte(`{"attribute":"skill","window":100,"widen":0}`),
			})
			if n := len(got.AssignedTickets); err != nil || n > 0 && n != want {
				t.Fatalf("queue %q: got %+v, %v, want %d tickets", queue, got, err, want)
			}
			return len(got.AssignedTickets) == want // one that took too long finds none
		})
	}
	search("casual", 0)
	search("", 2)
	if got := together(t, plain, also); got != running {
		t.Errorf("they are sent to %s", got)
	}
}

// enter creates a ticket that waits in queues.
func (p *project) enter(t *testing.T, player string, queues ...string) *ticket {
	t.Helper()
	k := &ticket{p: p, player: player}
	id, err := k.api(t).CreateTicket(within(t), client.TicketRequest{Attributes: attributes{"skill": 1200},
		Queues: queues})
	if err != nil {
		t.Fatal(err)
	}
	k.id = id
	return k
}

// serve puts a config of duel that serves a queue.
func (p *project) serve(t *testing.T, id, queue string) {
	t.Helper()
	c := client.Config{
		Matchmaking: client.Matchmaking{
			TargetFunction: client.FunctionTarget{Name: "duel", Version: "1"},
			Config:         []byte(`{"attribute":"skill","window":100,"widen":0}`),
		},
		Queue: queue, Hosting: &client.Hosting{Profile: "profile", FleetID: "fleet"},
	}
	if _, err := p.developer(t).PutConfig(within(t), id, c, ""); err != nil {
		t.Fatal(err)
	}
	got, err := p.developer(t).GetConfig(within(t), id)
	if err != nil || got.Queue != queue {
		t.Fatalf("got %+v, %v, want the queue %q", got, err, queue)
	}
}
