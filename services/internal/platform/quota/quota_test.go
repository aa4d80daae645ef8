package quota_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/internal/platform/quota"
)

// However much some owners take, there is as much again for the next one.
func TestAShareIsHalfOfWhatTheOthersLeave(t *testing.T) {
	s := quota.NewShares[string](1000)
	fill := func(owner string) (n int64) {
		for n < 2000 && s.Take(owner, 1) {
			n++
		}
		return n
	}
	for i, want := range []int64{500, 250, 125} {
		if n := fill(fmt.Sprint(i)); n != want {
			t.Errorf("owner %d has %d, want %d", i, n, want)
		}
	}
	if s.Take("next", 64) || !s.Take("next", 63) {
		t.Error("the next owner does not get half of what is left")
	}
	s.Give("0", 500)
	if used, limit := s.Used(); used != 438 || limit != 1000 || s.Of("0") != 0 || s.Of("next") != 63 {
		t.Errorf("%d of %d are used, %d of next", used, limit, s.Of("next"))
	}
	if !quota.NewShares[string](1).Take("only", 1) || quota.NewShares[string](0).Take("only", 1) {
		t.Error("a limit of 1 has room for one, and one of 0 for none")
	}
}

// queue is a Queue whose turns end when the test says so, in a bubble of synctest.
type queue struct {
	*quota.Queue
	mu      sync.Mutex
	granted []string
	ends    map[string]context.CancelFunc
}

func newQueue(o quota.Options) *queue {
	o.Now = time.Now
	return &queue{Queue: quota.NewQueue(o), ends: map[string]context.CancelFunc{}}
}

// want queues a turn, and returns when it has begun or waits.
func (q *queue) want(t *testing.T, owner, name string) {
	life, end := context.WithCancel(t.Context())
	q.ends[name] = end
	go func() {
		turn, err := q.Enter(t.Context(), owner)
		if err != nil {
			return // the test is over
		}
		q.mu.Lock()
		q.granted = append(q.granted, name)
		q.mu.Unlock()
		<-life.Done()
		turn.Leave(0)
	}()
	synctest.Wait()
}

func (q *queue) end(name string) {
	q.ends[name]()
	synctest.Wait()
}

// use makes an owner use a place for so long, while no other does.
func (q *queue) use(t *testing.T, owner string, spent time.Duration) {
	turn, err := q.Enter(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	turn.Leave(spent)
}

// However many turns strangers want, and however many strangers there are, an owner that used nothing lately is next.
func TestTheOwnerThatUsedLeastIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(quota.Options{Places: 1})
		for i, stranger := range []string{"c", "b", "a"} {
			q.use(t, stranger, 30*time.Second+time.Duration(i))
		}
		q.want(t, "a", "a1")
		for n := 2; n <= 5; n++ {
			for _, stranger := range []string{"a", "b", "c"} {
				q.want(t, stranger, fmt.Sprint(stranger, n))
			}
		}
		q.want(t, "small", "small1")
		q.want(t, "small", "small2")
		for _, name := range []string{"a1", "small1", "small2", "c2"} {
			pass(time.Second)
			q.end(name)
		}
		want := []string{"a1", "small1", "small2", "c2", "b2"}
		if got := q.granted[:len(want)]; !slices.Equal(got, want) {
			t.Errorf("granted in the order %v, want %v", got, want)
		}
	})
}

// Turns under way count, also those that sleep, and turns of an owner go in order.
func TestTurnsUnderWayCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(quota.Options{Places: 2})
		q.want(t, "a", "a1")
		pass(time.Second)
		for _, name := range []string{"b1", "a2", "a3", "c1", "b2"} {
			q.want(t, name[:1], name)
		}
		for _, name := range []string{"b1", "c1", "b2", "a2"} {
			q.end(name)
		}
		if want := []string{"a1", "b1", "c1", "b2", "a2", "a3"}; !slices.Equal(q.granted, want) {
			t.Errorf("granted in the order %v, want %v", q.granted, want)
		}
	})
}

// An owner has no more than its number of places, and however many of its turns wait, others may wait as well.
func TestOwnersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(quota.Options{Places: 3, Each: 2, Waiting: 8})
		for n := range 20 {
			q.want(t, "flood", fmt.Sprint("flood", n))
		}
		q.want(t, "other", "other")
		q.want(t, "late", "late")
		if want := []string{"flood0", "flood1", "other"}; !slices.Equal(q.granted, want) {
			t.Errorf("granted %v, want %v", q.granted, want)
		}
		q.Open(func(owner string, held, waiting int) {
			want := map[string][2]int{"flood": {2, 4}, "other": {1, 0}, "late": {0, 1}}
			if got := [2]int{held, waiting}; got != want[owner] {
				t.Errorf("%s has and waits for %v, want %v", owner, got, want[owner])
			}
		})
		if _, err := q.Enter(t.Context(), "flood"); !errors.Is(err, quota.ErrBusy) {
			t.Errorf("one more got %v", err)
		}
	})
}

func TestATurnThatWaitsNoLongerLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(quota.Options{Places: 1})
		q.want(t, "a", "a1")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := q.Enter(ctx, "b")
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Enter = %v", err)
		}
		q.end("a1")
		q.want(t, "c", "c1")
		if want := []string{"a1", "c1"}; !slices.Equal(q.granted, want) {
			t.Errorf("granted %v, want %v", q.granted, want)
		}
		q.end("c1")
		q.Open(func(owner string, held, waiting int) { t.Errorf("%s has %d, and waits for %d", owner, held, waiting) })
	})
}

// Usage is forgotten, and so are owners when there are too many: those that used most are known longest.
func TestUsageIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(quota.Options{Places: 1, Usage: &quota.Usage{}})
		q.use(t, "a", 10*time.Second)
		pass(10 * time.Minute)
		q.use(t, "b", 6*time.Second)
		if a, b := q.Usage.Of("a", time.Now()), q.Usage.Of("b", time.Now()); a >= b || a < 4*time.Second {
			t.Errorf("a has %v, b %v", a, b)
		}
		for n := range 11_000 {
			q.use(t, fmt.Sprint("stranger", n), time.Duration(n)*time.Microsecond)
		}
		if q.Usage.Of("a", time.Now()) == 0 || q.Usage.Of("stranger1", time.Now()) != 0 {
			t.Error("not those with the least usage are forgotten")
		}
	})
}

// pass lets time pass in a bubble of synctest.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the bubble's time
