package gameserver

import "encoding/json"

// Command is a line from the parent. Exactly one member is set.
type Command struct {
	Start *Start `json:"start,omitempty"`
	Stop  *Stop  `json:"stop,omitempty"`
}

// Start asks for a server. It is answered by an Event with Connection or Error;
// for an ID that has a server, with the connection of that one.
type Start struct {
	// ID is what the parent calls the server.
	ID string `json:"id"`
	// Match is what the server is told of its match: a provider.Payload.
	Match json.RawMessage `json:"match"`
	// Lifetime in milliseconds; 0 is for ever.
	Lifetime int64 `json:"lifetime"`
	// API is where the service is, for a server that has a token and a backfill ticket: it keeps its game filled. Left
	// out, no server does.
	API string `json:"api,omitempty"`
	// Stay is how long players stay in such a game, on average, in milliseconds; 0 is for ever.
	Stay int64 `json:"stay,omitempty"`
}

// Stop ends a server. It is answered by an Event with Ended, also when there is no such server.
type Stop struct {
	ID string `json:"id"`
}

// Event is a line to the parent, about one server. Exactly one of the members beside ID is set.
type Event struct {
	ID string `json:"id"`
	// Connection is where the players go: the server runs.
	Connection string `json:"connection,omitempty"`
	// Error says why the server did not start.
	Error string `json:"error,omitempty"`
	// Ended says why the server has ended: "stopped", "lifetime", or "over" when everybody has left. Its port is free.
	Ended string `json:"ended,omitempty"`
}

// hello is what a player says: exactly one of the two.
type hello struct {
	Ticket string `json:"hello,omitempty"`
	Bye    string `json:"bye,omitempty"`
}

// Welcome is what the server answers a player of its match.
type Welcome struct {
	Ticket string `json:"welcome"`
	Match  string `json:"match"`
	// Players counts the tickets that said hello, and are still there.
	Players int `json:"players"`
	// Map is the member "map" of the match properties.
	Map json.RawMessage `json:"map,omitempty"`
}

// refusal is what the server answers everybody else.
type refusal struct {
	Error string `json:"error"`
}

// stranger is the one reason to refuse a player.
const stranger = "stranger"
