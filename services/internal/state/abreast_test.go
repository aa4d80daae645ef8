package state

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestStepsAreTakenAbreast: a batch takes as long as its steps one behind the other in each of some lanes.
func TestStepsAreTakenAbreast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		items := make([]int, 3*abreast)
		for i := range items {
			items[i] = i
		}
		began := time.Now()
		results, err := stepAbreast(items, func(i int) (int, error) {
			time.Sleep(time.Second) //nolint:forbidigo // of the bubble
			return i + 1, nil
		})
		if took := time.Since(began); took != 3*time.Second || err != nil {
			t.Errorf("it took %v, %v", took, err)
		}
		for i, r := range results {
			if r != i+1 {
				t.Errorf("%d: %d", i, r)
			}
		}
	})
	var taken atomic.Int32
	bad := errors.New("bad")
	results, err := stepAbreast(make([]int, 10*abreast), func(int) (bool, error) {
		if taken.Add(1) == 1 {
			return true, nil
		}
		return true, bad
	})
	done := 0
	for _, r := range results {
		if r {
			done++
		}
	}
	if !errors.Is(err, bad) || done != 1 || taken.Load() > abreast+1 {
		t.Errorf("%d of %d were done, %v", done, taken.Load(), err)
	}
	if results, err := stepAbreast(nil, func(int) (int, error) { return 0, bad }); len(results) != 0 || err != nil {
		t.Error(results, err)
	}
}
