package clienttest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"matchmaker.dev/pkg/client"
)

type ticket struct {
	client.Ticket
	players []string
	owner   string    // that created it
	joined  time.Time // a game
	key     string
	offer   *offer
	reason  string // why it ended, "" if it did not
	version int64
}

// offer is a match that asks its players.
type offer struct {
	match    string
	ends     time.Time
	asked    []string
	accepted []string
	then     client.Assignment
}

// Waiting returns the players whose tickets wait.
func (s *Service) Waiting() (players []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tickets {
		if t.waits() {
			players = append(players, t.players...)
		}
	}
	return players
}

// Await waits until the tickets of all these players wait.
func (s *Service) Await(ctx context.Context, players ...string) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		there := s.Waiting()
		if !slices.ContainsFunc(players, func(p string) bool { return !slices.Contains(there, p) }) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("clienttest: of %q only %q search: %w", players, there, context.Cause(ctx))
		}
	}
}

// Match gives players the same match. The connection is 127.0.0.1:7777 if a names none and no error, and a seat pass is
// "seat of " and the player if a has none. Here and below, players whose tickets do not wait are left out.
func (s *Service) Match(a client.Assignment, players ...string) {
	s.change(func() { s.match(s.of(players), a) })
}

// Offer asks players for so long whether they accept a match. When all have, they get it.
func (s *Service) Offer(within time.Duration, a client.Assignment, players ...string) {
	s.change(func() {
		o := &offer{match: s.id("match"), ends: time.Now().Add(within), then: a}
		for _, t := range s.of(players) {
			o.asked = append(o.asked, t.players...)
			t.offer = o
			t.version++
		}
		time.AfterFunc(within, func() {
			s.change(func() {
				s.endOffer(o, "silent", func(p string) bool { return !slices.Contains(o.accepted, p) })
			})
		})
	})
}

// Answer accepts or declines the match that asks a player, as its client may.
func (s *Service) Answer(player string, accept bool) {
	s.change(func() {
		for _, t := range s.of([]string{player}) {
			s.answer(t.offer, player, accept)
		}
	})
}

// End ends the tickets of players without a match: abandoned, unserved, …
func (s *Service) End(reason string, players ...string) {
	s.change(func() {
		for _, t := range s.of(players) {
			s.end(t, reason)
		}
	})
}

func (t *ticket) waits() bool { return t.reason == "" && t.Assignment == nil }

// isOf reports whether a player is the owner of the ticket or one of its players.
func (t *ticket) isOf(player string) bool {
	return t.owner == player || slices.Contains(t.players, player)
}

// end ends a ticket. The others that the same match asks wait again.
func (s *Service) end(t *ticket, reason string) {
	o := t.offer
	t.offer, t.reason = nil, reason
	t.version++
	if o != nil {
		s.endOffer(o, "", func(string) bool { return false })
	}
}

// of returns the tickets of players that wait.
func (s *Service) of(players []string) []*ticket {
	return s.which(func(t *ticket) bool {
		return t.waits() && slices.ContainsFunc(t.players, func(p string) bool { return slices.Contains(players, p) })
	})
}

func (s *Service) which(is func(*ticket) bool) (list []*ticket) {
	for _, t := range s.tickets {
		if is(t) {
			list = append(list, t)
		}
	}
	return list
}

func (s *Service) match(tickets []*ticket, a client.Assignment) {
	if a.Error == "" {
		a.Connection = cmp.Or(a.Connection, "127.0.0.1:7777")
	}
	for _, t := range tickets {
		own := a
		if a.Seats == nil && a.Error == "" {
			own.Seats = map[string]string{}
			for _, p := range t.players {
				own.Seats[p] = "seat of " + p
			}
		}
		t.Assignment, t.offer = &own, nil
		t.version++
	}
}

func (s *Service) answer(o *offer, player string, accept bool) {
	switch {
	case o == nil || slices.Contains(o.accepted, player):
	case !accept:
		s.endOffer(o, "declined", func(p string) bool { return p == player })
	default:
		o.accepted = append(o.accepted, player)
		all := s.which(func(t *ticket) bool { return t.offer == o })
		for _, t := range all {
			t.version++
		}
		if len(o.accepted) == len(o.asked) {
			s.match(all, o.then)
		}
	}
}

// endOffer ends an acceptance: the tickets of some players end, the others wait again.
func (s *Service) endOffer(o *offer, reason string, of func(player string) bool) {
	for _, t := range s.which(func(t *ticket) bool { return t.offer == o }) {
		t.offer = nil
		if t.version++; slices.ContainsFunc(t.players, of) {
			s.end(t, reason)
		}
	}
}

func (s *Service) create(c *call) (int, any) {
	key, _ := strconv.Unquote(c.Header.Get("Idempotency-Key"))
	made := s.which(func(t *ticket) bool { return t.key == key && c.may(t) })
	if len(made) == 0 && s.full > 0 {
		c.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(s.full.Seconds()))))
		return refuse(http.StatusTooManyRequests, client.CodeTooManyTickets)
	}
	if len(made) == 0 {
		t := &ticket{key: key, owner: c.player}
		c.decode(&t.Ticket)
		for _, p := range t.Players {
			t.players = append(t.players, p.ID)
		}
		if t.players == nil {
			t.players = []string{c.player}
		}
		made = append(made, s.enter(t))
	}
	return http.StatusCreated, map[string]any{"id": made[0].ID, "status": nil}
}

func (s *Service) enter(t *ticket) *ticket {
	t.ID, t.Created = s.id("ticket"), time.Now().UnixMilli()
	s.tickets = append(s.tickets, t)
	return t
}

func (s *Service) read(c *call) (int, any) {
	q := c.URL.Query()
	if !q.Has("key") && !q.Has("player") {
		return s.ofTicket(func(c *call, t *ticket) (int, any) { return http.StatusOK, t.shown(c.player) })(c)
	}
	list := []client.Ticket{}
	for _, t := range slices.Backward(s.tickets) {
		player := !q.Has("player") || t.isOf(q.Get("player"))
		key := !q.Has("key") || t.key == q.Get("key")
		if t.reason == "" && player && key && c.may(t) {
			list = append(list, t.shown(c.player))
		}
	}
	return http.StatusOK, map[string]any{"tickets": list}
}

// ofTicket finds the ticket that a request is about.
func (s *Service) ofTicket(answer func(*call, *ticket) (int, any)) func(*call) (int, any) {
	return func(c *call) (int, any) {
		id := c.URL.Query().Get("id")
		own := s.which(func(t *ticket) bool { return t.ID == id && t.reason == "" && c.may(t) })
		if len(own) == 0 {
			return refuse(http.StatusNotFound, client.CodeTicketNotFound)
		}
		return answer(c, own[0])
	}
}

func (s *Service) cancel(c *call, t *ticket) (int, any) {
	if t.Assignment != nil && c.URL.Query().Has("unlessAssigned") {
		return refuse(http.StatusConflict, client.CodeTicketMatched)
	}
	s.end(t, "deleted")
	return http.StatusOK, nil
}

func (s *Service) accept(c *call, t *ticket) (int, any) {
	var a client.MatchAnswer
	c.decode(&a)
	if t.offer == nil || t.offer.match != a.Match {
		return refuse(http.StatusConflict, client.CodeAcceptanceOver)
	}
	for _, p := range t.players {
		if c.player == p || c.player == "" && (a.Players == nil || slices.Contains(a.Players, p)) {
			s.answer(t.offer, p, a.Accept)
		}
	}
	return http.StatusNoContent, nil
}

func (s *Service) followTicket(c *call, t *ticket) (int, any) {
	return http.StatusOK, news(func() (version int64, event string, body any) {
		switch {
		case t.reason != "":
			return t.version, client.EventEnded, map[string]string{"id": t.ID, "reason": t.reason}
		case t.Assignment != nil:
			event = client.EventAssigned
		case t.offer != nil:
			event = client.EventAcceptance
		default:
			event = client.EventWaiting
		}
		return t.version, event, t.shown(c.player)
	})
}

// shown is the ticket as a player sees it: with the player's own seat pass, and of others the ids. A game service, with
// no player, sees all.
func (t *ticket) shown(player string) client.Ticket {
	to := t.Ticket
	if o := t.offer; o != nil {
		a := &client.Acceptance{Match: o.match, Remaining: max(0, time.Until(o.ends).Milliseconds()),
			Players: len(o.asked), Accepted: len(o.accepted)}
		for _, p := range t.players {
			if !slices.Contains(o.accepted, p) {
				a.Unanswered = append(a.Unanswered, p)
			}
		}
		to.Acceptance = a
	}
	if player == "" {
		return to
	}
	to.Players = slices.Clone(to.Players)
	for i, p := range to.Players {
		if p.ID != player {
			to.Players[i] = client.Player{ID: p.ID}
		}
	}
	if to.Assignment != nil {
		own := *to.Assignment
		own.Seats = maps.Clone(own.Seats)
		maps.DeleteFunc(own.Seats, func(of, _ string) bool { return of != player })
		to.Assignment = &own
	}
	return to
}
