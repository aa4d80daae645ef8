import * as api from './api.js'
import type { Connection } from './connection.js'
import { race } from './clock.js'
import { MatchmakingError } from './errors.js'
import { follow, Followed } from './follow.js'
import type { Keeper } from './storage.js'
import { Updates } from './updates.js'
import { carried, Values } from './values.js'

/** What is searched for. */
export interface SearchOptions extends Values {
  /** The queues to wait in. The ticket is matched once. */
  queues?: string[]
  /** A game service's: whom the ticket is for. */
  players?: api.Player[]
  /** After so many milliseconds the search is cancelled. An hour if it is not given. */
  timeout?: number
  /** Ends the following. The ticket waits on: cancel ends it, restore goes on with it. */
  signal?: AbortSignal
}

/** Where to play. */
export interface Match {
  ticket: string
  /** How to connect to the game server. */
  connection: string
  /** The player's seat pass, which the server checks, if the config has them. It is good for some minutes. */
  seat: string | undefined
  /** A game service's: the passes of all players of the ticket. */
  seats: Record<string, string>
  /** What the match function says for this ticket, and for all. */
  properties: Record<string, unknown>
  matchProperties: Record<string, unknown>
}

/** How a search is. `matched`, `cancelled` and `failed` are its end. */
export type Update =
  | { state: 'starting' }
  /** The ticket waits, or waits again. Nobody matches it in `unservedQueues`. */
  | { state: 'searching'; ticket: string; estimate?: api.Estimate; unservedQueues: string[] }
  /** A match asks its players: answer until `deadline`, which is in milliseconds of this device's clock. */
  | {
      state: 'offered'
      ticket: string
      match: string
      deadline: number
      /** How many players are asked, how many accepted, and whether the player answered. */
      players: number
      accepted: number
      answered: boolean
    }
  /** There is a match, and a server is asked for. */
  | { state: 'preparing'; ticket: string }
  | { state: 'matched'; ticket: string; match: Match }
  | { state: 'cancelled' }
  | { state: 'failed'; error: MatchmakingError }

/** What became of a cancel: it was cancelled, or it was too late and there is a match. */
export type Cancelled = { cancelled: true } | { cancelled: false; match: Match }

/** How long a search may take if the game does not say it, in milliseconds. */
const hour = 3_600_000

/** What a ticket and the events of its stream have. */
type Told = Partial<api.Ticket> & { reason?: string }

/** A search for a match. Read its updates with `for await`, or wait for its match. */
export class Search implements AsyncIterable<Update> {
  /** Where to play. It is rejected when the search ends without a match. */
  readonly match: Promise<Match>
  readonly #c: Connection
  readonly #keeper: Keeper
  readonly #player: () => string | undefined
  readonly #updates = new Updates<Update>({ state: 'starting' })
  readonly #stop = new AbortController()
  /** The search is cancelled: its create is not tried again. */
  readonly #enough = new AbortController()
  readonly #created: Promise<string>
  #id = ''
  #told = ''
  #cancelling: Promise<Cancelled> | undefined
  #late = false
  #resolve: (m: Match) => void = () => {}
  #reject: (e: unknown) => void = () => {}

  /** Games have searches from a Matchmaker. `begin` creates the ticket, or knows it; it tries no more after `enough`. */
  constructor(
    c: Connection,
    keeper: Keeper,
    player: () => string | undefined,
    begin: (signal: AbortSignal, enough: AbortSignal) => Promise<string>,
    o: Pick<SearchOptions, 'timeout' | 'signal'> = {},
  ) {
    this.#c = c
    this.#keeper = keeper
    this.#player = player
    this.match = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.match.catch(() => {}) // the updates say it, too
    const stop = () => this.#stop.abort(o.signal?.reason)
    if (o.signal?.aborted) stop()
    o.signal?.addEventListener('abort', stop)
    const timer = c.clock.setTimeout(() => void this.#giveUp(), o.timeout ?? hour)
    this.#created = begin(this.#stop.signal, this.#enough.signal).then((id) => (this.#id = id))
    void this.#run().finally(() => {
      c.clock.clearTimeout(timer)
      o.signal?.removeEventListener('abort', stop)
    })
  }

  /** How the search is now. */
  get update(): Update {
    return this.#updates.current
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Update> {
    return this.#updates.iterate()
  }

  /** The ticket, as soon as it is created. */
  ticket(): Promise<string> {
    return this.#created
  }

  /** Ends the search, unless it is too late: then there is the match. It is rejected if the service does not answer. */
  cancel(): Promise<Cancelled> {
    this.#cancelling ??= this.#cancel().finally(() => (this.#cancelling = undefined))
    return this.#cancelling
  }

  /** Accepts the match that was offered last. */
  accept(): Promise<void> {
    return this.#answer(true)
  }

  /** Declines it: the search ends. */
  decline(): Promise<void> {
    return this.#answer(false)
  }

  /** For how much longer tickets like this one wait; undefined if that is not known. Ask every ten seconds at most. */
  async estimate(signal?: AbortSignal): Promise<api.Estimate | undefined> {
    return (await this.#read({ estimate: true }, signal)).estimate
  }

  /** A new seat pass, to reconnect with. */
  async seat(signal?: AbortSignal): Promise<string | undefined> {
    const { assignment } = await this.#read({}, signal)
    return assignment ? this.#matchOf(assignment).seat : undefined
  }

  async #run(): Promise<void> {
    try {
      await this.#created
      const { signal } = this.#stop
      const followed: Followed = {
        events: (last) => api.followTicket(this.#id, { lastEventId: last }),
        take: (event, data) => this.#take(event, data),
        poll: (prefer) => this.#look({ estimate: true, prefer }, signal),
      }
      if (!this.#updates.ended) await follow(this.#c, followed, signal)
    } catch (e) {
      if (this.#cancelling && this.#id === '' && !this.#mayBe(e)) this.#endCancelled()
      else this.#fail(e)
    }
  }

  async #giveUp(): Promise<void> {
    this.#late = true
    await this.cancel().catch((e) => this.#fail(e))
  }

  async #cancel(): Promise<Cancelled> {
    this.#enough.abort()
    const ticket = await this.#created.catch((e) => {
      if (this.#mayBe(e)) throw e
    })
    if (ticket && (this.#waitsOn || !this.#updates.ended)) {
      try {
        await this.#c.send(api.deleteTicket(ticket, { unlessAssigned: true }))
      } catch (e) {
        if (!(e instanceof MatchmakingError && (e.missing || e.status === 409))) throw e
        if (!(await this.#look())) throw e
        const late = this.#waitsOn && e.status === 409 && (await this.#read({})).assignment
        if (late && !late.error) return { cancelled: false, match: this.#matchOf(late) }
      }
    }
    this.#endCancelled()
    const { update } = this
    return update.state === 'matched' ? { cancelled: false, match: update.match } : { cancelled: true }
  }

  /** The game's signal ended the following, and the ticket waits on. */
  get #waitsOn(): boolean {
    return this.update.state === 'failed' && this.update.error.code === 'aborted'
  }

  /** Whether there may be a ticket where a create failed, or the game's signal ended it. */
  #mayBe(e: unknown): boolean {
    return e instanceof MatchmakingError ? e.unanswered : e === this.#stop.signal.reason
  }

  async #answer(accept: boolean): Promise<void> {
    const { update } = this
    if (update.state !== 'offered') throw new MatchmakingError('conflict', 'no match asks the player')
    try {
      await this.#c.send(api.answerMatch(update.ticket, { match: update.match, accept }))
    } catch (e) {
      // The try before, whose answer was lost, may have been the last answer of all: the updates tell.
      if (!(e instanceof MatchmakingError && e.unanswered && (e.missing || e.status === 409))) throw e
    }
  }

  async #read(o: { estimate?: boolean; prefer?: string }, signal?: AbortSignal): Promise<api.Ticket> {
    const id = await (signal ? race(this.#created, signal) : this.#created)
    return (await this.#c.ask(api.getTicket({ ...o, id }), signal)) as api.Ticket
  }

  /** Asks how the ticket is, and returns whether the search has ended. */
  async #look(o: { estimate?: boolean; prefer?: string } = {}, signal?: AbortSignal): Promise<boolean> {
    try {
      return this.#take('', await this.#read(o, signal))
    } catch (e) {
      if (!(e instanceof MatchmakingError) || !e.missing) throw e
      return this.#take('ended', { reason: 'gone' })
    }
  }

  /** Takes an event of the stream, or how the ticket is, and returns whether the search has ended. */
  #take(event: string, told: Told): boolean {
    if (this.#updates.ended) return true
    if (told.assignment) {
      this.#assigned(told.assignment)
    } else if (event === 'ended') {
      const reason = told.reason ?? 'gone'
      if (this.#cancelling) this.#endCancelled()
      else this.#fail(new MatchmakingError('ended', `the ticket ended: ${reason}`, { reason }))
    } else if (told.acceptance) {
      this.#offered(told.acceptance)
    } else if (event === 'matched') {
      this.#tell(event, { state: 'preparing', ticket: this.#id })
    } else if (event === 'waiting' || event === '') {
      this.#waits(told)
    } // else it is an event of a later version
    return this.#updates.ended
  }

  #waits({ estimate, unservedQueues = [] }: Told): void {
    if (!estimate && this.update.state === 'searching') estimate = this.update.estimate
    this.#tell(`waiting ${unservedQueues.join()} ${!estimate}`, {
      state: 'searching',
      ticket: this.#id,
      unservedQueues,
      ...(estimate && { estimate }),
    })
  }

  #offered(a: api.Acceptance): void {
    const { update } = this
    if (update.state === 'offered' && update.match === a.match && update.accepted > a.accepted) return // an old one
    const player = this.#player()
    const answered = player !== undefined && !a.unanswered.includes(player)
    this.#tell(`offered ${a.match} ${a.accepted}`, {
      state: 'offered',
      ticket: this.#id,
      match: a.match,
      deadline: this.#c.clock.now() + a.remaining,
      players: a.players,
      accepted: a.accepted,
      answered,
    })
  }

  #assigned(a: api.Assignment): void {
    if (a.error) {
      this.#fail(new MatchmakingError('failed', `the match failed: ${a.error}`, { detail: a.error }))
      return
    }
    const match = this.#matchOf(a)
    this.#resolve(match)
    this.#end({ state: 'matched', ticket: this.#id, match })
  }

  #matchOf(a: api.Assignment): Match {
    const seats = a.seats ?? {}
    return {
      ticket: this.#id,
      connection: a.connection,
      seat: seats[this.#player() ?? ''] ?? Object.values(seats)[0],
      seats,
      properties: a.properties ?? {},
      matchProperties: a.matchproperties ?? {},
    }
  }

  /** Tells an update that is not told yet. */
  #tell(what: string, update: Update): void {
    if (what === this.#told) return
    this.#told = what
    this.#updates.tell(update)
  }

  #endCancelled(): void {
    if (this.#late) this.#fail(new MatchmakingError('timeout', 'the search took too long'))
    else this.#fail(new MatchmakingError('cancelled', 'the search was cancelled'))
  }

  #fail(e: unknown): void {
    const aborted = this.#stop.signal.aborted
    const error = e instanceof MatchmakingError ? e : new MatchmakingError('aborted', String(e))
    this.#reject(aborted ? this.#stop.signal.reason : error)
    this.#end(error.code === 'cancelled' ? { state: 'cancelled' } : { state: 'failed', error })
    if (['cancelled', 'ended', 'failed', 'timeout'].includes(error.code)) void this.#keeper.replace({ ticket: this.#id }, null)
  }

  #end(update: Update): void {
    if (this.#updates.ended) return
    this.#updates.tell(update)
    this.#updates.end()
    this.#stop.abort()
  }
}

/** The body of a create. */
export async function creation(o: SearchOptions): Promise<api.CreateTicket> {
  return {
    ...(await carried(o)),
    ...(o.queues && { queues: o.queues }),
    ...(o.players && { players: o.players }),
  }
}
