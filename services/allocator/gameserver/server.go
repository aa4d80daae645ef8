package gameserver

import (
	"encoding/json"
	"errors"
	"net"
	"time"

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
	// players holds the match's tickets, true once they said hello. Only serve
	// touches it.
	players map[string]bool
	here    int
	world   json.RawMessage
}

// listen opens a free port of the address for a match.
func listen(address string, c *Start) (*server, error) {
	var m provider.Payload
	if err := json.Unmarshal(c.Match, &m); err != nil {
		return nil, errors.New("what it was told of its match is no JSON object") // it holds a token, and the parser may quote it
	}
	local, err := net.ResolveUDPAddr("udp", net.JoinHostPort(address, "0"))
	if err != nil {
		return nil, err
	}
	conn, err := net.ListenUDP("udp", local)
	if err != nil {
		return nil, err
	}
	s := &server{
		match:      m.Match,
		connection: conn.LocalAddr().String(),
		conn:       conn,
		players:    map[string]bool{},
		world:      world(m.Properties),
	}
	for _, team := range m.Teams {
		for _, ticket := range team.Tickets {
			s.players[ticket] = false
		}
	}
	return s, nil
}

// world is the map that the properties name, if they do.
func world(properties json.RawMessage) json.RawMessage {
	var p struct {
		Map json.RawMessage `json:"map"`
	}
	if json.Unmarshal(properties, &p) != nil || len(p.Map) > maxMap {
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
		if answer := s.answer(question[:n]); answer != nil {
			// A player whose answer is lost says hello again.
			_, _ = s.conn.WriteToUDPAddrPort(answer, from)
		}
	}
}

// answer is nil when the question deserves none.
func (s *server) answer(question []byte) []byte {
	var q hello
	if json.Unmarshal(question, &q) != nil || q.Ticket == "" {
		return nil
	}
	been, ok := s.players[q.Ticket]
	if !ok {
		return encode(refusal{Error: stranger})
	}
	if !been {
		s.players[q.Ticket] = true
		s.here++
	}
	return encode(Welcome{Ticket: q.Ticket, Match: s.match, Players: s.here, Map: s.world})
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
	_ = s.conn.Close() // a closed socket is what is wanted
}
