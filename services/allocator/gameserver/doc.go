// Package gameserver is a small dedicated game server for development and
// demonstrations. One process hosts many servers, as high-density fleets do,
// each with a UDP port of its own. It answers players, and knows its match.
//
// # What players say
//
// A datagram is a JSON object. A player says who it is by its ticket, as often
// as it likes:
//
//	{"hello": "<ticket id>"}
//
// and gets, when the ticket is one of the match's,
//
//	{"welcome": "<ticket id>", "match": "<match id>", "players": 2, "map": "harbour"}
//
// where players counts the tickets that said hello so far, and map is the member
// "map" of the match properties, left out when there is none or it is longer than
// 128 bytes. To any other ticket the answer is {"error": "stranger"}. Whatever
// else arrives gets no answer, nor does a datagram of more than 512 bytes. An answer is
// at most 512 bytes long, and at most 32 to who does not know a ticket:
// forged datagrams cannot turn the server on somebody else.
//
// # What the parent says
//
// The process is ruled over its standard input and answers on its standard
// output, a JSON object in a line each: Command and Event. It ends when its
// input does, so that no server outlives the allocator that started it. Its log
// goes elsewhere.
package gameserver
