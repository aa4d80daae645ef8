/** Keeps a text over a crash of the game. */
export interface Storage {
  load(): string | null | Promise<string | null>
  /** null: there is nothing to keep any more. */
  save(text: string | null): void | Promise<void>
}

/** What localStorage and sessionStorage are. */
export interface Items {
  getItem(name: string): string | null
  setItem(name: string, value: string): void
  removeItem(name: string): void
}

/** The storage of a browser: localStorage, or sessionStorage for a search that belongs to its tab. */
export function browserStorage(name = 'matchmaker', of: Items = localStorage): Storage {
  return {
    load: () => of.getItem(name),
    save: (text) => (text === null ? of.removeItem(name) : of.setItem(name, text)),
  }
}

/** What is kept of a search: its ticket, or before that the Idempotency-Key of its create. */
export interface Saved {
  ticket?: string
  key?: string
}

/** Reads and writes what is kept. A storage that fails is no reason to end a search. */
export class Keeper {
  #saves = 0

  constructor(readonly storage: Storage | undefined) {}

  async load(): Promise<Saved> {
    try {
      const saved: unknown = JSON.parse((await this.storage?.load()) ?? '{}')
      return typeof saved === 'object' && saved !== null ? saved : {}
    } catch {
      return {}
    }
  }

  async save(saved: Saved | null): Promise<void> {
    this.#saves++
    try {
      await this.storage?.save(saved && JSON.stringify(saved))
    } catch {
      // It cannot be gone on with after a crash.
    }
  }

  /** Saves what follows from what was kept, unless another search has saved something since. */
  async replace(kept: Saved, saved: Saved | null): Promise<void> {
    const saves = this.#saves
    const now = await this.load()
    if (saves === this.#saves && now.ticket === kept.ticket && now.key === kept.key) await this.save(saved)
  }
}
