/** How many updates an iterator that does not read keeps; then the oldest go. */
const most = 64

/** What is told of something, one update after another, to any number of iterators. */
export class Updates<T> {
  #readers = new Set<(update: T | undefined) => void>()
  #ended = false

  constructor(public current: T) {}

  get ended(): boolean {
    return this.#ended
  }

  tell(update: T): void {
    if (this.#ended) return
    this.current = update
    for (const r of this.#readers) r(update)
  }

  /** Nothing more is told. */
  end(): void {
    this.#ended = true
    for (const r of this.#readers) r(undefined)
  }

  /** Begins with the update that is current. */
  iterate(): AsyncIterableIterator<T> {
    const queue = [this.current]
    let ended = this.#ended
    let notify = () => {}
    const reader = (update: T | undefined) => {
      if (update === undefined) ended = true
      else if (queue.push(update) > most) queue.shift()
      notify()
    }
    if (!ended) this.#readers.add(reader)
    const leave = () => {
      this.#readers.delete(reader)
      ended = true
      queue.length = 0
      notify()
    }
    return {
      [Symbol.asyncIterator]() {
        return this
      },
      async next(): Promise<IteratorResult<T>> {
        while (queue.length === 0 && !ended) await new Promise<void>((resolve) => (notify = resolve))
        const update = queue.shift()
        if (update !== undefined) return { done: false, value: update }
        leave()
        return { done: true, value: undefined }
      },
      async return(): Promise<IteratorResult<T>> {
        leave()
        return { done: true, value: undefined }
      },
    }
  }
}
