package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/lab/chart"
)

// eveningPatience is how long a player tries to get in, and how long it then waits.
const eveningPatience = time.Minute

// dialAgain is when a player tries again that got no answer.
const dialAgain = time.Second

// evening is the players of a launch. They come whatever becomes of the others. One that is refused comes again when
// it was told to. What happens is counted by the second, waits by the second of the request that was let in.
type evening struct {
	*project
	manner
	host  string
	seed  uint64
	usual time.Duration // the p99 of waits
	began time.Time
	pool  workerPool

	mu      sync.Mutex
	seconds []moment
	late    times
	// playing are the players who have not left; inside are the admitted ones without a match yet.
	playing, inside            int
	entered, assigned, outside int
	failed                     error // the first one
}

// moment is a second. Waits are from the request that was let in to the assignment.
type moment struct {
	came, refused int
	waits         times
}

// storm is many players that come within a second, and what became of them.
type storm struct {
	name   string
	tokens []string
	aim    float64
	// fresh tells that each player has a new connection.
	fresh bool

	players            sync.WaitGroup
	began, letIn, seen time.Time
}

func newEvening(p *project, m manner, seed uint64) *evening {
	return &evening{project: p, manner: m, host: p.Address(catalog.Ticket), seed: seed, began: time.Now()}
}

// second is the number of a time's second.
func (e *evening) second(t time.Time) int { return max(0, int(t.Sub(e.began)/time.Second)) }

func (e *evening) now() int { return e.second(time.Now()) }

// note changes what is known, and the second of a time.
func (e *evening) note(at time.Time, change func(*moment)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.second(at)
	for len(e.seconds) <= n {
		e.seconds = append(e.seconds, moment{})
	}
	change(&e.seconds[n])
}

// come lets players come for a while, at a rate that goes evenly from one to another.
func (e *evening) come(ctx context.Context, seed uint64, from, to float64, over time.Duration) {
	rate := func(at time.Duration) float64 { return from + (to-from)*float64(at)/float64(over) }
	e.arrive(ctx, seed, rate, func(n int, at time.Duration) bool {
		if at <= over {
			e.enter(ctx, e.tokens[n%len(e.tokens)], nil)
		}
		return at <= over
	})
}

// arrive calls enter at random times, with numbers from 0 and the times, until that is false.
func (e *evening) arrive(ctx context.Context, seed uint64, rate func(time.Duration) float64,
	enter func(n int, at time.Duration) bool) {
	random := rand.New(rand.NewPCG(e.seed, seed)) //nolint:gosec // a simulation
	start, at := time.Now(), time.Duration(0)
	for n := 0; ; n++ {
		at += time.Duration(random.ExpFloat64() / max(1, rate(at)) * float64(time.Second))
		if pause(ctx, time.Until(start.Add(at))) != nil || !enter(n, at) {
			return
		}
		late := time.Since(start) - at
		e.note(time.Now(), func(*moment) { e.late = append(e.late, late) })
	}
}

// rest lets so many players come a second until stop is called.
func (e *evening) rest(ctx context.Context, rate int) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { e.come(ctx, 1, float64(rate), float64(rate), math.MaxInt64) })
	return func() {
		cancel()
		all.Wait()
	}
}

// connectAbreast is how many connections are opened at the same time.
const connectAbreast = 64

// connect opens a connection for each token, and shows the token to the service.
func (e *evening) connect(ctx context.Context, tokens []string) {
	var all, ready sync.WaitGroup
	ready.Add(len(tokens))
	places := make(chan struct{}, connectAbreast)
	for _, token := range tokens {
		all.Add(1)
		e.pool.take(func(w *wire) *wire {
			defer all.Done()
			places <- struct{}{}
			w = e.shown(ctx, w, token)
			<-places
			ready.Done()
			ready.Wait() // so that each has a connection of its own
			return w
		})
	}
	all.Wait()
}

// shown asks on a connection for a ticket that there is not.
func (e *evening) shown(ctx context.Context, w *wire, token string) *wire {
	w, err := w.orDial(ctx, e.host)
	if err != nil {
		return nil
	}
	w.patience(time.Now().Add(eveningPatience))
	if _, _, err := w.do(awaiting(e.host, e.name, token, "none")); err != nil {
		w.close()
		return nil
	}
	return w
}

// rush lets the players of a storm come, and returns when all of them have left.
func (e *evening) rush(ctx context.Context, s *storm) {
	s.began = time.Now()
	rate := func(time.Duration) float64 { return float64(len(s.tokens)) }
	e.arrive(ctx, 2, rate, func(n int, _ time.Duration) bool {
		e.enter(ctx, s.tokens[n], s)
		return n+1 < len(s.tokens)
	})
	s.players.Wait()
}

// enter lets a player come, of a storm if that is not nil.
func (e *evening) enter(ctx context.Context, token string, s *storm) {
	if s != nil {
		s.players.Add(1)
	}
	e.note(time.Now(), func(now *moment) {
		now.came++
		e.playing++
	})
	play := func(w *wire) *wire {
		w = e.play(ctx, w, token, s)
		e.note(time.Now(), func(*moment) { e.playing-- })
		if s != nil {
			s.players.Done()
		}
		return w
	}
	if s == nil || !s.fresh {
		e.pool.take(play)
		return
	}
	go func() {
		if w := play(nil); w != nil {
			w.close()
		}
	}()
}

// play is what a player does on a connection; a new one when nil. It returns the connection if another player can use
// it.
func (e *evening) play(ctx context.Context, w *wire, token string, s *storm) *wire {
	until := time.Now().Add(eveningPatience)
	for time.Now().Before(until) {
		began := time.Now()
		var id string
		var again time.Duration
		if w, id, again = e.ask(ctx, w, token, until); id != "" {
			e.note(began, func(*moment) {
				e.entered++
				e.inside++
				if s != nil && began.After(s.letIn) {
					s.letIn = began
				}
			})
			return e.await(w, token, id, s, began)
		}
		e.note(began, func(then *moment) { then.refused++ })
		if pause(ctx, again) != nil {
			return w
		}
	}
	e.note(time.Now(), func(*moment) { e.outside++ })
	return w
}

// ask asks to be let in. Without an id it says when to ask again.
func (e *evening) ask(ctx context.Context, w *wire, token string, until time.Time) (
	left *wire, id string, again time.Duration) {
	w, err := w.orDial(ctx, e.host)
	if err != nil {
		e.fail(err)
		return nil, "", dialAgain
	}
	w.patience(until)
	status, body, err := w.do(creation(e.host, e.name, token, "", "", reach/2))
	if err == nil && status != http.StatusTooManyRequests {
		id, err = idOf(status, body)
	}
	if err != nil {
		e.fail(err)
		w.close()
		return nil, "", max(dialAgain, w.again)
	}
	return w, id, w.again
}

// await waits for the assignment of an admitted player.
func (e *evening) await(w *wire, token, id string, s *storm, began time.Time) *wire {
	until := time.Now().Add(eveningPatience)
	w.patience(until)
	err := errLeft
	for errors.Is(err, errLeft) && time.Now().Before(until) {
		var status int
		var body []byte
		if status, body, err = w.do(awaiting(e.host, e.name, token, id)); err == nil {
			if err = checkAssigned(status, body, e.hosted); err != nil && !strings.Contains(string(body), `"assignment"`) {
				err = errLeft
			}
		}
	}
	seen := time.Now()
	e.note(began, func(then *moment) {
		e.inside--
		if err != nil {
			e.failed = first([]error{e.failed, err})
			return
		}
		e.assigned++
		then.waits = append(then.waits, seen.Sub(began))
		if s != nil && seen.After(s.seen) {
			s.seen = seen
		}
	})
	if err != nil {
		w.close()
		return nil
	}
	return w
}

func (e *evening) fail(err error) {
	e.note(time.Now(), func(*moment) { e.failed = first([]error{e.failed, err}) })
}

// end returns when all players have left. The last one may be odd: then one more comes.
func (e *evening) end(ctx context.Context) error {
	defer e.pool.stop()
	return await(ctx, func() (bool, error) {
		e.mu.Lock()
		playing, odd, token := e.playing, e.playing == 1 && e.inside == 1, e.tokens[e.entered%len(e.tokens)]
		e.mu.Unlock()
		if odd {
			e.enter(ctx, token, nil)
		}
		return playing == 0, nil
	})
}

// fewest is of how many waits a p99 says something.
const fewest = 20

// span are the seconds from one on until another one, as far as there are any. e.mu is held.
func (e *evening) span(from, to int) []moment {
	to = min(to, len(e.seconds))
	return e.seconds[min(from, to):to]
}

// usualP99 is the median of the p99 of the seconds from one on until another one.
func (e *evening) usualP99(from, to int) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	var each times
	for _, s := range e.span(from, to) {
		if len(s.waits) >= fewest {
			each = append(each, s.waits.quantile(0.99))
		}
	}
	return each.quantile(0.5)
}

// between are the waits of players admitted from one second on until another one, and how often others were
// refused then.
func (e *evening) between(from, to int) (waits times, refused int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.span(from, to) {
		waits, refused = append(waits, s.waits...), refused+s.refused
	}
	return waits, refused
}

// recovery is how many seconds it takes from one on until no player is refused any more, and all waits are as usual.
func (e *evening) recovery(from int) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for k, s := range e.seconds[min(from, len(e.seconds)):] {
		if s.refused > 0 || len(s.waits) >= fewest && float64(s.waits.quantile(0.99)) > launchAim*float64(e.usual) {
			n = k + 1
		}
	}
	return n
}

// curves draws what came and was refused, and how long the others waited.
func (e *evening) curves(load string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var came, refused, p50, p99 []chart.Point
	for k, s := range e.seconds {
		at := func(y float64) chart.Point { return chart.Point{X: float64(k), Y: y} }
		came, refused = append(came, at(float64(s.came))), append(refused, at(float64(s.refused)))
		wait := func(q float64) chart.Point {
			if len(s.waits) == 0 {
				return at(math.NaN())
			}
			return at(in(millis, s.waits.quantile(q)))
		}
		p50, p99 = append(p50, wait(0.5)), append(p99, wait(0.99))
	}
	const x = "seconds"
	rates := chart.Chart{X: x, Y: load + ": players a second", Lines: []chart.Line{
		{Name: "came", Points: came}, {Name: "refused", Color: 1, Points: refused}}}
	waits := chart.Chart{X: x, Y: load + ": ms until the assignment", Lines: []chart.Line{
		{Name: "p50", Points: p50}, {Name: "p99", Color: 1, Points: p99}}}
	return []string{rates.SVG(), waits.SVG()}
}

// stacked is one picture of charts, one below the other.
func stacked(charts []string) string {
	const height = 450
	var text strings.Builder
	fmt.Fprintf(&text, `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="%d">`+"\n", len(charts)*height)
	for i, one := range charts {
		fmt.Fprintf(&text, `<g transform="translate(0 %d)">`+"\n%s</g>\n", i*height, one)
	}
	return text.String() + "</svg>\n"
}
