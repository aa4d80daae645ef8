package party

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/internal/problem"
)

// A project that asks all the time has one turn, and then the others have theirs.
func TestProjectsTakeTurnsToLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newSearchQueue()
		end, err := l.begin(t.Context(), "greedy")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.begin(t.Context(), "greedy"); problem.KindOf(err) != problem.Limited {
			t.Errorf("its second request: %v, want that it is refused", err)
		}
		searchQueue := make(chan string)
		other := func(project string) {
			end, err := l.begin(t.Context(), project)
			if err != nil {
				t.Error(err)
				return
			}
			searchQueue <- project
			end()
		}
		go other("a")
		synctest.Wait()
		go other("b")
		synctest.Wait()
		end()
		go other("greedy")
		synctest.Wait()
		for _, want := range []string{"a", "b", "greedy"} {
			if got := <-searchQueue; got != want {
				t.Errorf("%s looks, want %s", got, want)
			}
		}
		if synctest.Wait(); len(l.projects) > 0 {
			t.Errorf("%v are remembered", l.projects)
		}
	})
}

func TestLooksThatWaitAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newSearchQueue()
		end, err := l.begin(t.Context(), "first")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		refused := make(chan error, maxSearches)
		for n := range maxSearches {
			go func() {
				_, err := l.begin(ctx, fmt.Sprint(n))
				refused <- err
			}()
		}
		synctest.Wait()
		if len(refused) != 1 {
			t.Errorf("%d were refused at once, want the one beyond the bound", len(refused))
		}
		for range maxSearches { // those that waited in vain, too
			if err := <-refused; problem.KindOf(err) != problem.Limited {
				t.Errorf("%v, want that it is refused", err)
			}
		}
		end()
		if len(l.projects) > 0 {
			t.Errorf("%v are remembered", l.projects)
		}
	})
}
