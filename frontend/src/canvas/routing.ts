//! Lets a large scene's edges find their ways a little at a time, while the browser has nothing else to do: it can be
//! worked with meanwhile.

import type { Routes } from "./routes";

/** How many edges find their ways in one go: about a millisecond. */
const EDGES = 60;

/** What is left of a frame that is worth another go, in milliseconds. */
const ENOUGH = 3;

/** Browsers that cannot tell when they are idle get on with it after so many milliseconds. */
const SOON = 30;

/** The search for the ways of one scene. */
export class Routing {
  readonly #routes: Routes;
  readonly #done: () => void;
  #handle = 0;

  /** `done` is called when the last edge has its way. */
  constructor(routes: Routes, done: () => void) {
    this.#routes = routes;
    this.#done = done;
  }

  /** Goes on until all is known. */
  begin(): void {
    this.stop();
    if (!this.#routes.done) this.#handle = whenIdle((left) => { this.#go(left); });
  }

  stop(): void {
    if ("cancelIdleCallback" in window) cancelIdleCallback(this.#handle);
    else clearTimeout(this.#handle);
  }

  #go(left: () => number): void {
    do this.#routes.step(EDGES);
    while (!this.#routes.done && left() > ENOUGH);
    if (this.#routes.done) this.#done();
    else this.begin();
  }
}

function whenIdle(call: (left: () => number) => void): number {
  if ("requestIdleCallback" in window) return requestIdleCallback((deadline) => { call(() => deadline.timeRemaining()); });
  return (window as Window).setTimeout(() => { call(() => 0); }, SOON);
}
