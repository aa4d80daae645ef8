package gameserver

import (
	"context"
	"encoding/json"
	"net"
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
	expiry     *time.Timer // nil when the server has no end
	game       game
	world      json.RawMessage
	// filler keeps the game filled, and stop stops it; both are nil when the game is not filled.
	filler atomic.Pointer[client.Filler]
	stop   context.CancelFunc
}

// listen opens a free port of the address for a match. Where the game is kept filled, expected players who do not come
// have left after a while, and players leave after stay, on average (never when 0).
func listen(address string, m *provider.Payload, filled bool, stay time.Duration) (*server, error) {
	local, err := net.ResolveUDPAddr("udp", net.JoinHostPort(address, "0"))
	if err != nil {
		return nil, err
	}
	conn, err := net.ListenUDP("udp", local)
	if err != nil {
		return nil, err
	}
	s := &server{match: m.Match, connection: conn.LocalAddr().String(), conn: conn}
	var tickets []string
	for _, team := range m.Teams {
		tickets = append(tickets, team.Tickets...)
	}
	var p properties
	if json.Unmarshal(m.Properties, &p) != nil {
		p = properties{} // the match function may use other types
	}
	s.world = p.world()
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

// world is the map, nil when it is too long for an answer.
func (p *properties) world() json.RawMessage {
	if len(p.Map) > maxMap {
		return nil
	}
	return p.Map
}

// serve answers players until close.
func (s *server) serve() {
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
		// A player who has left is a stranger. So a repeated bye gets the same answer.
		return encode(refusal{Error: stranger}), q.Bye
	}
	players, ok := s.game.hello(q.Ticket)
	if !ok {
		return encode(refusal{Error: stranger}), ""
	}
	return encode(Welcome{Ticket: q.Ticket, Match: s.match, Players: players, Map: s.world}), ""
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil || len(text) > maxAnswer {
		return nil
	}
	return text
}

// close frees the port and makes serve return.
func (s *server) close() {
	if s.expiry != nil {
		s.expiry.Stop()
	}
	if s.stop != nil {
		s.stop()
	}
	s.game.end()
	_ = s.conn.Close()
}
