-- Names of what is stored under one letter, at the top of every script. doc.go describes the keys and their fields.

-- States of a ticket.
local WAITING, CLAIMED, PROPOSED, RESOLVED = 'w', 'c', 'p', 'r'
-- States of a match besides CLAIMED. RELEASED: it ended without a server.
local ALLOCATING, ASSIGNED, RELEASED = 'a', 'd', 'x'
-- Why functions are not shown a backfill ticket: its proposals lapsed, or its proposed tickets must be approved first.
local LAPSED, APPROVAL = 'l', 'p'

-- Fields that several kinds of hash have.
local STATE, BODY, CREATED = 's', 'b', 'c'
-- Fields of a ticket. RESERVED_BY: the match that claimed it, or the backfill ticket that it is proposed to.
local OWNER, ASSIGNMENT, RESERVED_BY = 'o', 'a', 'm'
-- Fields of a match. CONFIRM: its server is to be deallocated once more. ANNOUNCED: events told of the deallocation.
-- Two more. CONTESTED: the lease passed to another holder, so the match may have two servers. USED: the connection of
-- the one that its tickets use; the others are to be deallocated.
local HOLDER, LEASE_EXPIRES, DEADLINE, SERVER, TRIES, CONFIRM, ANNOUNCED = 'h', 'u', 'e', 'v', 'n', 'z', 'y'
local CONTESTED, USED = 'k', 'w'
-- Fields of a backfill ticket. BELONGS_TO: a match. CONNECTION: what its server named. ALLOCATED: what was allocated.
-- ALLOCATING_FOR: the match that its server is being allocated for. PROPOSED_BODY: what functions made of BODY for the
-- proposed tickets' sake.
local VERSION, GENERATION, BELONGS_TO, BUCKET, HIDDEN = 'v', 'g', 'o', 'r', 'h'
local CONNECTION, ALLOCATED, ALLOCATING_FOR, PROPOSED_BODY = 'a', 'd', 'm', 'n'
