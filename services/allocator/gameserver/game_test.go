package gameserver

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func newGame(places int, stay time.Duration) (*game, *atomic.Int32) {
	changes := new(atomic.Int32)
	g := &game{places: places, stay: stay, players: map[string]*player{}}
	g.changed = func() { changes.Add(1) }
	return g, changes
}

func TestWhoDoesNotComeHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, changes := newGame(3, 0)
		g.expect([]string{"a", "b"})
		if g.open() != 1 {
			t.Errorf("%d places are open", g.open())
		}
		if players, ok := g.hello("a"); players != 1 || !ok {
			t.Errorf("a: %d players, %v", players, ok)
		}
		<-time.After(patience - time.Second)
		g.expect([]string{"b", "c"}) // b is expected already
		<-time.After(2 * time.Second)
		synctest.Wait()
		if _, ok := g.hello("b"); ok || changes.Load() != 1 || g.open() != 1 {
			t.Errorf("b is late: let in %v, %d changes, %d places", ok, changes.Load(), g.open())
		}
		<-time.After(time.Hour)
		synctest.Wait()
		if players, _ := g.hello("a"); players != 1 || changes.Load() != 2 || g.open() != 2 || g.empty() {
			t.Errorf("an hour later there are %d players, %d changes, %d places", players, changes.Load(), g.open())
		}
		if !g.leave("a") || g.leave("a") || !g.empty() || changes.Load() != 3 {
			t.Errorf("a has left: empty %v, %d changes", g.empty(), changes.Load())
		}
	})
}

func TestPlayersLeaveAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, changes := newGame(1000, time.Minute)
		for i := range 1000 {
			ticket := string(rune('a' + i))
			g.expect([]string{ticket})
			g.hello(ticket)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		// About 632 by then; less than 540, or more than 720, in one of 10^8 runs.
		if left := int(changes.Load()); left < 540 || left > 720 || g.open() != left {
			t.Errorf("after the time that they stay on average %d of 1000 players have left, %d places are open", left, g.open())
		}
		g.end()
		before := changes.Load()
		<-time.After(time.Hour)
		synctest.Wait()
		if changes.Load() != before {
			t.Error("players leave a game that is over")
		}
	})
}
