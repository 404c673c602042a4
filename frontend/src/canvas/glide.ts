//! Animates nodes to their new layout positions, unless the user prefers reduced motion.

import type { Stage } from "./stage";

const MILLISECONDS = 260;

/** With more visible nodes than this there is no animation: it would not be smooth. */
const MOST = 120;

/** Applies a change; nodes with elements that it moves are animated by a transition. */
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
