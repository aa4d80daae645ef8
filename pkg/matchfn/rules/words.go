package rules

import (
	"fmt"
	"strconv"
	"strings"
)

func decimal(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

func quoted(name string) string { return strconv.Quote(name) }

func quotedAll(names []string) (all []string) {
	for _, n := range names {
		all = append(all, quoted(n))
	}
	return all
}

// list is a list in words.
func list(parts []string, last string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " " + last + " " + parts[len(parts)-1]
}

// clockWords are the ages that bounds follow.
var clockWords = map[Clock]string{
	Oldest: "the age of the oldest ticket", Newest: "the age of the newest ticket",
	Mean: "the mean age of the tickets", Anchor: "the age of the anchor", Own: "the age of each ticket",
}

// bound is the number, and how it changes.
func bound(b *Bound) string {
	value := func(n float64, off bool) string {
		if off {
			return "no bound"
		}
		return decimal(n)
	}
	text := value(b.Start, b.Off)
	if b.Constant() {
		return text
	}
	var changes []string
	if l := b.Linear; l != nil {
		more, limit, delta := "more", "up to", l.Delta
		if delta < 0 {
			more, limit, delta = "less", "down to", -delta
		}
		every := "a second"
		if l.Every > 0 {
			every = "every " + decimal(l.Every) + " s"
		}
		changes = append(changes, fmt.Sprintf("%s %s %s %s %s", decimal(delta), more, every, limit, decimal(l.Limit)))
	}
	for _, s := range b.Steps {
		changes = append(changes, fmt.Sprintf("from %s s on %s", decimal(s.After), value(s.Value, s.Off)))
	}
	return fmt.Sprintf("%s (%s, by %s)", text, strings.Join(changes, ", "), clockWords[b.Clock])
}

// active is when a bound is neither off nor 0.
func active(b *Bound, on, off string) string {
	is := func(n float64, nothing bool) bool { return !nothing && n != 0 }
	if b.Linear != nil {
		return on + " while this is not 0: " + bound(b)
	}
	said := map[bool]string{true: on, false: off}
	now := is(b.Start, b.Off)
	if b.Constant() {
		return said[now]
	}
	parts := []string{said[now] + " at first"}
	for _, s := range b.Steps {
		if next := is(s.Value, s.Off); next != now {
			parts = append(parts, fmt.Sprintf("from %s s on %s", decimal(s.After), said[next]))
			now = next
		}
	}
	return strings.Join(parts, ", ")
}

// fixed is the only number that a range has, at all times.
func fixed(s Range) (float64, bool) {
	if s.Min == nil || s.Max == nil || !s.Min.Constant() || !s.Max.Constant() || s.Min.Off || s.Max.Off ||
		s.Min.Start != s.Max.Start {
		return 0, false
	}
	return s.Min.Start, true
}

// span is a range in words.
func span(s Range) string {
	if n, ok := fixed(s); ok {
		return decimal(n)
	}
	switch {
	case s.Min == nil && s.Max == nil:
		return "any number"
	case s.Max == nil:
		return "at least " + bound(s.Min)
	case s.Min == nil:
		return "at most " + bound(s.Max)
	case s.Min.Constant() && s.Max.Constant() && !s.Min.Off && !s.Max.Off:
		return decimal(s.Min.Start) + " to " + decimal(s.Max.Start)
	}
	return "at least " + bound(s.Min) + " and at most " + bound(s.Max)
}

func players(s Range) string {
	if n, ok := fixed(s); ok && n == 1 {
		return "1 player"
	}
	return span(s) + " players"
}

// of says over which players a condition is looked at.
func of(s Scope) string {
	switch s.Of {
	case InTeam:
		return " of a team"
	case InTeams:
		return " of a team " + list(quotedAll(s.Teams), "or")
	}
	return " of the match"
}

// ofEach is of where there is a number for each team.
func ofEach(s Scope) string { return strings.Replace(of(s), " of a team", " of each team", 1) }

var statistics = map[Stat]string{
	StatAverage: "the average", StatSum: "the sum", StatMin: "the least", StatMax: "the greatest",
	StatMedian: "the median", StatDev: "the standard deviation", StatCount: "the number", StatEach: "each",
}

func statistic(stat Stat, value string) string {
	switch {
	case stat == StatTickets:
		return "the number of tickets"
	case stat == StatParty:
		return "the number of players of the largest ticket"
	case stat == StatCount && value == "":
		return "the number of players"
	case stat == StatCount:
		return "the number of players with " + quoted(value)
	}
	return statistics[stat] + " " + quoted(value)
}
