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

// crowd is players that are numbered from 0, and what became of their tickets.
type crowd []member

// member of a crowd.
type member struct {
	*ticket
	got *client.Assignment
	err error
}

// maxWaiting is how many players of a crowd may wait at the same time. It must be even, or
// all would wait for one more.
const maxWaiting = 24

// crowd lets so many players come one after the other, and returns when all have
// a result. on is what happens before the player of a number comes. An actor
// should pair them.
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
		case <-t.Context().Done(): // told by those who wait
		}
		present.Go(func() {
			defer func() { <-room }()
			// Each has all the time that anybody may take: those who come late are not to pay for those before.
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

// actor makes the project pair players as they come, on live servers.
func (p *project) actor(t *testing.T) {
	t.Helper()
	p.upload(t, "actor", p.s.made.actor)
	p.put(t, "actor", rules{function: "actor", settings: map[string]any{"part": "pair"}, hosting: true})
}

// come lets one come.
func (p *project) come(ctx context.Context, number int) (m member) {
	m.ticket, m.err = p.create(ctx, fmt.Sprintf("player-%d", number), attributes{"number": float64(number)})
	if m.err == nil {
		m.got, m.err = m.await(ctx)
	}
	return m
}

// paired fails the test unless each is in one match, with one other. What their
// assignments say of their matches must agree, and must not have changed since.
func (c crowd) paired(t *testing.T) {
	t.Helper()
	for number, m := range c {
		if m.got.Error != "" || m.got.Connection == "" {
			t.Errorf("%s: got %+v, want a connection", m.player, m.got)
			continue
		}
		players := m.players(t)
		if !slices.Contains(players, number) {
			t.Errorf("%s is told that it is in the match of %v", m.player, players)
		}
		for _, other := range players {
			if o := c[other]; o.got.Connection != m.got.Connection || !slices.Equal(o.players(t), players) {
				t.Errorf("%s is told to play with %v at %s, but %s with %v at %s",
					m.player, players, m.got.Connection, o.player, o.players(t), o.got.Connection)
			}
		}
		if now := m.now(t); now == nil || now.Connection != m.got.Connection || string(now.MatchProperties) != string(m.got.MatchProperties) {
			t.Errorf("%s had %+v, and has %+v now", m.player, m.got, now)
		}
	}
}

// players are the two of the member's match, as an actor writes them into its properties.
func (m *member) players(t *testing.T) []int {
	t.Helper()
	var match struct{ Players []int }
	if err := json.Unmarshal(m.got.MatchProperties, &match); err != nil || len(match.Players) != 2 || match.Players[0] == match.Players[1] {
		t.Fatalf("%s: got the match properties %s, want two players in it", m.player, m.got.MatchProperties)
	}
	return match.Players
}

// meet lets all say hello to their game servers, which must know them.
func (c crowd) meet(t *testing.T) {
	t.Helper()
	for _, m := range c {
		m.hello(t, m.got.Connection)
	}
}
