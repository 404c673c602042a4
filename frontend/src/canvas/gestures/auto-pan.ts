//! Pans the view while something is dragged near the border of the canvas.

import type { Stage } from "../stage";

/** The distance from the border, and the maximum pan per frame, in screen pixels. */
const [NEAR, MOST] = [36, 14];

/** Pans while the last pointer position is near the border; `moved` is called after each pan. */
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
