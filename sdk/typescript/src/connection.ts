import type { ProblemDetails, Request } from './api.js'
import { Clock, Guard, systemClock } from './clock.js'
import { codeOf, ErrorDetails, MatchmakingError } from './errors.js'
import { segment } from './segment.js'
import { Tokens, TokenSource } from './token.js'
import { printable } from './values.js'

/** How the service is reached. */
export interface ConnectionOptions {
  /** Scheme, host, port, and a path if it is served below one: https://matchmaker.example */
  url: string
  project: string
  token: TokenSource
  /** The player for whom a game service acts. A player's token names its player itself. */
  player?: string
  /** By default the global one. */
  fetch?: typeof fetch
  /** For tests. */
  clock?: Clock
  /** A number from 0 to below 1, for tests. */
  random?: () => number
}

/**
 * In milliseconds: for how long nothing may come of an answer, how long all of it may take, and which Retry-After is waited
 * for at most.
 */
const stall = 60_000
const whole = 300_000
const maxWait = 60_000
/** How often a request is sent again, and how many bytes an answer may have. */
const maxTries = 5
const maxAnswer = 8 << 20
/** The clock is read so often. When it is much later than expected, the device slept. */
const tick = 10_000
const slept = 60_000

/** An attempt was ended, since the app went to the background or the device slept: it is made again. */
const interrupted = Symbol('interrupted')

/** An open stream of bytes. */
export interface Stream {
  reader: ReadableStreamDefaultReader<Uint8Array>
  guard: Guard
}

/** Sends requests, again where that is safe. */
export class Connection {
  readonly clock: Clock
  readonly random: () => number
  readonly tokens: Tokens
  readonly fetch: typeof fetch
  readonly #base: string
  readonly #player: string | undefined
  /** Aborts what is under way when the app goes to the background, comes back, or the device slept. */
  #epoch = new AbortController()
  #resumed: Promise<void> | undefined
  #resume = () => {}
  #followers = 0
  #timer: unknown

  constructor(o: ConnectionOptions) {
    const url = new URL(o.url)
    if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
      throw new TypeError('url must be like https://matchmaker.example')
    }
    if (/^\.{0,2}$/.test(o.project)) throw new TypeError('project is missing')
    this.#base = `${url.href.replace(/\/+$/, '')}/${segment(o.project)}/matchmaking/api/`
    this.clock = o.clock ?? systemClock
    this.random = o.random ?? Math.random
    this.tokens = new Tokens(o.token, this.clock)
    this.fetch = (input, init) => (o.fetch ?? fetch)(input, init)
    this.#player = o.player
  }

  /** The app goes to the background: requests that can be sent again end, and none begins. */
  suspend(): void {
    if (this.#resumed) return
    this.#resumed = new Promise((resolve) => (this.#resume = resolve))
    this.wake()
  }

  /** The app is back. */
  resume(): void {
    this.#resume()
    this.#resumed = undefined
    this.wake()
  }

  /** Whatever is awaited is asked for anew, at once. */
  wake(): void {
    this.#epoch.abort()
    this.#epoch = new AbortController()
  }

  /** Something is awaited until the function that it returns is called: meanwhile the clock is watched. */
  watch(): () => void {
    if (this.#followers++ === 0) this.#look()
    return () => {
      if (--this.#followers === 0) this.clock.clearTimeout(this.#timer)
    }
  }

  #look(): void {
    const expected = this.clock.now() + tick
    this.#timer = this.clock.setTimeout(() => {
      if (this.clock.now() - expected > slept) this.wake()
      this.#look()
    }, tick)
  }

  /** Waits, until the device wakes up at most. `enough` ends it, too. */
  async sleep(ms: number, signal: AbortSignal | undefined, enough?: AbortSignal): Promise<void> {
    const guard = new Guard(this.clock, ms, signal, enough, this.#epoch.signal)
    await guard.race(new Promise<never>(() => {})).catch(() => {})
    guard.end()
    signal?.throwIfAborted()
  }

  /** Before repetition number n. */
  backoff(n: number): number {
    return (2 ** n + n * (2 * this.random() - 1)) * 1000
  }

  /**
   * Sends a request until it is answered. `also` are statuses that are success, beside those from 200 to 299. After
   * `enough` it is not sent again, but the try under way is answered.
   */
  async send<T>(
    request: Request<T>,
    signal?: AbortSignal,
    o: { also?: number[]; enough?: AbortSignal | undefined } = {},
  ): Promise<T | undefined> {
    let refused = false
    let lost = false
    for (let tries = 0; ; ) {
      try {
        return await this.#attempt(request, signal, o.also ?? [])
      } catch (e) {
        if (e === interrupted) {
          lost = true
          continue
        }
        if (!(e instanceof MatchmakingError)) throw e
        if (e.missing && lost && request.method === 'DELETE') return undefined // the try before deleted it
        lost ||= e.code === 'offline' || e.status >= 500
        e.unanswered = lost
        if (e.status === 401 && !refused && request.path !== renewal) {
          refused = true
          continue // with another token
        }
        const wait = e.retryAfter ?? this.backoff(tries + 1)
        if (!again(e, request.repeatable) || ++tries > maxTries || wait > maxWait) throw e
        if (!o.enough?.aborted) await this.sleep(wait, signal, o.enough)
        if (o.enough?.aborted) throw e
      }
    }
  }

  /** Sends a request until it is answered with an object. */
  async ask<T>(request: Request<T>, signal?: AbortSignal, enough?: AbortSignal): Promise<T> {
    const answer = await this.send(request, signal, { enough })
    if (typeof answer !== 'object' || answer === null) throw notTheAPI(request)
    return answer
  }

  /**
   * Opens a stream of events. A first byte must come in so many milliseconds, else it is `unheard`. It is `woken` when
   * the app went to the background or the device slept. The caller ends the guard.
   */
  async open(
    request: Request<unknown>,
    signal: AbortSignal | undefined,
    first: number,
  ): Promise<Stream | 'unheard' | 'woken'> {
    await this.#awake(signal)
    const epoch = this.#epoch.signal
    const guard = new Guard(this.clock, first, signal, epoch)
    try {
      const response = await this.#fetched(request, guard, 'text/event-stream, application/problem+json')
      const kind = response.headers.get('Content-Type') ?? ''
      if (response.status === 200 && kind.startsWith('text/event-stream') && response.body) {
        return { reader: response.body.getReader(), guard }
      }
      guard.due(whole)
      throw problem(request, response, await read(response, guard), this.clock.now())
    } catch (e) {
      guard.end()
      signal?.throwIfAborted()
      if (epoch.aborted) return 'woken'
      if (guard.late) return 'unheard'
      throw e instanceof MatchmakingError ? e : new MatchmakingError('offline', `${name(request)}: ${String(e)}`)
    }
  }

  async #awake(signal: AbortSignal | undefined): Promise<void> {
    while (this.#resumed) {
      const wakes = this.#resumed
      await new Promise<void>((resolve, reject) => {
        const abort = () => reject(signal?.reason)
        signal?.addEventListener('abort', abort)
        wakes.then(resolve).finally(() => signal?.removeEventListener('abort', abort))
      })
    }
    signal?.throwIfAborted()
  }

  async #attempt<T>(request: Request<T>, signal: AbortSignal | undefined, also: number[]): Promise<T | undefined> {
    await this.#awake(signal)
    const epoch = request.repeatable ? this.#epoch.signal : undefined
    const guard = new Guard(this.clock, stall, signal, epoch)
    guard.due(whole)
    try {
      const response = await this.#fetched(request, guard, 'application/json, application/problem+json')
      const text = await read(response, guard)
      if (also.includes(response.status)) return undefined
      if (response.status < 200 || response.status > 299) throw problem(request, response, text, this.clock.now())
      if (text === '') return undefined
      if (!isJSON(response)) throw notTheAPI(request)
      try {
        return JSON.parse(text) as T
      } catch {
        throw notTheAPI(request)
      }
    } catch (e) {
      signal?.throwIfAborted()
      if (epoch?.aborted) throw interrupted
      if (e instanceof MatchmakingError) throw e
      throw new MatchmakingError('offline', `${name(request)}: ${guard.late ? 'nothing came for too long' : String(e)}`)
    } finally {
      guard.end()
    }
  }

  /** The answer to a request, as far as its headers. */
  async #fetched(request: Request<unknown>, guard: Guard, accept: string): Promise<Response> {
    // A game server's next token comes for the last one: the token's source may ask for it.
    const last = request.path === renewal ? this.tokens.last : ''
    const token = last || (await guard.race(this.tokens.get()))
    const headers: Record<string, string> = { Accept: accept, Authorization: `Bearer ${token}` }
    if (this.#player !== undefined) headers[actsFor] = ascii(this.#player)
    for (const [name, value] of Object.entries(request.headers)) {
      if (value !== undefined) headers[name] = name === actsFor ? ascii(value) : value
    }
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(request.query)) if (value !== undefined) query.set(name, String(value))
    const init: RequestInit = {
      method: request.method,
      headers,
      signal: guard.signal,
      redirect: 'manual', // followed, it would turn a POST into a GET
      cache: 'no-store',
      credentials: 'omit',
    }
    if (request.body !== undefined) {
      headers['Content-Type'] = 'application/json'
      init.body = JSON.stringify(request.body)
    }
    const address = this.#base + request.path + (String(query) && `?${query}`)
    const response = await guard.race(this.fetch(address, init))
    if (response.status === 401) this.tokens.refuse(token)
    return response
  }
}

/** The path of the request for a game server's next token, which no other token than the last one asks for. */
const renewal = 'v1/servers/token'

/** Whether a request that failed may be sent again. */
function again(e: MatchmakingError, repeatable: boolean): boolean {
  return e.status === 429 || (repeatable && (e.code === 'busy' || e.code === 'offline'))
}

/** The text of an answer, which may have so many bytes. */
export async function read(response: Response, guard: Guard, most = maxAnswer): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; ; ) {
    const { done, value } = await guard.race(reader.read())
    if (done) return text + decoder.decode()
    guard.move(stall)
    if ((bytes += value.length) > most) {
      void reader.cancel().catch(() => {})
      throw new MatchmakingError('unexpected', 'the answer is too large')
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** The header with a player's id. */
const actsFor = 'X-On-Behalf-Of'

/** A player's id as a header has it: RFC 8187 if it is not ASCII, or looks like that. */
function ascii(id: string): string {
  return !/^utf-8'/i.test(id) && printable(id) ? id : `UTF-8''${segment(id)}`
}

/** A request for messages: no query, which may name players. */
const name = (request: Request<unknown>) => `${request.method} /${request.path}`

function notTheAPI(request: Request<unknown>): MatchmakingError {
  return new MatchmakingError('unexpected', `${name(request)}: the answer is not the service's`)
}

function isJSON(response: Response): boolean {
  return /^application\/([a-z.-]+\+)?json\b/.test(response.headers.get('Content-Type') ?? '')
}

/** The error of an answer that is not success. A proxy may have written it, so no body is too odd. */
function problem(request: Request<unknown>, response: Response, text: string, now: number): MatchmakingError {
  const details: ErrorDetails = { status: response.status }
  let body: Partial<ProblemDetails> & { code?: string } = {}
  try {
    if (isJSON(response)) body = JSON.parse(text) ?? {}
  } catch {
    // Only its status is known.
  }
  if (typeof body.detail === 'string') details.detail = body.detail
  if (typeof body.code === 'string') details.problem = body.code
  details.correlationId = response.headers.get('X-Correlation-Id') ?? ''
  const wait = retryAfter(response.headers, now)
  if (wait !== undefined) details.retryAfter = wait
  return new MatchmakingError(
    codeOf(response.status),
    `${name(request)}: ${response.status}${details.detail ? `: ${details.detail}` : ''}`,
    details,
  )
}

/** Retry-After in milliseconds: seconds, or a date that counts from the answer's own, which pages may not see. */
function retryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get('Retry-After')?.trim() ?? ''
  const date = / GMT$/.test(value) ? Date.parse(value) : NaN // which takes much else for a date
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : date - (Date.parse(headers.get('Date') ?? '') || now)
  return ms > 0 ? ms : undefined
}
