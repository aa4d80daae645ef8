/**
 * The service in memory, for a game's own tests: a Matchmaker asks it as it asks the real one. It matches nobody by
 * itself; the test says what happens.
 */
import type * as api from './api.js'
import { Clock, systemClock } from './clock.js'
import { Matchmaker, MatchmakerOptions } from './matchmaker.js'
import { claimsOf } from './token.js'
import { base64 } from './values.js'

/** How a match is that a test makes. */
export interface FakeMatch {
  connection?: string
  /** Its matchProperties. */
  properties?: Record<string, unknown>
  /** An error instead of a connection, such as AllocationError. */
  error?: string
}

interface Ticket {
  api: api.Ticket
  players: string[]
  key: string
  offer?: Offer
  ended?: string
}

/** A match that asks its players. */
interface Offer {
  match: string
  ends: number
  timer: unknown
  asked: string[]
  accepted: Set<string>
  then: FakeMatch
}

type Member = api.PartyMember & { kicked?: boolean }

/** An answer, or what to stream. */
interface Answer {
  status: number
  body?: unknown
  headers?: Record<string, string>
  stream?: string
}

type Controller = ReadableStreamDefaultController<Uint8Array>

/** The service in memory. */
export class FakeService {
  /** How many milliseconds an answer takes. */
  slow = 0
  /** Creates of tickets are refused: come again in so many seconds. 0: they are not. */
  full = 0
  #gone = false
  #count = 0
  readonly #tickets = new Map<string, Ticket>()
  readonly #parties = new Map<string, api.Party>()
  readonly #kicked = new Map<string, Set<string>>()
  /** The open streams of tickets and parties, by their ids and the player. */
  readonly #streams = new Map<Controller, { of: string; player: string }>()
  readonly #clock: Clock

  /** `speed` is how much faster time passes for the service and its Matchmakers: 100 makes an hour 36 seconds. */
  constructor(o: { speed?: number } = {}) {
    const { speed = 1 } = o
    const began = Date.now()
    this.#clock = {
      now: () => began + (Date.now() - began) * speed,
      setTimeout: (f, ms) => systemClock.setTimeout(f, ms / speed),
      clearTimeout: (timer) => systemClock.clearTimeout(timer),
    }
  }

  /** A player's Matchmaker. */
  matchmaker(player: string, o: Partial<MatchmakerOptions> = {}): Matchmaker {
    return new Matchmaker({
      url: 'http://fake.invalid',
      project: 'fake',
      token: () => `fake.${base64(JSON.stringify({ sub: player }))}.fake`,
      fetch: this.fetch,
      clock: this.#clock,
      ...o,
    })
  }

  /** Nothing is answered, and what is open breaks. */
  get gone(): boolean {
    return this.#gone
  }

  set gone(gone: boolean) {
    this.#gone = gone
    if (gone) this.cut()
  }

  /** Streams break; clients come back. */
  cut(): void {
    for (const stream of this.#streams.keys()) stream.error(new TypeError('the connection was cut'))
    this.#streams.clear()
  }

  /** The players whose tickets wait. */
  get waiting(): string[] {
    return [...this.#tickets.values()].filter(waits).flatMap((t) => t.players)
  }

  /** Waits until the tickets of these players wait, for ten seconds at most. */
  async searching(...players: string[]): Promise<void> {
    for (const end = Date.now() + 10_000; !players.every((p) => this.waiting.includes(p)); ) {
      if (Date.now() > end) throw new Error(`not all of ${players.join()} search, only ${this.waiting.join()}`)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }

  /** Players get the same match. */
  match(players: string[], match: FakeMatch = {}): void {
    this.#match(this.#of(players), match)
  }

  /** A match asks players whether they accept it. When all have, they get it. */
  offer(players: string[], seconds = 20, match: FakeMatch = {}): void {
    const tickets = this.#of(players)
    const asked = tickets.flatMap((t) => t.players)
    const accepted = new Set<string>()
    const ends = this.#clock.now() + seconds * 1000
    const silent = () => this.#endOffer(offer, asked.filter((p) => !accepted.has(p)), 'silent')
    const timer = this.#clock.setTimeout(silent, seconds * 1000)
    const offer: Offer = { match: this.#id('match'), ends, timer, asked, accepted, then: match }
    for (const t of tickets) t.offer = offer
    for (const t of tickets) this.#tellTicket(t)
  }

  /** A player accepts or declines the match that asks, as its client may. */
  answer(player: string, accept: boolean): void {
    const [ticket] = this.#of([player])
    const offer = ticket?.offer
    if (!offer) throw new Error(`no match asks ${player}`)
    if (!accept) return this.#endOffer(offer, [player], 'declined')
    offer.accepted.add(player)
    const tickets = this.#with(offer)
    if (offer.accepted.size === offer.asked.length) this.#match(tickets, offer.then)
    else for (const t of tickets) this.#tellTicket(t)
  }

  /** A player's ticket ends without a match: abandoned, unserved, … */
  end(player: string, reason: string): void {
    for (const t of this.#of([player])) this.#end(t, reason)
  }

  /** What Matchmakers fetch with. */
  readonly fetch: typeof fetch = async (input, init = {}) => {
    const url = new URL(String(input))
    const headers = new Headers(init.headers)
    await this.#pass(init.signal ?? undefined)
    const player = String(claimsOf(headers.get('Authorization') ?? '')['sub'])
    const body = typeof init.body === 'string' ? (JSON.parse(init.body) as Record<string, unknown>) : {}
    const path = url.pathname.replace(/^.*\/api\/v1\//, '').split('/').map(decodeURIComponent)
    const route = `${init.method ?? 'GET'} ${path[0]}`
    const answer = route.endsWith(' tickets')
      ? this.#ticketAnswer(route, path[1] ?? '', player, body, url.searchParams, headers)
      : route.endsWith(' regions')
      ? { status: 200, body: { regions: [], receiptSeconds: 0 } }
      : this.#partyAnswer(init.method ?? 'GET', path.slice(1), player, body, headers)
    if (answer.stream !== undefined) return this.#stream(answer.stream, player, init.signal ?? undefined)
    const type = answer.status < 400 ? 'application/json' : 'application/problem+json'
    const text = answer.body === undefined ? null : JSON.stringify(answer.body)
    return new Response(text, { status: answer.status, headers: { 'Content-Type': type, ...answer.headers } })
  }

  /** What comes between a client and the service. */
  async #pass(signal: AbortSignal | undefined): Promise<void> {
    if (this.slow > 0) await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, this.slow))
    signal?.throwIfAborted()
    if (this.#gone) throw new TypeError('there is no way to the service')
  }

  #ticketAnswer(
    route: string,
    below: string,
    player: string,
    body: Record<string, unknown>,
    query: URLSearchParams,
    headers: Headers,
  ): Answer {
    if (route === 'POST tickets' && below === '') {
      return this.#create(player, body, headers.get('Idempotency-Key') ?? '')
    }
    const key = query.get('key')
    if (key !== null || query.has('player')) {
      const own = [...this.#tickets.values()].filter((t) => t.players.includes(player) && !t.ended).reverse()
      const tickets = own.filter((t) => key === null || t.key === `"${key}"`)
      return { status: 200, body: { tickets: tickets.map((t) => this.#shown(t)) } }
    }
    const ticket = this.#tickets.get(query.get('id') ?? '')
    if (!ticket || ticket.ended || !ticket.players.includes(player)) return refuse(404, 'ticketNotFound')
    if (below === 'events') return { status: 200, stream: ticket.api.id }
    if (below === 'acceptance') {
      if (ticket.offer?.match !== body['match']) return refuse(409, 'acceptanceOver')
      this.answer(player, body['accept'] === true)
      return { status: 204 }
    }
    if (route !== 'DELETE tickets') return { status: 200, body: this.#shown(ticket) }
    if (ticket.api.assignment && query.has('unlessAssigned')) return refuse(409, 'ticketMatched')
    this.#end(ticket, 'deleted')
    return { status: 200 }
  }

  #create(player: string, body: Record<string, unknown>, key: string): Answer {
    const made = key && [...this.#tickets.values()].find((t) => t.key === key)
    if (made) return { status: 201, body: { id: made.api.id, status: null } }
    if (this.full > 0) return { ...refuse(429, 'tooManyTickets'), headers: { 'Retry-After': String(this.full) } }
    return { status: 201, body: { id: this.#ticket([player], body, key).api.id, status: null } }
  }

  #ticket(players: string[], body: Record<string, unknown>, key = ''): Ticket {
    const told = { id: this.#id('ticket'), created: this.#clock.now(), assignment: null }
    const ticket: Ticket = { api: { attributes: {}, properties: {}, ...body, ...told }, players, key }
    this.#tickets.set(ticket.api.id, ticket)
    return ticket
  }

  #partyAnswer(
    method: string,
    path: string[],
    player: string,
    body: Record<string, unknown>,
    headers: Headers,
  ): Answer {
    const own = [...this.#parties.values()].find((p) => p.members.some((m) => m.id === player))
    const [join] = path
    if (method === 'POST' && (!join || join === 'members')) return this.#enter(own, join, player, body)
    if (!own || (path.length > 0 && own.id !== path[0])) return refuse(404, 'partyNotFound')
    const [, what, of] = path
    if (what === undefined && method === 'GET') {
      if (headers.get('If-None-Match') === `"${own.revision}"`) return { status: 304 }
      return { status: 200, body: own }
    }
    if (what === 'events') return { status: 200, stream: own.id }
    const member = own.members.find((m) => m.id === of)
    if (what !== 'members' || of !== player) {
      if (own.leader !== player) return refuse(403, 'notLeader')
    }
    if (what === undefined) return this.#leave(own, own.members.map((m) => m.id), 'disbanded')
    if (what === 'leader') own.leader = String(body['player'])
    if (what === 'code') own.code = this.#code()
    if (what === 'members') {
      if (!member) return refuse(404, 'memberNotFound')
      if (method === 'DELETE') return this.#leave(own, [member.id], of === player ? 'left' : 'kicked')
      Object.assign(member, body)
    }
    if (what === 'search') {
      const wrong = this.#search(own, method, body)
      if (wrong) return wrong
    }
    return { status: 200, body: this.#changed(own) }
  }

  #enter(
    own: api.Party | undefined,
    join: string | undefined,
    player: string,
    body: Record<string, unknown>,
  ): Answer {
    const given = body as { code?: string; size?: number; ready?: boolean }
    const { code = '', size = 16, ready = true, ...more } = given
    const member: Member = { id: player, joined: this.#clock.now(), ready, ...more }
    const plain = code.toUpperCase().replace(/[^A-Z0-9]/g, '')
    const party = join ? [...this.#parties.values()].find((p) => p.code === plain) : undefined
    if (own && own !== party) return refuse(409, 'alreadyInParty')
    if (own) return { status: 200, body: own }
    if (join) {
      if (!party || this.#kicked.get(party.id)?.has(player)) return refuse(404, 'partyCodeUnknown')
      if (party.members.length === party.size) return refuse(409, 'partyFull')
      this.#stop(party)
      party.members.push(member)
      return { status: 200, body: this.#changed(party) }
    }
    const made: api.Party = {
      id: this.#id('party'),
      code: this.#code(),
      leader: player,
      created: this.#clock.now(),
      revision: 1,
      size,
      members: [member],
      search: null,
    }
    this.#parties.set(made.id, made)
    return { status: 201, body: made }
  }

  #search(party: api.Party, method: string, body: Record<string, unknown>): Answer | undefined {
    if (method === 'DELETE') this.#stop(party)
    else if (party.members.some((m) => !m.ready)) return refuse(409, 'memberNotReady')
    else if (!this.#searchOf(party)) {
      const ticket = this.#ticket(party.members.map((m) => m.id), body)
      party.search = { ticket: ticket.api.id, started: ticket.api.created }
    }
    return undefined
  }

  /** The ticket that a party searches with. */
  #searchOf(party: api.Party): Ticket | undefined {
    const ticket = this.#tickets.get(party.search?.ticket ?? '')
    return ticket && waits(ticket) ? ticket : undefined
  }

  /** Ends a party's search. */
  #stop(party: api.Party): void {
    const ticket = this.#searchOf(party)
    party.search = null
    if (ticket) this.#end(ticket, 'deleted')
  }

  #leave(party: api.Party, players: string[], reason: string): Answer {
    this.#stop(party)
    if (reason === 'kicked') this.#kicked.set(party.id, new Set([...(this.#kicked.get(party.id) ?? []), ...players]))
    for (const player of players) {
      party.members = party.members.filter((m) => m.id !== player)
      this.#send(party.id, 'ended', 'ended', { id: party.id, reason }, player)
    }
    const [oldest] = party.members
    if (!oldest) {
      this.#parties.delete(party.id)
      return { status: 204 }
    }
    if (!party.members.some((m) => m.id === party.leader)) party.leader = oldest.id
    party.code = this.#code()
    const now = this.#changed(party)
    return reason === 'kicked' ? { status: 200, body: now } : { status: 204 }
  }

  #changed(party: api.Party): api.Party {
    party.revision++
    this.#send(party.id, String(party.revision), 'party', party)
    return party
  }

  /** Opens a stream, and tells how the ticket or the party is. */
  #stream(of: string, player: string, signal: AbortSignal | undefined): Response {
    let own: Controller
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        own = controller
        this.#streams.set(own, { of, player })
        const ticket = this.#tickets.get(of)
        const party = this.#parties.get(of)
        if (ticket) this.#tellTicket(ticket)
        if (party) this.#send(of, String(party.revision), 'party', party)
      },
      cancel: () => void this.#streams.delete(own),
    })
    signal?.addEventListener('abort', () => {
      if (this.#streams.delete(own)) own.error(signal.reason)
    })
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
  }

  #send(of: string, id: string, event: string, data: unknown, player?: string): void {
    const text = new TextEncoder().encode(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    for (const [stream, reader] of [...this.#streams]) {
      if (reader.of !== of || (player !== undefined && reader.player !== player)) continue
      stream.enqueue(text)
      if (event !== 'ended' && event !== 'assigned') continue
      this.#streams.delete(stream)
      stream.close()
    }
  }

  #tellTicket(t: Ticket): void {
    const shown = this.#shown(t)
    const event = t.api.assignment ? 'assigned' : t.offer ? 'acceptance' : 'waiting'
    this.#send(t.api.id, `${event} ${t.offer?.accepted.size ?? ''}`, event, shown)
  }

  #shown(t: Ticket): api.Ticket {
    if (!t.offer) return t.api
    const { match, ends, asked, accepted } = t.offer
    const remaining = Math.max(0, ends - this.#clock.now())
    const unanswered = t.players.filter((p) => !accepted.has(p))
    return { ...t.api, acceptance: { match, remaining, players: asked.length, accepted: accepted.size, unanswered } }
  }

  #match(tickets: Ticket[], { connection = '127.0.0.1:7777', properties, error = '' }: FakeMatch): void {
    for (const t of tickets) {
      this.#clock.clearTimeout(t.offer?.timer)
      delete t.offer
      const seats = Object.fromEntries(t.players.map((p) => [p, `seat of ${p}`]))
      t.api.assignment = {
        connection: error ? '' : connection,
        error,
        properties: null,
        matchproperties: properties ?? null,
        seats,
      }
      this.#tellTicket(t)
    }
  }

  /** An acceptance ends: the tickets of some players end, the others wait again. */
  #endOffer(offer: Offer, out: string[], reason: string): void {
    this.#clock.clearTimeout(offer.timer)
    for (const t of this.#with(offer)) {
      delete t.offer
      if (t.players.some((p) => out.includes(p))) this.#end(t, reason)
      else this.#tellTicket(t)
    }
  }

  /** Ends a ticket. The others that the same match asks wait again. */
  #end(t: Ticket, reason: string): void {
    const { offer } = t
    delete t.offer
    t.ended = reason
    if (offer) this.#endOffer(offer, [], '')
    this.#send(t.api.id, 'ended', 'ended', { id: t.api.id, reason })
  }

  #with(offer: Offer): Ticket[] {
    return [...this.#tickets.values()].filter((t) => t.offer === offer && !t.ended)
  }

  /** The tickets of players that wait, each once. */
  #of(players: string[]): Ticket[] {
    const waiting = [...this.#tickets.values()].filter(waits)
    return [...new Set(players.map((player) => {
      const ticket = waiting.find((t) => t.players.includes(player))
      if (!ticket) throw new Error(`${player} has no ticket that waits`)
      return ticket
    }))]
  }

  #id(of: string): string {
    return `${of}-${++this.#count}`
  }

  #code(): string {
    return `FAKE${String(++this.#count).padStart(5, '0')}`
  }
}

function waits(t: Ticket): boolean {
  return !t.ended && !t.api.assignment
}

function refuse(status: number, code: string): Answer {
  return { status, body: { title: code, status, detail: `the fake says ${code}`, code } }
}
