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
	// maxQuestion and maxAnswer bound datagrams, in bytes.
	maxQuestion = 512
	maxAnswer   = 512
	// maxMap bounds the part of an answer that the match function chose.
	maxMap = 128
)

// server is the game server of one match.
type server struct {
	match      string
	connection string
	conn       *net.UDPConn
	expiry     *time.Timer // nil when it lives for ever
	game       game
	world      json.RawMessage
	// filler keeps the game filled, and stop ends that; both nil when nobody does.
	filler atomic.Pointer[client.Filler]
	stop   context.CancelFunc
}

// listen opens a free port of the address for a match. Where the game is filled again, players leave after some time,
// stay on average (for ever when 0), and are not waited for without end.
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
		p = properties{} // they are the match function's affair
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

// properties are what the server understands of the match properties.
type properties struct {
	// Map is told to the players.
	Map json.RawMessage `json:"map"`
	// Places is for how many players there is room.
	Places int `json:"places"`
}

// world is the map, if it is not too long to be told.
func (p *properties) world() json.RawMessage {
	if len(p.Map) > maxMap {
		return nil
	}
	return p.Map
}

// serve answers players until close.
func (s *server) serve() {
	// One byte more than allowed tells what is too long.
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

// answer is nil when the question deserves none. With it goes the ticket whose player leaves, if one does.
func (s *server) answer(question []byte) (answer []byte, leaves string) {
	var q hello
	if json.Unmarshal(question, &q) != nil || (q.Ticket == "") == (q.Bye == "") {
		return nil, ""
	}
	if q.Bye != "" {
		// Who has left is a stranger, so that a bye whose answer is lost is not known from one of a stranger.
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

// close frees the port; serve returns.
func (s *server) close() {
	if s.expiry != nil {
		s.expiry.Stop()
	}
	if s.stop != nil {
		s.stop()
	}
	s.game.end()
	_ = s.conn.Close() // a closed socket is what is wanted
}
