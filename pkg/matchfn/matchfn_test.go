package matchfn_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/fake"
)

func TestRunHasAllDataOfTheRequest(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	request := fake.Request{
		Now:  now,
		Seed: 7,
		Tickets: []fake.Ticket{
			{
				Wait:       2500 * time.Millisecond,
				Attributes: map[string]float64{"skill": 3},
				Properties: map[string][]byte{"kit": {1, 2}},
			},
			{},
		},
		Pools: map[string][]uint32{"b": {1}, "a": {1, 0}},
		Backfills: []fake.Backfill{
			{
				Ticket: fake.Ticket{
					Attributes: map[string]float64{"missing": 2},
					Properties: map[string][]byte{"map": []byte("cave")},
				},
				Version:    4,
				Connection: "h:1",
			},
			{},
		},
		BackfillPools: map[string][]uint32{"open": {0}},
	}
	var draws []uint64
	f := matchfn.New(func(r *matchfn.Run) error {
		if r.Tickets() != 2 || r.Backfills() != 2 || !r.Now().Equal(now) || r.Budget() != 5*time.Second {
			t.Errorf("%d tickets, %d backfills, at %v for %v", r.Tickets(), r.Backfills(), r.Now(), r.Budget())
		}
		if got := r.Wait(); got[0] != 2.5 || got[1] != 0 {
			t.Errorf("wait %v", got)
		}
		if got, again := r.Created(), r.Attribute("created"); got[0] != float64(now.UnixMilli()-2500) || again[0] != got[0] {
			t.Errorf("created %v, %v", got, again)
		}
		if got := r.Attribute("skill"); got[0] != 3 || !math.IsNaN(got[1]) {
			t.Errorf("skill %v", got)
		}
		if got := r.Attribute("nobody"); len(got) != 2 || !math.IsNaN(got[0]) || !math.IsNaN(got[1]) {
			t.Errorf("unknown attribute %v", got)
		}
		if got := r.Attributes(); !slices.Equal(got, []string{"skill"}) {
			t.Errorf("attributes %q", got)
		}
		if got := r.Properties(); !slices.Equal(got, []string{"kit"}) {
			t.Errorf("properties %q", got)
		}
		if attributes, properties, pools := r.BackfillAttributes(), r.BackfillProperties(), r.BackfillPools(); !slices.Equal(
			attributes, []string{"missing"}) ||
			!slices.Equal(properties, []string{"map"}) ||
			!slices.Equal(pools, []string{"open"}) {
			t.Errorf("backfill tickets have %q %q %q", attributes, properties, pools)
		}
		kit := r.Property("kit")
		if got, ok := kit.Of(0); !ok || !slices.Equal(got, []byte{1, 2}) {
			t.Errorf("kit %v %v", got, ok)
		}
		if _, ok := kit.Of(1); ok {
			t.Error("ticket 1 has a kit")
		}
		if _, ok := r.Property("nothing").Of(0); ok {
			t.Error("ticket 0 has nothing")
		}
		if !slices.Equal(r.Pools(), []string{"a", "b"}) || !slices.Equal(r.Pool("a"), []uint32{0, 1}) ||
			!slices.Equal(r.Pool("b"), []uint32{1}) {
			t.Errorf("pools %q %v %v", r.Pools(), r.Pool("a"), r.Pool("b"))
		}
		if got := r.BackfillAttribute("missing"); got[0] != 2 || !math.IsNaN(got[1]) {
			t.Errorf("missing %v", got)
		}
		if got := r.BackfillAttribute("created"); got[0] != r.BackfillCreated()[0] || got[0] != float64(now.UnixMilli()) {
			t.Errorf("backfill created %v", got)
		}
		if got, ok := r.BackfillProperty("map").Of(0); !ok || string(got) != "cave" {
			t.Errorf("map %q", got)
		}
		if got, ok := r.BackfillConnection(0); !ok || got != "h:1" {
			t.Errorf("connection %q", got)
		}
		if _, ok := r.BackfillConnection(1); ok {
			t.Error("backfill 1 is connected")
		}
		if got := r.BackfillVersion(); !slices.Equal(got, []int64{4, 0}) {
			t.Errorf("versions %v", got)
		}
		if !slices.Equal(r.BackfillPool("open"), []uint32{0}) || r.BackfillPool("none") != nil {
			t.Errorf("open %v", r.BackfillPool("open"))
		}
		draws = append(draws, r.Rand().Uint64(), r.Rand().Uint64())
		return nil
	})
	for range 2 {
		if _, err := fake.Run(f, request); err != nil {
			t.Fatal(err)
		}
	}
	if draws[0] == draws[1] || draws[0] != draws[2] || draws[1] != draws[3] {
		t.Errorf("draws %v", draws)
	}
}

func TestErrorsFailTheRun(t *testing.T) {
	request := fake.Request{Tickets: make([]fake.Ticket, 3), Pools: map[string][]uint32{"a": {0}, "b": {1}}}
	for name, c := range map[string]struct {
		match func(r *matchfn.Run) error
		want  string
	}{
		"its own error": {func(*matchfn.Run) error { return errors.New("no map fits") }, "no map fits"},
		"unknown pool":  {func(r *matchfn.Run) error { r.Pool("c"); return nil }, `the config has no pool "c", only a, b`},
		"undeclared": {func(r *matchfn.Run) error {
			r.Attribute("rank")
			return nil
		}, `the attribute "rank" is read but was not declared: name it in Register`},
		"no such ticket": {func(r *matchfn.Run) error {
			r.Propose(0, 3)
			return nil
		}, "answer: proposal 0 has ticket 3 of 3"},
		"ticket twice": {func(r *matchfn.Run) error {
			r.Propose(0, 1, 1)
			return nil
		}, "answer: proposal 0 has ticket 1 twice"},
		"no tickets": {func(r *matchfn.Run) error { r.Propose(0); return nil }, "answer: proposal 0 has no tickets"},
		"late team": {func(r *matchfn.Run) error {
			first := r.Propose(0, 0)
			r.Propose(0, 1)
			first.Team("red", 2)
			return nil
		}, `team "red" is added to proposal 0, but proposal 1 is the latest`},
		"no function": {nil, "there is no function: Register or New got nil"},
		"no such backfill ticket": {func(r *matchfn.Run) error {
			r.Propose(0, 1).UpdateBackfill(7)
			return nil
		}, "answer: proposal 0: backfill update: backfill ticket 7 of 0"},
		"bad JSON": {func(r *matchfn.Run) error {
			r.Propose(0, 0).MatchProperties([]byte("map"))
			return nil
		}, "answer: proposal 0: match properties: is no JSON: invalid character 'm' looking for beginning of value"},
	} {
		t.Run(name, func(t *testing.T) {
			f := matchfn.New(c.match, matchfn.Attributes("skill"))
			if _, err := fake.Run(f, request); err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	answer := matchfn.New(nil).Answer([]byte("nonsense"))
	if a, err := block.ParseAnswer(answer, 0, 0); err != nil || a.Failure != "block: 8 bytes are less than a header" {
		t.Errorf("%+v, %v", a, err)
	}
}

// The proposals of a Run that is kept must not get into the answer of another run.
func TestUseOfARunAfterItsFunctionReturnedFails(t *testing.T) {
	var kept []*matchfn.Run
	f := matchfn.New(func(r *matchfn.Run) error {
		for _, old := range kept {
			old.Propose(5, 0).Team("late", 1).Region("eu").CreateBackfill().Attribute("open", 1).Property("map", nil)
		}
		kept = append(kept, r)
		r.Propose(1, 1)
		return nil
	})
	request := fake.Request{Tickets: make([]fake.Ticket, 2)}
	if p, err := fake.Run(f, request); err != nil || len(p) != 1 {
		t.Fatal(p, err)
	}
	p, err := fake.Run(f, request)
	if want := "a Run was used after its function had returned: each run has its own Run"; err == nil ||
		err.Error() != want {
		t.Errorf("%v, %v, want %s", p, err, want)
	}
	kept = nil
	if p, err = fake.Run(f, request); err != nil || len(p) != 1 || p[0].Score != 1 {
		t.Errorf("later: %v, %v", p, err)
	}
}

func TestProposalsHaveEveryField(t *testing.T) {
	f := matchfn.New(func(r *matchfn.Run) error {
		r.Propose(1, 0).Error("PoolTimeout")
		p := r.Propose(2).Team("", 1).Team("blue").
			Connection("h:1").Region("eu").Fleet("f").Profile("p").
			MatchProperties([]byte(`{"m":1}`)).AssignmentProperties([]byte(`{"a":1}`)).TicketProperties(1, []byte(`{"t":1}`))
		p.CreateBackfill().Attribute("missing", 1).Property("map", []byte("x")).Remove("old")
		return nil
	})
	proposals, err := fake.Run(f, fake.Request{Tickets: make([]fake.Ticket, 2)})
	if err != nil {
		t.Fatal(err)
	}
	if p := proposals[0]; p.Score != 1 || p.Extras.Error != "PoolTimeout" || !slices.Equal(p.Tickets(), []uint32{0}) {
		t.Errorf("%+v", p)
	}
	p := proposals[1]
	e := p.Extras
	if len(p.Teams) != 2 || len(p.Teams[1]) != 0 || !slices.Equal(e.TeamNames, []string{"", "blue"}) {
		t.Errorf("teams %v %q", p.Teams, e.TeamNames)
	}
	if e.Connection != "h:1" || e.Region != "eu" || e.Fleet != "f" || e.Profile != "p" {
		t.Errorf("%+v", e)
	}
	if string(e.MatchProperties) != `{"m":1}` || string(e.AssignmentProperties) != `{"a":1}` ||
		e.TicketProperties[0].Ticket != 1 || string(e.TicketProperties[0].JSON) != `{"t":1}` {
		t.Errorf("%+v", e)
	}
	b := e.Backfill
	if !b.Create || b.Attributes[0].Value != 1 || string(b.Properties[0].Value) != "x" || b.Remove[0] != "old" {
		t.Errorf("%+v", b)
	}
}

func TestManifestLimitsTheColumnsOfARun(t *testing.T) {
	f := matchfn.New(func(r *matchfn.Run) error {
		if got := r.Attributes(); !slices.Equal(got, []string{"skill"}) {
			t.Errorf("attributes %q", got)
		}
		return nil
	}, matchfn.Attributes("skill"), matchfn.Properties())
	if got := string(f.Manifest().JSON()); got != `{"attributes":["skill"],"properties":[]}` {
		t.Errorf("manifest %s", got)
	}
	_, err := fake.Run(f, fake.Request{Tickets: []fake.Ticket{{Attributes: map[string]float64{"skill": 1, "level": 2}}}})
	if err != nil {
		t.Error(err)
	}
	if got := string(matchfn.New(nil).Manifest().JSON()); got != "{}" {
		t.Errorf("manifest %s", got)
	}
}

// The names may be in the settings: the function gets these attributes, and may read no other.
func TestSettingsNameWhatTheFunctionReads(t *testing.T) {
	request := fake.Request{
		Settings: `{"attribute":"level","teams":{"by":["rank","role"]},"show":"kit"}`,
		Tickets: []fake.Ticket{{
			Attributes: map[string]float64{"level": 7, "rank": 8, "role": 9, "skill": 1, "other": 2},
			Properties: map[string][]byte{"kit": []byte("k"), "map": []byte("m")},
		}},
	}
	declare := []matchfn.Option{
		matchfn.AttributesNamedBy("attribute", "teams.by"), matchfn.Attributes("skill"), matchfn.PropertiesNamedBy("show"),
	}
	var attributes, properties []string
	_, err := fake.Run(matchfn.New(func(r *matchfn.Run) error {
		attributes, properties = r.Attributes(), r.Properties()
		if r.Attribute("level")[0] != 7 || r.Attribute("rank")[0] != 8 || r.Attribute("skill")[0] != 1 {
			t.Error("an attribute has another value")
		}
		if kit, ok := r.Property("kit").Of(0); !ok || string(kit) != "k" {
			t.Errorf("kit %q", kit)
		}
		if a, p := r.LeftOut(); a != 0 || p != 0 {
			t.Errorf("%d attributes and %d properties are left out", a, p)
		}
		return nil
	}, declare...), request)
	if err != nil || !slices.Equal(attributes, []string{"level", "rank", "role", "skill"}) ||
		!slices.Equal(properties, []string{"kit"}) {
		t.Errorf("attributes %q, properties %q, %v", attributes, properties, err)
	}
	other := func(r *matchfn.Run) error {
		_ = r.Attribute("other")
		return nil
	}
	_, err = fake.Run(matchfn.New(other, declare...), request)
	if want := `the attribute "other" is read but was not declared: name it in Register`; err == nil || err.Error() != want {
		t.Error(err)
	}
}
