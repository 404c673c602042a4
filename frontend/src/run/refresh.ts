// Keeps parts of a page as the server renders them now. Something that happened is only a reason to ask again, so
// there is one place where each thing is rendered, and one way to be up to date.

import { morph } from "./morph";

/** The shortest time between two questions, in milliseconds. */
const PAUSE = 1000;
/** A page that takes long to make is asked for less often: it is made this part of the time at most. */
const PART = 1 / 5;
/** What says when something may start is made anew this often, in milliseconds, also when nothing happens. */
const ESTIMATED = 60_000;

/** Asks again for this page when it is told to, never more often than once a second. */
export class Refresher {
  readonly #take: (fresh: Document) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #next = 0;
  #busy = false;
  #again = false;

  /** `take` gets each new rendering of the page. */
  constructor(take: (fresh: Document) => void) {
    this.#take = take;
    setInterval(() => { if (document.querySelector("[data-estimate]") !== null) this.soon(); }, ESTIMATED);
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible" && this.#again) this.soon();
    });
  }

  /** The page may be out of date. */
  soon(): void {
    this.#again = true;
    if (this.#timer !== undefined || this.#busy || document.visibilityState === "hidden") return;
    const wait = Math.max(100, this.#next - performance.now());
    this.#timer = setTimeout(() => void this.#ask(), wait);
  }

  async #ask(): Promise<void> {
    this.#timer = undefined;
    const begin = performance.now();
    this.#again = false;
    this.#busy = true;
    try {
      const response = await fetch(location.href, { headers: { accept: "text/html" } });
      if (response.ok && !response.redirected) {
        this.#take(new DOMParser().parseFromString(await response.text(), "text/html"));
      }
    } catch {
      // The server is away. The stream of events says so to the reader, and calls again when it is back.
    }
    this.#busy = false;
    const end = performance.now();
    this.#next = Math.max(begin + PAUSE, end + (end - begin) / PART);
    // It may have been told so while it waited, which the compiler cannot see.
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition
    if (this.#again) this.soon();
  }
}

/** Brings the parts with these ids up to date; what is not in the new page stays as it is. */
export function takeParts(fresh: Document, ids: readonly string[]): void {
  for (const id of ids) {
    const [old, now] = [document.getElementById(id), fresh.getElementById(id)];
    if (old !== null && now !== null) morph(old, now);
  }
}
