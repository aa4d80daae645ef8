package simulation_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/lab/population"
	"matchmaker.dev/services/lab/simulation"
)

// files are the files of a test.
type files map[string]string

func (f files) read(name string) ([]byte, error) {
	text, is := f[name]
	if !is {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func read(scenario string) (*simulation.Scenario, error) {
	f := files{
		"in/scenario.yaml": scenario, "in/duel.wasm": "a module", "in/broken.json": `{"matchmaking": 5}`, "in/text.json": "hi",
		"in/ranked.json": `{"matchmaking": {"name": "Ranked", "targetFunction": {"name": "Duel", "version": "1"},
			"config": {"window": 5}}, "queue": "ranked"}`,
	}
	return simulation.Read("in/scenario.yaml", simulation.Files{Text: f.read, Module: f.read})
}

const whole = `
name: narrow
configs: {ranked: ranked.json}
functions: {duel: duel.wasm}
population:
  players: 7200
  duration: 2h
  daily: true
  hour: 6
  cities: [europe, tokyo]
  attributes: {skill: "normal:1500:400", level: 7}
  parties: [3, 1]
  within: {skill: 120}
  latency: latency
  patience: weibull:147:0.75
  queues: [ranked]
service: {minInterval: 100ms, run: 2ms, cores: 2}
fleets: {eu: {servers: 5, errors: 0.1}, us/oregon: {roster: true, backfill: true}}
fleet: {servers: 10, allocation: "lognormal:2:0.5", game: 600, restart: 30}
acceptance: {decline: 0.05, silent: 0.02, answer: "lognormal:4:0.5"}
measure: {attribute: skill, from: 10m, to: 1h}
`

func TestScenarioIsRead(t *testing.T) {
	s, err := read(whole)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Population
	if s.Name != "narrow" || len(s.Configs) != 1 || s.Configs[0].GetId() != "ranked" ||
		s.Configs[0].GetFunction() != "duel" || s.Configs[0].GetQueue() != "ranked" ||
		string(s.Configs[0].GetSettings()) != `{"window":5}` || string(s.Functions["duel"]) != "a module" {
		t.Errorf("%+v", s)
	}
	if p.Rate != 1 || p.Duration != 2*time.Hour || !p.Daily || p.Hour != 6 || len(p.Cities) != 11 ||
		len(p.Attributes) != 2 || p.Within["skill"] != 120 || len(p.Parties) != 2 ||
		len(p.Regions) != 5 || p.Patience.IsZero() ||
		p.Queues[0] != "ranked" {
		t.Errorf("%+v", p)
	}
	if v := s.Service; v.MinInterval != 100*time.Millisecond || v.MaxInterval != time.Second || v.Cores != 2 {
		t.Errorf("%+v", v)
	}
	if eu, us := s.Fleets["eu"], s.Fleets["us/oregon"]; len(s.Fleets) != 2 || eu.Servers != 5 || eu.Errors != 0.1 ||
		eu.Roster || eu.Allocation.IsZero() || us.Servers != 10 || !us.Roster || !us.Backfill || us.Errors != 0 {
		t.Errorf("%+v", s.Fleets)
	}
	if s.Fleet.Servers != 10 || s.Fleet.Errors != 0 || s.Acceptance.Decline != 0.05 || s.Measure.To != time.Hour {
		t.Errorf("%+v, %+v, %+v", s.Fleet, s.Acceptance, s.Measure)
	}
}

func TestPlayersHaveValuesAndRegions(t *testing.T) {
	s, err := read(strings.NewReplacer("queues: [ranked]", "values: {roles: [[tank], [healer, tank]], mode: ranked}\n"+
		"  regions: {eu: frankfurt, moon: [1.5, -2]}").Replace(whole))
	if err != nil {
		t.Fatal(err)
	}
	p, eu := s.Population, population.KnownRegions()[0]
	eu.Name = "eu"
	if len(p.Regions) != 2 || p.Regions[0] != eu || p.Regions[1] != (population.Region{Name: "moon", Lat: 1.5, Long: -2}) {
		t.Errorf("%+v", p.Regions)
	}
	if len(p.Queues) != 1 || p.Queues[0] != "ranked" { // the config's
		t.Errorf("%v", p.Queues)
	}
	seen, crowd := map[string]int{}, p.Generate(1)
	for range 100 {
		a, _ := crowd.Next()
		players := a.Ticket.GetPlayers()
		if players == nil {
			players = []*pb.Player{{Properties: a.Ticket.GetProperties()}}
		}
		for _, one := range players {
			seen[string(one.GetProperties()["roles"])+string(one.GetProperties()["mode"])]++
			var latency map[string]float64
			if json.Unmarshal(one.GetProperties()["latency"], &latency) != nil || latency["eu"] <= 0 || latency["moon"] <= 0 {
				t.Fatalf("%s", one.GetProperties()["latency"])
			}
		}
	}
	if len(seen) != 2 || seen[`["tank"]"ranked"`] < 20 || seen[`["healer","tank"]"ranked"`] < 20 {
		t.Errorf("%v", seen)
	}
}

func TestBadScenariosNameTheField(t *testing.T) {
	for _, c := range []struct{ old, changed, want string }{
		{"latency: latency", "regions: [mars]", `population.regions: "mars" is none; known are [frankfurt`},
		{"latency: latency", "regions: {eu: mars}", `population.regions.eu: "mars" is none`},
		{"latency: latency", "regions: {eu: [91, 0]}", "population: regions: eu: a latitude of at most 90"},
		{"latency: latency", "regions: {eu: [1]}", "population.regions.eu: the name of a region is expected"},
		{"latency: latency", "regions: 7", "population.regions: a list of names is expected"},
		{"latency: latency", "values: {roles: []}", "population.values.roles: from 1 to 1000 values are expected"},
		{"latency: latency", "latency: x\n  values: {x: 1}", `population: values: "x" has no value, or is the latencies`},
		{"name: narrow", "nam: narrow", "nam: unknown member; known are name, configs"},
		{"{ranked: ranked.json}", "{}", "configs: from 1 to 64 are expected"},
		{"ranked.json", "missing.json", "configs.ranked: file does not exist"},
		{"ranked.json", "text.json", "configs.ranked: in/text.json is not JSON"},
		{"ranked.json", "broken.json", "configs.ranked: in/broken.json: matchmaking: an object is expected"},
		{"duel: duel.wasm", "other: duel.wasm", "functions.duel: required, the function of the config ranked"},
		{"players: 7200", "players: many", "population.players: a number is expected, got a string"},
		{"players: 7200", "players: 7200\n  rate: 1", "population.rate: required"},
		{"duration: 2h", "duration: forever", "population.duration: a time from 0s to 744h0m0s is expected, such as 90s"},
		{"cities: [europe, tokyo]", "cities: [atlantis]", `population.cities: "atlantis" is none`},
		{"level: 7", "level: [7]", "population.attributes.level: a distribution is expected"},
		{"level: 7", "level: normal:1", "population.attributes.level: normal:MEAN:STDDEV is expected"},
		{"parties: [3, 1]", "parties: [-3, 1]", "population: parties: numbers of 0 or more are expected"},
		{"minInterval: 100ms", "minInterval: 0s", "service.minInterval: a time of at least 1ms is expected"},
		{"decline: 0.05", "decline: 1.05", "acceptance.decline: from 0 to 1 is expected"},
		{"errors: 0.1", "errors: 2", "fleets.eu.errors: from 0 to 1 is expected"},
		{"{skill: 120}", "{rank: 120}", `population: within: "rank" is none of the attributes`},
		{"{skill: 120}", "{skill: -1}", `population: within: "skill": a number of 0 or more is expected`},
		{"servers: 10", "servers: -1", "fleet.servers: from 0 to 1e+07 is expected"},
		{"to: 1h", "to: 5m", "measure.to: must be more than from"},
		{"population:", "recording: {patience: 5}\npopulation:", "recording.file: required, a file that mm record wrote"},
	} {
		_, err := read(strings.Replace(whole, c.old, c.changed, 1))
		fields, ok := errors.AsType[*definition.FieldErrors](err)
		if !ok || !strings.Contains(fields.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.changed, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"": "the file is empty", "{": "yaml: ", "1: 2": "unsupported type", "[]": "the body: an object is expected",
		"a: &a [x]\nb: *c": "unknown anchor",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Whatever a file says, it is read or refused.
func FuzzRead(f *testing.F) {
	f.Add(whole)
	f.Add("population: {attributes: {a: 1e999}, duration: 1h}")
	f.Add("configs: [1]\nmeasure: 5")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := read(text)
		if err == nil && (s.Population.Validate() != nil && s.Recording == "" || len(s.Configs) == 0) {
			t.Errorf("%q is accepted: %+v", text, s)
		}
	})
}
