package memo

import (
	"errors"
	"sync"
	"testing"
	"time"
)

func TestWhatWasReadIsKeptForAWhile(t *testing.T) {
	var m Memo[string, int]
	now, reads := time.Unix(1000, 0), 0
	get := func(err error) (int, error) {
		return m.Get("a", func() time.Time { return now }, func() (int, time.Time, error) {
			reads++
			return reads, now.Add(time.Second), err
		})
	}
	fails := errors.New("no")
	for _, step := range []struct {
		after     time.Duration
		read      error // of a read, if there is one
		want      int
		wantError error
	}{
		{0, fails, 1, fails}, {0, nil, 2, nil}, {time.Second - 1, fails, 2, nil},
		{1, fails, 3, fails}, {0, nil, 4, nil}, {0, fails, 4, nil},
	} {
		now = now.Add(step.after)
		if got, err := get(step.read); got != step.want || !errors.Is(err, step.wantError) {
			t.Errorf("%d, %v, want %d, %v", got, err, step.want, step.wantError)
		}
	}
}

// Of two callers for one key, one reads and the other one waits. Another key waits for neither.
func TestOneReadsForAll(t *testing.T) {
	var m Memo[string, int]
	var all sync.WaitGroup
	begun, end := make(chan struct{}), make(chan struct{})
	slow := func() {
		got, err := m.Get("slow", time.Now, func() (int, time.Time, error) {
			close(begun) // a second time is a panic
			<-end
			return 1, time.Now().Add(time.Hour), nil
		})
		if got != 1 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
	}
	all.Go(slow)
	<-begun
	all.Go(slow)
	if got, err := m.Get("other", time.Now, func() (int, time.Time, error) { return 2, time.Time{}, nil }); got != 2 ||
		err != nil {
		t.Errorf("another key: %d, %v", got, err)
	}
	close(end)
	all.Wait()
}

func TestKeysAreBounded(t *testing.T) {
	var m Memo[int, int]
	for i := range 3 * most {
		_, _ = m.Get(i, time.Now, func() (int, time.Time, error) { return i, time.Now().Add(time.Hour), nil })
		if len(m.all) > most {
			t.Fatalf("%d keys", len(m.all))
		}
	}
}

func TestWhatIsOverGoesFirst(t *testing.T) {
	var m Memo[int, int]
	reads, now := 0, time.Unix(1000, 0)
	get := func(key int, lasts time.Duration) {
		_, _ = m.Get(key, func() time.Time { return now }, func() (int, time.Time, error) {
			reads++
			return 0, now.Add(lasts), nil
		})
	}
	get(0, time.Hour)
	for i := range most - 1 {
		get(1+i, time.Second)
	}
	now = now.Add(time.Second)
	one := m.of(1, now) // its caller has not begun to read it
	get(most, time.Hour)
	get(most+1, time.Hour)
	get(0, time.Hour)
	if reads != most+2 || len(m.all) != 4 {
		t.Errorf("what lasts was read again: %d reads, %d keys", reads, len(m.all))
	}
	if m.of(1, now) != one {
		t.Error("two callers may read one key at a time")
	}
}
