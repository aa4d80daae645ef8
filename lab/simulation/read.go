package simulation

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/lab/population"
)

// Codes of what is wrong in a scenario. Only the messages are printed.
const (
	badValue = "badValue"
	missing  = "missing"
)

// mostFiles is how many configs a scenario has, how many functions, and how many fleets with names.
const mostFiles = 64

// Files reads the files that a scenario names. Module reads a module, or the one in an archive.
type Files struct {
	Text   func(file string) ([]byte, error)
	Module func(file string) ([]byte, error)
}

// Read reads a scenario, a YAML or JSON file. Files that it names are looked for in its folder. The error is a
// *definition.FieldErrors whose messages begin with the place in the file, or with a file's place.
func Read(file string, files Files) (*Scenario, error) {
	text, err := files.Text(file)
	if err != nil {
		return nil, err
	}
	document, err := toJSON(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	r := &reader{
		Reader: definition.NewReader(document, settings.Default[definition.Limits]()), files: files,
		folder: filepath.Dir(file),
		scenario: &Scenario{
			Name: filepath.Base(file), Functions: map[string][]byte{}, Service: Defaults(), Fleet: Fleet{Open: "open"},
			Population: population.Population{Attributes: map[string]population.Distribution{}},
		},
	}
	r.read()
	return r.scenario, r.Err()
}

// toJSON translates a document: a JSON file is one of YAML, too.
func toJSON(text []byte) ([]byte, error) {
	var document any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if document == nil {
		return nil, errors.New("the file is empty")
	}
	return json.Marshal(document)
}

type reader struct {
	*definition.Reader
	files    Files
	folder   string
	scenario *Scenario
}

type (
	path   = definition.Path
	member = definition.Member
)

func (r *reader) read() {
	s := r.scenario
	given, ok := r.Object("",
		member{Name: "name", Read: func(at path) { s.Name = r.PlainText(at, badValue, 100) }},
		member{Name: "configs", Read: r.configs},
		member{Name: "functions", Read: r.functions},
		member{Name: "population", Read: r.population},
		member{Name: "recording", Read: r.recording},
		member{Name: "service", Read: r.service},
		member{Name: "fleet", Read: func(at path) { r.fleet(at, &s.Fleet) }},
		member{Name: "fleets", Read: r.fleets}, // behind fleet: the members of the document are sorted
		member{Name: "acceptance", Read: r.acceptance},
		member{Name: "measure", Read: r.measure},
	)
	if !ok {
		return
	}
	for _, name := range []path{"configs", "functions"} {
		if !given[string(name)] {
			r.Add(missing, name, "required, an object of names and files")
		}
	}
	if given["population"] == given["recording"] {
		r.Add(missing, "population", "required, or a recording instead")
	} else if given["population"] {
		if err := s.Population.Validate(); err != nil {
			r.Add(badValue, "population", "%s", err)
		}
	}
	everywhere := func(c *pb.Config) bool { return c.GetQueue() == "" }
	if s.Population.Queues == nil && !slices.ContainsFunc(s.Configs, everywhere) {
		for _, c := range s.Configs {
			s.Population.Queues = append(s.Population.Queues, c.GetQueue())
		}
		slices.Sort(s.Population.Queues)
		s.Population.Queues = slices.Compact(s.Population.Queues)
	}
	for _, c := range s.Configs {
		if _, known := s.Functions[c.GetFunction()]; !known && given["functions"] {
			r.Add(missing, path("functions").Member(c.GetFunction()), "required, the function of the config %s", c.GetId())
		}
	}
	slices.SortFunc(s.Configs, func(a, b *pb.Config) int {
		if a.GetId() < b.GetId() {
			return -1
		}
		return 1
	})
}

// fileName reads the name of a file, which is beside the scenario unless it is absolute.
func (r *reader) fileName(at path) string {
	name, ok := r.Text(at)
	if ok && name == "" {
		r.Add(badValue, at, "the name of a file is expected")
	}
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.folder, name)
}

func (r *reader) configs(at path) {
	n := r.Keys(at, func(id string, at path) {
		name := r.fileName(at)
		if name == "" {
			return
		}
		text, err := r.files.Text(name)
		if err != nil {
			r.Add(badValue, at, "%s", err)
			return
		}
		if !json.Valid(text) {
			r.Add(badValue, at, "%s is not JSON", name)
			return
		}
		inner := definition.NewReader(text, settings.Default[definition.Limits]())
		config, _ := inner.Config()
		if err := inner.Err(); err != nil {
			r.Add(badValue, at, "%s: %s", name, err)
			return
		}
		config.Id = id
		r.scenario.Configs = append(r.scenario.Configs, config)
	})
	r.count(at, n)
}

func (r *reader) functions(at path) {
	n := r.Keys(at, func(name string, at path) {
		file := r.fileName(at)
		if file == "" {
			return
		}
		module, err := r.files.Module(file)
		if err != nil {
			r.Add(badValue, at, "%s", err)
			return
		}
		lower, good := definition.FunctionName(name)
		if !good {
			r.Add(badValue, at, "the name is no function's")
		}
		r.scenario.Functions[lower] = module
	})
	r.count(at, n)
}

func (r *reader) count(at path, n int) {
	if n == 0 || n > mostFiles {
		r.Add(badValue, at, "from 1 to %d are expected", mostFiles)
	}
}

func (r *reader) population(at path) {
	p := &r.scenario.Population
	players := 0.0
	given, _ := r.Object(at,
		member{Name: "duration", Read: func(at path) { p.Duration = r.duration(at) }},
		member{Name: "rate", Read: func(at path) { p.Rate, _ = r.Number(at) }},
		member{Name: "players", Read: func(at path) { players, _ = r.Number(at) }},
		member{Name: "daily", Read: func(at path) { p.Daily, _ = r.Bool(at) }},
		member{Name: "hour", Read: func(at path) { p.Hour, _ = r.Number(at) }},
		member{Name: "cities", Read: r.cities},
		member{Name: "attributes", Read: func(at path) {
			r.Keys(at, func(name string, at path) { p.Attributes[name] = r.distribution(at) })
			if len(p.Attributes) > 64 {
				r.Add(badValue, at, "at most 64 are allowed")
			}
		}},
		member{Name: "within", Read: func(at path) {
			p.Within = map[string]float64{}
			r.Keys(at, func(name string, at path) { p.Within[name], _ = r.Number(at) })
		}},
		member{Name: "parties", Read: func(at path) { p.Parties = r.numbers(at) }},
		member{Name: "latency", Read: func(at path) { p.Latency = r.PlainText(at, badValue, 128) }},
		member{Name: "regions", Read: func(at path) { p.Regions = r.regions(at) }},
		member{Name: "values", Read: func(at path) { p.Values = r.values(at) }},
		member{Name: "patience", Read: func(at path) { p.Patience = r.distribution(at) }},
		member{Name: "queues", Read: func(at path) { p.Queues = r.texts(at) }},
	)
	switch {
	case given["players"] == given["rate"]:
		r.Add(missing, at.Member("rate"), "required, how many players come a second, or players, how many come in all")
	case given["players"] && p.Duration > 0:
		p.Rate = players / p.Duration.Seconds()
	}
	if given["latency"] && len(p.Regions) == 0 {
		p.Regions = population.KnownRegions()
	}
	slices.Sort(p.Queues)
}

// values reads of which values players have one each: a list, or a single one.
func (r *reader) values(at path) map[string][][]byte {
	all := map[string][][]byte{}
	r.Keys(at, func(name string, at path) {
		raw := r.Settings(at)
		var of []json.RawMessage
		if json.Unmarshal(raw, &of) != nil {
			of = []json.RawMessage{json.RawMessage(raw)}
		}
		for _, value := range of {
			all[name] = append(all[name], value)
		}
		if len(of) == 0 || len(of) > mostValues {
			r.Add(badValue, at, "from 1 to %d values are expected", mostValues)
		}
	})
	if len(all) > mostFiles {
		r.Add(badValue, at, "at most %d are allowed", mostFiles)
	}
	return all
}

// mostValues bounds of how many values players have one.
const mostValues = 1000

// regions reads names of regions that are known, or an object with such a name, or a place, for each name.
func (r *reader) regions(at path) (all []population.Region) {
	raw := r.Settings(at)
	var names []string
	if json.Unmarshal(raw, &names) == nil {
		for _, name := range names {
			all = append(all, r.region(at, name, name))
		}
		return all
	}
	places := map[string]any{}
	if json.Unmarshal(raw, &places) != nil {
		r.Add(badValue, at, "a list of names is expected, or an object of names and places")
	}
	for _, name := range slices.Sorted(maps.Keys(places)) {
		all = append(all, r.region(at.Member(name), name, places[name]))
	}
	if len(all) > mostFiles {
		r.Add(badValue, at, "at most %d are allowed", mostFiles)
	}
	return all
}

// region is one at a place: the name of a region that is known, or latitude and longitude.
func (r *reader) region(at path, name string, place any) population.Region {
	of := population.Region{Name: name}
	switch place := place.(type) {
	case string:
		known := population.KnownRegions()
		i := slices.IndexFunc(known, func(o population.Region) bool { return o.Name == place })
		if i < 0 {
			r.Add(badValue, at, "%q is none; known are %v, and {%s: [LATITUDE, LONGITUDE]} is one of your own", place,
				population.RegionNames(), name)
			return of
		}
		of.Lat, of.Long = known[i].Lat, known[i].Long
		return of
	case []any:
		if len(place) == 2 {
			lat, isLat := place[0].(float64)
			long, isLong := place[1].(float64)
			if of.Lat, of.Long = lat, long; isLat && isLong {
				return of
			}
		}
	}
	r.Add(badValue, at, "the name of a region is expected, or [LATITUDE, LONGITUDE]")
	return of
}

func (r *reader) recording(at path) {
	s := r.scenario
	given, ok := r.Object(at,
		member{Name: "file", Read: func(at path) { s.Recording = r.fileName(at) }},
		member{Name: "patience", Read: func(at path) { s.Population.Patience = r.distribution(at) }},
	)
	if ok && !given["file"] {
		r.Add(missing, at.Member("file"), "required, a file that mm record wrote")
	}
}

func (r *reader) cities(at path) {
	for _, name := range r.texts(at) {
		switch i := slices.Index(population.CityNames(), name); {
		case i >= 0:
			r.scenario.Population.Cities = append(r.scenario.Population.Cities, i)
		case name == "europe":
			r.scenario.Population.Cities = append(r.scenario.Population.Cities, population.Europe...)
		default:
			r.Add(badValue, at, "%q is none; known are europe and %v", name, population.CityNames())
		}
	}
}

func (r *reader) service(at path) {
	s := &r.scenario.Service
	r.Object(at,
		member{Name: "minInterval", Read: func(at path) { s.MinInterval = r.positive(at) }},
		member{Name: "maxInterval", Read: func(at path) { s.MaxInterval = r.positive(at) }},
		member{Name: "window", Read: func(at path) { s.Window = r.duration(at) }},
		member{Name: "waitLimit", Read: func(at path) { s.WaitLimit = r.positive(at) }},
		member{Name: "cores", Read: func(at path) { s.Cores = r.upTo(at, 1024) }},
		member{Name: "run", Read: func(at path) { s.Run = r.duration(at) }},
		member{Name: "cost", Read: func(at path) { s.Cost = r.duration(at) }},
		member{Name: "budget", Read: func(at path) { s.Budget = r.positive(at) }},
	)
}

// fleets reads the fleets with names. What one does not say is as in fleet.
func (r *reader) fleets(at path) {
	s := r.scenario
	s.Fleets = map[string]Fleet{}
	n := r.Keys(at, func(name string, at path) {
		one := s.Fleet
		r.fleet(at, &one)
		s.Fleets[name] = one
	})
	r.count(at, n)
}

func (r *reader) fleet(at path, f *Fleet) {
	r.Object(at,
		member{Name: "servers", Read: func(at path) { f.Servers = int(r.upTo(at, 10_000_000)) }},
		member{Name: "allocation", Read: func(at path) { f.Allocation = r.distribution(at) }},
		member{Name: "game", Read: func(at path) { f.Game = r.distribution(at) }},
		member{Name: "restart", Read: func(at path) { f.Restart = r.distribution(at) }},
		member{Name: "errors", Read: func(at path) { f.Errors = r.upTo(at, 1) }},
		member{Name: "stay", Read: func(at path) { f.Stay = r.distribution(at) }},
		member{Name: "approval", Read: func(at path) { f.Approval = r.distribution(at) }},
		member{Name: "open", Read: func(at path) { f.Open = r.PlainText(at, badValue, 128) }},
		member{Name: "roster", Read: func(at path) { f.Roster, _ = r.Bool(at) }},
		member{Name: "backfill", Read: func(at path) { f.Backfill, _ = r.Bool(at) }},
	)
}

func (r *reader) acceptance(at path) {
	a := &r.scenario.Acceptance
	r.Object(at,
		member{Name: "decline", Read: func(at path) { a.Decline = r.upTo(at, 1) }},
		member{Name: "silent", Read: func(at path) { a.Silent = r.upTo(at, 1) }},
		member{Name: "answer", Read: func(at path) { a.Answer = r.distribution(at) }},
	)
	if a.Decline+a.Silent > 1 {
		r.Add(badValue, at, "decline and silent are more than 1 together")
	}
}

func (r *reader) measure(at path) {
	m := &r.scenario.Measure
	r.Object(at,
		member{Name: "attribute", Read: func(at path) { m.Attribute = r.PlainText(at, badValue, 128) }},
		member{Name: "from", Read: func(at path) { m.From = r.duration(at) }},
		member{Name: "to", Read: func(at path) { m.To = r.positive(at) }},
	)
	if m.To > 0 && m.To <= m.From {
		r.Add(badValue, at.Member("to"), "must be more than from")
	}
}

// duration reads a time, such as 1h30m, of at most the longest population.
func (r *reader) duration(at path) time.Duration {
	text, ok := r.Text(at)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > population.MaxDuration {
		r.Add(badValue, at, "a time from 0s to %s is expected, such as 90s", population.MaxDuration)
		return 0
	}
	return d
}

func (r *reader) positive(at path) time.Duration {
	d := r.duration(at)
	if d < time.Millisecond {
		r.Add(badValue, at, "a time of at least 1ms is expected")
		return time.Millisecond
	}
	return d
}

func (r *reader) upTo(at path, most float64) float64 {
	n, ok := r.Number(at)
	if ok && !(n >= 0 && n <= most) {
		r.Add(badValue, at, "from 0 to %g is expected", most)
		return 0
	}
	return n
}

// distribution reads a distribution, which may be a number.
func (r *reader) distribution(at path) population.Distribution {
	text, ok := r.scalar(at)
	if !ok {
		return population.Distribution{}
	}
	d, err := population.ParseDistribution(text)
	if err != nil {
		r.Add(badValue, at, "%s", err)
	}
	return d
}

// scalar reads a string, or a number as text.
func (r *reader) scalar(at path) (string, bool) {
	raw := r.Settings(at)
	var value any
	if raw == nil || json.Unmarshal(raw, &value) != nil {
		return "", false
	}
	switch value := value.(type) {
	case string:
		return value, true
	case float64:
		if !math.IsInf(value, 0) {
			return string(raw), true
		}
	}
	r.Add(badValue, at, "a distribution is expected, such as normal:1500:300, or a number")
	return "", false
}

func (r *reader) numbers(at path) (all []float64) {
	r.Array(at, func(at path) {
		if n, ok := r.Number(at); ok {
			all = append(all, n)
		}
	})
	return all
}

// texts reads a list of strings, each once.
func (r *reader) texts(at path) []string {
	seen := map[string]bool{}
	r.Array(at, func(at path) {
		if text, ok := r.Text(at); ok {
			seen[text] = true
		}
	})
	return slices.Sorted(maps.Keys(seen))
}
