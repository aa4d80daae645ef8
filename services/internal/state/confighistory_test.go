package state_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// madeBy returns a config with a maker.
func madeBy(id, by, function string) *pb.Config {
	return &pb.Config{Id: id, Function: function, ChangedBy: by}
}

// changesOf is a history on one line for each change: the second after epoch0, the maker, and the change.
func changesOf(t *testing.T, s *state.Store, id string) string {
	t.Helper()
	changes, err := s.ConfigHistory(t.Context(), project, id)
	must(t, err)
	var lines []string
	for i, c := range changes {
		when := "?"
		if !c.Changed.IsZero() {
			when = fmt.Sprint(c.Changed.Sub(epoch0).Seconds())
		}
		what := c.Config.GetFunction()
		switch {
		case c.Deleted:
			what = "deleted"
		case c.Config == nil:
			what = "not kept"
		case c.Config.GetRevision() != c.Revision || c.Config.GetId() != id:
			t.Errorf("change %d has the config %v", c.Revision, c.Config)
		}
		if c.Applies {
			what += "!"
		}
		if i > 0 && changes[i-1].Revision <= c.Revision {
			t.Errorf("%d follows %d", c.Revision, changes[i-1].Revision)
		}
		lines = append(lines, fmt.Sprint(when, " ", c.By, " ", what))
	}
	return strings.Join(lines, ", ")
}

func expectChanges(t *testing.T, s *state.Store, id, want string) {
	t.Helper()
	if got := changesOf(t, s, id); got != want {
		t.Errorf("the history of %s is\n%s, want\n%s", id, got, want)
	}
}

func TestHistoryOfConfigs(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		put := func(when int, c *pb.Config) {
			t.Helper()
			_, _, err := s.At(at(when)).PutConfig(t.Context(), project, c, state.AnyRevision)
			must(t, err)
		}
		_, err := s.ConfigHistory(t.Context(), project, "a")
		kindOf(t, err, problem.NotFound)
		put(1, madeBy("a", "olga", "f"))
		expectChanges(t, s, "a", "1 olga f!")
		put(2, madeBy("a b", "hugo", "x")) // names may have spaces
		put(3, madeBy("a", "hugo", "g"))
		put(4, madeBy("a", "olga", "h"))
		expectChanges(t, s, "a", "4 olga h!, 3 hugo g, 1 olga f")
		expectChanges(t, s, "a b", "2 hugo x!")
		must(t, second(s.At(at(5)).DeleteConfig(t.Context(), project, "a", state.AnyRevision, "ida")))
		must(t, second(s.At(at(6)).DeleteConfig(t.Context(), project, "a", state.AnyRevision, "nobody")))
		expectChanges(t, s, "a", "5 ida deleted, 4 olga h, 3 hugo g, 1 olga f")
		put(7, madeBy("a", "ida", "i"))
		expectChanges(t, s, "a", "7 ida i!, 5 ida deleted, 4 olga h, 3 hugo g, 1 olga f")

		// A check changes nothing.
		created, err := s.CheckConfig(t.Context(), project, madeBy("a", "olga", "z"), state.AnyRevision)
		if must(t, err); created {
			t.Error("a config that exists would be created")
		}
		created, err = s.CheckConfig(t.Context(), project, madeBy("new", "olga", "z"), state.NoRevision)
		if must(t, err); !created {
			t.Error("a new config would not be created")
		}
		_, err = s.CheckConfig(t.Context(), project, madeBy("A", "olga", "z"), state.AnyRevision)
		kindOf(t, err, problem.Conflict)
		_, err = s.CheckConfig(t.Context(), project, madeBy("a", "olga", "z"), 1)
		kindOf(t, err, problem.Conflict)
		_, err = s.Config(t.Context(), project, "new")
		kindOf(t, err, problem.NotFound)
		expectChanges(t, s, "a", "7 ida i!, 5 ida deleted, 4 olga h, 3 hugo g, 1 olga f")

		// What has not applied for a minute is forgotten, and a deletion after that.
		must(t, s.At(at(64)).ForgetConfigChanges(t.Context(), project, 30*time.Second))
		expectChanges(t, s, "a", "7 ida i!, 5 ida deleted, 4 olga h")
		must(t, s.At(at(3600)).ForgetConfigChanges(t.Context(), project, 30*time.Second))
		expectChanges(t, s, "a", "7 ida i!")
	})
}

// A change that applies can be forgotten, when there are very many.
func TestHistoryOfConfigsWhoseChangeIsForgotten(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		put := func(c *pb.Config) {
			t.Helper()
			_, _, err := s.PutConfig(t.Context(), project, c, state.AnyRevision)
			must(t, err)
		}
		put(&pb.Config{Id: "a", Function: "f"})
		must(t, s.ForgetConfigHistory(t.Context(), project))
		expectChanges(t, s, "a", "?  f!")
		put(madeBy("a", "olga", "g"))
		expectChanges(t, s, "a", "0 olga g!, ?  f")
	})
}

func TestHistoryOfConfigsIsBounded(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{Configs: state.ConfigLimits{History: 100_000}}})
		now := 0
		put := func(id, function string, bytes int) {
			t.Helper()
			now++
			c := madeBy(id, "olga", function)
			c.Settings = make([]byte, bytes)
			_, _, err := s.At(at(now)).PutConfig(t.Context(), project, c, state.AnyRevision)
			must(t, err)
		}
		for n := range 40 {
			put("a", fmt.Sprint("f", n), 10)
		}
		changes, err := s.ConfigHistory(t.Context(), project, "a")
		must(t, err)
		if len(changes) != 32 || changes[31].Config.GetFunction() != "f8" {
			t.Errorf("%d changes are kept, the oldest is %v", len(changes), changes[len(changes)-1])
		}
		// The oldest of all go, and those that apply last.
		put("b", "f", 40_000)
		put("b", "g", 40_000)
		put("c", "f", 40_000)
		put("c", "g", 40_000)
		expectChanges(t, s, "b", "42 olga g!, 41 olga f")
		put("b", "h", 40_000)
		expectChanges(t, s, "a", "40 olga f39!")
		expectChanges(t, s, "b", "45 olga h!, 42 olga g")
		expectChanges(t, s, "c", "44 olga g!, 43 olga f")
	})
}

func TestNumberOfChangesOfConfigsIsBounded(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		for n := range 520 { // two changes each
			id := fmt.Sprint("c", n)
			then := s.At(at(n))
			_, _, err := then.PutConfig(t.Context(), project, madeBy(id, "", "f"), state.AnyRevision)
			must(t, err)
			must(t, second(then.DeleteConfig(t.Context(), project, id, state.AnyRevision, "")))
		}
		if n, err := s.ConfigChanges(t.Context(), project); err != nil || n != 1024 {
			t.Errorf("%d changes are kept, %v", n, err)
		}
		_, err := s.ConfigHistory(t.Context(), project, "c0")
		kindOf(t, err, problem.NotFound)
		expectChanges(t, s, "c519", "519  deleted, 519  f")
	})
}

// What configs were is not kept while Redis is short of memory: what exists can be changed.
func TestHistoryWithoutMemory(t *testing.T) {
	t.Parallel()
	url, _ := limited(t, "16mb")
	s := openStore(t, state.Options{Server: state.Server{URL: url}, Limits: state.Limits{Reserve: "25%"}})
	_, _, err := s.PutConfig(t.Context(), project, madeBy("a", "olga", "f"), state.AnyRevision)
	must(t, err)
	fillUp(t, s, project, func() { must(t, s.MeasureMemory(t.Context())) })
	_, _, err = s.PutConfig(t.Context(), project, madeBy("a", "hugo", "g"), state.AnyRevision)
	must(t, err)
	changes, err := s.ConfigHistory(t.Context(), project, "a")
	must(t, err)
	if len(changes) != 2 || changes[1].Config != nil || changes[1].Changed.IsZero() || changes[0].By != "hugo" {
		t.Errorf("the history is %+v", changes)
	}
}

func TestResealOfConfigsAndTheirHistory(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		hosted := func(id, keys string) *pb.Config {
			return &pb.Config{Id: id, ChangedBy: "olga", Hosting: &pb.Hosting{Keys: []byte(keys)}}
		}
		put := func(when int, c *pb.Config) {
			t.Helper()
			_, _, err := s.At(at(when)).PutConfig(t.Context(), project, c, state.AnyRevision)
			must(t, err)
		}
		put(1, hosted("a", "old 1"))
		put(2, hosted("a", "old 2"))
		put(3, hosted("gone", "old 3"))
		must(t, second(s.At(at(4)).DeleteConfig(t.Context(), project, "gone", state.AnyRevision, "ida")))

		now, err := s.Config(t.Context(), project, "a")
		must(t, err)
		before := now.GetRevision()
		now.Hosting.Keys = []byte("anew 2")
		must(t, s.At(at(5)).ResealConfig(t.Context(), project, now))
		kindOf(t, s.ResealConfig(t.Context(), project, now), problem.Conflict)
		expectChanges(t, s, "a", "2 olga !, 1 olga ")
		again, err := s.Config(t.Context(), project, "a")
		if must(t, err); again.GetRevision() <= before || string(again.GetHosting().GetKeys()) != "anew 2" {
			t.Errorf("after %d: %v", before, again)
		}

		odd := errors.New("odd")
		done, err := s.ResealConfigHistory(t.Context(), project, func(c *pb.Config) (bool, error) {
			keys, is := strings.CutPrefix(string(c.GetHosting().GetKeys()), "old ")
			c.Hosting.Keys = []byte("longer than before " + keys)
			return is, odd
		})
		if done != 2 || !errors.Is(err, odd) {
			t.Errorf("%d were encrypted anew, %v", done, err)
		}
		expectChanges(t, s, "a", "2 olga !, 1 olga ")
		for id, want := range map[string]string{"a": "1", "gone": "3"} {
			changes, err := s.ConfigHistory(t.Context(), project, id)
			must(t, err)
			if got := string(changes[1].Config.GetHosting().GetKeys()); got != "longer than before "+want {
				t.Errorf("%s has %q", id, got)
			}
		}
		// They are counted as they are now, and forgotten.
		must(t, s.At(at(7200)).ForgetConfigChanges(t.Context(), project, time.Minute))
		if n, err := s.ConfigChanges(t.Context(), project); err != nil || n != 1 {
			t.Errorf("%d changes are kept, %v", n, err)
		}
	})
}
