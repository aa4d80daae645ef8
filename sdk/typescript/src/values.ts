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
}

/** The bytes of a text as Base64. */
export function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (b) => String.fromCharCode(b)).join(''))
}

/** What requests have of it. Latencies are the property `latency`, as rules expect them. */
export async function carried(v: Values): Promise<Pick<Values, 'attributes' | 'properties'>> {
  const latency = typeof v.latencies === 'function' ? await v.latencies() : v.latencies
  const values = latency === undefined ? { ...v.values } : { latency, ...v.values }
  const properties = { ...v.properties }
  for (const [name, value] of Object.entries(values)) properties[name] = base64(JSON.stringify(value))
  return {
    ...(v.attributes && { attributes: v.attributes }),
    ...(Object.keys(properties).length > 0 && { properties }),
  }
}
