package explain

import (
	"fmt"
	"strconv"
	"strings"

	"matchmaker.dev/pkg/matchfn/rules"
)

func number(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

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

// clocks are the ages that bounds follow.
var clocks = map[rules.Clock]string{
	rules.Oldest: "the age of the oldest ticket", rules.Newest: "the age of the newest ticket",
	rules.Mean: "the mean age of the tickets", rules.Anchor: "the age of the anchor", rules.Own: "the age of each ticket",
}

// bound is the number, and how it changes.
func bound(b *rules.Bound) string {
	value := func(n float64, off bool) string {
		if off {
			return "no bound"
		}
		return number(n)
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
			every = "every " + number(l.Every) + " s"
		}
		changes = append(changes, fmt.Sprintf("%s %s %s %s %s", number(delta), more, every, limit, number(l.Limit)))
	}
	for _, s := range b.Steps {
		changes = append(changes, fmt.Sprintf("from %s s on %s", number(s.After), value(s.Value, s.Off)))
	}
	return fmt.Sprintf("%s (%s, by %s)", text, strings.Join(changes, ", "), clocks[b.Clock])
}

// active is when a bound is neither off nor 0.
func active(b *rules.Bound, on, off string) string {
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
			parts = append(parts, fmt.Sprintf("from %s s on %s", number(s.After), said[next]))
			now = next
		}
	}
	return strings.Join(parts, ", ")
}

// fixed is the only number that a range has, at all times.
func fixed(s rules.Range) (float64, bool) {
	if s.Min == nil || s.Max == nil || !s.Min.Constant() || !s.Max.Constant() || s.Min.Off || s.Max.Off ||
		s.Min.Start != s.Max.Start {
		return 0, false
	}
	return s.Min.Start, true
}

// span is a range in words.
func span(s rules.Range) string {
	if n, ok := fixed(s); ok {
		return number(n)
	}
	switch {
	case s.Min == nil && s.Max == nil:
		return "any number"
	case s.Max == nil:
		return "at least " + bound(s.Min)
	case s.Min == nil:
		return "at most " + bound(s.Max)
	case s.Min.Constant() && s.Max.Constant() && !s.Min.Off && !s.Max.Off:
		return number(s.Min.Start) + " to " + number(s.Max.Start)
	}
	return "at least " + bound(s.Min) + " and at most " + bound(s.Max)
}

func players(s rules.Range) string {
	if n, ok := fixed(s); ok && n == 1 {
		return "1 player"
	}
	return span(s) + " players"
}
