package gameserver

import "encoding/json"

// Command is a line from the parent. Exactly one member is set.
type Command struct {
	Start *Start `json:"start,omitempty"`
	Stop  *Stop  `json:"stop,omitempty"`
}

// Start starts a server. The answer is an Event with Connection or Error. For an ID that has a server already, it is
// that server's connection.
type Start struct {
	// ID is the parent's name of the server.
	ID string `json:"id"`
	// Match is a provider.Payload.
	Match json.RawMessage `json:"match"`
	// Lifetime in milliseconds; 0 is for ever.
	Lifetime int64 `json:"lifetime"`
	// API is the URL of the service. A server with a token and a backfill ticket uses it to keep its game filled. Without
	// an API no server does.
	API string `json:"api,omitempty"`
	// Stay is how long players stay in such a game, on average, in milliseconds; 0 is for ever.
	Stay int64 `json:"stay,omitempty"`
}

// Stop ends a server. The answer is an Event with Ended, also when there is no such server.
type Stop struct {
	ID string `json:"id"`
}

// Event is a line to the parent, about one server. Exactly one of the members beside ID is set.
type Event struct {
	ID string `json:"id"`
	// Connection is where players connect to: the server runs.
	Connection string `json:"connection,omitempty"`
	// Error says why the server did not start.
	Error string `json:"error,omitempty"`
	// Ended says why the server has ended: "stopped", "lifetime", or "over" when all players have left. Its port is free.
	Ended string `json:"ended,omitempty"`
}

// hello is a player's datagram. Exactly one member is set.
type hello struct {
	Ticket string `json:"hello,omitempty"`
	Bye    string `json:"bye,omitempty"`
	Won    string `json:"won,omitempty"`
}

// Welcome is the answer to a player of the match.
type Welcome struct {
	Ticket string `json:"welcome"`
	Match  string `json:"match"`
	// Players counts the tickets that said hello and have not left.
	Players int `json:"players"`
	// Map is the member "map" of the match properties.
	Map json.RawMessage `json:"map,omitempty"`
}

// refusal is the answer to other players.
type refusal struct {
	Error string `json:"error"`
}

// stranger is the only reason to refuse a player.
const stranger = "stranger"
