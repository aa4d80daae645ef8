// Package state is the service's memory: tickets, configs, functions, matches
// and the director's lease in Redis. It is the only package that imports the
// Redis client.
//
// Every change is one atomic Lua script (folder script, one file each, with its
// KEYS, ARGV and result in the header). All keys of a project share the hash
// tag {project}, so a script can check the lease, a config's revision and many
// tickets in one breath. Scripts touch only the keys they are given, and time
// is an argument: no script asks the server's clock, no key has a TTL.
//
// Keys of a project, all below "mm:{project}:":
//
//	t:<ticket>   hash    s state (w waiting, c claimed, p proposed, r resolved), o owner, c created, b body,
//	                     m match while claimed, backfill ticket while proposed, a assignment once resolved
//	waiting      zset    waiting tickets by created
//	resolved     zset    resolved tickets by the time they stop being readable; those of one script are one member
//	m:<match>    hash    b body, s state: c claimed, a allocating, d assigned, x ended without a server; while allocating e deadline,
//	                     h holder and u until when; v its server once assigned; while its server is to be given back n tries,
//	                     z when that is to be done twice, y once others know
//	claims       zset    claimed and allocating matches by deadline
//	ended        zset    matches that are over by the time they are forgotten
//	returns      zset    matches that are over and may have a server, by when it is to be given back
//	rates        hash    when each bucket of a rate limit is full again, in microseconds; period, when the newest
//	                     of players: begins
//	players:0,1  hash    the same of each player's bucket; a hash for every other period, see create.lua
//	outbox       zset    matches not yet known to be in the work queue, by claim time
//	feed, seq    stream and counter: every change of the waiting set, see Follow
//	feedname     string  tells a feed from one that was begun anew
//	history, told    stream and counter: every event that has not been published, see History
//	published    string  how far the history was published
//	configs, revisions, revision, confignames    hashes and a counter
//	functions    hash
//	bf:<backfill> hash   b body: attributes and properties, n what functions made of it for the proposed tickets' sake,
//	                     v record version, g generation, c created, o match that it belongs to, r bucket of its approvals, a connection that its server named, d the one
//	                     that was allocated, m match while its server is being allocated,
//	                     h why no function is shown it: l proposals lapsed, p the proposed tickets must be approved first
//	bp:<backfill> hash   tickets proposed to a backfill ticket: what they get but for the connection
//	bj:<backfill> zset   tickets that joined it, by when its server was told of them, +inf when it was not yet
//	backfills    zset    backfill tickets by when their server last spoke
//	proposed     zset    backfill tickets with proposed tickets by the time until which these may be approved,
//	                     +inf while the server is being allocated
//	lease        hash    owner, epoch and expiry of the project's director
//
// Times are Unix milliseconds. Errors are *fault.Error: NotFound, Conflict,
// Invalid or Limited as each method says, and Unavailable when Redis does not answer.
package state
