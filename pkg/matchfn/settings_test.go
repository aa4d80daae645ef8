package matchfn_test

import (
	"slices"
	"testing"

	"matchmaker.dev/pkg/matchfn"
)

const sample = `{"window": 50.5, "size": 3, "mode": "d\u00fcel", "ranked": true, "none": null,
	"teams": {"size": 5, "names": ["red", "blue"]}, "weights": [1, -2.5e1]}`

func TestSettingsReturnValuesOrDefaults(t *testing.T) {
	s := matchfn.NewSettings([]byte(sample))
	if got := s.Float("window", 1); got != 50.5 {
		t.Errorf("window %v", got)
	}
	if got := s.Float("absent", 1); got != 1 {
		t.Errorf("absent %v", got)
	}
	if got := s.Float("none", 2); got != 2 {
		t.Errorf("none %v", got)
	}
	if got := s.Float("window.deeper", 3); got != 3 {
		t.Errorf("window.deeper %v", got)
	}
	if got := s.Int("teams.size", 1); got != 5 {
		t.Errorf("teams.size %v", got)
	}
	if got := s.String("mode", ""); got != "düel" {
		t.Errorf("mode %q", got)
	}
	if got := s.String("teams.names.1", ""); got != "blue" {
		t.Errorf("teams.names.1 %q", got)
	}
	if !s.Bool("ranked", false) || !s.Bool("absent", true) {
		t.Error("bools")
	}
	if got := s.Strings("teams.names"); !slices.Equal(got, []string{"red", "blue"}) {
		t.Errorf("teams.names %q", got)
	}
	if got := s.Floats("weights"); !slices.Equal(got, []float64{1, -25}) {
		t.Errorf("weights %v", got)
	}
	if got := s.Names("teams"); !slices.Equal(got, []string{"size", "names"}) {
		t.Errorf("names of teams %q", got)
	}
	if !s.Has("teams.names.0") || s.Has("teams.names.2") || s.Has("none") || s.Has("") {
		t.Error("Has")
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
}

func TestSettingsReadLists(t *testing.T) {
	const lists = `{"names": ["a", null, "b"], "weights": [1, null, "x", 2, []], "none": []}`
	s := matchfn.NewSettings([]byte(lists))
	if got := s.Strings("names"); !slices.Equal(got, []string{"a", "", "b"}) {
		t.Errorf("names %q", got)
	}
	if s.Strings("none") != nil || s.Floats("absent") != nil || s.Err() != nil {
		t.Errorf("%q, %v, %v, want nil", s.Strings("none"), s.Floats("absent"), s.Err())
	}
	if got := s.Floats("weights"); !slices.Equal(got, []float64{1, 0, 0, 0, 0}) {
		t.Errorf("weights %v", got)
	}
	if err := s.Err(); err == nil || err.Error() != `settings: "weights.2" must be a number, not a string` {
		t.Error(err)
	}
}

func TestSettingsReportTheFirstError(t *testing.T) {
	type settings = matchfn.Settings
	for want, read := range map[string]func(s *settings){
		`settings: "mode" must be a number, not a string`:      func(s *settings) { s.Float("mode", 0) },
		`settings: "window" must be a whole number`:            func(s *settings) { s.Int("window", 0) },
		`settings: "teams" must be a string, not an object`:    func(s *settings) { s.String("teams", "") },
		`settings: "size" must be true or false, not a number`: func(s *settings) { s.Bool("size", false) },
		`settings: "mode" must be a list, not a string`:        func(s *settings) { s.Strings("mode") },
		`settings: "weights.1" must be a string, not a number`: func(s *settings) { s.String("weights.1", "") },
		`settings: "window" must be positive`: func(s *settings) {
			s.Fail("window", "must be positive")
			s.Fail("size", "later")
		},
		`settings: "none" is not a setting of this function, which has window, size, mode, ranked`: func(s *settings) {
			s.Only("window", "size", "mode", "ranked")
		},
	} {
		s := matchfn.NewSettings([]byte(sample))
		read(s)
		if err := s.Err(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if got := s.Float("window", 1); got != 1 {
			t.Errorf("after the error %q, window is %v, not the default", want, got)
		}
	}
	if err := matchfn.NewSettings([]byte(`[1]`)).Err(); err == nil ||
		err.Error() != "settings: the text is not an object" {
		t.Error(err)
	}
	if err := matchfn.NewSettings([]byte(`{"huge": 1e999}`)).Err(); err == nil ||
		err.Error() != "settings: line 1, column 10: huge: 1e999 is too large a number" {
		t.Error(err)
	}
	if err := matchfn.NewSettings(nil).Err(); err != nil {
		t.Error(err)
	}
}
