package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/cmd/mm/trial"
)

// verdict is what came of trying a function, as JSON has it.
type verdict struct {
	Function string       `json:"function"`
	Module   int          `json:"moduleBytes"`
	Memory   int          `json:"memoryBytes"`
	Tickets  int          `json:"tickets"`
	Games    int          `json:"backfills"`
	Outside  int          `json:"outsideOfPools"`
	Segments int          `json:"segments"` // of the pools, each with a run of its own
	Proposed int          `json:"proposals"`
	Matches  []pairing    `json:"matches"`
	Waiting  []string     `json:"waiting"` // tickets that no match has
	Times    []trial.Step `json:"steps"`   // the median of each
	Runs     int          `json:"runs"`
	Log      []string     `json:"log"`

	attributes []string // that the tables show
}

// pairing is a match.
type pairing struct {
	Score      float64           `json:"score"`
	Teams      []team            `json:"teams"`
	Spreads    map[string]spread `json:"spreads"` // of the tickets' attributes, and of their wait in seconds
	Connection string            `json:"connection,omitempty"`
	Error      string            `json:"error,omitempty"`
	Region     string            `json:"region,omitempty"`
	Fleet      string            `json:"fleet,omitempty"`
	Profile    string            `json:"profile,omitempty"`
	Backfill   *filling          `json:"backfill,omitempty"`

	MatchProperties      json.RawMessage            `json:"matchProperties,omitempty"`
	AssignmentProperties json.RawMessage            `json:"assignmentProperties,omitempty"`
	TicketProperties     map[string]json.RawMessage `json:"ticketProperties,omitempty"`
}

// filling is what a match does with a backfill ticket: it creates one, or changes the one with the id. What it leaves
// there is given as a whole, and left out where nothing is changed.
type filling struct {
	ID         string             `json:"id,omitempty"`
	Attributes map[string]float64 `json:"attributes,omitempty"`
	Properties map[string][]byte  `json:"properties,omitempty"`
}

func newFilling(f *pb.Filling) *filling {
	if f == nil {
		return nil
	}
	left := &filling{f.GetBackfill(), map[string]float64{}, f.GetContents().GetProperties()}
	for i, name := range f.GetContents().GetAttributeNames() {
		left.Attributes[name] = f.GetContents().GetAttributeValues()[i]
	}
	return left
}

// String is the filling as a person reads it.
func (f *filling) String() string {
	if f == nil {
		return ""
	}
	words := []string{cmp.Or(f.ID, "creates")}
	for _, name := range slices.Sorted(maps.Keys(f.Attributes)) {
		words = append(words, name+"="+short(f.Attributes[name]))
	}
	return strings.Join(append(words, slices.Sorted(maps.Keys(f.Properties))...), " ")
}

type team struct {
	Name    string   `json:"name,omitempty"`
	Tickets []string `json:"tickets"`
}

// spread is the least and the greatest value in a match. Tickets without the attribute are not in it.
type spread struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

func (s spread) gap() float64 { return s.Max - s.Min }

func (s spread) with(v float64) spread { return spread{min(s.Min, v), max(s.Max, v)} }

// waited is the name of a spread that is no attribute's.
const waited = "wait"

func newVerdict(file string, tickets []*pb.Ticket, backfills []*pb.Backfill, r *trial.Result, now time.Time) *verdict {
	v := &verdict{
		Function: filepath.Base(file), Module: r.Module.Size, Memory: r.Memory,
		Tickets: len(tickets), Games: len(backfills), Outside: r.Outside, Segments: r.Segments, Proposed: r.Proposed,
		Matches: []pairing{}, Waiting: []string{}, Log: []string{},
		Times: r.Medians(), Runs: len(r.Cycles),
		attributes: []string{waited},
	}
	byID := make(map[string]*pb.Ticket, len(tickets))
	for _, t := range tickets {
		byID[t.GetId()] = t
	}
	for _, p := range r.Matches {
		v.Matches = append(v.Matches, pair(p, byID, now))
	}
	for _, t := range r.Waiting {
		v.Waiting = append(v.Waiting, t.GetId())
	}
	v.attributes = append(v.attributes, columns(v.Matches)...)
	return v
}

func pair(p *pb.Proposal, tickets map[string]*pb.Ticket, now time.Time) pairing {
	m := pairing{
		Score: p.GetScore(), Teams: []team{}, Spreads: map[string]spread{},
		Connection: p.GetConnection(), Error: p.GetError(),
		Region: p.GetHosting().GetRegion(), Fleet: p.GetHosting().GetFleet(), Profile: p.GetHosting().GetProfile(),
		MatchProperties: p.GetMatchProperties(), AssignmentProperties: p.GetAssignmentProperties(),
		TicketProperties: map[string]json.RawMessage{},
		Backfill:         newFilling(p.GetFilling()),
	}
	for id, properties := range p.GetTicketProperties() {
		m.TicketProperties[id] = properties
	}
	widen := func(name string, value float64) {
		s, ok := m.Spreads[name]
		if !ok {
			s = spread{value, value}
		}
		m.Spreads[name] = s.with(value)
	}
	for _, side := range p.GetTeams() {
		m.Teams = append(m.Teams, team{side.GetName(), append([]string{}, side.GetTickets()...)})
		for _, id := range side.GetTickets() {
			t := tickets[id]
			for i, name := range t.GetAttributeNames() {
				if name != waited {
					widen(name, t.GetAttributeValues()[i])
				}
			}
			widen(waited, now.Sub(time.UnixMilli(t.GetCreated())).Seconds())
		}
	}
	return m
}

// columns are the attributes to show: those that most matches have.
func columns(matches []pairing) []string {
	const most = 4
	uses := map[string]int{}
	for _, m := range matches {
		for name := range m.Spreads {
			uses[name]++
		}
	}
	delete(uses, waited)
	var names []string
	for name := range uses {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(uses[b], uses[a]), cmp.Compare(a, b)) })
	names = names[:min(most, len(names))]
	slices.Sort(names)
	return names
}

// showVerdict prints the verdict, with so many of the matches.
func (s *session) showVerdict(v *verdict, lines []string, most int) error {
	v.Log = append(v.Log, lines...)
	if s.Output == "table" {
		s.printLog(lines)
	}
	if err := s.show(v, v.about(), v.steps(), v.gaps(), v.list(most)); err != nil {
		return err
	}
	if !v.ran() {
		s.note("the function was not run: no pool has a ticket")
	}
	if more := len(v.Matches) - most; more > 0 && s.Output == "table" {
		s.note("%d more matches: --show %d or --output json prints all", more, len(v.Matches))
	}
	return nil
}

// printLog tells what the function printed.
func (s *session) printLog(lines []string) {
	for _, line := range lines {
		_, _ = fmt.Fprintln(s.err, "log:", printable(line, "\t"))
	}
}

// ran tells whether there was anything to run the function on.
func (v *verdict) ran() bool { return v.Outside < v.Tickets }

func (v *verdict) about() grid {
	matched := v.Tickets - len(v.Waiting)
	var g grid
	g.add("function", fmt.Sprintf("%s (%s)", v.Function, megabytes(v.Module)))
	g.add("memory", megabytes(v.Memory))
	g.add("tickets", fmt.Sprintf("%d, %d of them in no pool", v.Tickets, v.Outside))
	if v.Games > 0 {
		g.add("backfills", fmt.Sprintf("%d, %d of them get tickets", v.Games, v.filled()))
	}
	if v.Segments > 1 {
		g.add("segments", fmt.Sprintf("%d, each with a run of its own", v.Segments))
	}
	g.add("matches", fmt.Sprintf("%d with %d tickets, of %d proposals", len(v.Matches), matched, v.Proposed))
	g.add("left over", strings.TrimSpace(fmt.Sprintf("%d tickets %s", len(v.Waiting), some(v.Waiting, 8))))
	return g
}

// filled is how many backfill tickets get tickets.
func (v *verdict) filled() (n int) {
	for _, m := range v.Matches {
		if m.Backfill != nil && m.Backfill.ID != "" {
			n++
		}
	}
	return n
}

func (v *verdict) steps() grid {
	if !v.ran() {
		return grid{}
	}
	g := grid{head: []any{"step", "time", "median of " + strconv.Itoa(v.Runs)}}
	for _, step := range v.Times {
		g.rows = append(g.rows, []any{step.Name, step.Time.String(), step.About})
	}
	return g
}

// gaps is how far apart the tickets of a match are, over all matches.
func (v *verdict) gaps() grid {
	g := grid{head: []any{"gap in a match", "median", "90 %", "greatest"}}
	for _, name := range v.attributes {
		var gaps []float64
		for _, m := range v.Matches {
			if s, ok := m.Spreads[name]; ok {
				gaps = append(gaps, s.gap())
			}
		}
		if len(gaps) == 0 {
			continue
		}
		slices.Sort(gaps)
		at := func(share float64) string { return short(gaps[int(math.Ceil(share*float64(len(gaps))))-1]) }
		g.add(name, at(0.5), at(0.9), at(1))
	}
	return g
}

func (v *verdict) list(most int) grid {
	g := grid{head: []any{"match", "score", "teams"}}
	for _, name := range v.attributes {
		g.head = append(g.head, plain(name))
	}
	// The rest of a proposal: what few functions say.
	g.head = append(g.head, "backfill", "connection", "server region", "fleet", "profile", "properties", "error")
	for i, m := range v.Matches[:min(most, len(v.Matches))] {
		row := []any{i + 1, short(m.Score), m.sides()}
		for _, name := range v.attributes {
			row = append(row, m.span(name))
		}
		g.add(append(row, m.Backfill.String(), m.Connection, m.Region, m.Fleet, m.Profile, m.shared(), m.Error)...)
	}
	return g.without()
}

// shared is the beginning of what all players of a match are given.
func (m pairing) shared() string {
	given := m.MatchProperties
	if len(given) == 0 {
		given = m.AssignmentProperties
	}
	if len(given) == 0 {
		return ""
	}
	return text.Snip(compact(given), 40, "…")
}

func (m pairing) sides() string {
	var sides []string
	for _, t := range m.Teams {
		side := some(t.Tickets, 8)
		if t.Name != "" {
			side = t.Name + ": " + side
		}
		sides = append(sides, side)
	}
	return strings.Join(sides, " | ")
}

// span is a spread as a person reads it.
func (m pairing) span(name string) string {
	s, ok := m.Spreads[name]
	low, high := short(s.Min), short(s.Max)
	switch {
	case !ok:
		return ""
	case low == high:
		return low
	}
	return low + ".." + high
}

// some are the first of many names.
func some(names []string, most int) string {
	text := strings.Join(names[:min(most, len(names))], " ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// short is a number with as many digits as a person compares.
func short(f float64) string {
	if a := math.Abs(f); a >= 1000 && a < 1e15 {
		return strconv.FormatFloat(math.Round(f), 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

func megabytes(n int) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
