//! Replaces the package d3-transition, which d3-zoom imports and this canvas does not use: the camera
//! animates views itself. It saves 5 kB of initial load. `vite.config.ts` sets the alias.

import { selection } from "d3-selection";

/** There is no transition to interrupt. */
export function interrupt(): void {
  return;
}

Object.assign(selection.prototype, {
  interrupt<Self>(this: Self): Self {
    return this;
  },
});
