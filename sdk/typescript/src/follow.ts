import type { Request } from './api.js'
import { steady } from './clock.js'
import type { Connection, Stream } from './connection.js'
import { MatchmakingError } from './errors.js'
import { printable } from './values.js'

/** Something that is followed until it ends. */
export interface Followed {
  /** The request for its events, behind the last one that is known. */
  events(last: string | undefined): Request<unknown>
  /** Takes an event of the stream, and returns whether it was the last one. */
  take(event: string, data: Record<string, unknown>): boolean
  /** Asks with a held request, and returns whether it has ended. */
  poll(prefer: string, signal: AbortSignal): Promise<boolean>
}

// In milliseconds. A stream whose first byte does not come is kept back by a proxy. One that was silent for so long is
// broken: the service sends something every 15 seconds. Clients come back after about `retry`.
const first = 10_000
const silence = 50_000
const retry = 3000
const maxRetry = 120_000
/** How often a stream that cannot be opened is tried, and how many bytes an event may have. */
const maxTries = 5
const maxEvent = 1 << 20

// In milliseconds. A held request is answered after `hold` at the latest. A service that does not hold requests is
// asked after `soon`, then twice as long each time up to `late`.
const hold = 10_000
const soon = 500
const late = 5000

/** The stream says nothing that can be used: go on with held requests. */
class NoStream extends Error {}

/** Tells of something until it ends, over connections that come and go. */
export async function follow(c: Connection, of: Followed, signal: AbortSignal): Promise<void> {
  const end = c.watch()
  try {
    await streams(c, of, signal)
  } catch (e) {
    if (!(e instanceof NoStream)) throw e
    await polls(c, of, signal)
  } finally {
    end()
  }
}

async function streams(c: Connection, of: Followed, signal: AbortSignal): Promise<void> {
  const events = new Events(c, of)
  for (let failures = 0, refused = false, silent = 0; ; ) {
    events.retry = retry * (0.5 + c.random())
    let stream: Stream | 'unheard' | 'woken'
    try {
      stream = await c.open(of.events(events.last), signal, first)
    } catch (e) {
      if (!(e instanceof MatchmakingError)) throw e
      if (e.status === 401 && !refused) {
        refused = true
        continue // with another token
      }
      if (e.code === 'token' || e.code === 'forbidden') throw e
      const passes = e.code === 'offline' || (e.code === 'busy' && e.status !== 429)
      if (!passes) throw new NoStream() // it is full, or an older service; or what is followed is gone
      if (++failures > maxTries) throw e
      await c.sleep(Math.min(e.retryAfter ?? c.backoff(failures), maxRetry), signal)
      continue
    }
    if (stream === 'woken') continue
    if (stream === 'unheard') throw new NoStream()
    failures = 0
    refused = false
    const end = await events.read(stream, signal)
    if (end === 'last') return
    silent = end === 'silent' ? silent + 1 : 0
    if (end === 'unheard' || silent > 1) throw new NoStream()
    if (end !== 'woken') await c.sleep(events.retry, signal)
  }
}

/** What the streams of one thing have told. */
class Events {
  last: string | undefined
  retry = retry

  constructor(readonly c: Connection, readonly of: Followed) {}

  /**
   * Reads events until the stream ends, and returns why: the `last` one came, it was `cut`, it was `silent` for too
   * long, it was `unheard` from its beginning, or the app went to the background and `woken`.
   */
  async read(stream: Stream, signal: AbortSignal): Promise<'last' | 'cut' | 'silent' | 'unheard' | 'woken'> {
    const { reader, guard } = stream
    const decoder = new TextDecoder()
    let text = ''
    let heard = false
    try {
      for (;;) {
        const { done, value } = await guard.race(reader.read())
        if (done) return 'cut'
        heard = true
        guard.move(silence)
        text += decoder.decode(value, { stream: true })
        if (text.length > maxEvent) throw new MatchmakingError('unexpected', 'an event of the stream is too large')
        const events = text.split(/\r?\n\r?\n/)
        text = events.pop() ?? ''
        for (const event of events) {
          const end = this.#take(event)
          if (end) return end
        }
      }
    } catch (e) {
      signal.throwIfAborted()
      if (e instanceof MatchmakingError) throw e
      if (guard.late) return heard ? 'silent' : 'unheard'
      return guard.signal.aborted ? 'woken' : 'cut'
    } finally {
      guard.end()
      void reader.cancel().catch(() => {})
    }
  }

  #take(text: string): 'last' | 'cut' | undefined {
    let event = ''
    let data = ''
    for (const line of text.split(/\r?\n/)) {
      const [, name, value = ''] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [] // U+2028 ends no line
      if (name === 'event') event = value
      else if (name === 'data') data += (data && '\n') + value
      else if (name === 'id' && printable(value)) this.last = value
      else if (name === 'retry' && /^[1-9]\d{0,8}$/.test(value)) this.retry = Math.min(Number(value), maxRetry)
    }
    if (data === '') return undefined
    const object = parsed(data)
    if (!object) return undefined
    if (event === 'reconnect') {
      if (object['reason'] === 'token') this.c.tokens.expire()
      return 'cut'
    }
    return this.of.take(event, object) ? 'last' : undefined
  }
}

/** The data of an event, undefined if it is none that this version knows. */
function parsed(data: string): Record<string, unknown> | undefined {
  try {
    const object: unknown = JSON.parse(data)
    return typeof object === 'object' && object !== null ? (object as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

async function polls(c: Connection, of: Followed, signal: AbortSignal): Promise<void> {
  for (let interval = soon; ; ) {
    const asked = steady(c.clock)
    if (await of.poll(`wait=${hold / 1000}`, signal)) return
    const held = steady(c.clock) - asked
    if (held >= interval) {
      interval = soon
      continue
    }
    await c.sleep((interval - held) * (0.8 + 0.4 * c.random()), signal) // clients that began together do not stay so
    interval = Math.min(2 * interval, late)
  }
}
