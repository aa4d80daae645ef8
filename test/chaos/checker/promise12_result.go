package checker

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"matchmaker.dev/services/test/chaos/history"
)

// counted are the results of a project, as the reporting servers know them.
type counted struct {
	// of has the matches of each player whose results count, open the others, of which no answer says so.
	of   map[string]map[string]bool
	open map[string]bool
	// reports has the reports of each match that count or may count. known are the matches of which one counts.
	reports map[string][]history.Call
	known   map[string]bool
	// erased are players that may have been erased.
	erased map[string]bool
}

// resultsCountOnce checks that a result counts once for its players, however often it was sent, and another one of the
// same match instead of it.
func resultsCountOnce(m *model, p *Promise, _ *Sums) {
	projects, again := m.results()
	matches, corrections := m.toldResults(p, projects)
	var read, exact, moved int
	unread := map[[2]string]bool{}
	for _, c := range m.h.Calls {
		switch player := [2]string{c.Project, c.Player}; {
		case c.Op != history.Standing:
			continue
		case c.Status != 200:
			unread[player] = true
			continue
		default:
			delete(unread, player)
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
		case c.Games == least:
			exact++
			moved += of.agree(p, &c)
		}
	}
	p.count("matches whose results count", matches)
	p.count("reports answered that came again", again)
	p.count("results that replaced others", corrections)
	p.count("players whose results were read", read)
	p.count("players whose results were not read in time", len(unread))
	p.count("players who have all of theirs", exact)
	p.count("players whose ratings are what these made", moved)
}

// toldResults checks what the event log has of results, and counts the matches with one, and corrections.
func (m *model) toldResults(p *Promise, projects map[string]*counted) (matches, corrections int) {
	reported, corrected := map[string]int{}, map[string]int{}
	for _, log := range m.logs {
		for _, e := range log {
			if e.Kind != history.Result || e.Reason != "reported" && e.Reason != "corrected" {
				continue
			}
			if of := projects[e.Project]; of == nil || len(of.reports[e.Match]) == 0 {
				p.fail("%s: the result of match %s was %s, and none was sent", e.Project, e.Match, e.Reason)
			}
			if e.Reason == "reported" {
				reported[e.Match]++
			} else {
				corrected[e.Match]++
			}
		}
	}
	for _, project := range slices.Sorted(maps.Keys(projects)) {
		of := projects[project]
		matches += len(of.known)
		for match, reports := range of.reports {
			n, times := reported[match], corrected[match]
			least, most := replacements(reports)
			corrections += times
			switch {
			case times > 0 && areSame(reports):
				p.fail("%s: the result of match %s was corrected, though only the same one was sent", project, match)
			case len(m.losses[project]) > 0:
			case of.known[match] && n != 1:
				p.fail("%s: the result of match %s counts, and the event log has it %d times", project, match, n)
			case times < least || times > most:
				p.fail("%s: the result of match %s was corrected %d times, by the reports %d to %d", project, match, times,
					least, most)
			}
		}
	}
	return matches, corrections
}

// replacements is how often the result of a match was replaced at least and at most. A server sends each result when
// the one before it is answered: each replaces the one before it if they differ, as the second does from the first. A
// report whose answer is missing may count late, and then replaces a newer result that is sent once more.
func replacements(reports []history.Call) (least, most int) {
	keys, unknown := map[string]bool{}, 0
	for _, c := range reports {
		if keys[c.Key] = true; c.Status != 200 {
			unknown++
		}
	}
	if unknown == 0 {
		least = min(1, len(keys)-1)
	}
	return least, len(keys) - 1 + 2*unknown
}

// results are the results of each project, and how many reports came again.
func (m *model) results() (all map[string]*counted, again int) {
	all = map[string]*counted{}
	for _, c := range m.h.Calls {
		of := all[c.Project]
		if of == nil {
			of = &counted{map[string]map[string]bool{}, map[string]bool{}, map[string][]history.Call{}, map[string]bool{},
				map[string]bool{}}
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
			of.reports[c.Match] = append(of.reports[c.Match], c)
			for _, player := range c.Players {
				if of.of[player] == nil {
					of.of[player] = map[string]bool{}
				}
				of.of[player][c.Match] = true
			}
		case c.Status == 0 || c.Status >= 500:
			of.open[c.Match] = true
			of.reports[c.Match] = append(of.reports[c.Match], c)
		}
	}
	for _, of := range all {
		maps.DeleteFunc(of.open, func(match string, _ bool) bool { return of.known[match] })
	}
	return all, again
}

// agree checks how often a player left, and how the results of the player moved the rating. It returns 1 if they
// did, 0 if not, or if that is not known: an answer to another report of a match may be missing, which counts late.
func (of *counted) agree(p *Promise, c *history.Call) int {
	least, most, moved, known, changed := 0, 0, 0.0, true, 0
	for match := range of.of[c.Player] {
		last := of.lasting(match)
		left, moves := 0, 0.0
		for _, one := range last {
			if slices.Contains(one.Leavers, c.Player) {
				left++
			}
			if one.Status == 200 {
				moves = one.Moved[c.Player]
			}
		}
		if moves != 0 {
			changed = 1
		}
		least, most, moved = least+left/len(last), most+min(1, left), moved+moves
		known = known && areSame(last)
	}
	if c.Left < least || c.Left > most {
		p.fail("%s: %s left %d matches, by the results %d to %d", c.Project, c.Player, c.Left, least, most)
	}
	if !known {
		return 0
	}
	if has := c.Moved[c.Player]; math.Abs(has-moved) > 1e-6 {
		p.fail("%s: the rating of %s has moved by %v, by the results by %v", c.Project, c.Player, has, moved)
	}
	return changed
}

// lasting are the reports of a match that may be its result in the end. One that was answered is not if another one
// that counts was sent after that.
func (of *counted) lasting(match string) []history.Call {
	all := of.reports[match]
	return slices.DeleteFunc(slices.Clone(all), func(c history.Call) bool {
		return c.Status == 200 && slices.ContainsFunc(all, func(other history.Call) bool {
			return other.Status == 200 && other.Key != c.Key && other.From > c.To
		})
	})
}

// areSame reports whether reports are of the same result.
func areSame(reports []history.Call) bool {
	return !slices.ContainsFunc(reports, func(c history.Call) bool { return c.Key != reports[0].Key })
}
