/** An event that a webhook gets: a CloudEvent. It may come twice: ignore one whose id you have seen. */
export interface WebhookEvent {
  id: string
  /** /PROJECT/matchmaking. */
  source: string
  /** dev.matchmaker. and the kind. */
  type: string
  /** The match, or the first ticket. */
  subject?: string
  time: string
  /** As GET /events has it. */
  data: { id: string; kind: string; match?: string; [member: string]: unknown }
}

/** Why a request is not believed: answer 401. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

/** What a receiver accepts: the most bytes of a request, and how many seconds its time may be from the receiver's. */
const mostBytes = 1 << 20
const slack = 5 * 60

/** Takes as long for any two texts of the same length. */
function equal(a: string, b: string): boolean {
  let differs = a.length ^ b.length
  for (let i = 0; i < b.length; i++) differs |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return differs === 0
}

/**
 * Returns the event of a webhook's request if one of the secrets (whsec_…) signed it in the last five minutes. The body
 * is as it came, before it is parsed. Headers are those of fetch, or of Node's requests. It needs WebCrypto: Node 20.
 */
export async function verifyWebhook(
  headers: { get(name: string): string | null } | Record<string, string | string[] | undefined>,
  body: string | Uint8Array,
  secrets: string | readonly string[],
  now = new Date(),
): Promise<WebhookEvent> {
  const [id, at, signatures] = ['id', 'timestamp', 'signature'].map((name) => {
    const full = `webhook-${name}`
    return String((typeof headers.get === 'function' ? headers.get(full) : (headers as Record<string, unknown>)[full]) ?? '')
  }) as [string, string, string]
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  if (bytes.length > mostBytes) throw new WebhookError(`it has more than ${mostBytes} bytes`)
  if (!/^\d+$/.test(at) || !(Math.abs(now.getTime() / 1000 - Number(at)) <= slack)) {
    throw new WebhookError('webhook-timestamp is not the time')
  }
  const head = new TextEncoder().encode(`${id}.${at}.`)
  const content = new Uint8Array(head.length + bytes.length)
  content.set(head)
  content.set(bytes, head.length)
  for (const secret of [secrets].flat()) {
    const key = keyOf(secret)
    if (!key?.length) continue // anybody could sign with no key
    const hmac = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    const mac = new Uint8Array(await crypto.subtle.sign('HMAC', hmac, content))
    const want = `v1,${btoa(String.fromCharCode(...mac))}`
    if (signatures.split(/\s+/).some((one) => equal(one, want))) return parsed(bytes)
  }
  throw new WebhookError('webhook-signature is not of its secret')
}

function parsed(bytes: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw new WebhookError('it is no JSON')
  }
}

function keyOf(secret: string) {
  try {
    return Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (c) => c.charCodeAt(0))
  } catch {
    return undefined // no Base64
  }
}
