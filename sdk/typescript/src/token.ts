import { Clock, Guard } from './clock.js'
import { MatchmakingError } from './errors.js'
import { printable } from './values.js'

/**
 * Gives the player's token. `first`: there was none before; `expiring`: the last one ends soon; `refused`: the service
 * did not take it, so do not give the same one again.
 */
export type TokenSource = (why: 'first' | 'expiring' | 'refused') => string | Promise<string>

/** For how long a token source may work, in milliseconds. */
const patience = 30_000

/** The claims of a JSON Web Token, without verifying it: that is the service's affair. */
export function claimsOf(token: string): Record<string, unknown> {
  try {
    const text = atob((token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/'))
    const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0))
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Keeps a token, and replaces it before it ends, when two thirds of its life have passed since it came. */
export class Tokens {
  #token = ''
  #due = Infinity
  #ends = Infinity
  #asking: Promise<string> | undefined
  #refused = false

  constructor(readonly source: TokenSource, readonly clock: Clock) {}

  /** The token that came last; empty if there was none. */
  get last(): string {
    return this.#token
  }

  /** A token that is good as far as is known. */
  get(): Promise<string> {
    if (this.#asking) return this.#asking
    const now = this.clock.now()
    if (this.#token !== '' && !this.#refused && now < this.#due) return Promise.resolve(this.#token)
    const why = this.#token === '' ? 'first' : this.#refused ? 'refused' : 'expiring'
    this.#asking = this.#ask(why).finally(() => (this.#asking = undefined))
    return this.#asking
  }

  /** The service refused a token. */
  refuse(token: string): void {
    if (token === this.#token) this.#refused = true
  }

  /** The service says that the token has ended, or soon does. */
  expire(): void {
    this.#due = 0
  }

  async #ask(why: 'first' | 'expiring' | 'refused'): Promise<string> {
    const guard = new Guard(this.clock, patience)
    try {
      const token = (await guard.race(Promise.resolve().then(() => this.source(why)))).trim()
      if (token === '' || !printable(token)) throw new Error(token === '' ? 'it is empty' : 'no header can have it')
      this.#keep(token)
    } catch (error) {
      const now = this.clock.now()
      if (why !== 'expiring' || now >= this.#ends) {
        throw new MatchmakingError('token', `no token: ${guard.late ? 'its source takes too long' : String(error)}`)
      }
      this.#due = now + (this.#ends - now) / 3 // the last one is good still; not again at each request
    } finally {
      guard.end()
    }
    return this.#token
  }

  #keep(token: string): void {
    const { iat, exp } = claimsOf(token)
    const now = this.clock.now()
    this.#token = token
    this.#refused = false
    this.#due = this.#ends = Infinity
    if (typeof exp !== 'number') return
    // Its own times say how long it lives: clocks of different hosts are not compared.
    const life = (typeof iat === 'number' ? exp - iat : exp - now / 1000) * 1000
    if (!(life > 0)) return
    this.#due = now + (life * 2) / 3
    this.#ends = now + life
  }
}
