// Code generated from openapi.yaml. DO NOT EDIT.
import { segment } from './segment.js'

/** What is asked of the service, and answered with a T. */
export interface Request<T> {
  method: string
  /** Below {url}/{project}/matchmaking/api/. */
  path: string
  query: Record<string, unknown>
  headers: Record<string, string | undefined>
  body?: unknown
  /** To send it twice has the same effect as to send it once. */
  repeatable: boolean
  /** Only the type counts. */
  answer?: T
}

/** What the ticket's match asks its players, while it does. */
export interface Acceptance {
  /** The match that asks. */
  match: string
  /** For how many milliseconds they may answer. */
  remaining: number
  /** How many players of all tickets of the match are asked. */
  players: number
  /** How many of them accepted. */
  accepted: number
  /** The players of this ticket who did not answer. */
  unanswered: string[]
}

/** What became of a ticket: a connection, or an error. */
export interface Assignment {
  /** How to connect to the game server or session. Empty when there is an error. */
  connection: string
  /**
   * Why matchmaking failed, empty when it did not. Functions have texts of their own besides `PoolTimeout` (the
   * function gave up) and `AllocationError` (there was no game server for the match). Where the allowed number of
   * servers is zero, the error is `The hosting maximum of the fleet or its region is zero`. Studios find more in the
   * events and logs.
   */
  error: string
  /**
   * What the match function sets for this ticket alone. When the function uses the older assignment properties, and
   * neither ticket nor match properties, these are the same for all tickets of the match.
   */
  properties: Record<string, unknown> | null
  /** What the match function sets for all players and the game server. */
  matchproperties: Record<string, unknown> | null
  /**
   * An extension. Seat passes by player, if the match's config has `seats`: signed JSON Web Tokens that the players
   * show to the game server. A player gets the player's own, a game service those of all players of the ticket. They
   * are good for some minutes; another GET has new ones.
   */
  seats?: Record<string, string> | undefined
}

/** What a backfill ticket is created with. */
export interface BackfillRequest {
  /** The address of the server, `ip:port`. Null while the server is still being allocated. */
  Connection?: string | null | undefined
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  attributes?: Record<string, number> | undefined
  /** Who is in the game. None of them joins it again, and match functions see them. */
  players?: GamePlayer[] | null | undefined
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  properties?: Record<string, string> | undefined
  /** The queue whose tickets may join. Without one, tickets without queues may. */
  queue?: string | null | undefined
}

/** A running game that wants more players. */
export interface BackfillTicket {
  Id: string
  /** When it was created, in Unix UTC milliseconds. */
  Created: number
  /** Counts the changes of the server. The matchmaker maintains it, and changes by match functions do not count. */
  RecordVersion: number
  /** The address of the server, `ip:port`. Null while the server is still being allocated. */
  Connection: string | null
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  attributes: Record<string, number>
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  properties: Record<string, string>
  /**
   * Only in the answer to an approval. Tickets that joined the game: exactly those that this approval assigned, and
   * again those of the 20 seconds before it, so that a lost answer loses none. Left out when there are none. The
   * `properties` of their assignments are for the players alone and null here. Each has its `players`, also where the
   * owner is the only one.
   */
  assignedTickets?: Ticket[] | undefined
  /** Who is in the game. It is left out until its server says it. */
  players?: GamePlayer[] | undefined
  /** The name of a queue, up to 64 bytes without spaces and control characters. */
  queue?: string | undefined
}

export interface BackfillTicketUpdate {
  /** The address of the server, `ip:port`. Null while the server is still being allocated. */
  Connection?: string | null | undefined
  Created?: number | undefined
  Id?: string | undefined
  /** How often the server changed it, from 1 on. */
  RecordVersion?: number | undefined
  /** Those of the answer to an approval. They are ignored. */
  assignedTickets?: unknown[] | null | undefined
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  attributes?: Record<string, number> | undefined
  /** Who is in the game. When it is left out it stays as it is. */
  players?: GamePlayer[] | null | undefined
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  properties?: Record<string, string> | undefined
  /** The queue whose tickets may join; empty for tickets without queues. When it is left out it stays as it is. */
  queue?: string | null | undefined
}

export interface CreateParty {
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  attributes?: Record<string, number> | undefined
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  properties?: Record<string, string> | undefined
  /** Whether the search may be started as far as this member is concerned. Without it, it may. */
  ready?: boolean | null | undefined
  /**
   * Receipts of beacons for the player's latencies, one a region for each family of addresses, with a player's token
   * alone. One that is forged, old, or from another network than the request is answered 400 where the project has a
   * rule with `setBy: beacon`; elsewhere they are not looked at.
   */
  receipts?: string[] | null | undefined
  /** How many members it may have. Without it, as many as the service allows. */
  size?: number | null | undefined
}

/** What a ticket is created with. */
export interface CreateTicket {
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  attributes?: Record<string, number> | undefined
  /**
   * Whom the ticket is for, each player once. Without it the owner is the only one. The owner need not be among them. A
   * player's token names the player alone (403). An installation may set another limit than 64.
   */
  players?: Player[] | undefined
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  properties?: Record<string, string> | undefined
  /**
   * The queues that the ticket waits in, each once. It is matched once, by a config that serves one of them. Without
   * one, configs without a queue match it.
   */
  queues?: string[] | null | undefined
  /**
   * Receipts of beacons for the player's latencies, one a region for each family of addresses, with a player's token
   * alone. One that is forged, old, or from another network than the request is answered 400 where the project has a
   * rule with `setBy: beacon`; elsewhere they are not looked at.
   */
  receipts?: string[] | null | undefined
}

export interface CreatedBackfillTicket {
  Id: string
}

export interface CreatedTicket {
  /** The ticket's identifier. Do not expect a certain form of it. */
  id: string
  /** A leftover of an older way to report errors. Always null. */
  status: Record<string, unknown> | null
  /** Null when there was no result in time. */
  assignment?: Assignment | null | undefined
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  attributes?: Record<string, number> | undefined
  /** As in Ticket, if the answer waited. So are `attributes`, `properties`, `assignment` and `players`. */
  created?: number | undefined
  /**
   * Whom the ticket is for. Absent when the owner is the only one. A player sees the own attributes and properties, and
   * of the others the ids; a game service sees all.
   */
  players?: Player[] | undefined
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  properties?: Record<string, string> | undefined
  /** The queues that the ticket waits in, sorted. Left out when there are none. */
  queues?: string[] | undefined
  /** The match without a result that a player of the ticket is in, where the settings tell it. */
  running?: string | undefined
  /**
   * The ticket's queues that no config serves at present: no config matches the ticket there. Left out when there are
   * none, and when the ticket has a result.
   */
  unservedQueues?: string[] | undefined
}

/**
 * For how much longer the ticket waits until it is in a match, if it waits as tickets like it did lately: four of five
 * wait for no less than `low`, and no longer than `high`, from the time of the answer. Left out where none was asked
 * for or too little is known.
 */
export interface Estimate {
  /** In milliseconds. */
  low: number
  /** In milliseconds. */
  high: number
}

/**
 * A player in a running game. In an answer, players who joined since the server named its players have no team and no
 * role, and the attributes of their ticket.
 */
export interface GamePlayer {
  /** As the subject of the player's token, in up to 256 bytes. */
  id: string
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  attributes?: Record<string, number> | undefined
  /** Match functions see it. */
  role?: string | undefined
  /** Match functions see it. */
  team?: string | undefined
}

export interface JoinParty {
  /** The party's code. */
  code: string
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  attributes?: Record<string, number> | undefined
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  properties?: Record<string, string> | undefined
  /** Whether the search may be started as far as this member is concerned. Without it, it may. */
  ready?: boolean | null | undefined
  /**
   * Receipts of beacons for the player's latencies, one a region for each family of addresses, with a player's token
   * alone. One that is forged, old, or from another network than the request is answered 400 where the project has a
   * rule with `setBy: beacon`; elsewhere they are not looked at.
   */
  receipts?: string[] | null | undefined
}

/** A page of the best players of a season, by the value after their last match. */
export interface Leaderboard {
  rating: string
  /** How many players are in it; at most the best 10,000. */
  total: number
  players: LeaderboardEntry[]
  /** The `after` of the next page. Absent on the last one. */
  next?: number | undefined
  season?: string | undefined
}

export interface LeaderboardEntry {
  rank: number
  player: string
  value: number
  tier?: string | undefined
}

export interface MatchAnswer {
  /** The match that asks. */
  match: string
  /** Whether the players accept it. */
  accept: boolean
  /** The players who answer. Without any, all of the ticket do. A player's token names the player alone. */
  players?: string[] | undefined
}

/** The result of a match. */
export interface MatchResult {
  teams: ReportedTeam[]
  /** When this result came. */
  reported: string
  /** How many results it replaced. */
  corrections: number
  ratings?: RatingChange[] | undefined
}

/** Players who search for a match together, as one of them sees it. */
export interface Party {
  id: string
  /** It lets others join. Empty for developers. */
  code: string
  /** The member who starts and stops the search. */
  leader: string
  /** In Unix UTC milliseconds. */
  created: number
  /** It grows with each change of the party. The ETag is made of it. */
  revision: number
  /** How many members there may be. */
  size: number
  /** By when they joined, the oldest first. */
  members: PartyMember[]
  /** The last search since the members are these. Null when there was none. */
  search: PartySearch | null
}

/** A member of a party. Attributes and properties are shown to the member alone. */
export interface PartyMember {
  /** The player. */
  id: string
  /** In Unix UTC milliseconds. */
  joined: number
  ready: boolean
  /** Only the caller's own. */
  attributes?: Record<string, number> | undefined
  /** Only the caller's own. */
  properties?: Record<string, string> | undefined
}

/** What a member of a party says of itself. */
export interface PartyMembership {
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  attributes?: Record<string, number> | undefined
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  properties?: Record<string, string> | undefined
  /** Whether the search may be started as far as this member is concerned. Without it, it may. */
  ready?: boolean | null | undefined
  /**
   * Receipts of beacons for the player's latencies, one a region for each family of addresses, with a player's token
   * alone. One that is forged, old, or from another network than the request is answered 400 where the project has a
   * rule with `setBy: beacon`; elsewhere they are not looked at.
   */
  receipts?: string[] | null | undefined
}

/** A search of a party: a ticket with all members, which each of them can read. */
export interface PartySearch {
  /** The ticket of all members. */
  ticket: string
  /** In Unix UTC milliseconds. */
  started: number
}

/** A player of a ticket. `attributes` and `properties` are absent when there are none, or are not the reader's. */
export interface Player {
  /** As the subject of the player's token, in up to 256 bytes. */
  id: string
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  attributes?: Record<string, number> | undefined
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  properties?: Record<string, string> | undefined
}

/** A rating of a player. */
export interface PlayerRating {
  name: string
  mean: number
  sigma: number
  /** How many it is made of. */
  matches: number
  changed: string
  provisional?: boolean | undefined
  /** The player's place in the leaderboard of the season. Absent where the player is not in it. */
  rank?: number | undefined
  season?: string | undefined
  tier?: string | undefined
  /** What is shown to players: the mean less `below` deviations. Absent in exports. */
  value?: number | null | undefined
}

export interface PlayerRatings {
  ratings: PlayerRating[]
}

/** RFC 9457, with the correlation id in a nested object. */
export interface ProblemDetails {
  /** A reference for the status. */
  type: string
  title: string
  status: number
  detail: string
  /**
   * What went wrong, for programs. The set is closed in a version, and a later one may have more: what a client does
   * not know it handles by the status. `components.x-codes` has for each code its status, when it is the answer,
   * whether the same request may succeed later (after `Retry-After`, if there is one), and what a player may be told.
   */
  code:
    | 'internal'
    | 'invalid'
    | 'unauthenticated'
    | 'forbidden'
    | 'notFound'
    | 'methodNotAllowed'
    | 'notAcceptable'
    | 'conflict'
    | 'tooLarge'
    | 'unsupported'
    | 'idempotencyKeyReused'
    | 'limited'
    | 'unavailable'
    | 'queueUnserved'
    | 'tokenExpired'
    | 'wrongProject'
    | 'notLeader'
    | 'allocationEnded'
    | 'ticketNotFound'
    | 'partyNotFound'
    | 'partyCodeUnknown'
    | 'memberNotFound'
    | 'backfillNotFound'
    | 'configNotFound'
    | 'functionNotFound'
    | 'etagMismatch'
    | 'playerHasTicket'
    | 'ticketMatched'
    | 'playerSilent'
    | 'ticketsNotListed'
    | 'acceptanceOpen'
    | 'acceptanceOver'
    | 'alreadyInParty'
    | 'partyFull'
    | 'memberNotReady'
    | 'membershipOutdated'
    | 'tooManyKicks'
    | 'playerLimited'
    | 'projectLimited'
    | 'tooManyTickets'
    | 'tooManyParties'
    | 'tooManyStreams'
    | 'paused'
    | 'matchUnknown'
    | 'resultFinal'
    | 'playerInMatch'
  instance: unknown | null
  extensions: ProblemDetailsExtensions
}

export interface ProblemDetailsExtensions {
  correlationId: string
}

/** What the match did to a rating of a player. */
export interface RatingChange {
  player: string
  rating: string
  /** The mean with which the match was counted. */
  before: number
  mean: number
  sigma: number
}

export interface RatingHistory {
  changes: RatingStep[]
}

export interface RatingPoint {
  mean: number
  sigma: number
  /** What is shown, by the settings of now. */
  value: number
}

/** What a match did to a rating of a player. */
export interface RatingStep {
  match: string
  /** When the result came. */
  time: string
  rating: string
  before: RatingPoint
  after: RatingPoint
}

/** A place that answers probes. */
export interface Region {
  name: string
  /**
   * `beacon`: a beacon, whose receipts the service believes. `playfab`: it answers as PlayFab's beacons do. `echo`: it
   * answers with what it was asked, as `agones-ping` does. What the last two measure is a client's own word.
   */
  protocol: 'beacon' | 'playfab' | 'echo'
  /** Host and port that answer by UDP; absent for none. */
  udp?: string | undefined
  /** URL below which `/probe` answers by HTTP, for browsers; absent for none. */
  url?: string | undefined
}

/** The regions whose latency clients can measure. */
export interface Regions {
  regions: Region[]
  /** For how long a receipt is believed, in seconds; 0 where there is no region. */
  receiptSeconds: number
}

/** How a match ended. */
export interface ReportResult {
  teams: ReportedTeam[]
}

/** A player of a match that is over. */
export interface ReportedPlayer {
  id: string
  /** After how many seconds of the game the player left it before its end. */
  left?: number | null | undefined
  /** Whatever the server counts. They are kept with the result, and not looked at. */
  numbers?: Record<string, number> | undefined
}

/**
 * A team of a match that is over. All teams have a rank, or all have a score; with both, the rank counts, and the score
 * where a rating has a `margin`.
 */
export interface ReportedTeam {
  /** As the match has it (its first 64 bytes count), or its number from 1 if it has none. */
  name?: string | undefined
  /** Whatever the server counts. They are kept with the result, and not looked at. */
  numbers?: Record<string, number> | undefined
  players?: ReportedPlayer[] | undefined
  /** The least is the best; equal ones drew. */
  rank?: number | null | undefined
  /** The highest is the best. */
  score?: number | null | undefined
}

/** The match that a player plays. */
export interface RunningMatch {
  match: string
  /** The player's ticket. */
  ticket: string
  connection: string
  began: string
  /** When its result is to be there. */
  due: string
  /** A seat pass. */
  seat?: string | undefined
  team?: string | undefined
}

/** The token of a game server. */
export interface ServerToken {
  /** The token. */
  token: string
  /** When it is good no more, in Unix UTC milliseconds. */
  expires: number
}

export interface SetPartyLeader {
  /** The member who is to lead. */
  player: string
}

export interface StartPartySearch {
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  attributes?: Record<string, number> | undefined
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  properties?: Record<string, string> | undefined
  /** The queues to search in, as those of tickets. */
  queues?: string[] | null | undefined
}

/** A request for a match. */
export interface Ticket {
  id: string
  /**
   * Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other limits.
   * The service sets the attribute `created` itself.
   */
  attributes: Record<string, number>
  /**
   * Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
   * 128 bytes, unless the installation sets other limits.
   */
  properties: Record<string, string>
  /** When the ticket was created, in Unix UTC milliseconds. Pools query it as the attribute `created`. */
  created: number
  /** The result of matchmaking. Null until there is one. */
  assignment: Assignment | null
  acceptance?: Acceptance | undefined
  estimate?: Estimate | undefined
  /**
   * Whom the ticket is for. Absent when the owner is the only one. A player sees the own attributes and properties, and
   * of the others the ids; a game service sees all.
   */
  players?: Player[] | undefined
  /** The queues that the ticket waits in, sorted. Left out when there are none. */
  queues?: string[] | undefined
  /**
   * The ticket's queues that no config serves at present: no config matches the ticket there. Left out when there are
   * none, and when the ticket has a result.
   */
  unservedQueues?: string[] | undefined
}

export interface TicketList {
  tickets: Ticket[]
}

/** What a player may be told of a problem, by its code. */
export const playerMessages: Record<string, string> = {
  acceptanceOpen: "This party is about to get a match. Please try again in a moment.",
  acceptanceOver: "It is too late to answer.",
  allocationEnded: "The match is over.",
  alreadyInParty: "You are in a party already. Please leave it first.",
  backfillNotFound: "This is not there any more.",
  configNotFound: "This is not there any more.",
  conflict: "This is not possible right now.",
  etagMismatch: "Someone else has changed this.",
  forbidden: "You cannot do this.",
  functionNotFound: "This is not there any more.",
  idempotencyKeyReused: "Something went wrong.",
  internal: "Something went wrong.",
  invalid: "Something went wrong.",
  limited: "Please wait a moment and try again.",
  matchUnknown: "This is not there any more.",
  memberNotFound: "This player is not in the party.",
  memberNotReady: "Not everyone in the party is ready.",
  membershipOutdated: "Not everyone in the party is ready.",
  methodNotAllowed: "Something went wrong.",
  notAcceptable: "Something went wrong.",
  notFound: "This is not there any more.",
  notLeader: "Only the leader of the party can do this.",
  partyCodeUnknown: "This code does not work. Please ask for the current one.",
  partyFull: "The party is full.",
  partyNotFound: "You are not in this party.",
  paused: "You, or a member of your party, missed a match. Please wait before you search again.",
  playerHasTicket: "You are in a search already.",
  playerInMatch: "You are still in a match. Please go back to it.",
  playerLimited: "Please wait a moment and try again.",
  playerSilent: "A player of your party is away.",
  projectLimited: "Many players are here right now. Please try again in a moment.",
  queueUnserved: "This game mode is not available right now.",
  resultFinal: "Something went wrong.",
  ticketMatched: "It is too late to cancel: your match is ready.",
  ticketNotFound: "Your search has ended.",
  ticketsNotListed: "Something went wrong.",
  tokenExpired: "Please sign in again.",
  tooLarge: "Something went wrong.",
  tooManyKicks: "This party can remove nobody else. Please make a new one.",
  tooManyParties: "Many players are here right now. Please try again in a moment.",
  tooManyStreams: "Please wait a moment and try again.",
  tooManyTickets: "Many players are here right now. Please try again in a moment.",
  unauthenticated: "Please sign in again.",
  unavailable: "The service cannot be reached right now. Please try again later.",
  unsupported: "Something went wrong.",
  wrongProject: "You cannot do this.",
}

/**
 * Accept or decline a match.
 *
 * Says whether players of a ticket accept the match that asks them. The ticket's member `acceptance` names it, while it
 * does. The match goes on when all players of all of its tickets have accepted. The first decline ends it: that
 * player's ticket ends, and the others wait again. Players that would join a running game (backfill) are asked before
 * its server learns of them. When that game changes or ends meanwhile, all of them wait again.
 *
 * A player's token answers for the player. A game service answers for the player in `X-On-Behalf-Of`, for those that
 * `players` names, or else for all players of the ticket. The same answer may be given again.
 */
export const answerMatch = (id: string, body: MatchAnswer, o: {
  onBehalfOf?: string | undefined
} = {}): Request<void> => ({
  method: 'POST',
  path: `v1/tickets/acceptance`,
  query: { id: id },
  headers: { 'X-On-Behalf-Of': o.onBehalfOf },
  body,
  repeatable: true,
})

/**
 * Approve the tickets that were proposed.
 *
 * Assigns all tickets that are proposed for the backfill ticket at this moment. A server calls this periodically while
 * it fills; once a second is enough, and what is far above is answered 429. Tickets that are not approved in time (20 s
 * by default) go back to the pool, and the server gets no more until its next request. The answer names the tickets
 * that join.
 */
export const approveBackfill = (backfillId: string): Request<BackfillTicket> => ({
  method: 'POST',
  path: `v2/backfill/${segment(backfillId)}/approvals`,
  query: {},
  headers: {},
  repeatable: true,
})

/** Begin backfill. */
export const createBackfill = (body: BackfillRequest): Request<CreatedBackfillTicket> => ({
  method: 'POST',
  path: `v2/backfill`,
  query: {},
  headers: {},
  body,
  repeatable: false,
})

/**
 * Make a party.
 *
 * The player is its leader, and in no other party. Give its code to the players that are to join.
 */
export const createParty = (body: CreateParty, o: {
  onBehalfOf?: string | undefined
} = {}): Request<Party> => ({
  method: 'POST',
  path: `v1/parties`,
  query: {},
  headers: { 'X-On-Behalf-Of': o.onBehalfOf },
  body,
  repeatable: false,
})

/**
 * Start matchmaking.
 *
 * Once this is answered 201 the ticket is stored and takes part in matchmaking. How often one player and one project
 * may create tickets is limited, and so is how many tickets of a project may wait: all three are answered 429.
 *
 * With `Prefer: wait=N` one request is enough. The status 201 and the headers are sent as soon as the ticket is stored;
 * `Location` names it. The body follows when the ticket has a result, at the latest after N seconds, and has all
 * members of `CreatedTicket`. If `assignment` in it is null, or the connection breaks, go on with GET: the time was
 * over, the service stops or cannot read the ticket, or the ticket was deleted, which GET answers 404. Whoever
 * disconnects while the body is awaited leaves the ticket waiting.
 *
 * An answer without `Preference-Applied` did not wait: its body has `id` and `status` alone.
 *
 * With `Idempotency-Key` a create can be repeated when its answer was lost: the answer names the ticket that the first
 * request made, also if that has ended since. A key is the player's own. It is remembered for 10 minutes at least, and
 * 20 at most. With another body it is answered 422. A request that was refused leaves its key free.
 *
 * The settings of the project may bound how many tickets without a result a player has. The answer is 409 when a player
 * of the new ticket has no room, and names the ticket that takes it.
 */
export const createTicket = (body: CreateTicket, o: {
  onBehalfOf?: string | undefined
  prefer?: string | undefined
  idempotencyKey?: string | undefined
} = {}): Request<CreatedTicket> => ({
  method: 'POST',
  path: `v1/tickets`,
  query: {},
  headers: {
    'X-On-Behalf-Of': o.onBehalfOf,
    Prefer: o.prefer,
    'Idempotency-Key': o.idempotencyKey,
  },
  body,
  repeatable: true,
})

/**
 * End backfill.
 *
 * Tickets that were proposed go back to the pool. Deleting what is not there is answered the same, with the header
 * `X-Deleted: false`.
 */
export const deleteBackfill = (backfillId: string): Request<void> => ({
  method: 'DELETE',
  path: `v2/backfill/${segment(backfillId)}`,
  query: {},
  headers: {},
  repeatable: true,
})

/**
 * End matchmaking.
 *
 * Once this is answered 200 the ticket is never assigned. Its owner and each of its players may end it, for all.
 */
export const deleteTicket = (id: string, o: {
  unlessAssigned?: boolean | undefined
  onBehalfOf?: string | undefined
} = {}): Request<void> => ({
  method: 'DELETE',
  path: `v1/tickets`,
  query: { id: id, unlessAssigned: o.unlessAssigned },
  headers: { 'X-On-Behalf-Of': o.onBehalfOf },
  repeatable: true,
})

/**
 * End a party.
 *
 * Only the leader does. It stops the search.
 */
export const disbandParty = (partyId: string, o: {
  onBehalfOf?: string | undefined
} = {}): Request<void> => ({
  method: 'DELETE',
  path: `v1/parties/${segment(partyId)}`,
  query: {},
  headers: { 'X-On-Behalf-Of': o.onBehalfOf },
  repeatable: true,
})

/**
 * Follow a party by server-sent events.
 *
 * Each event is `id`, `event` and `data`, a JSON object. The stream ends after `ended` and `reconnect`.
 *
 * - `party`: a `Party`, as a GET answers it to the member. Its `id` is the revision. - `ended`: `id` and `reason`. The
 * party is gone for the member: `left`, `kicked`, `disbanded`, `silent` or `gone`. - `reconnect`: `reason`, `shutdown`
 * or `token`. Come back after the time in `retry`, with a token that is good.
 *
 * An event says how the party is then; of changes in quick succession some are not told. Comments come while nothing
 * happens. The member is there as long as the stream is open.
 */
export const followParty = (partyId: string, o: {
  lastEventId?: string | undefined
  onBehalfOf?: string | undefined
} = {}): Request<ReadableStream<Uint8Array>> => ({
  method: 'GET',
  path: `v1/parties/${segment(partyId)}/events`,
  query: {},
  headers: { 'Last-Event-ID': o.lastEventId, 'X-On-Behalf-Of': o.onBehalfOf },
  repeatable: true,
})

/**
 * Follow a ticket by server-sent events.
 *
 * Each event is `id`, `event` and `data`, a JSON object. The stream ends after `assigned`, `ended` and `reconnect`.
 *
 * - `waiting` and `matched`: `id`, `created`, and `queues` and `unservedQueues` as in `Ticket`. The ticket waits, or is
 * in a match whose server is asked for or must approve. `waiting` has `estimate` where that is known. - `acceptance`:
 * the same and `acceptance`, as in `Ticket`. The match asks its players whether they accept it. - `assigned`: `id` and
 * `assignment`. - `ended`: `id` and `reason`: `deleted`, `replaced`, `abandoned`, `unserved`, `unheard`, `declined`,
 * `silent`, `expired` or `gone`. - `reconnect`: `reason`, `shutdown` or `token`. Come back after the time in `retry`,
 * with a token that is good.
 *
 * An event says how the ticket is then; of changes in quick succession some are not told. Comments come while nothing
 * happens. A caller that may read a ticket may follow it.
 */
export const followTicket = (id: string, o: {
  lastEventId?: string | undefined
} = {}): Request<ReadableStream<Uint8Array>> => ({
  method: 'GET',
  path: `v1/tickets/events`,
  query: { id: id },
  headers: { 'Last-Event-ID': o.lastEventId },
  repeatable: true,
})

/**
 * Read a party.
 *
 * With its ETag in `If-None-Match` and `Prefer: wait`, the answer comes when the party has changed, or is 304. Each
 * request of a member says that it is there: a member that is silent for long leaves. Developers read it without its
 * code, and never wait: the answer, or 304, comes at once.
 */
export const getParty = (partyId: string, o: {
  ifNoneMatch?: string | undefined
  prefer?: string | undefined
  onBehalfOf?: string | undefined
} = {}): Request<Party> => ({
  method: 'GET',
  path: `v1/parties/${segment(partyId)}`,
  query: {},
  headers: {
    'If-None-Match': o.ifNoneMatch,
    Prefer: o.prefer,
    'X-On-Behalf-Of': o.onBehalfOf,
  },
  repeatable: true,
})

/**
 * Read a ticket.
 *
 * Poll until `assignment` is not null, or ask the service to wait with `Prefer: wait`. To others than its owner, its
 * players and the project's game services, a ticket does not exist.
 *
 * Each player sees the own attributes and properties, and of the other players the ids. `attributes` and `properties`
 * of the ticket are the owner's to see: for its other players they are empty.
 */
export const getTicket = (o: {
  id?: string | undefined
  player?: string | undefined
  key?: string | undefined
  estimate?: boolean | undefined
  onBehalfOf?: string | undefined
  prefer?: string | undefined
} = {}): Request<Ticket | TicketList> => ({
  method: 'GET',
  path: `v1/tickets`,
  query: {
    id: o.id,
    player: o.player,
    key: o.key,
    estimate: o.estimate,
  },
  headers: { 'X-On-Behalf-Of': o.onBehalfOf, Prefer: o.prefer },
  repeatable: true,
})

/**
 * Join a party.
 *
 * Codes are read in either case, with dashes or spaces. How often a player may try one is limited. A player that was
 * kicked gets 404, as for a code that there is not. A join stops the search. While a match asks the members whether
 * they accept it, joins are refused (409).
 */
export const joinParty = (body: JoinParty, o: {
  onBehalfOf?: string | undefined
} = {}): Request<Party> => ({
  method: 'POST',
  path: `v1/parties/members`,
  query: {},
  headers: { 'X-On-Behalf-Of': o.onBehalfOf },
  body,
  repeatable: true,
})

/**
 * Read the best players of a season.
 *
 * An extension. It names players: a player's token reads it where the rating is `public`, a game service's with the
 * scope `matchmaking` or `matchmaking.read`, a developer's in any role.
 */
export const leaderboard = (ratingName: string, o: {
  season?: string | undefined
  limit?: number | undefined
  after?: number | undefined
} = {}): Request<Leaderboard> => ({
  method: 'GET',
  path: `v1/ratings/${segment(ratingName)}/leaderboard`,
  query: {
    season: o.season,
    limit: o.limit,
    after: o.after,
  },
  headers: {},
  repeatable: true,
})

/**
 * Leave a party, or remove a member.
 *
 * A player leaves, and the oldest member follows a leader. The leader removes any member: that player cannot join
 * again. Both stop the search, and the party gets another code. A party that has removed 100 players removes no more
 * (409): end it and make another one.
 */
export const leaveParty = (partyId: string, playerId: string, o: {
  onBehalfOf?: string | undefined
} = {}): Request<Party> => ({
  method: 'DELETE',
  path: `v1/parties/${segment(partyId)}/members/${segment(playerId)}`,
  query: {},
  headers: { 'X-On-Behalf-Of': o.onBehalfOf },
  repeatable: true,
})

/** List the regions whose latency can be measured. */
export const listRegions = (): Request<Regions> => ({
  method: 'GET',
  path: `v1/regions`,
  query: {},
  headers: {},
  repeatable: true,
})

/**
 * Read the player's party.
 *
 * It is found without its id, for instance after an answer was lost.
 */
export const myParty = (o: {
  ifNoneMatch?: string | undefined
  prefer?: string | undefined
  onBehalfOf?: string | undefined
} = {}): Request<Party> => ({
  method: 'GET',
  path: `v1/parties`,
  query: {},
  headers: {
    'If-None-Match': o.ifNoneMatch,
    Prefer: o.prefer,
    'X-On-Behalf-Of': o.onBehalfOf,
  },
  repeatable: true,
})

/**
 * Read a player's ratings.
 *
 * An extension. What the results of the player's matches give, as it is worth now. A player's token asks for the player
 * itself.
 */
export const playerRatings = (playerId: string): Request<PlayerRatings> => ({
  method: 'GET',
  path: `v1/players/${segment(playerId)}/ratings`,
  query: {},
  headers: {},
  repeatable: true,
})

/**
 * Say how the server stands.
 *
 * Replaces the backfill ticket when players left, or joined without the matchmaker. Tickets that were proposed go back
 * to the pool. `Id`, `Created`, `RecordVersion` and `assignedTickets` may be sent back, so that the answer to an
 * approval can be put back as it is. The service keeps its own.
 */
export const putBackfill = (backfillId: string, body: BackfillTicketUpdate): Request<BackfillTicket> => ({
  method: 'PUT',
  path: `v2/backfill/${segment(backfillId)}`,
  query: {},
  headers: {},
  body,
  repeatable: true,
})

/**
 * Read what matches did to a player's ratings.
 *
 * An extension. The changes of the player's last 32 matches that changed a rating, the latest first. A player's token
 * asks for the player itself.
 */
export const ratingHistory = (playerId: string): Request<RatingHistory> => ({
  method: 'GET',
  path: `v1/players/${segment(playerId)}/ratings/history`,
  query: {},
  headers: {},
  repeatable: true,
})

/**
 * Give the party another code.
 *
 * Only the leader does. Nobody joins with the code before.
 */
export const renewPartyCode = (partyId: string, o: {
  onBehalfOf?: string | undefined
} = {}): Request<Party> => ({
  method: 'POST',
  path: `v1/parties/${segment(partyId)}/code`,
  query: {},
  headers: { 'X-On-Behalf-Of': o.onBehalfOf },
  repeatable: true,
})

/**
 * Renew the token of a game server.
 *
 * An extension. A game server gets a token of its own with its allocation, which is good for some time (30 minutes by
 * default). For the one that it has, as long as it is good, it gets the next one here, while its allocation lives. Its
 * backfill tickets are those that were made with its match, or with a token of it: to this token there are no others.
 */
export const renewServerToken = (): Request<ServerToken> => ({
  method: 'POST',
  path: `v1/servers/token`,
  query: {},
  headers: {},
  repeatable: true,
})

/**
 * Report the result of a match.
 *
 * An extension. Its game server does it with the token that it got with its allocation, which is good for its own match
 * alone, or a game service with the scope `matchmaking`. The match's config must have `result`.
 *
 * The same result may be sent again: it counts once. Another one within a day of the first replaces it, and the ratings
 * are computed anew. The result counts for the project's ratings of the config's queue if two teams or more have
 * players; a team without any is not rated.
 *
 * A team without `players` has those of the match's team of its `name`. All teams that have any name their players, or
 * none does. A player who is not named did not play. Where the match has teams, as many are to be named here, also one
 * that all players left before the game began.
 */
export const reportResult = (matchId: string, body: ReportResult): Request<MatchResult> => ({
  method: 'POST',
  path: `v1/matches/${segment(matchId)}/result`,
  query: {},
  headers: {},
  body,
  repeatable: true,
})

/**
 * Find the match that a player plays.
 *
 * An extension. The match of the player that has no result yet: its connection, and a new seat pass if its config has
 * `seats`. A player's token asks for the player itself. It is 404 when there is none, when the result did not come in
 * time, and when the match's server renews its token no more. The match's config must have `result`.
 */
export const runningMatch = (playerId: string): Request<RunningMatch> => ({
  method: 'GET',
  path: `v1/players/${segment(playerId)}/match`,
  query: {},
  headers: {},
  repeatable: true,
})

/**
 * Make another member the leader.
 *
 * Only the leader does.
 */
export const setPartyLeader = (partyId: string, body: SetPartyLeader, o: {
  onBehalfOf?: string | undefined
} = {}): Request<Party> => ({
  method: 'PUT',
  path: `v1/parties/${segment(partyId)}/leader`,
  query: {},
  headers: { 'X-On-Behalf-Of': o.onBehalfOf },
  body,
  repeatable: true,
})

/**
 * Start the search.
 *
 * Only the leader does, when all members are ready. It creates one ticket with all members as its players, which each
 * of them can read. A search that has begun goes on. It counts to the rate of creates of each member.
 *
 * The ticket has the leader's value of each attribute that a claim sets, unless a game service sets another.
 */
export const startPartySearch = (partyId: string, body: StartPartySearch, o: {
  onBehalfOf?: string | undefined
} = {}): Request<Party> => ({
  method: 'PUT',
  path: `v1/parties/${segment(partyId)}/search`,
  query: {},
  headers: { 'X-On-Behalf-Of': o.onBehalfOf },
  body,
  repeatable: true,
})

/**
 * Stop the search.
 *
 * Only the leader does. The ticket is deleted, unless it has a result.
 */
export const stopPartySearch = (partyId: string, o: {
  onBehalfOf?: string | undefined
} = {}): Request<Party> => ({
  method: 'DELETE',
  path: `v1/parties/${segment(partyId)}/search`,
  query: {},
  headers: { 'X-On-Behalf-Of': o.onBehalfOf },
  repeatable: true,
})

/**
 * Say anew what a member carries.
 *
 * A player replaces its own attributes, properties and readiness. What a search has begun with stays.
 */
export const updatePartyMember = (partyId: string, playerId: string, body: PartyMembership, o: {
  onBehalfOf?: string | undefined
} = {}): Request<Party> => ({
  method: 'PUT',
  path: `v1/parties/${segment(partyId)}/members/${segment(playerId)}`,
  query: {},
  headers: { 'X-On-Behalf-Of': o.onBehalfOf },
  body,
  repeatable: true,
})
