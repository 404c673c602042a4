//! Requests that an ended session refuses are repeated once the user has signed in again.

/** Signing in again, for all requests of a page. */
export class SignIns {
  readonly #ask: () => Promise<boolean>;
  #asking: Promise<boolean> | null = null;
  #count = 0;
  #declined = false;

  /** `ask` lets the user sign in; it resolves to false if they decline. */
  constructor(ask: () => Promise<boolean>) {
    this.#ask = ask;
  }

  /** Whether the user declined the last time. Background work does not ask again then. */
  get declined(): boolean {
    return this.#declined;
  }

  /** Performs a request, and repeats it if the session had ended and the user has signed in again. */
  async attempt<T>(work: () => Promise<T>, hasEnded: (result: T) => boolean): Promise<T> {
    for (;;) {
      const before = this.#count;
      const result = await work();
      if (!hasEnded(result)) return result;
      // The user may have signed in while this request was in flight.
      if (before === this.#count && !(await this.#again())) return result;
    }
  }

  /** Asks once for all requests that wait. */
  #again(): Promise<boolean> {
    this.#asking ??= this.#askOnce();
    return this.#asking;
  }

  async #askOnce(): Promise<boolean> {
    try {
      const done = await this.#ask();
      this.#declined = !done;
      if (done) this.#count += 1;
      return done;
    } finally {
      this.#asking = null;
    }
  }
}
