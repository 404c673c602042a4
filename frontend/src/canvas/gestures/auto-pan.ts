//! Near the border of the canvas, what is dragged moves the view along.

import type { Stage } from "../stage";

/** How near, and how far it moves in a frame at the most, in pixels of the screen. */
const [NEAR, MOST] = [36, 14];

/** Moves the view while the last point given is near the border; `moved` is called after each move. */
export function autoPan(stage: Stage, moved: () => void): { at: (event: PointerEvent) => void; stop: () => void } {
  let frame = 0;
  let speed = { x: 0, y: 0 };
  const step = () => {
    frame = 0;
    if (speed.x === 0 && speed.y === 0) return;
    stage.camera.panBy(speed.x, speed.y);
    moved();
    frame = requestAnimationFrame(step);
  };
  return {
    at(event) {
      const box = stage.root?.getBoundingClientRect();
      if (!box) return;
      speed = { x: pull(event.clientX - box.left, box.width), y: pull(event.clientY - box.top, box.height) };
      if (speed.x !== 0 || speed.y !== 0) frame ||= requestAnimationFrame(step);
    },
    stop() {
      cancelAnimationFrame(frame);
      frame = 0;
      speed = { x: 0, y: 0 };
    },
  };
}

function pull(at: number, room: number): number {
  if (at < NEAR) return MOST * Math.min(1, (NEAR - at) / NEAR);
  return at > room - NEAR ? -MOST * Math.min(1, (at - room + NEAR) / NEAR) : 0;
}
