package workload

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
)

const (
	// friends is how many players of a crowd play in parties.
	friends = 8
	// friendPause is the time from one request of a friend to the next, on average.
	friendPause = 400 * time.Millisecond
	// knownCodes is how many codes of parties friends remember.
	knownCodes = 6
)

// friend is a player that plays in parties, again and again, with the other friends of its crowd.
type friend struct {
	*Crowd
	random *rand.Rand
	name   string
	// party is the party of the friend as it was told last; nil if it knows of none.
	party *client.Party
	// unsure: the friend may be in another party than that, or in none.
	unsure bool
	// answered are the matches about which it has decided whether to accept them.
	answered map[string]bool
}

// befriend lets friends play until ctx ends. Then they leave their parties.
func (c *Crowd) befriend(ctx context.Context) {
	for n := range friends {
		f := &friend{Crowd: c, name: "friend-" + string(rune('a'+n)), answered: map[string]bool{}, unsure: true,
			random: rand.New(rand.NewPCG(uint64(n), c.Random.Uint64()))} //nolint:gosec // it must be the same every time
		c.present.Go(func() { f.live(ctx) })
	}
}

func (f *friend) live(ctx context.Context) {
	for f.pause(ctx, friendPause) {
		switch {
		case f.unsure || f.random.IntN(12) == 0:
			f.find(ctx)
		case f.party == nil:
			f.meet(ctx)
		case f.party.Leader == f.name:
			f.lead(ctx)
		default:
			f.follow(ctx)
		}
	}
	f.quit(ctx)
}

// pause waits for about d. It returns false when ctx ends before.
func (f *friend) pause(ctx context.Context, d time.Duration) bool {
	return wait.For(ctx, time.Duration((0.2+1.6*f.random.Float64())*float64(d))) == nil
}

// find asks which party the friend is in.
func (f *friend) find(ctx context.Context) {
	status := f.ask(ctx, history.Step{Op: history.Get},
		func(ctx context.Context, c *client.Client) (*client.Party, error) {
			return c.MyParty(ctx, f.name)
		})
	if status == http.StatusNotFound {
		f.party, f.unsure = nil, false
	}
}

// meet creates a party, or joins one whose code is known.
func (f *friend) meet(ctx context.Context) {
	m := client.PartyMembership{Player: f.name, NotReady: f.random.IntN(8) == 0}
	code := f.code(f.random)
	if code == "" || f.random.IntN(3) == 0 {
		size := 2 + f.random.IntN(3)
		f.ask(ctx, history.Step{Op: history.Create}, func(ctx context.Context, c *client.Client) (*client.Party, error) {
			return c.CreateParty(ctx, size, m)
		})
		return
	}
	f.ask(ctx, history.Step{Op: history.Join}, func(ctx context.Context, c *client.Client) (*client.Party, error) {
		return c.JoinParty(ctx, code, m)
	})
}

// lead does what a leader does.
func (f *friend) lead(ctx context.Context) {
	switch n := f.random.IntN(100); {
	case n < 40:
		f.search(ctx)
	case n < 46:
		f.askOf(ctx, history.Step{Op: history.Stop},
			func(ctx context.Context, c *client.Client, id string) (*client.Party, error) {
				return c.StopPartySearch(ctx, id, f.name)
			})
	case n < 54:
		f.askOther(ctx, history.Kick, func(ctx context.Context, c *client.Client, id, other string) (*client.Party, error) {
			return c.KickPartyMember(ctx, id, other, f.name)
		})
	case n < 62:
		f.askOther(ctx, history.HandOver,
			func(ctx context.Context, c *client.Client, id, other string) (*client.Party, error) {
				return c.SetPartyLeader(ctx, id, other, f.name)
			})
	case n < 66:
		f.end(ctx, history.Disband, func(ctx context.Context, c *client.Client, id string) error {
			return c.DisbandParty(ctx, id, f.name)
		})
	default:
		f.follow(ctx)
	}
}

// follow does what every member does.
func (f *friend) follow(ctx context.Context) {
	switch n := f.random.IntN(100); {
	case n < 12:
		f.leave(ctx)
	case n < 22:
		m := client.PartyMembership{NotReady: f.random.IntN(5) == 0}
		f.askOf(ctx, history.Step{Op: history.Update},
			func(ctx context.Context, c *client.Client, id string) (*client.Party, error) {
				return c.UpdatePartyMember(ctx, id, f.name, m)
			})
	case n < 28:
		f.meet(ctx) // a player is in one party
	case n < 31 && f.Silence > 0:
		_ = wait.For(ctx, f.Silence+f.Silence/2)
	default:
		f.watch(ctx)
	}
}

// watch reads the party, and the ticket of its search, and answers the match that asks.
func (f *friend) watch(ctx context.Context) {
	if f.party.Search == nil || f.random.IntN(3) == 0 {
		f.askOf(ctx, history.Step{Op: history.Get},
			func(ctx context.Context, c *client.Client, id string) (*client.Party, error) {
				return c.GetParty(ctx, id, f.name)
			})
		return
	}
	p := f.searching(f.party.Search.Ticket)
	if p == nil {
		f.sight(ctx, f.party)
		return
	}
	_, t := p.read(ctx)
	if t == nil || t.Acceptance == nil || f.answered[t.Acceptance.Match] ||
		!slices.Contains(t.Acceptance.Unanswered, f.name) {
		return
	}
	match := t.Acceptance.Match
	f.answered[match] = true
	if mood := f.random.IntN(12); mood > 3 && f.party.Leader == f.name {
		p.say(ctx, match, f.name, true, slices.DeleteFunc(t.Acceptance.Unanswered, func(other string) bool {
			return other == f.name
		})...)
	} else if mood > 0 { // or it is silent
		p.say(ctx, match, f.name, mood > 1)
	}
}

// search starts the search of the party.
func (f *friend) search(ctx context.Context) {
	among := []lane.Lane{lane.Hosted, lane.Free, lane.Both, lane.Asked}
	l := among[f.random.IntN(len(among))]
	f.mu.Lock()
	f.number++
	number := f.number
	f.mu.Unlock()
	f.askOf(ctx, history.Step{Op: history.Search},
		func(ctx context.Context, c *client.Client, id string) (*client.Party, error) {
			return c.StartPartySearch(ctx, id, client.TicketRequest{Player: f.name, Attributes: l.Attributes(number)})
		})
}

func (f *friend) leave(ctx context.Context) {
	f.end(ctx, history.Leave, func(ctx context.Context, c *client.Client, id string) error {
		return c.LeaveParty(ctx, id, f.name)
	})
}

// quit leaves the party for good.
func (f *friend) quit(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTime)
	defer cancel()
	f.unsure = true
	for ctx.Err() == nil {
		switch {
		case f.unsure:
			f.find(ctx)
		case f.party == nil:
			return
		default:
			f.leave(ctx)
		}
		_ = wait.For(ctx, retryPause)
	}
}

// askOf sends a request about the friend's party.
func (f *friend) askOf(ctx context.Context, s history.Step,
	request func(ctx context.Context, c *client.Client, party string) (*client.Party, error)) {
	s.Party = f.party.ID
	f.ask(ctx, s, func(ctx context.Context, c *client.Client) (*client.Party, error) { return request(ctx, c, s.Party) })
}

// askOther sends a request about another member of the party, if it has one.
func (f *friend) askOther(ctx context.Context, op history.Op,
	request func(ctx context.Context, c *client.Client, party, other string) (*client.Party, error)) {
	others := slices.DeleteFunc(slices.Clone(f.party.Members), func(m client.PartyMember) bool { return m.ID == f.name })
	if len(others) == 0 {
		f.watch(ctx)
		return
	}
	other := others[f.random.IntN(len(others))].ID
	f.askOf(ctx, history.Step{Op: op, Other: other},
		func(ctx context.Context, c *client.Client, id string) (*client.Party, error) {
			return request(ctx, c, id, other)
		})
}

// end sends a request after which the friend is in no party.
func (f *friend) end(ctx context.Context, op history.Op,
	request func(ctx context.Context, c *client.Client, party string) error) {
	s := history.Step{Op: op, Party: f.party.ID}
	status := f.ask(ctx, s, func(ctx context.Context, c *client.Client) (*client.Party, error) {
		return nil, request(ctx, c, s.Party)
	})
	if status == http.StatusNoContent {
		f.party, f.unsure = nil, false
	}
}

// ask sends a request, and notes it with its answer. It returns the status.
func (f *friend) ask(ctx context.Context, s history.Step,
	request func(ctx context.Context, c *client.Client) (*client.Party, error)) int {
	ctx, cancel := f.limit(ctx, f.name)
	defer cancel()
	s.Project, s.Player, s.From = f.Project, f.name, history.Now()
	p, err := request(ctx, f.Parties())
	s.To = history.Now()
	good := http.StatusOK
	switch {
	case s.Op == history.Create:
		good = http.StatusCreated
	case p == nil:
		good = http.StatusNoContent
	}
	s.Status, s.Error = Answer(err, good)
	if p != nil {
		s.Party, s.Revision, s.Leader = p.ID, p.Revision, p.Leader
		for _, m := range p.Members {
			s.Members = append(s.Members, m.ID)
			if !m.Ready {
				s.Unready = append(s.Unready, m.ID)
			}
		}
		if p.Search != nil {
			s.Ticket = p.Search.Ticket
		}
	}
	f.Journal.Step(s)
	if p == nil {
		f.unsure = true
		return s.Status
	}
	f.party, f.unsure = p, false
	f.learn(p.ID, p.Code)
	if p.Search != nil && f.searching(p.Search.Ticket) == nil {
		f.sight(ctx, p)
	}
	return s.Status
}

// sight reads the ticket of a search for the first time. The first friend that does it notes that it was created.
func (f *friend) sight(ctx context.Context, p *client.Party) {
	one := &player{Crowd: f.Crowd, id: p.Search.Ticket}
	limited, cancel := f.limit(ctx, f.name)
	defer cancel()
	t, err := f.Tickets().GetTicket(limited, one.id)
	if err != nil {
		return // it has ended, or a friend reads it later
	}
	one.lane, one.number = lane.Of(t.Attributes), int64(t.Attributes["number"])
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.searches[one.id] != nil {
		return
	}
	c := history.Call{Op: history.Create, Project: f.Project, Number: one.number, Configs: one.lane.Pairs(),
		Ticket: one.id, Party: p.ID, Status: http.StatusCreated}
	c.From, c.To = history.At(time.UnixMilli(t.Created)), history.Now()
	for _, m := range t.Players {
		c.Players = append(c.Players, m.ID)
	}
	f.searches[one.id], f.all = one, append(f.all, one)
	f.Journal.Call(c)
}

// searching is the friend that reads the ticket of a party's search; nil if none has read it yet.
func (c *Crowd) searching(ticket string) *player {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.searches[ticket]
}

// code is one of the codes that friends know, "" if there are none.
func (c *Crowd) code(random *rand.Rand) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.codes) == 0 {
		return ""
	}
	return c.codes[random.IntN(len(c.codes))].code
}

// learn remembers the code of a party.
func (c *Crowd) learn(party, code string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.codes = slices.DeleteFunc(c.codes, func(one partyCode) bool { return one.party == party && one.code == code })
	c.codes = append(c.codes, partyCode{party, code})
	c.codes = c.codes[max(0, len(c.codes)-knownCodes):]
}

// partyCode is a code that a party has or had.
type partyCode struct{ party, code string }
