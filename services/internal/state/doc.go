// Package state stores everything in Redis: tickets, matches, backfill tickets, configs, functions and leases. It is
// the only package that imports the Redis client.
//
// Every change is one atomic Lua script: a file in the folder script, whose header names its keys and arguments (see
// script in script.go). A script uses only the keys in its KEYS. Scripts get durations and read Redis's clock, in
// script/include/time.lua: no two hosts' clocks agree. No key has a TTL but counts, keys of requests, buckets and
// pauses of players, requests for tickets and reports. All keys of a project have the hash tag
// {project}, so that one script can check the lease, the revision of a config and many tickets.
//
// These are the keys of a project, all below "mm:{project}:". Headers of scripts have longer names, in parentheses, for
// keys with an id. Fields have the names in brackets in script/include/names.lua.
//
// Tickets (ticket.go, create.go, expire.go):
//
//	t:<ticket> hash    s [STATE]: w waiting, c claimed, r resolved
//	                   b [BODY], c [CREATED], o [OWNER]
//	                   m [RESERVED_BY]: the match while claimed
//	                   p [PLAYERS]: their ids with newlines between, if the owner is not the only one
//	                   q [ASKED]: the match that asks its players whether they accept
//	                   e [TELLS]: 1 if its end is told; x [ENDED_BY], once it is told: its deleters
//	                   a [ASSIGNMENT], once resolved: it may name an outcome for what it has in common with others
//	waiting    zset    waiting tickets by creation
//	resolved   zset    resolved tickets by the end of their readability; the tickets of one script are one member, with
//	                   '-' before those whose end without a match is told
//	large_sizes
//	           hash    sizes of bodies over 1 KiB by ticket, until the ticket is deleted; of outcomes by 'o:' and their
//	                   match; total: their sum
//	large_players
//	           hash    of each large ticket its size and a digest of the player that it counts to; by 'p:' and the
//	                   digest the player's sum
//	rates      hash    when each bucket of a rate limit is full again, in microseconds
//	players:0, players:1
//	           hash    the same of creates, of each player and of the project; the two take turns, see
//	                   include/buckets.lua, and each ends when its turn comes again
//
//	by_player
//	           hash    ids of each player's tickets, where the project lists them, see include/listed.lua
//	keys:0, keys:1
//	           hash    by the digest of an Idempotency-Key: the digest of its request and the ticket; the two take turns,
//	                   and each ends when its turn comes again
//	pauses:0, pauses:1
//	           hash    by player: until when its pause lasts, in milliseconds, and how many there were. They take turns,
//	                   see include/pause.lua
//
// Matches (claim.go, allocation.go, match.go):
//
//	m:<match>  hash    s [STATE]: o offered, q accepted, n declined, c claimed, a allocating, d assigned, x released,
//	                   which means ended without a server. The first three only if its players are asked.
//	                   b [BODY], '' once the match has ended and its server needs no deallocation; so are e, h, u, t
//	                   q [ASKED]: how many players are asked; g [AGREED]: how many accepted; p: [ANSWER] and a player:
//	                   1 [YES] or 0 [NO]
//	                   e [DEADLINE] of the acceptance or the allocation
//	                   h [HOLDER] and u [LEASE_EXPIRES], while allocating
//	                   v [SERVER], once assigned
//	                   n [TRIES] of the deallocation, i [FIRST_TRY] of it, z [CONFIRM]: deallocate twice,
//	                   y [ANNOUNCED]: an event told of it
//	                   k [CONTESTED]: the lease passed from one holder to another, so it may have two servers
//	                   w [USED]: the connection of the server that its tickets use, if it is contested
//	                   t [COUNTED]: the target that it counts to
//	                   r [ASKED_BY]: the replication id of the Redis by which its players are asked
//	o:<match> (outcome)
//	           hash    b [BODY]: what the results of a match have in common, if that is over 1 KiB
//	outcomes   zset    outcomes by the time when they are deleted
//	claims     zset    claimed and allocating matches by deadline
//	joins      zset    matches that go to a running game by the deadline of its approval; +inf while its server is being
//	                   allocated, SERVED when it has its connection, CLOSED when the game is not what it was
//	outbox     zset    matches that may not be in the work queue yet, by the time of the claim
//	ended      zset    ended matches by the time when they are deleted
//	hosting_windows
//	           hash    of each target of hosting, before its name: w: [WINDOW] how many of its matches may be open, in
//	                   eighths; o: [OPEN] how many are; d: [DUE] from when on one more may be claimed;
//	                   l: [WAITED] matches were not claimed, 2: there is room again; t: [TOLD] when an event told of it;
//	                   and s [SWEPT]: when it was last looked for targets that are not used
//	served     zset    targets that proposals say, by about when hosting gave the last server of each
//	deallocations
//	           zset    ended matches that may have a server, or a second one, by the time when it is to be deallocated
//
// Results and ratings (result.go, rating.go), of matches whose config awaits a result:
//
//	r:<match> (result)
//	           hash    a [RECORD]: what is known of it; p [PLAYERS]: its lineup, see include/result.lua; c [CREATED]
//	                   b [BODY]: its result, v [VERSION]: how often it changed; i [FIRST_TRY]: when the first one came
//	                   y [ANNOUNCED]: an event told that none came
//	awaited    zset    these matches by when the result is due; later by when they are forgotten
//	running    hash    the match of each player in one without a result
//	ratings    hash    each player's ratings, a line each: name, season ('-' = none), mean, deviation, volatility, number
//	                   of matches and time of the last change, with spaces between; and the lines of the standing
//	                   (standing.go), with '!' before
//	rated      zset    these players by the time of the last change
//	steps      hash    what each player's last matches did to ratings, the newest first, with empty lines between: the
//	                   match and the time, and a line for each rating: its name, mean and deviation before, and after
//	boards     zset    leaderboards, as <rating>:<season> ('-' = none), by the time of the last change
//	board:<rating>:<season>
//	           zset    the best players by the value that is shown
//
// Backfill tickets (backfill.go, place.go, approval.go):
//
//	bf:<backfill> (backfill)
//	           hash    b [BODY]: attributes and properties
//	                   n [PROPOSED_BODY]: what functions made of them for the matches that go to the game
//	                   v [VERSION], g [GENERATION], c [CREATED], o [BELONGS_TO] a match
//	                   a [CONNECTION] that its server named, d [ALLOCATED] connection
//	                   m [ALLOCATING_FOR] a match, while its server is being allocated
//	                   h [HIDDEN] from functions: l when a match lapsed, p when its server must approve first,
//	                   a: [ASKING] and a match while that asks its players for this game
//	                   r [BUCKET] of the rate limit of approvals
//	                   q [QUEUE]: the encoded field of its record
//	                   y [ROSTER]: the players in the game, encoded; p [PLAYERS]: their ids, with newlines between
//	                   j [LATELY]: players that joined lately, each on a line after the time
//	                   t [APPROVED]: when its server approved last; i [USUAL]: how many milliseconds lie between two
//	                   approvals on average
//	                   f [STARTED_WITH]: the match properties of the match that it was created with
//	bm:<backfill> (joining)
//	           hash    matches that go to the game: how many tickets each has, a space, and their players, with newlines
//	                   between
//	bj:<backfill> (joined)
//	           zset    tickets that joined, by the time when the server first learned of it; +inf when it has not yet
//	backfills  zset    backfill tickets by the last call of their server
//	backfill_sizes
//	           hash    bytes of each backfill ticket: its bodies and connections; total: their sum
//
// Parties (party.go):
//
//	pa:<party> (party)
//	           hash    b [BODY], v [VERSION]: its revision
//	                   h: [HEARD] and a member: when the member was last heard of
//	parties    zset    parties by when to look whether members were silent
//	party_players
//	           hash    the party of each player that is in one
//	party_codes
//	           hash    the party that each code lets players join
//	party_sweeps
//	           hash    s [SWEPT]: when parties were last looked at; p [PATIENCE]: until when none is silent;
//	                   r [SWEPT_BY]: the replication id of the Redis in which they were
//
// Requests for tickets, where tickets without any end (idle.go):
//
//	last_seen  zset    tickets by the time of the last request for them; ended tickets, too
//	idle_sweeps
//	           hash    s [SWEPT]: when silent tickets were last looked for; p [PATIENCE]: until when none is silent;
//	                   r [SWEPT_BY]: the replication id of the Redis in which they were
//
// Changes and events (feed.go, follow.go, snapshot.go, wait.go, event.go, history.go):
//
//	feed, feed_seq
//	           stream and counter: every change of the waiting set and of what functions see of backfill tickets
//	           An entry names large bodies and does not have them.
//	feed_name  string  tells a feed from one that was begun anew
//	stream_bytes
//	           hash    f [FEED], h [HISTORY]: the bytes that were added, and with a number behind it: the position at
//	                   which a part of them began; t [SINCE], m [MARK]: a time and the feed's position then;
//	                   d [TRIMMED]: the position that the feed was trimmed to for its age
//	results    hash    how many tickets have results, by the time until which they are kept, in eighths of --readable
//	history, history_seq
//	           stream and counter: every event that has not been published
//	published  string  how far the history was published
//
// The rest (config.go, confighistory.go, queue.go, projectsettings.go, function.go, module.go, director.go):
//
//	configs, revisions, config_names
//	           hashes  body and revision by id, id by the id in lower case, and what each config counts by ':' and its id
//	revision   the last revision of a config
//	config_changes, config_history
//	           zset and hash: changes of configs by when they ended to apply, and what each is, see include/configs.lua
//	settings   hash    r [REVISION]: revision of the project's settings; b [BODY]: revision, time and settings
//	                   n [CHANGES]: how many there were; and each number below SETTINGS: b after a change
//	audit      stream  changes of configs, settings, functions and keys, and erasures, for 90 days: b [BODY] and
//	                   r [REVISION]
//	webhooks   hash    where a project has webhooks: h [HOLDER] and u [LEASE_EXPIRES] of the sender; and before the
//	                   name of each: p: [PLACE] in the events behind what was delivered; s: its status; d: and the id
//	                   of a dead letter: an event that was given up
//	queues     hash    c: [SERVES] and a config: the queue that it serves; q: [SERVERS] and a queue: how many configs do
//	unserved   zset    queues that a config served and none does any more, by since when; the last NOTED ones. Nothing
//	                   else proves that their tickets wait in vain.
//	functions  hash
//	unused     zset    modules that no function names, by when they were announced or became unused; 0 while one is
//	                   being removed. Nothing else proves that a module may be removed.
//	lease      hash    owner, epoch and expires: the director that leads the project
//
// Reports (report.go):
//
//	report, report:1h, report:1d
//	           hash    how good the matches of five minutes, of an hour or of a day were, by the number of the slot; for
//	                   a day, 30 days or 90 days
//	report:waits
//	           hash    0: what is known of how long tickets wait, for half a day (waits.go)
//
// Simulations (simulation.go):
//
//	sim:<id>   string  a config that is tried, as it is answered; for an hour after it was read last while it ran
//
// Three keys are of no project: mm:schema, the version of what is stored (schema.go); the set mm:projects; and the hash
// mm:directors with the expiry of each director's heartbeat and the number of projects that it leads.
//
// Times are Unix milliseconds unless a comment says otherwise. Errors are *problem.Error: NotFound, Conflict, Invalid
// or Limited as each method says, and Unavailable when Redis does not answer.
package state
