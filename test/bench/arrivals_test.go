package main

import (
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"
)

func TestArrivalsAreAPoissonProcess(t *testing.T) {
	const rate, over = 1000, 20 * time.Second
	all := schedule(rate, over, false, rand.New(rand.NewPCG(1, 0)))
	if len(all) != 20_000 {
		t.Fatalf("%d players", len(all))
	}
	gap := time.Second / rate
	long, squares := 0, 0.0
	for i := range all {
		d := all[i].at
		if i > 0 {
			d -= all[i-1].at
		}
		if d < 0 {
			t.Fatalf("player %d comes before the one before", i)
		}
		if d > gap {
			long++
		}
		squares += math.Pow(float64(d-gap)/float64(gap), 2)
	}
	if mean := float64(all[len(all)-1].at) / float64(len(all)) / float64(gap); math.Abs(mean-1) > 0.03 {
		t.Errorf("the mean gap is %.3f of what it should be", mean)
	}
	// Of exponential gaps 1/e are longer than the mean, and the deviation is the mean.
	if share := float64(long) / float64(len(all)); math.Abs(share-1/math.E) > 0.02 {
		t.Errorf("%.3f of the gaps are longer than the mean", share)
	}
	if deviation := math.Sqrt(squares / float64(len(all))); math.Abs(deviation-1) > 0.05 {
		t.Errorf("the deviation of the gaps is %.3f of the mean", deviation)
	}
}

func TestArrivalsFollowTheSeed(t *testing.T) {
	make := func(seed uint64) []arrival { return schedule(100, time.Second, false, rand.New(rand.NewPCG(seed, 0))) }
	if !reflect.DeepEqual(make(1), make(1)) {
		t.Error("the same seed gives other arrivals")
	}
	if reflect.DeepEqual(make(1), make(2)) {
		t.Error("another seed gives the same arrivals")
	}
}

func TestPairsComeTogether(t *testing.T) {
	const rate, over = 100, 100 * time.Second
	all := schedule(rate, over, true, rand.New(rand.NewPCG(1, 0)))
	for i := 0; i < len(all); i += 2 {
		if all[i].at != all[i+1].at {
			t.Fatalf("players %d and %d come at %v and %v", i, i+1, all[i].at, all[i+1].at)
		}
		if i > 0 && all[i].at == all[i-1].at {
			t.Fatalf("pair %d comes with the one before", i/2)
		}
	}
	if mean := float64(all[len(all)-1].at) / float64(over); math.Abs(mean-1) > 0.05 {
		t.Errorf("they come over %.2f of the time", mean)
	}
	if odd := schedule(3, 3*time.Second, false, rand.New(rand.NewPCG(1, 0))); len(odd) != 8 {
		t.Errorf("%d players, want an even number", len(odd))
	}
}

func TestPlayersOfALoadMatch(t *testing.T) {
	for _, p := range schedule(1000, 10*time.Second, false, rand.New(rand.NewPCG(1, 0))) {
		if p.skill < 0 || p.skill > reach {
			t.Fatalf("a skill of %v", p.skill)
		}
	}
	for i := range 1_000_000 {
		if far(i+1)-far(i) <= reach || far(i) <= 2*reach {
			t.Fatalf("player %d of the crowd can be matched: %v", i, far(i))
		}
	}
}

func TestHighest(t *testing.T) {
	for name, c := range map[string]struct{ from, limit, least int }{
		"above the first": {4000, 7000, 6500}, "just above": {4000, 4100, 4000}, "below the first": {4000, 3000, 2500},
		"far above": {1000, 9000, 8000}, "nothing holds": {4000, 0, 0},
	} {
		tried := map[int]bool{}
		got, err := highest(c.from, func(rate int) (bool, error) {
			if tried[rate] {
				t.Errorf("%s: %d is tried again", name, rate)
			}
			tried[rate] = true
			return rate <= c.limit, nil
		})
		if err != nil || got > c.limit || got < c.least || got != 0 && !tried[got] {
			t.Errorf("%s: %d, %v, want at least %d and at most %d", name, got, err, c.least, c.limit)
		}
	}
}

func TestGrowth(t *testing.T) {
	load := func(first, last, late time.Duration) *arrivals {
		a := &arrivals{tickets: make([]arrival, 300)}
		for i := range a.tickets {
			share := time.Duration(i)
			a.tickets[i] = arrival{waiting: first + (last-first)*share/299, late: late}
		}
		return a
	}
	for name, c := range map[string]struct {
		*arrivals
		grows, late bool
	}{
		"level":         {load(10*time.Millisecond, 10*time.Millisecond, 0), false, false},
		"a little more": {load(10*time.Millisecond, 40*time.Millisecond, 0), false, false},
		"grows":         {load(10*time.Millisecond, 500*time.Millisecond, 0), true, false},
		"late":          {load(10*time.Millisecond, 10*time.Millisecond, 200*time.Millisecond), false, true},
	} {
		if g := c.growth(); g.grows() != c.grows || g.isLate() != c.late {
			t.Errorf("%s: %s", name, g)
		}
	}
}

// A player that gives up leaves no ticket that would take an opponent from the next load.
func TestPlayersWhoGiveUpLeaveNoTicket(t *testing.T) {
	const id = "00000000-0000-0000-0000-000000000001"
	deleted := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		deleted <- r.Method + " " + r.URL.String()
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	a := &arrivals{host: hostOf(server.URL), project: "p", tokens: []string{"t"}, patience: 10 * time.Second,
		tickets: []arrival{{id: "assigned"}, {err: errBusy}, {id: id, err: errBusy}}}
	a.leave(t.Context())
	if got, want := <-deleted, "DELETE /p/matchmaking/api/v1/tickets?id="+id; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
