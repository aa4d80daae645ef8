package report

import (
	"cmp"
	"slices"
	"strconv"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// What a table has at most: rows, and buckets of all distributions.
const (
	maxRows    = 500
	maxBuckets = 200_000
)

// Dimensions are those by which a table can divide matches.
func Dimensions() []string {
	return []string{"config", "revision", "function", "upload", "queue", "region", "party", "decile", "slot"}
}

// Table adds slots up, divided by some dimensions.
type Table struct {
	// By are dimensions. Without any there is one row.
	By []string
	// Config selects the matches of one config; empty for all. MinRevision and MaxRevision select revisions of configs; 0
	// for any.
	Config                   string
	MinRevision, MaxRevision int64

	rows    map[Key]*series
	buckets int
	leftOut int64
}

// Row is a row of a table: the matches with the same key. What the table is not divided by is not in the key.
type Row struct {
	Key
	Matches, Tickets, Players int64
	Distributions             []Distribution
	// Results is how many first results came, ResultPlayers how many players they have, and Left how many of those left
	// before the end.
	Results, ResultPlayers, Left int64
	Odds                         []Odds
}

// Distribution is how values are spread.
type Distribution struct {
	Kind, Name    string
	Count         int64
	Mean          float64
	P10, P50, P90 float64
}

// Add adds the matches of the slot with a number that are selected.
func (t *Table) Add(number int64, slot *pb.ReportSlot) {
	if t.rows == nil {
		t.rows = map[Key]*series{}
	}
	if slices.Contains(t.By, "decile") {
		slot = slot.GetDeciles()
	}
	t.leftOut += slot.GetLeftOut()
	for _, one := range slot.GetSeries() {
		if t.Config != "" && one.GetConfig() != t.Config || one.GetRevision() < t.MinRevision ||
			t.MaxRevision > 0 && one.GetRevision() > t.MaxRevision {
			continue
		}
		key := t.key(keyOf(one), number)
		row := t.rows[key]
		if row == nil {
			if len(t.rows) >= maxRows {
				t.leftOut += one.GetMatches()
				continue
			}
			row = &series{distributions: map[named]*distribution{}}
			t.rows[key] = row
		}
		row.merge(one, func(int) bool { return t.room() }, t.room)
	}
}

// room takes room for a bucket, if there is some.
func (t *Table) room() bool {
	if t.buckets >= maxBuckets {
		return false
	}
	t.buckets++
	return true
}

// key keeps the dimensions by which the table is divided.
func (t *Table) key(k Key, slot int64) (kept Key) {
	for _, by := range t.By {
		switch by {
		case "config":
			kept.Config = k.Config
		case "revision":
			kept.Config, kept.Revision = k.Config, k.Revision
		case "function":
			kept.Function = k.Function
		case "upload":
			kept.Function, kept.Upload = k.Function, k.Upload
		case "queue":
			kept.Queue = k.Queue
		case "region":
			kept.Region = k.Region
		case "party":
			kept.Party = k.Party
		case "decile":
			kept.Decile = k.Decile
		case "slot":
			kept.Slot = slot
		}
	}
	return kept
}

// LeftOut is how many matches are not in the table, or not with all that was told of them, for want of room.
func (t *Table) LeftOut() int64 { return t.leftOut }

// Rows are in order of their keys.
func (t *Table) Rows() []Row {
	rows := make([]Row, 0, len(t.rows))
	for key, s := range t.rows {
		row := Row{Key: key, Matches: s.matches, Tickets: s.tickets, Players: s.players,
			Results: s.results, ResultPlayers: s.resultPlayers, Left: s.left, Odds: s.odds}
		for of, d := range s.distributions {
			n := d.count()
			if n == 0 {
				continue
			}
			row.Distributions = append(row.Distributions, Distribution{
				Kind: of.kind, Name: of.name, Count: n, Mean: d.sum / float64(n),
				P10: d.quantile(0.1), P50: d.quantile(0.5), P90: d.quantile(0.9),
			})
		}
		slices.SortFunc(row.Distributions, func(a, b Distribution) int {
			return cmp.Or(cmp.Compare(order(a.Kind), order(b.Kind)), cmp.Compare(a.Name, b.Name))
		})
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Config, b.Config), cmp.Compare(a.Revision, b.Revision),
			cmp.Compare(a.Function, b.Function), cmp.Compare(a.Upload, b.Upload), cmp.Compare(a.Queue, b.Queue),
			cmp.Compare(a.Region, b.Region), cmp.Compare(a.Party, b.Party), cmp.Compare(a.Decile, b.Decile),
			cmp.Compare(a.Slot, b.Slot))
	})
	return rows
}

// order puts what is known of all matches first.
func order(kind string) int { return slices.Index([]string{Wait, Spread, Gap, Own, Measure}, kind) }

// PartyName is what people read for a size of parties.
func PartyName(party int) string {
	switch {
	case party <= 0:
		return "unknown"
	case party >= LargestParty:
		return strconv.Itoa(LargestParty) + "+"
	}
	return strconv.Itoa(party)
}
