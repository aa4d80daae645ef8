package checker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"matchmaker.dev/services/test/chaos/history"
)

// counted are the results of a project, as the reporting servers know them.
type counted struct {
	// of has the matches of each player whose results count, open the others, of which no answer says so.
	of   map[string]map[string]bool
	open map[string]bool
	// known are the matches whose results count.
	known map[string]bool
	// erased are players that may have been erased.
	erased map[string]bool
}

// resultsCountOnce checks that a result counts once for its players, however often it was sent.
func resultsCountOnce(m *model, p *Promise, _ *Sums) {
	projects, again := m.results()
	events := map[string]int{}
	for _, log := range m.logs {
		for _, e := range log {
			if e.Kind == history.Result && e.Reason == "corrected" {
				p.fail("%s: the result of match %s was corrected, though only the same one was sent", e.Project, e.Match)
			} else if e.Kind == history.Result && e.Reason == "reported" {
				events[e.Match]++
			}
		}
	}
	matches := 0
	for _, project := range slices.Sorted(maps.Keys(projects)) {
		matches += len(projects[project].known)
		for match := range projects[project].known {
			if n := events[match]; n != 1 && len(m.losses[project]) == 0 {
				p.fail("%s: the result of match %s counts, and the event log has it %d times", project, match, n)
			}
		}
	}
	read, exact := 0, 0
	for _, c := range m.h.Calls {
		if c.Op != history.Standing || c.Status != 200 {
			continue
		}
		read++
		of := projects[c.Project]
		least, most := len(of.of[c.Player]), len(of.of[c.Player])+len(of.open)
		switch {
		case c.Games > most:
			p.fail("%s: %s has %d results, but was in %d matches with one", c.Project, c.Player, c.Games, most)
		case of.erased[c.Player] || len(m.losses[c.Project]) > 0 || !strings.HasPrefix(c.Player, "player-"):
		case c.Games < least:
			p.fail("%s: %s has %d results, but was in %d matches with one", c.Project, c.Player, c.Games, least)
		default:
			exact++
		}
	}
	p.count("matches whose results count", matches)
	p.count("reports answered that came again", again)
	p.count("players whose results were read", read)
	p.count("players who have all of theirs", exact)
}

// results are the results of each project, and how many reports came again.
func (m *model) results() (all map[string]*counted, again int) {
	all = map[string]*counted{}
	for _, c := range m.h.Calls {
		of := all[c.Project]
		if of == nil {
			of = &counted{map[string]map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
			all[c.Project] = of
		}
		switch {
		case c.Op == history.Delete:
			of.erased[fmt.Sprintf("player-%d", c.Number)] = true
		case c.Op != history.Report:
		case c.Status == 200:
			if of.known[c.Match] {
				again++
			}
			of.known[c.Match] = true
			for _, player := range c.Players {
				if of.of[player] == nil {
					of.of[player] = map[string]bool{}
				}
				of.of[player][c.Match] = true
			}
		case c.Status == 0 || c.Status >= 500:
			of.open[c.Match] = true
		}
	}
	for _, of := range all {
		maps.DeleteFunc(of.open, func(match string, _ bool) bool { return of.known[match] })
	}
	return all, again
}
