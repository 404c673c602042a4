//! Routes the edges of a large scene in small batches while the browser is idle, so that the page stays
//! responsive.

import type { Routes } from "./routes";

/** Edges per batch: about a millisecond. */
const EDGES = 60;

/** The minimum remaining idle time for another batch, in milliseconds. */
const ENOUGH = 3;

/** The delay in milliseconds for browsers without idle callbacks. */
const SOON = 30;

/** The routing of one scene. */
export class Routing {
  readonly #routes: Routes;
  readonly #done: () => void;
  #handle = 0;

  /** `done` is called when the last edge has its route. */
  constructor(routes: Routes, done: () => void) {
    this.#routes = routes;
    this.#done = done;
  }

  /** Continues until all are routed. */
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
