package workload

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
)

const (
	// retryPause is the time between a failure and the next try.
	retryPause = 150 * time.Millisecond
	// deleteTime is how long they repeat a DELETE that has no answer.
	deleteTime = 3 * time.Minute
	// mostBytes is the size of the largest properties: about 60 kB of text.
	mostBytes = 45_000
)

// Options are the options of a crowd.
type Options struct {
	Clients
	Random *rand.Rand
	// Lanes has each lane as often as players choose it.
	Lanes []lane.Lane
	// Pace is the time from one arrival to the next, on average.
	Pace time.Duration
	// Large is the share of players whose tickets have large properties.
	Large float64
	// AtOnce is whether a third of the players that stay create their ticket and wait in one request.
	AtOnce bool
	// Silence is for how long members of parties may be silent; 0 if no friend tries that.
	Silence time.Duration
}

// player is a player with a ticket.
type player struct {
	*Crowd
	random *rand.Rand
	number int64
	// twin is the name of a player that comes twice; "" if it has its own.
	twin string
	lane lane.Lane
	// key is the Idempotency-Key of the create; "" if it has none.
	key string
	// erases: it lets all be removed that is stored of it, instead of its ticket.
	erases bool
	// follows: it reads a stream of events instead of the ticket.
	follows bool
	// bytes is how large the properties are.
	bytes int
	id    string
	// answered are the matches about which the player has decided whether to accept them.
	answered map[string]bool
	// willing: it accepts every match.
	willing bool
}

// leaveTimes are the times after which players leave.
var leaveTimes = []time.Duration{
	0, 0, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second,
}

// play does what a player does.
func (p *player) play(ctx context.Context) {
	leaves, after := p.random.IntN(4) == 0, leaveTimes[p.random.IntN(len(leaveTimes))]
	mayBeAsked := p.lane == lane.Asked || p.lane == lane.Games
	if !leaves && p.lane != lane.Prey && !mayBeAsked && p.AtOnce && p.random.IntN(3) == 0 {
		p.playAtOnce(ctx)
		return
	}
	if p.random.IntN(3) == 0 {
		p.key = fmt.Sprint("key-", p.number)
	}
	p.follows, p.erases = p.random.IntN(4) == 0, p.random.IntN(16) == 0 && p.twin == ""
	if p.random.IntN(8) == 0 && p.twin == "" && p.lane != lane.Prey {
		p.erases = false
		again := p.join(p.lane)
		again.twin = p.name()
		p.present.Go(func() {
			if wait.For(ctx, time.Duration(again.random.IntN(1500))*time.Millisecond) == nil {
				again.play(ctx)
			}
		})
	}
	if !p.create(ctx) {
		return // the ticket may exist, but its id is unknown
	}
	switch {
	case leaves:
		var waits sync.WaitGroup
		stay, leave := context.WithCancel(ctx)
		waits.Go(func() { p.await(stay) })
		_ = wait.For(ctx, after)
		p.delete(context.WithoutCancel(ctx))
		leave()
		waits.Wait()
		p.get(ctx)
		return
	case p.lane == lane.Prey:
		<-ctx.Done()
		return
	}
	p.count(p.lane, 1)
	p.settle(ctx, p.await(ctx))
}

// settle is what a counted player does once it is matched, or leaves.
func (p *player) settle(ctx context.Context, matched bool) {
	p.count(p.lane, -1)
	if matched && p.random.IntN(3) == 0 && wait.For(ctx, time.Second) == nil {
		p.get(ctx)
	}
	if matched && p.random.IntN(5) == 0 {
		p.delete(ctx)
	}
}

// playAtOnce creates a ticket and waits for its match in one request, and further ones when that fails.
func (p *player) playAtOnce(ctx context.Context) {
	once, cancel := p.limit(context.WithoutCancel(withHold(ctx)), p.name())
	defer cancel()
	created := p.creation()
	t, err := p.Tickets().CreateAndWait(once, p.request(), func(id string) {
		p.journalCreate(&created, id, nil)
		p.count(p.lane, 1)
		context.AfterFunc(ctx, cancel)
	})
	if p.id == "" {
		p.journalCreate(&created, "", err)
		return
	}
	// A request that failed, or waited in vain, says nothing about the ticket.
	c := history.Call{Op: history.Get, Project: p.Project, Number: p.number, Ticket: p.id}
	if t != nil {
		c.From = created.To
		p.journalRead(&c, t, nil)
	}
	p.settle(ctx, t != nil && c.Assignment != nil || p.await(ctx))
}

// standIn waits only so that another player is matched.
func (p *player) standIn(ctx context.Context) {
	p.willing = true
	if !p.create(ctx) {
		return
	}
	if !p.await(ctx) {
		p.delete(context.WithoutCancel(ctx))
	}
}

func (p *player) name() string { return cmp.Or(p.twin, fmt.Sprintf("player-%d", p.number)) }

// request is what creates the ticket.
func (p *player) request() client.TicketRequest {
	r := client.TicketRequest{Player: p.name(), Attributes: p.lane.Attributes(p.number), Queues: p.lane.Queues(),
		IdempotencyKey: p.key}
	if p.bytes > 0 {
		r.Properties = map[string][]byte{"save": make([]byte, p.bytes)}
	}
	return r
}

// create creates the ticket. With a key the request is repeated until it is answered, and now and then after that.
func (p *player) create(ctx context.Context) bool {
	for c := p.creation(); ; {
		one, cancel := p.limit(context.WithoutCancel(ctx), p.name())
		id, err := p.Tickets().CreateTicket(one, p.request())
		cancel()
		p.journalCreate(&c, id, err)
		switch {
		case p.key == "" || c.Status > 0 && c.Status < 500 && p.random.IntN(4) > 0:
			return p.id != ""
		case wait.For(ctx, retryPause) != nil:
			return p.id != ""
		}
	}
}

// creation is a call that begins now.
func (p *player) creation() history.Call {
	c := history.Call{Op: history.Create, Project: p.Project, Number: p.number, Bytes: p.bytes, Configs: p.lane.Pairs(),
		Key: p.key, Player: p.twin}
	c.From = history.Now()
	return c
}

// journalCreate ends a create.
func (p *player) journalCreate(c *history.Call, id string, err error) {
	c.To = history.Now()
	c.Status, c.Error = Answer(err, http.StatusCreated)
	c.Ticket = id
	p.Journal.Call(*c)
	if err != nil || id == p.id {
		return
	}
	if first := *p; p.id != "" { // the first one was lost in a failover
		p.enter(&first)
	} else if p.number > 0 {
		p.enter(p)
	}
	p.id = id
}

// get reads the ticket once.
func (p *player) get(ctx context.Context) history.Call {
	c, _ := p.read(ctx)
	return c
}

// read reads the ticket once. t is nil if that failed.
func (p *player) read(ctx context.Context) (c history.Call, t *client.Ticket) {
	ctx, cancel := p.limit(ctx, p.name())
	defer cancel()
	c = history.Call{Op: history.Get, Project: p.Project, Number: p.number, Ticket: p.id}
	c.From = history.Now()
	t, err := p.Tickets().GetTicket(ctx, p.id)
	p.journalRead(&c, t, err)
	return c, t
}

// journalRead ends a read of the ticket.
func (p *player) journalRead(c *history.Call, t *client.Ticket, err error) {
	c.To = history.Now()
	c.Status, c.Error = Answer(err, http.StatusOK)
	if t != nil {
		c.Created, c.Bytes = t.Created, len(t.Properties["save"])
		if a := t.Assignment; a != nil && isEnd(a) {
			c.Status, c.End = http.StatusNotFound, a.Error
		} else if a != nil {
			c.Assignment = &history.Assignment{
				Connection: a.Connection, Error: a.Error, Match: []byte(a.MatchProperties), Own: []byte(a.Properties),
				Seats: seatsIn(a.Seats),
			}
		}
	}
	p.Journal.Call(*c)
}

// seatsIn is what seat passes say. One that cannot be read says nothing.
func seatsIn(passes map[string]string) map[string]history.Seat {
	said := make(map[string]history.Seat, len(passes))
	for name, pass := range passes {
		var s history.Seat
		if parts := strings.Split(pass, "."); len(parts) == 3 {
			text, _ := base64.RawURLEncoding.DecodeString(parts[1])
			_ = json.Unmarshal(text, &s)
		}
		said[name] = s
	}
	return said
}

// isEnd reports whether a result is the reason of an end without a match, in projects that want it told.
func isEnd(a *client.Assignment) bool {
	return a.Connection == "" && len(a.MatchProperties) == 0 && slices.Contains(
		[]string{"abandoned", "unserved", "unheard", "declined", "silent", "deleted", "replaced"}, a.Error)
}

// follow reads the events of the ticket until it has a result, or the stream breaks.
func (p *player) follow(ctx context.Context) (c history.Call) {
	one, cancel := p.limit(ctx, p.name())
	defer cancel()
	c = history.Call{Op: history.Get, Project: p.Project, Number: p.number, Ticket: p.id}
	c.From = history.Now()
	a, err := p.Tickets().Follow(one, p.id, func(e client.TicketEvent) {
		if e.Acceptance != nil && !p.answered[e.Acceptance.Match] {
			p.answer(ctx, e.Acceptance.Match)
		}
	})
	var t *client.Ticket
	if a != nil {
		t = &client.Ticket{Assignment: a, Properties: map[string][]byte{"save": make([]byte, p.bytes)}}
	}
	if ended, is := errors.AsType[*client.EndedError](err); is {
		c.End = ended.Reason
	}
	p.journalRead(&c, t, err)
	return c
}

// await reads the ticket until it has a result. It returns false when ctx ends or the ticket is gone before.
func (p *player) await(ctx context.Context) bool {
	for ctx.Err() == nil {
		if p.follows {
			if c := p.follow(ctx); c.Assignment != nil || c.Status == http.StatusNotFound {
				return c.Assignment != nil
			}
		}
		c, t := p.read(withHold(ctx))
		asking := ""
		if t != nil && t.Acceptance != nil {
			asking = t.Acceptance.Match
		}
		switch {
		case c.Assignment != nil:
			return true
		case c.Status == http.StatusNotFound:
			return false
		case c.Status != http.StatusOK:
			_ = wait.For(ctx, retryPause)
		case asking != "" && !p.answered[asking]:
			p.answer(ctx, asking)
		case asking != "": // a player that is silent
			_ = wait.For(ctx, retryPause)
		}
	}
	return false
}

// answer accepts or declines a match, or is silent. It repeats the request until it is answered.
func (p *player) answer(ctx context.Context, match string) {
	if p.answered == nil {
		p.answered = map[string]bool{}
	}
	p.answered[match] = true
	mood := p.random.IntN(10)
	if mood == 0 && !p.willing {
		return
	}
	accept := mood > 1 || p.willing
	_ = wait.For(ctx, time.Duration(p.random.IntN(300))*time.Millisecond)
	p.say(ctx, match, p.name(), accept)
}

// say accepts or declines a match for a player of the ticket, and for others in one request. It repeats the request
// until it is answered.
func (p *player) say(ctx context.Context, match, name string, accept bool, others ...string) {
	said := client.MatchAnswer{Ticket: p.id, Match: match, Accept: accept, Player: name}
	if len(others) > 0 { // only a game service answers for several
		said.Player, said.Players = "", append(others, name)
	}
	for ctx.Err() == nil {
		c := history.Call{Op: history.Accept, Project: p.Project, Number: p.number, Ticket: p.id, Match: match}
		if !accept {
			c.Op = history.Decline
		}
		one, cancel := p.limit(ctx, name)
		c.From = history.Now()
		err := p.Tickets().AnswerMatch(one, said)
		c.To = history.Now()
		cancel()
		c.Status, c.Error = Answer(err, http.StatusNoContent)
		p.Journal.Call(c)
		if c.Status > 0 && c.Status < 500 && c.Status != http.StatusTooManyRequests {
			return
		}
		_ = wait.For(ctx, retryPause)
	}
}

// delete deletes the ticket. It repeats the request until it is answered.
func (p *player) delete(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, deleteTime)
	defer cancel()
	for ctx.Err() == nil {
		c := history.Call{Op: history.Delete, Project: p.Project, Number: p.number, Ticket: p.id}
		one, cancel := p.limit(ctx, p.name())
		c.From = history.Now()
		var err error
		if p.erases {
			_, err = p.Parties().ErasePlayer(one, p.name())
		} else {
			err = p.Tickets().DeleteTicket(one, p.id, p.name())
		}
		c.To = history.Now()
		cancel()
		c.Status, c.Error = Answer(err, http.StatusOK)
		p.Journal.Call(c)
		if c.Status == http.StatusOK || c.Status == http.StatusNotFound {
			return
		}
		again := retryPause
		if refused, ok := errors.AsType[*client.Error](err); ok { // a project's players are looked for in turn
			again = max(again, refused.RetryAfter)
		}
		_ = wait.For(ctx, again)
	}
}

// Answer is the status and the error text of a call; 0 when it was not answered.
func Answer(err error, good int) (status int, text string) {
	if err == nil {
		return good, ""
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return refused.Status, refused.Error()
	}
	return 0, err.Error()
}

// HoldTime is how long the service is asked to hold a GET.
const HoldTime = 4 * time.Second

type holdKey struct{}

// withHold makes the service hold the requests of a context.
func withHold(ctx context.Context) context.Context { return context.WithValue(ctx, holdKey{}, true) }

// IsHeld reports whether the service is to hold a request for HoldTime.
func IsHeld(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Header.Get("Prefer") != "") && r.Context().Value(holdKey{}) != nil
}
