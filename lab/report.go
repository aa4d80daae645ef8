package lab

import (
	"bytes"
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
	"matchmaker.dev/services/cmd/mm/format"
	"matchmaker.dev/services/lab/dryrun"
)

// report is the result of "mm function test", with the fields of the JSON.
type report struct {
	Function  string        `json:"function"`
	Module    int           `json:"moduleBytes"`
	Memory    int           `json:"memoryBytes"`
	Tickets   int           `json:"tickets"`
	Backfills int           `json:"backfills"`
	Outside   int           `json:"outsideOfPools"`
	Segments  int           `json:"segments"` // of the pools, each with a run of its own
	Proposed  int           `json:"proposals"`
	Matches   []match       `json:"matches"`
	Waiting   []string      `json:"waiting"` // tickets without a match
	Times     []dryrun.Step `json:"steps"`   // the median of each
	Runs      int           `json:"runs"`
	Log       []string      `json:"log"`

	// Explanations answer the question about a ticket, if there is one.
	Explanations []explanation `json:"explanations,omitempty"`

	spreads []string        // the names of the spreads, the most important first
	named   map[string]bool // attributes that the config names
}

type match struct {
	Score   float64           `json:"score"`
	Teams   []team            `json:"teams"`
	Spreads map[string]spread `json:"spreads"` // of the tickets' attributes, and of their wait in seconds

	// Measures are what the function measured.
	Measures map[string]float64 `json:"measures,omitempty"`

	Connection string          `json:"connection,omitempty"`
	Error      string          `json:"error,omitempty"`
	Region     string          `json:"region,omitempty"`
	Fleet      string          `json:"fleet,omitempty"`
	Profile    string          `json:"profile,omitempty"`
	Backfill   *backfillChange `json:"backfill,omitempty"`

	MatchProperties      json.RawMessage            `json:"matchProperties,omitempty"`
	AssignmentProperties json.RawMessage            `json:"assignmentProperties,omitempty"`
	TicketProperties     map[string]json.RawMessage `json:"ticketProperties,omitempty"`
}

type team struct {
	Name    string   `json:"name,omitempty"`
	Tickets []string `json:"tickets"`
}

// backfillChange creates a backfill ticket, or changes the one with the ID. It has all attributes and properties that
// the backfill ticket has afterwards, or none if they stay the same.
type backfillChange struct {
	ID         string             `json:"id,omitempty"`
	Attributes map[string]float64 `json:"attributes,omitempty"`
	Properties map[string][]byte  `json:"properties,omitempty"`
}

func newBackfillChange(f *pb.Filling) *backfillChange {
	if f == nil {
		return nil
	}
	c := &backfillChange{f.GetBackfill(), map[string]float64{}, f.GetContents().GetProperties()}
	for i, name := range f.GetContents().GetAttributeNames() {
		c.Attributes[name] = f.GetContents().GetAttributeValues()[i]
	}
	return c
}

// String is the table's cell.
func (c *backfillChange) String() string {
	if c == nil {
		return ""
	}
	words := []string{cmp.Or(c.ID, "creates")}
	for _, name := range slices.Sorted(maps.Keys(c.Attributes)) {
		words = append(words, name+"="+format.Number(c.Attributes[name]))
	}
	return strings.Join(append(words, slices.Sorted(maps.Keys(c.Properties))...), " ")
}

// spread is the least and the greatest value in a match. It leaves out tickets without the attribute.
type spread struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

func (s spread) gap() float64 { return s.Max - s.Min }

// String is the table's cell.
func (s spread) String() string {
	low, high := format.Number(s.Min), format.Number(s.Max)
	if low == high {
		return low
	}
	return low + ".." + high
}

// waitSpread is the name of the spread of the tickets' wait.
const waitSpread = "wait"

func newReport(
	file string, tickets []*pb.Ticket, backfills []*pb.Backfill, result *dryrun.Result, now time.Time) *report {
	r := &report{
		Function: filepath.Base(file), Module: result.Module.Size, Memory: result.Memory,
		Tickets: len(tickets), Backfills: len(backfills), Outside: result.Outside,
		Segments: result.Segments, Proposed: result.Proposed,
		Matches: []match{}, Waiting: []string{}, Log: []string{},
		Times: result.Medians(), Runs: len(result.Cycles),
	}
	byID := make(map[string]*pb.Ticket, len(tickets))
	for _, t := range tickets {
		byID[t.GetId()] = t
	}
	for _, p := range result.Matches {
		r.Matches = append(r.Matches, newMatch(p, byID, now))
	}
	for _, t := range result.Waiting {
		r.Waiting = append(r.Waiting, t.GetId())
	}
	r.spreads = r.rank()
	return r
}

// attend lets the attributes that a config names come first: in its filters, or anywhere in its settings.
func (r *report) attend(config *pb.Config) {
	r.named = map[string]bool{}
	for _, p := range config.GetPools() {
		for _, f := range p.GetFilters() {
			r.named[f.GetAttribute()] = true
		}
	}
	for d := json.NewDecoder(bytes.NewReader(config.GetSettings())); ; {
		token, err := d.Token()
		if err != nil {
			break // the end: settings are valid JSON
		}
		if text, ok := token.(string); ok {
			r.named[text] = true
		}
	}
	r.spreads = r.rank()
}

func newMatch(p *pb.Proposal, tickets map[string]*pb.Ticket, now time.Time) match {
	m := match{
		Score: p.GetScore(), Teams: []team{}, Spreads: map[string]spread{},
		Connection: p.GetConnection(), Error: p.GetError(),
		Region: p.GetHosting().GetRegion(), Fleet: p.GetHosting().GetFleet(), Profile: p.GetHosting().GetProfile(),
		MatchProperties: p.GetMatchProperties(), AssignmentProperties: p.GetAssignmentProperties(),
		TicketProperties: map[string]json.RawMessage{},
		Backfill:         newBackfillChange(p.GetFilling()),
	}
	for _, one := range p.GetMeasures().GetOwn() {
		if m.Measures == nil {
			m.Measures = map[string]float64{}
		}
		m.Measures[one.GetName()] = one.GetValue()
	}
	for id, properties := range p.GetTicketProperties() {
		m.TicketProperties[id] = properties
	}
	widen := func(name string, value float64) {
		s, ok := m.Spreads[name]
		if !ok {
			s = spread{value, value}
		}
		m.Spreads[name] = spread{min(s.Min, value), max(s.Max, value)}
	}
	for _, t := range p.GetTeams() {
		m.Teams = append(m.Teams, team{t.GetName(), append([]string{}, t.GetTickets()...)})
		for _, id := range t.GetTickets() {
			ticket := tickets[id]
			for i, name := range ticket.GetAttributeNames() {
				if name != waitSpread {
					widen(name, ticket.GetAttributeValues()[i])
				}
			}
			for _, p := range ticket.GetPlayers() {
				for i, name := range p.GetAttributeNames() {
					if name != waitSpread {
						widen(name, p.GetAttributeValues()[i])
					}
				}
			}
			widen(waitSpread, now.Sub(time.UnixMilli(ticket.GetCreated())).Seconds())
		}
	}
	return m
}

// What the tables show of attributes at most: a row for each in one, a column for each in the other.
const (
	mostRows    = 32
	mostColumns = 4
)

// rank returns the wait and the attributes: the config's first, then the attributes that most matches have.
func (r *report) rank() []string {
	uses := map[string]int{}
	for _, m := range r.Matches {
		for name := range m.Spreads {
			uses[name]++
		}
	}
	delete(uses, waitSpread)
	late := func(name string) int {
		if r.named[name] {
			return 0
		}
		return 1
	}
	names := slices.SortedFunc(maps.Keys(uses), func(a, b string) int {
		return cmp.Or(cmp.Compare(late(a), late(b)), cmp.Compare(uses[b], uses[a]), cmp.Compare(a, b))
	})
	return append([]string{waitSpread}, names...)
}

// columns are the spreads that a table has room for, the attributes by name.
func (r *report) columns() []string {
	names := slices.Clone(r.spreads[:min(1+mostColumns, len(r.spreads))])
	slices.Sort(names[1:])
	return names
}

// showReport prints a report. most is the number of matches in the table.
func (t *Terminal) showReport(r *report, logLines []string, most int) error {
	r.Log = append(r.Log, logLines...)
	if !t.Structured {
		t.Log(logLines)
	}
	if err := t.Show(
		r, r.summary(), r.stepTable(), r.gapTable(), r.measureTable(), r.matchTable(most),
		r.explanationTable()); err != nil {
		return err
	}
	if more := len(r.Matches) - most; more > 0 && !t.Structured {
		t.Note("%d more matches: --show %d or --output json prints all", more, len(r.Matches))
	}
	return nil
}

// ran reports whether any ticket was in a pool. The function is not run without tickets.
func (r *report) ran() bool { return r.Outside < r.Tickets }

func (r *report) summary() Table {
	matched := r.Tickets - len(r.Waiting)
	var g Table
	g.add("function", fmt.Sprintf("%s (%s)", r.Function, format.MB(r.Module)))
	g.add("memory", format.MB(r.Memory))
	g.add("tickets", fmt.Sprintf("%d, %d of them in no pool", r.Tickets, r.Outside))
	if r.Backfills > 0 {
		filled := 0
		for _, m := range r.Matches {
			if m.Backfill != nil && m.Backfill.ID != "" {
				filled++
			}
		}
		g.add("backfills", fmt.Sprintf("%d, %d of them get tickets", r.Backfills, filled))
	}
	if r.Segments > 1 {
		g.add("segments", fmt.Sprintf("%d, each with a run of its own", r.Segments))
	}
	g.add("matches", fmt.Sprintf("%d with %s, of %s", len(r.Matches), format.Plural(matched, "ticket"),
		format.Plural(r.Proposed, "proposal")))
	g.add("left over", strings.TrimSpace(format.Plural(len(r.Waiting), "ticket")+" "+firstIDs(r.Waiting)))
	return g
}

func (r *report) stepTable() Table {
	if !r.ran() {
		return Table{}
	}
	g := Table{Head: []any{"step", "time", "median of " + strconv.Itoa(r.Runs)}}
	for _, step := range r.Times {
		g.Rows = append(g.Rows, []any{step.Name, step.Time.String(), step.About})
	}
	return g
}

// gapTable shows the distribution of the gaps between the least and the greatest value in a match.
func (r *report) gapTable() Table {
	g := Table{Head: []any{"gap in a match", "median", "90 %", "greatest"}}
	for _, name := range r.spreads[:min(1+mostRows, len(r.spreads))] {
		var gaps []float64
		for _, m := range r.Matches {
			if s, ok := m.Spreads[name]; ok {
				gaps = append(gaps, s.gap())
			}
		}
		g.addQuantiles(name, gaps)
	}
	return g
}

// measureTable shows the distribution of what the function measured.
func (r *report) measureTable() Table {
	g := Table{Head: []any{"measure", "median", "90 %", "greatest"}}
	all := map[string][]float64{}
	for _, m := range r.Matches {
		for name, value := range m.Measures {
			all[name] = append(all[name], value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		g.addQuantiles(name, all[name])
	}
	return g
}

// addQuantiles adds a row about values, unless there are none.
func (g *Table) addQuantiles(name string, values []float64) {
	if len(values) == 0 {
		return
	}
	slices.Sort(values)
	quantile := func(q float64) string { return format.Number(values[int(math.Ceil(q*float64(len(values))))-1]) }
	g.add(name, quantile(0.5), quantile(0.9), quantile(1))
}

func (r *report) matchTable(most int) Table {
	g := Table{Head: []any{"match", "score", "teams"}, Sparse: true}
	columns := r.columns()
	for _, name := range columns {
		g.Head = append(g.Head, name)
	}
	// Few functions set these. Empty columns are left out.
	g.Head = append(g.Head, "backfill", "connection", "server region", "fleet", "profile", "properties", "error")
	for i, m := range r.Matches[:min(most, len(r.Matches))] {
		row := []any{i + 1, format.Number(m.Score), m.teamsCell()}
		for _, name := range columns {
			cell := ""
			if s, ok := m.Spreads[name]; ok {
				cell = s.String()
			}
			row = append(row, cell)
		}
		g.add(append(row, m.Backfill.String(), m.Connection, m.Region, m.Fleet, m.Profile, m.propertiesCell(), m.Error)...)
	}
	return g
}

// propertiesCell is the beginning of the properties that all tickets of the match get.
func (m match) propertiesCell() string {
	properties := m.MatchProperties
	if len(properties) == 0 {
		properties = m.AssignmentProperties
	}
	if len(properties) == 0 {
		return ""
	}
	return text.Snip(format.JSON(properties), 40, "…")
}

func (m match) teamsCell() string {
	var teams []string
	for _, t := range m.Teams {
		ids := firstIDs(t.Tickets)
		if t.Name != "" {
			ids = t.Name + ": " + ids
		}
		teams = append(teams, ids)
	}
	return strings.Join(teams, " | ")
}

// firstIDs names the first eight ids, and how many more there are.
func firstIDs(ids []string) string {
	const most = 8
	text := strings.Join(ids[:min(most, len(ids))], " ")
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
