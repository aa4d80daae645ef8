package gameserver

import (
	"context"
	"encoding/json"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/allocator/provider"
)

const (
	// maxQuestion and maxAnswer are the most bytes of a datagram.
	maxQuestion = 512
	maxAnswer   = 512
	// maxMap is the most bytes of the part of an answer that the match function chose.
	maxMap = 128
)

// server is the game server of one match.
type server struct {
	match      string
	connection string
	conn       *net.UDPConn
	game       game
	world      json.RawMessage
	teams      []provider.Team
	api        *client.Client // nil if it reports nothing
	reporting  atomic.Bool
	over       func()                        // ends the server
	filler     atomic.Pointer[client.Filler] // nil if the game is not kept filled
}

// listen opens a free port for a match. Where the game is kept filled, expected players that do not come have left
// after a while, and players leave after stay, on average (never when 0).
func listen(m *provider.Payload, filled bool, stay time.Duration) (*server, error) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	s := &server{match: m.Match, connection: conn.LocalAddr().String(), conn: conn, teams: m.Teams}
	var tickets []string
	for _, team := range m.Teams {
		tickets = append(tickets, team.Tickets...)
	}
	var p properties
	if json.Unmarshal(m.Properties, &p) != nil {
		p = properties{} // the match function may use other types
	}
	if len(p.Map) <= maxMap { // else it is too long for an answer
		s.world = p.Map
	}
	s.game.places, s.game.players = max(p.Places, len(tickets)), map[string]*player{}
	if filled {
		s.game.stay = stay
		s.game.changed = func() {
			if f := s.filler.Load(); f != nil {
				f.Changed()
			}
		}
	}
	s.game.expect(tickets)
	return s, nil
}

// properties are the match properties that the server reads.
type properties struct {
	// Map is part of the answer to players.
	Map json.RawMessage `json:"map"`
	// Places is how many players fit.
	Places int `json:"places"`
}

// serve answers players until the port is closed.
func (s *server) serve(ctx context.Context) {
	// A datagram that fills the buffer is too long.
	question := make([]byte, maxQuestion+1)
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(question)
		if err != nil {
			return
		}
		if n > maxQuestion {
			continue
		}
		var q hello
		if json.Unmarshal(question[:n], &q) == nil && q.Won != "" && s.reporting.CompareAndSwap(false, true) {
			go func() {
				defer s.reporting.Store(false)
				if answer := s.report(ctx, q.Won); answer != nil {
					_, _ = s.conn.WriteToUDPAddrPort(answer, from)
				}
			}()
			continue
		}
		answer, leaves := s.answer(question[:n])
		if answer != nil {
			// A player whose answer is lost says hello again.
			_, _ = s.conn.WriteToUDPAddrPort(answer, from)
		}
		if leaves != "" {
			s.game.leave(leaves) // after the answer: with the last player the port closes
		}
	}
}

// answer is the answer to a datagram, nil for none, and the ticket whose player leaves, if one does.
func (s *server) answer(question []byte) (answer []byte, leaves string) {
	var q hello
	if json.Unmarshal(question, &q) != nil || (q.Ticket == "") == (q.Bye == "") {
		return nil, ""
	}
	if q.Bye != "" {
		// A player that has left is a stranger. So a repeated bye gets the same answer.
		return []byte(stranger), q.Bye
	}
	players, ok := s.game.hello(q.Ticket)
	if !ok {
		return []byte(stranger), ""
	}
	return encode(Welcome{Ticket: q.Ticket, Match: s.match, Players: players, Map: s.world}), ""
}

// reportTime is how long a report may take.
const reportTime = 5 * time.Second

// lastAnswers is how long a server that has reported still answers players whose answer is lost.
const lastAnswers = time.Second

// report reports that a ticket's team has won. It returns the answer to the player, nil if the report failed.
func (s *server) report(ctx context.Context, winner string) []byte {
	players, known := s.game.hello(winner)
	if !known || s.api == nil {
		return []byte(stranger)
	}
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	if _, err := s.api.ReportResult(ctx, s.match, s.result(winner)...); err != nil {
		return nil
	}
	time.AfterFunc(lastAnswers, s.over)
	return encode(Welcome{Ticket: winner, Match: s.match, Players: players})
}

// result is the result of the match. In a match of one team each ticket plays for itself.
func (s *server) result(winner string) (teams []client.ReportedTeam) {
	rank := func(tickets ...string) int {
		if slices.Contains(tickets, winner) {
			return 1
		}
		return 2
	}
	for _, t := range s.teams {
		if len(s.teams) > 1 {
			teams = append(teams, client.ReportedTeam{Name: t.Name, Rank: rank(t.Tickets...)})
			continue
		}
		for i, ticket := range t.Tickets {
			one := client.ReportedTeam{Rank: rank(ticket)}
			for _, id := range t.Players[min(i, len(t.Players)):min(i+1, len(t.Players))] {
				for _, player := range id {
					one.Players = append(one.Players, client.ReportedPlayer{ID: player})
				}
			}
			teams = append(teams, one)
		}
	}
	return teams
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil || len(text) > maxAnswer {
		return nil
	}
	return text
}
