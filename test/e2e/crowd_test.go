package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"matchmaker.dev/pkg/client"
)

// crowd is players, numbered from 0, and the results of their tickets.
type crowd []member

// member of a crowd.
type member struct {
	*ticket
	got *client.Assignment
	err error
}

// maxWaiting is how many players of a crowd wait at the same time. It must be even, so that no player is left alone.
const maxWaiting = 24

// crowd creates the tickets of so many players one after the other, and returns when all have a result. on is called
// before the player with a number comes. The project needs an actor.
func (p *project) crowd(t *testing.T, size int, on map[int]func()) crowd {
	t.Helper()
	all := make(crowd, size)
	room := make(chan struct{}, maxWaiting)
	var present sync.WaitGroup
	for number := range size {
		if happen := on[number]; happen != nil {
			happen()
		}
		select {
		case room <- struct{}{}:
		case <-t.Context().Done(): // the players report it
		}
		present.Go(func() {
			defer func() { <-room }()
			// Each player has the full time, however late it comes.
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			all[number] = p.come(ctx, number)
		})
	}
	present.Wait()
	for _, m := range all {
		if m.err != nil {
			t.Error(m.err)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	return all
}

// actor makes the project pair players in the order in which they come, on game servers.
func (p *project) actor(t *testing.T) {
	t.Helper()
	p.upload(t, "actor", p.s.made.actor)
	p.put(t, "actor", rules{function: "actor", settings: map[string]any{"part": "pair"}, hosting: true})
}

// come creates the ticket of a player and waits for its result.
func (p *project) come(ctx context.Context, number int) (m member) {
	m.ticket, m.err = p.create(ctx, fmt.Sprintf("player-%d", number), attributes{"number": float64(number)})
	if m.err == nil {
		m.got, m.err = m.await(ctx)
	}
	return m
}

// paired fails the test unless each player is in one match with one other. Their assignments must agree, and must not
// have changed.
func (c crowd) paired(t *testing.T) {
	t.Helper()
	for number, m := range c {
		if m.got.Error != "" || m.got.Connection == "" {
			t.Errorf("%s: got %+v, want a connection", m.player, m.got)
			continue
		}
		players := m.players(t)
		if !slices.Contains(players, number) {
			t.Errorf("%s got the match of %v", m.player, players)
		}
		for _, other := range players {
			if o := c[other]; o.got.Connection != m.got.Connection || !slices.Equal(o.players(t), players) {
				t.Errorf("%s plays with %v at %s, but %s with %v at %s",
					m.player, players, m.got.Connection, o.player, o.players(t), o.got.Connection)
			}
		}
		if now := m.now(t); now == nil || now.Connection != m.got.Connection ||
			string(now.MatchProperties) != string(m.got.MatchProperties) {
			t.Errorf("%s had %+v, and has %+v now", m.player, m.got, now)
		}
	}
}

// players are the two players of the member's match, from the properties that the actor wrote.
func (m *member) players(t *testing.T) []int {
	t.Helper()
	var match struct{ Players []int }
	if err := json.Unmarshal(m.got.MatchProperties, &match); err != nil || len(match.Players) != 2 ||
		match.Players[0] == match.Players[1] {
		t.Fatalf("%s: got the match properties %s, want two players in it", m.player, m.got.MatchProperties)
	}
	return match.Players
}

// meet says hello to the game servers of all players, which must know them.
func (c crowd) meet(t *testing.T) {
	t.Helper()
	for _, m := range c {
		m.hello(t, m.got.Connection)
	}
}
