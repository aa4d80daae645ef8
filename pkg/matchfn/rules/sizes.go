package rules

import "math"

// sizes is what the shapes of teams say about the numbers of players and of teams, whatever the time.
type sizes struct {
	rules  *Rules
	shapes map[string]shape
	// sure are the players of each team that every match has. If no shape is sure, it is one team's of any shape.
	sure []interval
	// players and teams are a match's, team the players of one of its teams.
	players, teams, team interval
	// taken is how many teams every match has that have players.
	taken float64
}

// shape is the players of the teams of a shape, and how many teams there are.
type shape struct{ players, copies interval }

// sure reports whether every match has a team of the shape.
func (s shape) sure() bool { return s.copies.low > 0 }

// whole returns the numbers of players or teams in a range.
func whole(s Range) interval {
	all := s.over()
	return interval{max(0, math.Ceil(all.low)), max(0, math.Floor(all.high))}
}

// add adds a shape, and returns it.
func (s *sizes) add(t Team) shape {
	if s.shapes == nil {
		s.shapes, s.team = map[string]shape{}, nothing
	}
	one := shape{whole(t.Size), whole(t.Copies)}
	s.shapes[t.Name] = one
	s.teams = interval{s.teams.low + one.copies.low, s.teams.high + one.copies.high}
	s.players.low += one.players.low * one.copies.low
	if one.copies.high > 0 && one.players.high > 0 { // not 0 times an infinite number
		s.players.high += one.players.high * one.copies.high
	}
	if one.copies.high > 0 {
		s.team = s.team.or(one.players)
	}
	if one.sure() {
		s.sure = append(s.sure, one.players)
	}
	if one.players.low > 0 {
		s.taken += one.copies.low
	}
	return one
}

// group is a number of players at which a condition looks together.
type group struct {
	players interval
	// groups is how many such groups there are.
	groups interval
}

// group returns the groups of a scope as one that could be any of them.
func (s *sizes) group(of Scope) group {
	switch of.Of {
	case InTeam:
		return group{s.team, s.teams.and(interval{1, math.Inf(1)})}
	case InTeams:
		all := group{players: nothing}
		for _, name := range of.Teams {
			if one := s.shapes[name]; one.copies.high > 0 {
				all.players = all.players.or(one.players)
				all.groups = interval{all.groups.low + one.copies.low, all.groups.high + one.copies.high}
			}
		}
		return all
	}
	return group{s.players, interval{1, 1}}
}

// each returns the players of each group of a scope that every match has.
func (s *sizes) each(of Scope) (all []interval) {
	switch of.Of {
	case InTeam:
		if len(s.sure) == 0 {
			return []interval{s.team}
		}
		return s.sure
	case InTeams:
		for _, name := range of.Teams {
			if one := s.shapes[name]; one.sure() {
				all = append(all, one.players)
			}
		}
		return all
	case BesideAnchor:
		return nil
	}
	return []interval{s.players}
}

// has reports whether each player of a new match has a value.
func (s *sizes) has(value string) bool { return s.rules.ValueOf(value).Missing != Any }

// some is how many groups of a scope at least have a player that has a value.
func (s *sizes) some(value string, of Scope) (groups float64) {
	if !s.has(value) {
		return 0
	}
	if of.Of == BesideAnchor {
		return 1 // the anchor is in each
	}
	for _, players := range s.each(of) {
		if players.low > 0 {
			groups++
		}
	}
	if of.Of == InTeam {
		return max(1, groups) // one of the teams has players
	}
	return groups
}
