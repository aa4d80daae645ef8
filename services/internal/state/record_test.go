package state_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

func TestConfigIsReadAsItWasPut(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		least := 1.5
		want := &pb.Config{
			Id: "Ranked", Name: "n", Function: "duel", Settings: []byte(`{"a":1}`), PoolsSet: true,
			Pools:   map[string]*pb.Pool{"p": {Filters: []*pb.Filter{{Attribute: "skill", Min: &least}}}},
			Hosting: &pb.Hosting{Profile: "p", Keys: []byte("sealed")},
		}
		revision, created, err := s.PutConfig(t.Context(), project, want, state.NoRevision)
		if err != nil || !created {
			t.Fatal(created, err)
		}
		want.Revision = revision
		got, err := s.Config(t.Context(), project, "Ranked")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		all, err := s.Configs(t.Context(), project)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]*pb.Config{"Ranked": want}, all, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		if projects, err := s.Projects(t.Context()); err != nil || len(projects) != 1 || projects[0] != project {
			t.Error(projects, err)
		}
		_, err = s.Config(t.Context(), project, "ranked")
		kindOf(t, err, problem.NotFound)
	})
}

// Of many configs only those are read that are new or changed. Those that are gone are missing among the revisions.
func TestOnlyChangedConfigsAreRead(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		put := func(id, function string) {
			t.Helper()
			if _, _, err := s.PutConfig(t.Context(), project, &pb.Config{Id: id, Function: function},
				state.AnyRevision); err != nil {
				t.Fatal(err)
			}
		}
		var known map[string]int64
		expect := func(want ...string) {
			t.Helper()
			changed, revisions, err := s.ChangedConfigs(t.Context(), project, known)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for id, c := range changed {
				got = append(got, id+" "+c.GetFunction())
				if c.GetRevision() != revisions[id] {
					t.Errorf("%s has revision %d, want %d", id, c.GetRevision(), revisions[id])
				}
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("read were %q, want %q", got, want)
			}
			known = revisions
		}
		expect()
		put("a", "f")
		put("b", "f")
		put("c", "f")
		expect("a f", "b f", "c f")
		expect()
		put("b", "g")
		put("d", "f")
		if _, err := s.DeleteConfig(t.Context(), project, "a", state.AnyRevision, ""); err != nil {
			t.Fatal(err)
		}
		expect("b g", "d f")
		if _, exists := known["a"]; exists || len(known) != 3 {
			t.Errorf("the revisions are %v", known)
		}
	})
}

func TestPutConfigNeedsTheExpectedRevision(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		put := func(id string, expected int64) (int64, bool, error) {
			return s.PutConfig(t.Context(), project, &pb.Config{Id: id}, expected)
		}
		first, _, err := put("a", state.AnyRevision)
		if err != nil {
			t.Fatal(err)
		}
		second, created, err := put("a", first)
		if err != nil || created || second <= first {
			t.Fatal(second, created, err)
		}
		for name, c := range map[string]struct {
			id       string
			expected int64
		}{
			"an older revision":          {"a", first},
			"none, where there is one":   {"a", state.NoRevision},
			"one, where there is none":   {"b", 1},
			"an id of other letter case": {"A", state.AnyRevision},
		} {
			_, _, err := put(c.id, c.expected)
			if problem.KindOf(err) != problem.Conflict {
				t.Errorf("%s: %v", name, err)
			}
		}
		other, _, err := put("b", state.NoRevision)
		if err != nil || other <= second {
			t.Errorf("revision %d of another config after %d, %v", other, second, err)
		}
	})
}

// Spellings of one name, one of which exists, are refused by PUT and DELETE.
func TestSpellingsOfAConfigAreOneName(t *testing.T) {
	const composed, decomposed, shouted = "caf\u00e9", "cafe\u0301", "CAFE\u0301"
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		put := func(id string) error {
			_, _, err := s.PutConfig(t.Context(), project, &pb.Config{Id: id}, state.AnyRevision)
			return err
		}
		remove := func(id string) error {
			_, err := s.DeleteConfig(t.Context(), project, id, state.AnyRevision, "")
			return err
		}
		must(t, put(decomposed))
		for _, other := range []string{composed, shouted, "CAF\u00c9"} {
			kindOf(t, put(other), problem.Conflict)
			kindOf(t, remove(other), problem.Conflict)
		}
		must(t, put(decomposed))
		must(t, remove(decomposed))
		must(t, remove(decomposed))
		must(t, put(composed))
		all, err := s.Configs(t.Context(), project)
		if err != nil || len(all) != 1 || all[composed] == nil {
			t.Errorf("there are %v, %v", all, err)
		}
		kindOf(t, remove("CAFÉ"), problem.Conflict)
		must(t, put("plain"))
		kindOf(t, remove("Plain"), problem.Conflict)
		must(t, remove("plain"))
	})
}

func TestFunctionsUpToTheLimit(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Functions: 2})
		put := func(name, md5 string) error {
			return s.ChangeFunction(t.Context(), project, name, func(*pb.Function) (*pb.Function, error) {
				return &pb.Function{Name: name, Md5: md5}, nil
			})
		}
		for _, name := range []string{"a", "b"} {
			if err := put(name, "1"); err != nil {
				t.Fatal(err)
			}
		}
		kindOf(t, put("c", "1"), problem.Invalid)
		if err := put("b", "2"); err != nil {
			t.Error("an update at the limit:", err)
		}
		if err := s.ChangeFunction(t.Context(), project, "a", func(f *pb.Function) (*pb.Function, error) {
			if f.GetMd5() != "1" {
				t.Errorf("read %v", f)
			}
			return nil, nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := put("c", "3"); err != nil {
			t.Error("after another was deleted:", err)
		}
		all, err := s.Functions(t.Context(), project)
		if err != nil || len(all) != 2 || all["b"].GetMd5() != "2" || all["c"].GetMd5() != "3" {
			t.Error(all, err)
		}
		_, err = s.Function(t.Context(), project, "a")
		kindOf(t, err, problem.NotFound)
		refused := errors.New("no")
		if err := s.ChangeFunction(t.Context(), project, "b", func(*pb.Function) (*pb.Function, error) {
			return nil,
				refused
		}); !errors.Is(err, refused) {
			t.Error("a change that fails:", err)
		}
	})
}

func TestConcurrentChangesOfAFunctionAllCount(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		const changes = 20
		var all sync.WaitGroup
		for range changes {
			all.Go(func() {
				err := s.ChangeFunction(t.Context(), project, "f", func(f *pb.Function) (*pb.Function, error) {
					return &pb.Function{Name: "f", Generation: f.GetGeneration() + 1}, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if f, err := s.Function(t.Context(), project, "f"); err != nil || f.GetGeneration() != changes {
			t.Errorf("%d changes gave generation %d, %v", changes, f.GetGeneration(), err)
		}
	})
}
