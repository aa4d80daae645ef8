import * as api from './api.js'
import { Guard, race, steady } from './clock.js'
import { Connection, read } from './connection.js'

/** What was measured of a region. */
export interface Latency {
  region: string
  /** The median of the round trips in milliseconds; undefined when no probe was answered. */
  rtt: number | undefined
  /** How many probes were sent, and how many of them were not answered in time. */
  sent: number
  lost: number
  /** They prove the round trip to the service, one for each family of addresses. Only beacons give them. */
  receipts: string[]
}

export interface MeasureOptions {
  /** A text that changes with the network that the device is on, if the game knows it. */
  network?: string
  /** Measure, though the latencies of the network are known: the service refused a receipt, or the device roams. */
  anew?: boolean
  /** How often each region is asked, up to 20; 5 if it is not given. */
  probes?: number
  /** How long an answer may take, in milliseconds, up to 2,000; 1,000 if it is not given. */
  timeout?: number
  signal?: AbortSignal
}

/** A socket that is connected to a region. The core sets what takes datagrams. */
export interface Socket {
  send(datagram: Uint8Array): void
  receive: (datagram: Uint8Array) => void
  fail: (e: unknown) => void
  close(): void
}

/** Opens sockets to a host and port: one for each family of addresses. */
export type OpenUDP = (address: string) => Promise<Socket[]>

/** The round trip of a probe in milliseconds, and its receipt if there is one. */
interface Trip {
  rtt: number
  receipt?: string
}

type Probe = (guard: Guard) => Promise<Trip>

/** How many networks are remembered, how many regions a service has, and how many are measured at the same time. */
const networks = 8
const maxRegions = 64
const parallel = 4
const maxProbeAnswer = 4 << 10

const isObject = (of: unknown): of is Record<string, unknown> => typeof of === 'object' && of !== null

/** A region as it is told, of which only texts are believed. */
function region(of: Record<string, unknown>): api.Region {
  const texts = Object.entries(of).filter(([, value]) => typeof value === 'string')
  return { name: '', ...Object.fromEntries(texts) } as api.Region
}

/** Measures how far regions are, and keeps it as long as the service believes the receipts, less a half. */
export class Latencies {
  readonly #kept = new Map<string, { all: Promise<Latency[]>; until: number }>()

  constructor(readonly c: Connection, readonly udp: OpenUDP | undefined) {}

  /** The latencies. Calls share a measurement, which goes on when the signal of one aborts. */
  get(o: MeasureOptions): Promise<Latency[]> {
    const network = o.network ?? ''
    const known = this.#kept.get(network)
    const fresh = known && !o.anew && steady(this.c.clock) < known.until
    const { all } = fresh ? known : this.#begin(network, o)
    return o.signal ? race(all, o.signal) : all
  }

  #begin(network: string, o: MeasureOptions): { all: Promise<Latency[]> } {
    const measured = { all: this.#measure(o, (ms) => (measured.until = steady(this.c.clock) + ms)), until: Infinity }
    this.#kept.delete(network)
    this.#kept.set(network, measured)
    for (const oldest of this.#kept.keys()) if (this.#kept.size > networks) this.#kept.delete(oldest)
    measured.all.catch(() => this.#kept.get(network) === measured && this.#kept.delete(network))
    return measured
  }

  async #measure(o: MeasureOptions, keep: (ms: number) => void): Promise<Latency[]> {
    const { regions, receiptSeconds }: Record<string, unknown> = { ...(await this.c.ask(api.listRegions())) }
    const all: Latency[] = []
    const left = [...(Array.isArray(regions) ? regions : []).filter(isObject).slice(0, maxRegions).map(region).entries()]
    const work = async () => {
      for (let next; (next = left.shift()); ) all[next[0]] = await this.#region(next[1], o)
    }
    await Promise.all(Array.from({ length: parallel }, work))
    keep(typeof receiptSeconds === 'number' ? (receiptSeconds * 1000) / 2 : 0)
    return all
  }

  async #region(r: api.Region, o: MeasureOptions): Promise<Latency> {
    const l: Latency = { region: r.name, rtt: undefined, sent: 0, lost: 0, receipts: [] }
    const known = ['beacon', 'playfab', 'echo'].includes(r.protocol)
    const sockets = known && r.udp !== undefined && this.udp ? await this.udp(r.udp).catch(() => []) : []
    for (const socket of sockets) {
      await this.#trips(l, 1, udpProbe(socket, r.protocol, this.c.random), o)
      socket.close()
    }
    // The connection is made before the beacon takes the time.
    if (l.rtt === undefined && /^https?:/.test(r.url ?? '')) await this.#trips(l, 3, httpProbe(r.url ?? '', this.c.fetch), o)
    return l
  }

  /** Sends the probes of a source, one after another, and adds their median. */
  async #trips(l: Latency, patience: number, probe: Probe, o: MeasureOptions): Promise<void> {
    const trips: Trip[] = []
    for (const end = l.sent + Math.min(o.probes ?? 5, 20); l.sent < end; ) {
      l.sent++
      const patient = patience * Math.min(o.timeout ?? 1000, 2000)
      const guard = new Guard(this.c.clock, patient)
      guard.due(patient)
      try {
        trips.push(await guard.race(probe(guard)))
      } catch {
        l.lost++
      } finally {
        guard.end()
      }
    }
    const median = trips.sort((a, b) => a.rtt - b.rtt)[(trips.length - 1) >> 1]
    if (!median) return
    l.rtt = Math.min(l.rtt ?? Infinity, median.rtt)
    if (median.receipt !== undefined) l.receipts.push(median.receipt)
  }
}

/** A page has no datagrams: it asks a beacon twice on one connection, without headers that ask for leave before. */
function httpProbe(base: string, fetch: Connection['fetch']): Probe {
  const address = `${base.replace(/\/+$/, '')}/probe`
  return async (guard) => {
    const ask = async (query: string) => {
      const init: RequestInit = { signal: guard.signal, cache: 'no-store', credentials: 'omit', redirect: 'error' }
      const answer = await fetch(address + query, init)
      const body: unknown = JSON.parse(await read(answer, guard, maxProbeAnswer)) // to its end, so that the connection stays
      if (!answer.ok) throw new Error(`the beacon answered ${answer.status}`)
      return body as { echo: string; rtt?: unknown; receipt?: unknown }
    }
    const { echo } = await ask('')
    const { rtt, receipt } = await ask(`?echo=${encodeURIComponent(echo)}`)
    if (typeof rtt !== 'number' || typeof receipt !== 'string') throw new Error('the answer is not a beacon\'s')
    return { rtt, receipt }
  }
}

// The datagrams of beacons; the service's documentation of latencies has them.
const magic = [...'mmb\x01'].map((c) => c.charCodeAt(0))
const nonceAt = 8
const receiptAt = 24
const echoEnd = 48
const shortestGrant = 64
const rttAt = receiptAt + 10

function udpProbe(socket: Socket, protocol: api.Region['protocol'], random: () => number): Probe {
  const nonce = (length: number) => Uint8Array.from({ length }, () => random() * 256)
  const equal = (a: Uint8Array, b: Uint8Array, begin: number, end: number) =>
    a.length >= end && a.subarray(begin, end).every((byte, i) => byte === b[begin + i])
  /** The answer that belongs to a question. Others, which are late or forged, are left out. */
  const ask = (question: Uint8Array, isAnswer: (a: Uint8Array) => boolean) =>
    new Promise<Uint8Array>((resolve, reject) => {
      socket.receive = (a) => a.length <= question.length && isAnswer(a) && resolve(a)
      socket.fail = reject
      socket.send(question)
    })
  const beacon = async () => {
    const question = new Uint8Array(104)
    question.set(magic)
    question.set(nonce(receiptAt - nonceAt), nonceAt)
    const turn = (asks: number, shortest: number) => {
      question[magic.length] = asks
      return ask(question, (a) =>
        equal(a, question, 0, magic.length) && a[magic.length] === asks + 1 && equal(a, question, nonceAt, receiptAt) &&
        a.length >= shortest)
    }
    question.set((await turn(1, echoEnd)).subarray(receiptAt, echoEnd), receiptAt)
    const grant = await turn(3, shortestGrant)
    const rtt = new DataView(grant.buffer, grant.byteOffset).getUint32(rttAt) / 1000 // as the beacon measured it
    const receipt = btoa(String.fromCharCode(...grant.subarray(receiptAt)))
    return { rtt, receipt: receipt.replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '') }
  }
  const echo = async () => {
    const question = nonce(34)
    question.fill(protocol === 'playfab' ? 0xff : 0, 0, 2)
    const start = performance.now()
    await ask(question, (a) =>
      a.length === question.length && a[0] === 0 && a[1] === 0 && equal(a, question, 2, question.length))
    return { rtt: performance.now() - start }
  }
  return protocol === 'beacon' ? beacon : echo
}
