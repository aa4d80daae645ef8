import * as api from './api.js'
import { Connection, ConnectionOptions } from './connection.js'
import { MatchmakingError } from './errors.js'
import { Latencies, Latency, MeasureOptions, OpenUDP } from './latencies.js'
import { MemberOptions, Party } from './party.js'
import { creation, Search, SearchOptions } from './search.js'
import { Keeper, Saved, Storage } from './storage.js'
import { claimsOf } from './token.js'
import { carried } from './values.js'

export interface MatchmakerOptions extends ConnectionOptions {
  /** Keeps what `restore` goes on with after a crash: browserStorage(), for instance. */
  storage?: Storage
  /** Measures latencies by UDP: `udp` of @matchmaker/client/node, or the platform's own. Otherwise it is HTTP. */
  udp?: OpenUDP
}

/** The service, for one player. It asks nothing before it is told to. */
export class Matchmaker {
  readonly #c: Connection
  readonly #keeper: Keeper
  readonly #latencies: Latencies
  #player: string | undefined

  constructor(o: MatchmakerOptions) {
    this.#c = new Connection(o)
    this.#keeper = new Keeper(o.storage)
    this.#latencies = new Latencies(this.#c, o.udp)
    this.#player = o.player
  }

  /** Searches a match. What goes wrong is the search's end. */
  search(o: SearchOptions = {}): Search {
    return this.#follow((signal, enough) => this.#create(o, signal, enough), o)
  }

  /**
   * Goes on with a search that the game does not know any more, since it crashed or was closed: the one in the storage,
   * or else the player's newest ticket, if the project lists them. There is none if the answer is undefined.
   *
   * It may have a match already, and that match may be over: when the game server does not know the player, search.
   */
  async restore(o: Pick<SearchOptions, 'timeout' | 'signal'> = {}): Promise<Search | undefined> {
    await this.#whoIs()
    const kept = await this.#keeper.load()
    const ticket = await this.#left(kept, o.signal)
    await this.#keeper.replace(kept, ticket === undefined ? null : { ticket })
    return ticket === undefined ? undefined : this.#follow(async () => ticket, o)
  }

  /** The match is over: there is nothing to go on with. */
  async forget(): Promise<void> {
    await this.#keeper.save(null)
  }

  /** Makes a party, which the player leads. `size` is how many members it may have. */
  async createParty(o: MemberOptions & { size?: number } = {}): Promise<Party> {
    const body = { ready: o.ready ?? true, ...(await carried(o)), ...(o.size && { size: o.size }) }
    const player = await this.#whoIs()
    try {
      return this.#party(await this.#c.ask(api.createParty(body), o.signal))
    } catch (e) {
      if (!(e instanceof MatchmakingError) || !e.unanswered) throw e
      const party = await this.#c.send(api.myParty(), o.signal).catch(() => undefined)
      if (!party || party.leader !== player || party.members.length !== 1) throw e
      return this.#party(party) // its answer was lost
    }
  }

  /** Joins the party with a code, as people type it. */
  async joinParty(code: string, o: MemberOptions = {}): Promise<Party> {
    const body = { code, ready: o.ready ?? true, ...(await carried(o)) }
    await this.#whoIs()
    return this.#party(await this.#c.ask(api.joinParty(body), o.signal))
  }

  /** The player's party, undefined if there is none. */
  async party(signal?: AbortSignal): Promise<Party | undefined> {
    await this.#whoIs()
    try {
      return this.#party(await this.#c.ask(api.myParty(), signal))
    } catch (e) {
      if (e instanceof MatchmakingError && e.missing) return undefined
      throw e
    }
  }

  /** How far each region is from this device, as far as that is not known: `() => matchmaker.measure()` are receipts. */
  measure(o: MeasureOptions = {}): Promise<Latency[]> {
    return this.#latencies.get(o)
  }

  /** The app goes to the background: nothing is asked until it comes back. */
  suspend(): void {
    this.#c.suspend()
  }

  /** The app is back: whatever is awaited is asked for at once. */
  resume(): void {
    this.#c.resume()
  }

  /** Sends a request of the API as it is, such as `api.getTicket({ id })`. */
  send<T>(request: api.Request<T>, signal?: AbortSignal): Promise<T | undefined> {
    return this.#c.send(request, signal)
  }

  #follow(
    begin: (signal: AbortSignal, enough: AbortSignal) => Promise<string>,
    o: Pick<SearchOptions, 'timeout' | 'signal'>,
  ): Search {
    return new Search(this.#c, this.#keeper, () => this.#player, begin, o)
  }

  #party(party: api.Party): Party {
    return new Party(this.#c, this.#keeper, () => this.#player ?? '', party)
  }

  /** The player, as the token says. */
  async #whoIs(): Promise<string | undefined> {
    const { sub } = claimsOf(await this.#c.tokens.get())
    if (this.#player === undefined && typeof sub === 'string') this.#player = sub
    return this.#player
  }

  /** Creates a ticket. A create whose answer was lost makes one ticket, by its key, which is the player's own. */
  async #create(o: SearchOptions, signal: AbortSignal, enough: AbortSignal): Promise<string> {
    const body = await creation(o)
    await this.#whoIs()
    const key = [Date.now(), Math.random(), Math.random()].map((n) => n.toString(36).replace('0.', '')).join('-')
    const { ticket: before } = await this.#keeper.load()
    await this.#keeper.save({ key })
    let ticket: string | undefined
    try {
      ticket = (await this.#c.ask(api.createTicket(body, { idempotencyKey: `"${key}"` }), signal, enough)).id
    } catch (e) {
      if (!(e instanceof MatchmakingError)) throw e
      if (e.unanswered) {
        try {
          ticket = await this.#made(key, signal)
          e.unanswered = false // there is a ticket, or there is none
        } catch {
          throw e
        }
      }
      if (ticket === undefined) {
        await this.#keeper.replace({ key }, before ? { ticket: before } : null) // the player may have that one still
        throw e
      }
    }
    if (typeof ticket !== 'string') throw new MatchmakingError('unexpected', 'the answer to the create has no id')
    await this.#keeper.replace({ key }, { ticket })
    return ticket
  }

  /** The ticket that the create with a key made. */
  async #made(key: string, signal?: AbortSignal): Promise<string | undefined> {
    return (await this.#list({ key }, signal))[0]?.id
  }

  async #list(o: { key: string } | { player: string }, signal?: AbortSignal): Promise<api.Ticket[]> {
    const { tickets } = (await this.#c.ask(api.getTicket(o), signal)) as api.TicketList
    return Array.isArray(tickets) ? tickets : []
  }

  /** The ticket to go on with. */
  async #left(saved: Saved, signal?: AbortSignal): Promise<string | undefined> {
    const goesOn = (t: api.Ticket) => !t.assignment?.error
    if (saved.ticket) {
      try {
        const ticket = (await this.#c.ask(api.getTicket({ id: saved.ticket }), signal)) as api.Ticket
        if (goesOn(ticket)) return ticket.id
      } catch (e) {
        if (!(e instanceof MatchmakingError) || !e.missing) throw e
      }
    } else if (saved.key) {
      const ticket = await this.#made(saved.key, signal)
      if (ticket) return ticket
    }
    if (this.#player === undefined) return undefined
    try {
      return (await this.#list({ player: this.#player }, signal)).find(goesOn)?.id
    } catch (e) {
      if (e instanceof MatchmakingError && e.problem === 'ticketsNotListed') return undefined // the project does not list them
      throw e
    }
  }
}
