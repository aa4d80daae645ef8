-- Names of the one-letter fields, and numbers, at the top of every script. doc.go describes the keys and their fields.

-- States of a ticket.
local WAITING, CLAIMED, RESOLVED = 'w', 'c', 'r'
-- The same as reasons of the event of a ticket that was deleted.
local WAS_WAITING, WAS_CLAIMED, WAS_RESOLVED = 'waiting', 'claimed', 'resolved'
-- States of a match besides CLAIMED. RELEASED: it ended without a server.
local ALLOCATING, ASSIGNED, RELEASED = 'a', 'd', 'x'
-- States of a match before CLAIMED, if its players are asked. DECLINED: one declined or left.
local OFFERED, ACCEPTED, DECLINED = 'o', 'q', 'n'
-- Why functions do not see a backfill ticket.
local LAPSED, APPROVAL, ASKING = 'l', 'p', 'a:'

-- Fields that several kinds of hash have.
local STATE, BODY, CREATED = 's', 'b', 'c'
-- Fields of a ticket. Those of ENDED_BY are in include/ended.lua.
local OWNER, ASSIGNMENT, RESERVED_BY, PLAYERS = 'o', 'a', 'm', 'p'
local TELLS, ENDED_BY = 'e', 'x'
-- Of a ticket that ends when no config serves its queues any more: their names with spaces between.
local QUEUES = 'u'
-- Of a ticket ASKED is the match that asks its players, of a match how many players that asks.
local ASKED, AGREED, ANSWER, YES, NO = 'q', 'g', 'p:', '1', '0'
-- Fields of a match.
local HOLDER, LEASE_EXPIRES, DEADLINE, SERVER, TRIES, CONFIRM, ANNOUNCED = 'h', 'u', 'e', 'v', 'n', 'z', 'y'
local CONTESTED, USED = 'k', 'w'
local FIRST_TRY, COUNTED, ASKED_BY = 'i', 't', 'r'
-- Of a match whose result is awaited: what is known of it. Its other fields have names from above.
local RECORD = 'a'
-- Fields of a target, each before its name, and SWEPT of all of them.
local WINDOW, OPEN, DUE, WAITED, TOLD = 'w:', 'o:', 'd:', 'l:', 't:'
local SWEPT = 's'
-- Fields of a backfill ticket.
local VERSION, GENERATION, BELONGS_TO, BUCKET, HIDDEN = 'v', 'g', 'o', 'r', 'h'
local CONNECTION, ALLOCATED, ALLOCATING_FOR, PROPOSED_BODY = 'a', 'd', 'm', 'n'
local QUEUE, ROSTER, LATELY, STARTED_WITH, APPROVED, USUAL = 'q', 'y', 'j', 'f', 't', 'i'
-- Fields of queues, each before a name; of the settings of a project; of webhooks; and of parties.
local SERVES, SERVERS = 'c:', 'q:'
local REVISION, CHANGES = 'r', 'n'
local PLACE = 'p:'
local HEARD, PATIENCE = 'h:', 'p'
-- Of all sweeps: the Redis that had the last one, see include/primary.lua.
local SWEPT_BY = 'r'
-- Fields of the counts of streams.
local FEED, HISTORY, SINCE, MARK, TRIMMED = 'f', 'h', 't', 'm', 'd'
-- What a change made of a config: the text behind it, what is not kept, or it was deleted by the subject behind it.
local BECAME, UNKEPT, DELETED = 'c', 'n', 'd'
-- What comes before an outcome's id in the hash of large tickets, and before a player in the hash of their players.
local OUTCOME, OF_PLAYER = 'o:', 'p:'

-- The window of a new target, in eighths. After how many milliseconds one match may try a target that is closed, and
-- the same if others of its matches are open: they may be lost. How many fields targets may have, and for how many
-- milliseconds a target that is not used is kept beyond that. After how many milliseconds that is looked for again.
local FIRST, RETRY, LOST, FIELDS, UNUSED, SWEEP = 1024, 1000, 60000, 4096, 600000, 1000
-- Of how many targets that proposals name it is known that hosting served them, and for how many milliseconds beyond
-- that. And the window, in eighths, that all others of a config's hosting share.
local KNOWN, MEMORY, UNSERVED = 512, 86400000, 128
-- How many tickets of matches that go to a game make its server approve first, and how many may go there at all: a
-- single match may have more than are left until the first.
local MANY_JOIN, MOST_JOIN = 500, 1000
-- Deadlines of matches whose deadline matters no more. CLOSED: the game is not what it was; SERVED: it has its server.
local CLOSED, SERVED = 0, 1
-- The most bytes of the names of a game's players, joining ones included: a thousand of the longest. From how many
-- bytes on the roster has no more attributes of joining players. For how many milliseconds these count as in the game,
-- whatever its server says: it may not have learned of them.
local ROSTER_NAMES, ROSTER_BYTES, UNHEARD = 262144, 131072, 20000
-- The most that counts of the first pause between two approvals, in milliseconds, and the least that a server is given.
-- A server is silent that has not called for SILENT times its usual pause.
local FIRST_USUAL, LEAST_USUAL, SILENT = 20000, 1000, 3
-- The prefix of a property in which a function notes something for itself: its server's PUT leaves it, unless that has
-- a roster. How many bytes of notes a backfill ticket has, their encoding included.
local NOTE, NOTES = 'matchfn:', 17408
-- How many queues are noted that are not served any more.
local NOTED = 256
-- How many settings of a project are kept.
local SETTINGS = 32
-- How many changes the audit has, and for how many milliseconds.
local AUDITED, AUDIT_TIME = 1000, 7776000000
-- How many changes are kept of a config, and of all of a project.
local VERSIONS, ALL_VERSIONS = 32, 1024
-- How many tickets that seem to be silent end only if there are requests for others.
local MANY_SILENT = 8
-- How many tickets of a player are listed.
local LISTED = 32
-- What the feed carries. A body of more than NAMED bytes is only named, and so is what would make an entry carry more
-- than CARRIED bytes of bodies: readers fetch it. Redis stores and sends an entry in one piece, so a large one delays
-- all clients, and the feed would have a second copy of every large body. Most tickets have less than 1 KiB, so they
-- come with their entry, and a group of 128 of them is one full entry.
local NAMED, CARRIED = 1024, 131072
-- In how many parts the limit of a stream's bytes, and the time of a result, are divided to count what is kept.
local PARTS, RESULT_PARTS = 64, 8
-- From how many bytes of tickets' bodies on a reply has no more of them.
local REPLY = 1048576
-- About how many bytes each name and each value in the feed has, apart from bodies.
local NAME = 40
-- How many bytes of the history an event and an id may take each before they count.
local PLAIN = 64
-- For how many milliseconds an outcome is kept beyond its results: readers read it after the result.
local OUTCOME_SLACK = 60000
-- The time of an unused module that is being removed.
local TAKEN = 0
