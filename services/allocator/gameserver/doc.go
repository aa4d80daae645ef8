// Package gameserver is a small dedicated game server for development and demonstrations. One process hosts many
// servers, as high-density fleets do, each with a UDP port of its own. It answers players, and knows its match.
//
// # What players say
//
// A datagram is a JSON object. A player says who it is by its ticket, as often as it likes:
//
//	{"hello": "<ticket id>"}
//
// and gets, when the ticket is one of the match's,
//
//	{"welcome": "<ticket id>", "match": "<match id>", "players": 2, "map": "harbour"}
//
// where players counts the tickets that said hello and are still there, and map is the member
// "map" of the match properties, left out when there is none or it is longer than
// 128 bytes. To any other ticket the answer is {"error": "stranger"}. A player leaves with
//
//	{"bye": "<ticket id>"}
//
// and is a stranger from then on, which is the answer. Whatever else arrives gets no answer, nor does a datagram of
// more than 512 bytes. An answer is at most 512 bytes long, and at most 32 to who does not know a ticket: forged
// datagrams cannot turn the server on somebody else.
//
// # Filling
//
// A server that has a token, and a backfill ticket from its match, keeps its game filled through the Backfill API: the
// member "places" of the match properties says for how many players there is room. Those who join are expected; who
// does not say hello within half a minute has left. Players also leave by themselves after some time, when the parent
// says how long they stay. When everybody has left the server ends.
//
// # What the parent says
//
// The process is ruled over its standard input and answers on its standard output, a JSON object in a line each:
// Command and Event. It ends when its input does, so that no server outlives the allocator that started it. Its log
// goes elsewhere.
package gameserver
