//! Nodes glide to where a layout puts them, unless somebody wants less motion: the eye can follow.

import type { Stage } from "./stage";

const MILLISECONDS = 260;

/** Above this many nodes in sight nothing glides: it could not be smooth. */
const MOST = 120;

/** Makes a change; nodes that it moves, and have elements, get there by a transition. */
export function glide(stage: Stage, change: () => void): void {
  const still = stage.far || stage.mounts.nodes.length > MOST || matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (still || !stage.root) {
    change();
    return;
  }
  const { root } = stage;
  root.dataset["gliding"] = "";
  change();
  setTimeout(() => { delete root.dataset["gliding"]; }, MILLISECONDS);
}
