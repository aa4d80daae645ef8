package gameserver

import "encoding/json"

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
