import { expect, test } from "vitest";
import { Camera } from "./camera";
import { inSight, holds, type Rect } from "./view";

const all: Rect = { x: -100, y: 40, width: 1000, height: 300 };

function begun(size: { width: number; height: number }, bounds: Rect | null = all): Camera {
  const camera = new Camera(() => bounds);
  camera.size = size;
  camera.begin();
  return camera;
}

const shows = (camera: Camera, part: Rect) => holds(inSight(camera.view, camera.size), part);

test("everything is in sight first, also in a narrow room, as long as names can be read", () => {
  expect(shows(begun({ width: 1200, height: 600 }), all)).toBe(true);
  expect(shows(begun({ width: 390, height: 600 }), all)).toBe(true);
  // Seven tasks in a row, beside the palette and the form on a common screen.
  const row: Rect = { x: 0, y: 0, width: 7 * 224 + 6 * 48, height: 72 };
  expect(shows(begun({ width: 870, height: 848 }, row), row)).toBe(true);
  const wide: Rect = { ...all, width: 9000 };
  const camera = begun({ width: 390, height: 600 }, wide);
  expect(camera.view.zoom).toBeGreaterThan(0.5);
  expect(shows(camera, { ...wide, width: 400 })).toBe(true);
});

test("what was fitted is fitted again in another room", () => {
  const camera = begun({ width: 1200, height: 600 });
  camera.resized({ width: 600, height: 600 });
  expect(shows(camera, all)).toBe(true);
  camera.resized({ width: 0, height: 0 });
  camera.resized({ width: 1200, height: 600 });
  expect(shows(camera, all)).toBe(true);
  expect(camera.view).toEqual(begun({ width: 1200, height: 600 }).view);
});

test("a little less room moves nothing, and neither does more when somebody has moved the view", () => {
  const camera = begun({ width: 1200, height: 600 });
  const first = camera.view;
  camera.resized({ width: 1200, height: 550 });
  expect(camera.view).toBe(first);
  camera.viewed({ ...first, x: first.x + 30 });
  camera.resized({ width: 600, height: 600 });
  expect(camera.view).toEqual({ ...first, x: first.x + 30 });
});
