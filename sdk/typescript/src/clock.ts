/** Time. A game's tests may bring a clock of their own. */
export interface Clock {
  /** In milliseconds since 1970. */
  now(): number
  /** In milliseconds since any time; it never goes back. Without it, now() is asked. */
  steady?(): number
  setTimeout(f: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  setTimeout: (f, ms) => setTimeout(f, Math.min(ms, 2 ** 31 - 1)),
  clearTimeout: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
}

/** The time by which durations are told. */
export const steady = (clock: Clock): number => clock.steady?.() ?? clock.now()

/** A signal that follows others, and aborts when nothing moved for a time. */
export class Guard {
  readonly #controller = new AbortController()
  readonly #signals: AbortSignal[]
  #timer: unknown
  #due = Infinity
  /** Nothing moved. */
  late = false

  constructor(readonly clock: Clock, ms: number, ...signals: Array<AbortSignal | undefined>) {
    this.#signals = signals.filter((s): s is AbortSignal => s !== undefined)
    for (const s of this.#signals) {
      if (s.aborted) this.#abort()
      s.addEventListener('abort', this.#abort)
    }
    this.move(ms)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  readonly #abort = () => this.#controller.abort()

  /** Something moved, and must again in so many milliseconds. */
  move(ms: number): void {
    this.clock.clearTimeout(this.#timer)
    this.#timer = this.clock.setTimeout(() => {
      this.late = true
      this.#abort()
    }, Math.min(ms, this.#due - steady(this.clock)))
  }

  /** All must be over in so many milliseconds, whatever moves. */
  due(ms: number): void {
    this.#due = steady(this.clock) + ms
  }

  /** The value of a promise, or an error when the signal aborts first. */
  race<T>(promise: Promise<T>): Promise<T> {
    return race(promise, this.signal)
  }

  end(): void {
    this.clock.clearTimeout(this.#timer)
    for (const s of this.#signals) s.removeEventListener('abort', this.#abort)
  }
}

/** The value of a promise, or the signal's reason when that aborts first. */
export function race<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
