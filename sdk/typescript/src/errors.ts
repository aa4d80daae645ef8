import { playerMessages } from './api.js'

/**
 * What went wrong, for a game to act on. The set is closed.
 *
 * - `offline`: no answer came, and the tries are used up.
 * - `busy`: there are too many requests or too few servers, and the tries are used up. `retryAfter` may say more.
 * - `token`: there is no token, or the service refused a new one.
 * - `forbidden`, `not_found`, `conflict`: as the service says in `detail`; `problem` tells conflicts apart.
 * - `invalid`: the game asks for what cannot be.
 * - `unexpected`: what came is not the service's answer, or the service failed.
 * - `ended`: the search ended without a match; `reason` is the service's.
 * - `failed`: the match has an error instead of a connection, which is in `detail`.
 * - `cancelled`: the game cancelled the search.
 * - `timeout`: the search took longer than the game allows.
 * - `aborted`: the game's signal ended the waiting. The ticket, if there is one, waits on.
 */
export type ErrorCode =
  | 'offline'
  | 'busy'
  | 'token'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'invalid'
  | 'unexpected'
  | 'ended'
  | 'failed'
  | 'cancelled'
  | 'timeout'
  | 'aborted'

/** What players are told. */
const messages: Record<ErrorCode, string> = {
  offline: 'The service cannot be reached. Please check your connection and try again.',
  busy: 'Many players are here right now. Please try again in a moment.',
  token: 'Please sign in again.',
  forbidden: 'You cannot do this.',
  not_found: 'This is not there any more.',
  conflict: 'This is not possible right now.',
  invalid: 'Something went wrong.',
  unexpected: 'Something went wrong. Please try again later.',
  ended: 'The search has ended. Please search again.',
  failed: 'No match could be made. Please search again.',
  cancelled: 'The search was cancelled.',
  timeout: 'No match was found in time. Please search again.',
  aborted: 'The search goes on in the background.',
}

const reasons: Record<string, string> = {
  declined: 'You declined the match.',
  silent: 'You did not accept the match in time.',
  unserved: 'This game mode is not available right now.',
}

export interface ErrorDetails {
  status?: number
  detail?: string
  problem?: string
  reason?: string
  /** In milliseconds. */
  retryAfter?: number
  correlationId?: string
  /** A try may have been carried out, and no answer said so. */
  unanswered?: boolean
}

/** Why something failed. Its message is for developers, `playerMessage` is what the player may be told. */
export class MatchmakingError extends Error {
  override readonly name = 'MatchmakingError'
  /** The HTTP status, 0 when there was no answer. */
  readonly status: number
  /** The service's text for developers. */
  readonly detail: string
  /** The service's own code of the problem, which is finer than `code`; empty if it has none. */
  readonly problem: string
  /** Why a search ended, or the player left a party, in the service's words. */
  readonly reason: string
  /** In how many milliseconds to try again, if that is known. */
  readonly retryAfter: number | undefined
  /** It finds the request in the service's logs. */
  readonly correlationId: string
  unanswered: boolean

  constructor(readonly code: ErrorCode, message: string, o: ErrorDetails = {}) {
    super(message)
    this.status = o.status ?? 0
    this.detail = o.detail ?? ''
    this.problem = o.problem ?? ''
    this.reason = o.reason ?? ''
    this.retryAfter = o.retryAfter
    this.correlationId = o.correlationId ?? ''
    this.unanswered = o.unanswered ?? false
  }

  /** The service has no such thing, or no longer; a 404 of something in between does not say that. */
  get missing(): boolean {
    return this.status === 404 && this.problem !== '' && this.problem !== 'notFound'
  }

  get playerMessage(): string {
    return playerMessages[this.problem] ?? ((this.code === 'ended' && reasons[this.reason]) || messages[this.code])
  }
}

/** The code of a status that is not success. */
export function codeOf(status: number): ErrorCode {
  switch (status) {
    case 401:
      return 'token'
    case 403:
      return 'forbidden'
    case 404:
      return 'not_found'
    case 409:
    case 412:
      return 'conflict'
    case 429:
    case 502:
    case 503:
    case 504:
      return 'busy'
  }
  return status >= 400 && status < 500 ? 'invalid' : 'unexpected'
}
