-- Names of the one-letter fields, at the top of every script. doc.go describes the keys and their fields.

-- States of a ticket.
local WAITING, CLAIMED, RESOLVED = 'w', 'c', 'r'
-- States of a match besides CLAIMED. RELEASED: it ended without a server.
local ALLOCATING, ASSIGNED, RELEASED = 'a', 'd', 'x'
-- States of a match before CLAIMED, if its players are asked. OFFERED: they are being asked. ACCEPTED: all of them
-- accepted. DECLINED: one declined or left.
local OFFERED, ACCEPTED, DECLINED = 'o', 'q', 'n'
-- Why functions do not see a backfill ticket: a match that goes to it lapsed, or its server must approve first. ASKING
-- comes before a match: its players are asked whether they go to this game.
local LAPSED, APPROVAL, ASKING = 'l', 'p', 'a:'

-- Fields that several kinds of hash have.
local STATE, BODY, CREATED = 's', 'b', 'c'
-- Fields of a ticket. RESERVED_BY: the match that claimed it. PLAYERS: their ids with newlines between, if the owner is
-- not the only one.
local OWNER, ASSIGNMENT, RESERVED_BY, PLAYERS = 'o', 'a', 'm', 'p'
-- Two more. TELLS: its end is told. ENDED_BY: its end is told now, and by which players' deletion, see
-- include/ended.lua.
local TELLS, ENDED_BY = 'e', 'x'
-- And ASKED: the match that asks its players whether they accept. Of a match it is how many players that asks, AGREED
-- is how many of them accepted, and ANSWER, before a player, the player's answer: YES or NO.
local ASKED, AGREED, ANSWER, YES, NO = 'q', 'g', 'p:', '1', '0'
-- Fields of a match. CONFIRM: its server is to be deallocated once more. ANNOUNCED: events told of the deallocation.
-- Two more. CONTESTED: the lease passed to another holder, so the match may have two servers. USED: the connection of
-- the one that its tickets use; the others are to be deallocated.
local HOLDER, LEASE_EXPIRES, DEADLINE, SERVER, TRIES, CONFIRM, ANNOUNCED = 'h', 'u', 'e', 'v', 'n', 'z', 'y'
local CONTESTED, USED = 'k', 'w'
-- And FIRST_TRY: when its deallocation was first tried. COUNTED: the target that it counts to. ASKED_BY: the Redis by
-- which its players are asked, see include/primary.lua.
local FIRST_TRY, COUNTED, ASKED_BY = 'i', 't', 'r'
-- Fields of a target, each before its name. WINDOW: how many of its matches may be open, in eighths. OPEN: how many
-- are. DUE: from when on one more may be claimed. WAITED: matches were not claimed for want of servers, 1, and 2 when
-- there is room again. TOLD: when an event told that it has no server.
local WINDOW, OPEN, DUE, WAITED, TOLD = 'w:', 'o:', 'd:', 'l:', 't:'
-- The field of all targets that says when it was last looked for targets that are not used.
local SWEPT = 's'
-- The window of a new target, in eighths. After how many milliseconds one match may try a target that is closed, and
-- the same if others of its matches are open: they may be lost. How many fields targets may have, and for how many
-- milliseconds a target that is not used is kept beyond that. After how many milliseconds that is looked for again.
local FIRST, RETRY, LOST, FIELDS, UNUSED, SWEEP = 1024, 1000, 60000, 4096, 600000, 1000
-- Of how many targets that proposals name it is known that hosting served them, and for how many milliseconds beyond
-- that.
local KNOWN, MEMORY = 512, 86400000
-- And the window, in eighths, that all others of a config's hosting share.
local UNSERVED = 128
-- Fields of a backfill ticket. BELONGS_TO: a match. CONNECTION: what its server named. ALLOCATED: what was allocated.
-- ALLOCATING_FOR: the match that its server is being allocated for. PROPOSED_BODY: what functions made of BODY for the
-- matches that go to it.
local VERSION, GENERATION, BELONGS_TO, BUCKET, HIDDEN = 'v', 'g', 'o', 'r', 'h'
local CONNECTION, ALLOCATED, ALLOCATING_FOR, PROPOSED_BODY = 'a', 'd', 'm', 'n'
-- And QUEUE: the encoded field of its record, so that it can be put behind a body. Functions do not change it.
local QUEUE = 'q'
-- And ROSTER: the players in the game, the same way. PLAYERS: their ids with newlines between; both are absent if its
-- server never sent a roster. LATELY: players that joined a little while ago, each after the time and a space.
local ROSTER, LATELY = 'y', 'j'
-- How many tickets of matches that go to a game make its server approve first, and how many may go there at all: a
-- single match may have more than are left until the first.
local MANY_JOIN, MOST_JOIN = 500, 1000
-- Deadlines of matches whose deadline does not matter any more. CLOSED: the game is not what it was. SERVED: the game
-- has its server.
local CLOSED, SERVED = 0, 1
-- The most bytes of the names of a game's players, joining ones included: a thousand of the longest. From how many
-- bytes on the roster has no more attributes of joining players. For how many milliseconds these count as in the game,
-- whatever its server says: it may not have learned of them.
local ROSTER_NAMES, ROSTER_BYTES, UNHEARD = 262144, 131072, 20000
-- And APPROVED: when its server approved last. USUAL: how many milliseconds lie between two of its approvals, on
-- average. FIRST_USUAL and LEAST_USUAL: the most that counts of the first pause, and the least that a server is given.
-- A server is silent that has not called for SILENT times as long.
local APPROVED, USUAL, FIRST_USUAL, LEAST_USUAL, SILENT = 't', 'i', 20000, 1000, 3
-- And STARTED_WITH: the match properties of the match that it was created with.
local STARTED_WITH = 'f'
-- The prefix of a property in which a function notes something for itself: its server's PUT leaves it, unless that has
-- a roster. How many bytes of notes a backfill ticket has, their encoding included.
local NOTE, NOTES = 'matchfn:', 17408
-- Fields of queues, each before a name. SERVES: the queue of a config. SERVERS: how many configs serve a queue.
local SERVES, SERVERS = 'c:', 'q:'
-- And of a ticket that ends when no config serves its queues any more, QUEUES: their names with spaces between. How
-- many queues are noted that are not served any more.
local QUEUES, NOTED = 'u', 256

-- Fields of the settings of a project. Each number below SETTINGS has the settings after a change, in turn.
local REVISION, CHANGES, SETTINGS = 'r', 'n', 32

-- How many changes the audit has, and for how many milliseconds.
local AUDITED, AUDIT_TIME = 1000, 7776000000

-- Fields of webhooks, each before the name of one. PLACE: the place in the events behind what was delivered.
local PLACE = 'p:'

-- What a change made of a config: the text behind it, something that is not kept, or it was deleted by the subject
-- behind it. How many changes are kept of a config, and of all of a project.
local BECAME, UNKEPT, DELETED, VERSIONS, ALL_VERSIONS = 'c', 'n', 'd', 32, 1024

-- Fields of a party. HEARD: before a member, when it was last heard of. And of the sweeps of parties: PATIENCE: until
-- when no member is taken for silent.
local HEARD, PATIENCE = 'h:', 'p'
-- And SWEPT_BY of all sweeps: the Redis that had the last one, see include/primary.lua.
local SWEPT_BY = 'r'
-- How many tickets that seem to be silent end only if there are requests for others.
local MANY_SILENT = 8

-- How many tickets of a player are listed.
local LISTED = 32

-- What the feed carries. A body of more than NAMED bytes is only named, and so is what would make an entry carry more
-- than CARRIED bytes of bodies: readers fetch it. Redis stores and sends an entry in one piece, so a large one delays
-- all clients, and the feed would have a second copy of every large body. Most tickets have less than 1 KiB, so they
-- come with their entry, and a group of 128 of them is one full entry.
local NAMED, CARRIED = 1024, 131072
-- Fields of the counts of streams. FEED, HISTORY: the bytes that were added to each. With a number from 0 behind it,
-- the position at which the last such part began; PARTS of them make up a limit. SINCE, MARK: a time and the feed's
-- position then, and TRIMMED the position that it was trimmed to for its age.
local FEED, HISTORY, PARTS, SINCE, MARK, TRIMMED = 'f', 'h', 64, 't', 'm', 'd'
-- In how many parts the time of a result is divided, to count those that are kept.
local RESULT_PARTS = 8
-- From how many bytes of tickets' bodies on a reply has no more of them.
local REPLY = 1048576
-- About how many bytes each name and each value in the feed has, apart from bodies.
local NAME = 40
-- How many bytes of the history an event and an id may take each before they count.
local PLAIN = 64

-- What comes before the id of an outcome in the hash of large tickets, and before a player in the hash of their
-- players.
local OUTCOME, OF_PLAYER = 'o:', 'p:'
-- For how many milliseconds an outcome is kept beyond its results: readers read it after the result.
local OUTCOME_SLACK = 60000
-- The same for a result that waits for an allocation: no allocation takes longer.
local ALLOCATION = 3600000

-- Of a match whose result is awaited: what is known of it. Its other fields have names from above.
local RECORD = 'a'

-- The time of an unused module that is being removed.
local TAKEN = 0
