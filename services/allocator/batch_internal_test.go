package allocator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
)

// steps answers questions, and notes what is asked at once.
type steps struct {
	mu    sync.Mutex
	asked [][]int
	err   error // of a step with the question bad
}

const bad = 13

func (s *steps) ask(ctx context.Context, _ string, all []int) ([]string, error) {
	s.mu.Lock()
	s.asked = append(s.asked, all)
	s.mu.Unlock()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, problem.New(problem.Unavailable, "too late")
	}
	var answers []string
	var err error
	for _, n := range all {
		if n == bad && s.err != nil {
			answers, err = append(answers, ""), s.err
			continue
		}
		answers = append(answers, fmt.Sprint("answer ", n))
	}
	return answers, err
}

func isKnown(answer string) bool { return answer != "" }

func (s *steps) sizes() (sizes []int) {
	for _, all := range s.asked {
		sizes = append(sizes, len(all))
	}
	return sizes
}

// askAll asks the questions from 0 on, the first alone, and returns the numbers of those that failed.
func askAll(t *testing.T, b *batch[int, string], count int) (failed []int) {
	t.Helper()
	var mu sync.Mutex
	var asking sync.WaitGroup
	for n := range count {
		asking.Go(func() {
			answer, err := b.do(t.Context(), "p", n)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, n)
			} else if answer != fmt.Sprint("answer ", n) {
				t.Errorf("the answer to %d is %q", n, answer)
			}
		})
		if n == 0 {
			synctest.Wait()
		}
	}
	asking.Wait()
	return failed
}

func TestQuestionsGatherWhileOthersAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &steps{}
		b := newBatch(time.Minute, s.ask, isKnown)
		if failed := askAll(t, b, 2+maxBatch); len(failed) > 0 {
			t.Errorf("%v failed", failed)
		}
		if got := s.sizes(); len(got) < 3 || got[0] != 1 || got[1] != maxBatch {
			t.Errorf("steps of %v questions", got)
		}
		synctest.Wait()
		if len(b.projects) > 0 {
			t.Error("a project is kept that has no questions")
		}
	})
}

// What one question does wrong is no other's fault, unless the state store does not answer at all.
func TestOneBadQuestionFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &steps{err: errors.New("bad")}
		if failed := askAll(t, newBatch(time.Minute, s.ask, isKnown), 20); len(failed) != 1 || failed[0] != bad {
			t.Errorf("%v failed", failed)
		}
		// Those without an answer are asked again, each alone and all at once.
		s = &steps{err: errors.New("bad")}
		began := time.Now()
		askAll(t, newBatch(time.Minute, s.ask, isKnown), 2+maxBatch)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		s = &steps{err: problem.New(problem.Unavailable, "no answer")}
		if failed := askAll(t, newBatch(time.Minute, s.ask, isKnown), 20); len(failed) != 1 || failed[0] != bad {
			t.Errorf("%v failed", failed)
		}
		if got := s.sizes(); len(got) != 2 {
			t.Errorf("steps of %v questions, while the state store does not answer", got)
		}
	})
}

func TestQuestionsOfProjectsDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &steps{}
		b := newBatch(time.Minute, s.ask, isKnown)
		began := time.Now()
		var asking sync.WaitGroup
		for n := range 5 {
			asking.Go(func() {
				if _, err := b.do(t.Context(), fmt.Sprint("p", n), n); err != nil {
					t.Error(err)
				}
			})
		}
		asking.Wait()
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestQuestionEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &steps{}
		b := newBatch(time.Minute, s.ask, isKnown)
		go func() { _, _ = b.do(t.Context(), "p", 0) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := b.do(ctx, "p", 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		<-time.After(time.Minute) // the others go on; no real time passes
		if got := s.sizes(); len(got) != 2 {
			t.Errorf("steps of %v questions", got)
		}
	})
}
