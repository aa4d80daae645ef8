import type { CreateTicket } from './api.js'
import type { Latency } from './latencies.js'

/** What a ticket, or a member of a party, is asked for with. */
export interface Values {
  /** Numbers that pools and rules query. */
  attributes?: Record<string, number>
  /** Values for the match function, in any JSON. */
  values?: Record<string, unknown>
  /** Bytes for the match function, as Base64 with padding. */
  properties?: Record<string, string>
  /** The player's latencies to regions in milliseconds: measured ones, or what measures them now. */
  latencies?: Record<string, number> | (() => Record<string, number> | Promise<Record<string, number>>)
  /** Latencies with receipts, which the service believes where the project wants it: `() => matchmaker.measure()`. */
  receipts?: Latency[] | (() => Latency[] | Promise<Latency[]>)
}

/** A header can have the text, which is ASCII. */
export const printable = (text: string) => /^[ -~]*$/.test(text)

/** The bytes of a text as Base64. */
export function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (b) => String.fromCharCode(b)).join(''))
}

/** What requests have of it. Latencies are the property `latency`, as rules expect them. */
export async function carried(v: Values): Promise<Pick<CreateTicket, 'attributes' | 'properties' | 'receipts'>> {
  const latency = typeof v.latencies === 'function' ? await v.latencies() : v.latencies
  const measured = typeof v.receipts === 'function' ? await v.receipts() : v.receipts
  const values = latency === undefined ? { ...v.values } : { latency, ...v.values }
  const properties = { ...v.properties }
  for (const [name, value] of Object.entries(values)) properties[name] = base64(JSON.stringify(value))
  return {
    ...(v.attributes && { attributes: v.attributes }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(measured && { receipts: measured.flatMap((l) => l.receipts) }),
  }
}
