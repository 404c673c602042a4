//! In place of the package d3-transition, which d3-zoom names and this canvas has no use for: views that glide are the
//! camera's own. It is 5 kB less that the editor waits for. `vite.config.ts` puts it there.

import { selection } from "d3-selection";

/** Nothing goes on that could be ended. */
export function interrupt(): void {
  return;
}

Object.assign(selection.prototype, {
  interrupt<Self>(this: Self): Self {
    return this;
  },
});
