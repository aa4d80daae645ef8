import * as api from './api.js'
import type { Connection } from './connection.js'
import { MatchmakingError } from './errors.js'
import { follow, Followed } from './follow.js'
import { creation, Search, SearchOptions } from './search.js'
import type { Keeper } from './storage.js'
import { Updates } from './updates.js'
import { carried, Values } from './values.js'

/** What a member says of itself. */
export interface MemberOptions extends Values {
  /** Whether the search may begin as far as the member is concerned; true if it is not given. */
  ready?: boolean
  signal?: AbortSignal
}

/** What happens to a party. `left` is its end for the player; `reason` is left, kicked, disbanded, silent or gone. */
export type PartyUpdate =
  | { state: 'party'; party: api.Party }
  /** The leader has begun a search. Each member follows it. */
  | { state: 'search'; party: api.Party; search: Search }
  | { state: 'left'; party: api.Party; reason: string; error?: MatchmakingError }

/** Players who search together. Read its updates with `for await`. */
export class Party implements AsyncIterable<PartyUpdate> {
  readonly #c: Connection
  readonly #keeper: Keeper
  readonly #player: () => string
  readonly #updates: Updates<PartyUpdate>
  readonly #stop = new AbortController()
  #search: Search | undefined
  #ticket = ''
  #leaving = false

  /** Games have parties from a Matchmaker. */
  constructor(c: Connection, keeper: Keeper, player: () => string, party: api.Party) {
    this.#c = c
    this.#keeper = keeper
    this.#player = player
    this.#updates = new Updates<PartyUpdate>({ state: 'party', party })
    this.#see(party)
    const followed: Followed = {
      events: (last) => api.followParty(this.id, { lastEventId: last }),
      take: (event, data) => this.#take(event, data),
      poll: (prefer) => this.#poll(prefer),
    }
    follow(c, followed, this.#stop.signal).catch((error) => {
      if (error instanceof MatchmakingError) this.#end('gone', error)
    })
  }

  /** The party as it is known. */
  get state(): api.Party {
    return this.#updates.current.party
  }

  get id(): string {
    return this.state.id
  }

  /** What others join it with. */
  get code(): string {
    return this.state.code
  }

  get leads(): boolean {
    return this.state.leader === this.#player()
  }

  /** The last search, if there was one since the members are these. */
  get search(): Search | undefined {
    return this.#search
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<PartyUpdate> {
    return this.#updates.iterate()
  }

  /** Says anew what the player carries, and whether it is ready. */
  async update(o: MemberOptions): Promise<void> {
    const body = { ready: o.ready ?? true, ...(await carried(o)) }
    this.#see(await this.#c.ask(api.updatePartyMember(this.id, this.#player(), body), o.signal))
  }

  /** The leader searches a match for all, when all are ready. */
  async start(o: Omit<SearchOptions, 'timeout' | 'players'> = {}): Promise<Search> {
    this.#see(await this.#c.ask(api.startPartySearch(this.id, await creation(o)), o.signal))
    if (!this.#search) throw new MatchmakingError('unexpected', 'the party has no search')
    return this.#search
  }

  /** The leader ends the search. */
  async stop(signal?: AbortSignal): Promise<void> {
    const party = await this.#c.send(api.stopPartySearch(this.id), signal)
    if (party) this.#see(party)
  }

  /** The leader hands over. */
  async promote(player: string, signal?: AbortSignal): Promise<void> {
    this.#see(await this.#c.ask(api.setPartyLeader(this.id, { player }), signal))
  }

  /** The leader removes a member, who cannot join again. The party has another code then. */
  async kick(player: string, signal?: AbortSignal): Promise<void> {
    const party = await this.#c.send(api.leaveParty(this.id, player), signal)
    if (party) this.#see(party)
  }

  /** The leader gives the party another code. */
  async renewCode(signal?: AbortSignal): Promise<void> {
    this.#see(await this.#c.ask(api.renewPartyCode(this.id), signal))
  }

  /** The player leaves. */
  async leave(signal?: AbortSignal): Promise<void> {
    await this.#goingAway(api.leaveParty(this.id, this.#player()), 'left', signal)
  }

  /** The leader ends the party. */
  async disband(signal?: AbortSignal): Promise<void> {
    await this.#goingAway(api.disbandParty(this.id), 'disbanded', signal)
  }

  async #goingAway(request: api.Request<unknown>, reason: string, signal?: AbortSignal): Promise<void> {
    this.#leaving = true
    try {
      await this.#c.send(request, signal)
    } catch (e) {
      this.#leaving = false
      if (!(e instanceof MatchmakingError) || !e.missing) throw e
    }
    this.#end(reason)
  }

  #take(event: string, data: Record<string, unknown>): boolean {
    if (event === 'party') this.#see(data as unknown as api.Party)
    else if (event === 'ended') this.#end(String(data['reason'] ?? 'gone'))
    return this.#updates.ended
  }

  async #poll(prefer: string): Promise<boolean> {
    const known = { ifNoneMatch: `"${this.state.revision}"`, prefer }
    try {
      const party = await this.#c.send(api.getParty(this.id, known), this.#stop.signal, { also: [304] })
      if (party) this.#see(party)
    } catch (e) {
      if (!(e instanceof MatchmakingError) || !e.missing) throw e
      if (!this.#leaving) this.#end('gone')
    }
    return this.#updates.ended
  }

  /** Learns how the party is. What is older than what is known is left out. */
  #see(party: api.Party): void {
    const known = this.state
    if (party.revision < known.revision || this.#updates.ended) return
    if (party.revision > known.revision) this.#updates.tell({ state: 'party', party })
    const ticket = party.search?.ticket ?? ''
    if (ticket === this.#ticket) return
    this.#ticket = ticket
    this.#search = undefined
    if (ticket === '') return
    this.#search = new Search(this.#c, this.#keeper, this.#player, async () => {
      await this.#keeper.save({ ticket })
      return ticket
    })
    this.#updates.tell({ state: 'search', party, search: this.#search })
  }

  #end(reason: string, error?: MatchmakingError): void {
    if (this.#updates.ended) return
    this.#updates.tell({ state: 'left', party: this.state, reason, ...(error && { error }) })
    this.#updates.end()
    this.#stop.abort()
  }
}
