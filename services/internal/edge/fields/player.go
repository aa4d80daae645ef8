package fields

import (
	"fmt"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
)

// Player is one of the players in a request.
type Player struct {
	ID string `json:"id"`
	Values
}

// CheckPlayers is an Invalid error that names the member when the players of a request are outside the limits, or one
// of them is named twice. Nil is a request without players.
func CheckPlayers(players []Player, l Limits) error {
	if players != nil && len(players) == 0 {
		return problem.New(problem.Invalid, "players: the list is empty; leave it out if the owner is the only player")
	}
	if n := len(players); n > l.Players {
		return problem.New(problem.Invalid, "players: %d of them, at most %d are allowed", n, l.Players).
			Exceeds("ticket-players")
	}
	return checkEach(len(players), l, func(i int) (RosterPlayer, Values) {
		return RosterPlayer{ID: players[i].ID}, players[i].Values
	})
}

// checkEach checks what a list has of each player, and that it has none twice.
func checkEach(n int, l Limits, of func(i int) (RosterPlayer, Values)) error {
	first := make(map[string]int, n)
	for i := range n {
		p, values := of(i)
		at := fmt.Sprintf("players.%d.", i)
		if !auth.IsPlayer(p.ID) {
			return problem.New(problem.Invalid, "%sid: up to 256 bytes of printable UTF-8 are expected", at)
		}
		if before, twice := first[p.ID]; twice {
			return problem.New(problem.Invalid, "%sid: the same player as players.%d", at, before)
		}
		first[p.ID] = i
		for _, name := range []struct{ member, text string }{{"team", p.Team}, {"role", p.Role}} {
			if len(name.text) > longestRole {
				return problem.New(problem.Invalid, "%s%s: %d bytes, at most %d are allowed", at, name.member, len(name.text),
					longestRole)
			}
		}
		if err := values.check(at, l); err != nil {
			return err
		}
	}
	return nil
}

// PlayerRecords are players as they are stored.
func PlayerRecords(players []Player) []*pb.Player {
	var list []*pb.Player
	for i := range players {
		p := &players[i]
		one := &pb.Player{Id: p.ID, Properties: p.Properties}
		one.AttributeNames, one.AttributeValues = p.Columns()
		list = append(list, one)
	}
	return list
}

// Note begins the names of properties of a backfill ticket in which functions note something for themselves. It is NOTE
// of script/include/names.lua.
const Note = "matchfn:"

// RosterPlayer is a player in a running game, as its server names them.
type RosterPlayer struct {
	ID         string             `json:"id"`
	Team       string             `json:"team"`
	Role       string             `json:"role"`
	Attributes map[string]float64 `json:"attributes"`
}

// longestRole is the length in bytes of the name of a team or a role, as in a function's answer.
const longestRole = 256

// CheckRoster is an Invalid error that names the member when the players of a game are outside the limits, or one of
// them is named twice. There may be none.
func CheckRoster(players []RosterPlayer, l Limits) error {
	if n := len(players); n > mostPlayers {
		return problem.New(problem.Invalid, "players: %d of them, at most %d are allowed", n, mostPlayers).
			Exceeds("game-players")
	}
	return checkEach(len(players), l, func(i int) (RosterPlayer, Values) {
		return players[i], Values{Attributes: players[i].Attributes}
	})
}

// RosterRecord is players of a game as they are stored; nil if they are not known.
func RosterRecord(players *[]RosterPlayer) *pb.Roster {
	if players == nil {
		return nil
	}
	roster := &pb.Roster{}
	for i := range *players {
		p := &(*players)[i]
		one := &pb.RosterPlayer{Id: p.ID, Team: p.Team, Role: p.Role}
		values := Values{Attributes: p.Attributes}
		one.AttributeNames, one.AttributeValues = values.Columns()
		roster.Players = append(roster.Players, one)
	}
	return roster
}
