package state_test

import (
	"fmt"
	"strings"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/segmentation"
	"matchmaker.dev/services/internal/state"
)

// sized is a config with so many filters, segments and bytes of settings.
func sized(id string, filters, segments, bytes int) *pb.Config {
	low, high := 0.0, 100.0
	p := &pb.Pool{}
	for i := range filters {
		f := &pb.Filter{Attribute: fmt.Sprint("a", i), Min: &low, Max: &high}
		if i == 0 && segments > 1 {
			f.Segmentation = &pb.Segmentation{
				Distribution: segmentation.Uniform, Behavior: segmentation.BucketCount, Value: int64(segments),
			}
		}
		p.Filters = append(p.Filters, f)
	}
	return &pb.Config{Id: id, Settings: make([]byte, bytes), Pools: map[string]*pb.Pool{"all": p}}
}

// Promise 9.
func TestConfigsOfAProjectHaveLimitsTogether(t *testing.T) {
	for name, test := range map[string]struct {
		limits        state.ConfigLimits
		first, second *pb.Config // at the limit
		smaller       *pb.Config
		beyond, names string
	}{
		"configs": {
			state.ConfigLimits{Configs: 2}, sized("a", 0, 1, 0), sized("b", 0, 1, 0), sized("b", 0, 1, 0),
			"the project has 2 configs, the most it may have", "--max-configs",
		},
		"filters": {
			state.ConfigLimits{Filters: 10}, sized("a", 4, 1, 0), sized("b", 6, 1, 0), sized("b", 5, 1, 0),
			"would have 11 filters together, at most 10 are allowed", "--max-config-filters",
		},
		"segments": {
			state.ConfigLimits{Segments: 10}, sized("a", 1, 4, 0), sized("b", 1, 6, 0), sized("b", 1, 5, 0),
			"would have 11 segments together, at most 10 are allowed", "--max-config-segments",
		},
		"bytes": {
			state.ConfigLimits{Bytes: 1000}, sized("a", 1, 1, 400), sized("b", 1, 1, 400), sized("b", 1, 1, 300),
			"bytes together, at most 1000 are allowed", "--max-config-bytes",
		},
	} {
		suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
			s := open(state.Options{Limits: state.Limits{Configs: test.limits}})
			put := func(c *pb.Config) error {
				_, _, err := s.PutConfig(t.Context(), project, c, state.AnyRevision)
				return err
			}
			for _, c := range []*pb.Config{test.first, test.second, test.second} {
				if err := put(c); err != nil {
					t.Fatalf("%s: at the limit: %v", name, err)
				}
			}
			more := sized("c", 1, 1, 200)
			err := put(more)
			kindOf(t, err, problem.Invalid)
			if !strings.Contains(err.Error(), test.beyond) || !strings.Contains(err.Error(), test.names) {
				t.Errorf("%s: beyond the limit: %v", name, err)
			}
			if _, err := s.Config(t.Context(), project, "c"); problem.KindOf(err) != problem.NotFound {
				t.Errorf("%s: it was stored: %v", name, err)
			}
			// Another project has limits of its own.
			if _, _, err := s.PutConfig(t.Context(), "another", more, state.AnyRevision); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := put(test.smaller); err != nil {
				t.Errorf("%s: a smaller one: %v", name, err)
			}
			if _, err := s.DeleteConfig(t.Context(), project, "a", state.AnyRevision, ""); err != nil {
				t.Fatal(err)
			}
			if err := put(more); err != nil {
				t.Errorf("%s: after another was deleted: %v", name, err)
			}
		})
	}
}

// What was stored before there were limits counts, and works on.
func TestConfigsBeyondTheLimitsCanBecomeSmaller(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		before := open(state.Options{})
		for i := range 5 {
			if _, _, err := before.PutConfig(t.Context(), project, sized(fmt.Sprint("c", i), 10, 1, 0), 0); err != nil {
				t.Fatal(err)
			}
		}
		s := open(state.Options{Limits: state.Limits{Configs: state.ConfigLimits{Configs: 2, Filters: 20}}})
		for _, test := range []struct {
			config *pb.Config
			works  bool
		}{
			{sized("new", 0, 1, 0), false},
			{sized("c0", 11, 1, 0), false},
			{sized("c0", 10, 1, 0), true},
			{sized("c0", 3, 1, 0), true},
			{sized("c0", 4, 1, 0), false},
		} {
			_, _, err := s.PutConfig(t.Context(), project, test.config, state.AnyRevision)
			if (err == nil) != test.works {
				t.Errorf("%s with %d filters: %v", test.config.GetId(), len(test.config.GetPools()["all"].GetFilters()), err)
			}
		}
		if all, err := s.Configs(t.Context(), project); err != nil || len(all) != 5 {
			t.Errorf("%d configs, %v", len(all), err)
		}
	})
}
