package result

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/internal/state"
)

// Limits of what a result has. Teams and players are limited as in package rating.
const (
	highestRank  = 1000
	highestScore = 1e9
	longestGame  = 7 * 24 * 60 * 60 // in seconds
	mostNumbers  = 16
	longestName  = 64
	highest      = 1e15 // of other numbers
)

func invalid(at, format string, args ...any) error {
	return problem.New(problem.Invalid, "%s: %s", at, fmt.Sprintf(format, args...))
}

// check refuses a result that is none of any match, and names the member.
func check(teams []response.ReportedTeam) error {
	if n := len(teams); n < 1 || n > rating.MostTeams {
		return invalid("teams", "%d of them, 1 to %d are allowed", n, rating.MostTeams)
	}
	seen, first := map[string]bool{}, &teams[0]
	for i := range teams {
		t, at := &teams[i], fmt.Sprintf("teams.%d", i)
		switch {
		case t.Rank < 0 || t.Rank > highestRank:
			return invalid(at+".rank", "1 to %d are allowed", highestRank)
		case t.Rank == 0 && t.Score == nil:
			return invalid(at, "it has neither rank nor score")
		case (t.Rank == 0) != (first.Rank == 0):
			return invalid(at+".rank", "all teams have a rank, or none has")
		case (t.Score == nil) != (first.Score == nil):
			return invalid(at+".score", "all teams have a score, or none has")
		case t.Score != nil && !within(*t.Score, -highestScore, highestScore):
			return invalid(at+".score", "-%g to %[1]g are allowed", highestScore)
		}
		if err := checkNumbers(at, t.Numbers); err != nil {
			return err
		}
		for j := range t.Players {
			if err := checkPlayer(fmt.Sprintf("%s.players.%d", at, j), &t.Players[j], seen); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkPlayer(at string, p *response.ReportedPlayer, seen map[string]bool) error {
	switch {
	case !auth.IsPlayer(p.ID):
		return invalid(at+".id", "up to 256 bytes of printable UTF-8 are expected")
	case seen[p.ID]:
		return invalid(at+".id", "this player is in the result twice")
	case len(seen) == rating.MostPlayers:
		return invalid("teams", "they have more than %d players", rating.MostPlayers)
	case p.Left != nil && !within(*p.Left, 0, longestGame):
		return invalid(at+".left", "0 to %d seconds are allowed", longestGame)
	}
	seen[p.ID] = true
	return checkNumbers(at, p.Numbers)
}

func checkNumbers(at string, numbers map[string]float64) error {
	if n := len(numbers); n > mostNumbers {
		return invalid(at+".numbers", "%d of them, at most %d are allowed", n, mostNumbers)
	}
	for name, value := range numbers {
		if !isName(name) {
			return invalid(at+".numbers", "a name has 1 to %d bytes of printable UTF-8", longestName)
		}
		if !within(value, -highest, highest) {
			return invalid(at+".numbers."+name, "-%g to %[1]g are allowed", highest)
		}
	}
	return nil
}

// within is false for what is not a number.
func within(n, least, most float64) bool { return n >= least && n <= most }

func isName(name string) bool {
	return name != "" && len(name) <= longestName &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// playersIn are the players that a result names.
func playersIn(teams []response.ReportedTeam) (players []string) {
	for i := range teams {
		for j := range teams[i].Players {
			players = append(players, teams[i].Players[j].ID)
		}
	}
	return players
}

// participants are the players in a match, as far as they are known. An erased player has no name: erased counts them.
type participants struct {
	teams   []string // that have a name
	players map[string]bool
	of      map[string][]string // players by their team
	erased  int
}

func participantsOf(tickets []state.PlayedTicket) participants {
	l := participants{players: map[string]bool{}, of: map[string][]string{}}
	for _, t := range tickets {
		if t.Team != "" && !slices.Contains(l.teams, t.Team) {
			l.teams = append(l.teams, t.Team)
		}
		l.of[t.Team] = append(l.of[t.Team], t.Players...)
		for _, p := range t.Players {
			if l.players[p] = true; p == "" {
				l.erased++
			}
		}
	}
	return l
}

// placed is a result as it is stored, if it is one of a match with these tickets. An erased player has no name.
func placed(teams []response.ReportedTeam, tickets []state.PlayedTicket) ([]*pb.ResultTeam, error) {
	l := participantsOf(tickets)
	if n := len(l.teams); n > 0 && n != len(teams) {
		return nil, invalid("teams", "%d of them, but the match has %d", len(teams), n)
	}
	all := make([]*pb.ResultTeam, len(teams))
	var names []string
	named := slices.ContainsFunc(teams, func(t response.ReportedTeam) bool { return len(t.Players) > 0 })
	for i := range teams {
		t, at := &teams[i], fmt.Sprintf("teams.%d", i)
		name := state.TeamName(t.Name)
		switch {
		case name == "" && len(l.teams) > 0:
			name = l.teams[i]
		case name == "":
			name = strconv.Itoa(i + 1)
		case len(l.teams) > 0 && !slices.Contains(l.teams, name):
			return nil, invalid(at+".name", "the match has no team of this name")
		case len(l.teams) == 0 && !isName(t.Name):
			return nil, invalid(at+".name", "1 to %d bytes of printable UTF-8 are expected", longestName)
		}
		if slices.Contains(names, name) {
			return nil, invalid(at+".name", "two teams have this name")
		}
		names = append(names, name)
		all[i] = &pb.ResultTeam{Name: name, Rank: int32(t.Rank), Score: t.Score, Numbers: numbersOf(t.Numbers)}
		for j := range t.Players {
			p := &t.Players[j]
			one := &pb.ResultPlayer{Id: p.ID, Left: p.Left, Numbers: numbersOf(p.Numbers)}
			if !l.players[p.ID] {
				if l.erased--; l.erased < 0 {
					return nil, invalid(fmt.Sprintf("%s.players.%d.id", at, j), "this player is not in the match")
				}
				one.Id = ""
			}
			all[i].Players = append(all[i].Players, one)
		}
		if len(t.Players) > 0 {
			continue
		}
		if len(l.teams) == 0 && len(teams) > 1 {
			return nil, invalid(at+".players", "required: the match has no teams that are known")
		}
		players := l.of[name]
		if len(l.teams) == 0 {
			players = l.of[""]
		}
		if named && len(players) > 0 {
			return nil, invalid(at+".players", "all teams name their players, or none does")
		}
		for _, id := range players {
			all[i].Players = append(all[i].Players, &pb.ResultPlayer{Id: id})
		}
	}
	return all, nil
}

// numbersOf are numbers in the order of their names.
func numbersOf(numbers map[string]float64) (all []*pb.Number) {
	for name, value := range numbers {
		all = append(all, &pb.Number{Name: name, Value: value})
	}
	slices.SortFunc(all, func(a, b *pb.Number) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return all
}

// ticketOf is a player's ticket in a match; nil for none.
func ticketOf(m *state.Played, player string) *state.PlayedTicket {
	if m == nil {
		return nil
	}
	at := slices.IndexFunc(m.Tickets, func(t state.PlayedTicket) bool { return slices.Contains(t.Players, player) })
	if at < 0 {
		return nil
	}
	return &m.Tickets[at]
}
