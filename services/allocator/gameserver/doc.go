// Package gameserver is a small dedicated game server for development and demonstrations. The process hosts many of
// them, each with a UDP port of its own, as high-density fleets do.
//
// # Players
//
// A datagram is a JSON object. A player names a ticket, as often as it likes:
//
//	{"hello": "<ticket id>"}
//
// When the ticket is one of the match's, the answer is
//
//	{"welcome": "<ticket id>", "match": "<match id>", "players": 2, "map": "harbour"}
//
// where players counts the tickets that said hello and have not left, and map is the member "map" of the match
// properties. It is left out when there is none, or when it is longer than 128 bytes. For any other ticket the answer
// is {"error": "stranger"}. A player leaves with
//
//	{"bye": "<ticket id>"}
//
// and is a stranger from then on, which is the answer. With
//
//	{"won": "<ticket id>"}
//
// a server that has a token reports that the ticket's team, or the ticket in a match of one team, is first and all
// others are second. It answers with the welcome when that counts, and ends a second later. Other datagrams, and any of
// more than 512 bytes, get no answer. An answer has at most 512 bytes, and at most 32 when the ticket is unknown, so
// that forged datagrams cannot make the server flood a third party.
//
// # Filling
//
// A server that has a token, and a backfill ticket from its match, keeps its game filled through the Backfill API. The
// member "places" of the match properties says how many players fit. A player that joins is expected, and has left when
// it does not say hello within half a minute. When its options say how long players stay, they also leave by
// themselves. When all have left, the server ends.
package gameserver
