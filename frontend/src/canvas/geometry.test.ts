import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { pointAt } from "../graph/line";
import { curveOf, distanceTo } from "./curve";
import { Grid } from "./grid";
import { detailOf, covered, isCovered } from "./lod";
import { snap } from "./snap";
import { between, fitted, holds, inSight, revealed, touches, type Rect } from "./view";

const rect = fc.record({
  x: fc.integer({ min: -6000, max: 6000 }),
  y: fc.integer({ min: -6000, max: 6000 }),
  width: fc.integer({ min: 1, max: 2000 }),
  height: fc.integer({ min: 1, max: 2000 }),
});

describe("the index by place", () => {
  it("finds what a look at every box finds, also after moves and removals", () => {
    fc.assert(fc.property(fc.array(rect, { maxLength: 40 }), fc.array(rect, { maxLength: 40 }), rect, (before, after, wanted) => {
      const grid = new Grid<Rect & { x: number; y: number }>();
      const items = before.map((one) => ({ ...one }));
      for (const item of items) grid.add(item);
      items.forEach((item, index) => {
        const to = after[index];
        if (!to) return;
        Object.assign(item, to);
        grid.moved(item);
      });
      const left = items.slice(3);
      for (const gone of items.slice(0, 3)) grid.remove(gone);
      expect(grid.within(wanted)).toEqual(new Set(left.filter((item) => touches(item, wanted))));
      const at = grid.at(wanted.x, wanted.y);
      expect(at !== undefined).toBe(left.some((item) => touches(item, { x: wanted.x, y: wanted.y, width: 0, height: 0 })));
    }));
  });
});

describe("the view", () => {
  const size = { width: 1000, height: 600 };

  it("goes from one to another, and what is at one place in both stays there", () => {
    const at = fc.integer({ min: -2000, max: 2000 });
    const zoom = fc.double({ min: 0.1, max: 2, noNaN: true });
    fc.assert(fc.property(at, at, zoom, zoom, fc.double({ min: 0, max: 1, noNaN: true }), (x, y, first, second, part) => {
      // Both show the point 7, 9 of the drawing at x, y.
      const [from, to] = [first, second].map((zoom) => ({ zoom, x: x - 7 * zoom, y: y - 9 * zoom }));
      if (!from || !to) return;
      expect(between(from, to, 0)).toEqual(from);
      const way = between(from, to, part);
      expect(way.x + 7 * way.zoom).toBeCloseTo(x, 6);
      expect(way.y + 9 * way.zoom).toBeCloseTo(y, 6);
      expect(way.zoom).toBeGreaterThanOrEqual(Math.min(first, second) - 1e-9);
      expect(way.zoom).toBeLessThanOrEqual(Math.max(first, second) + 1e-9);
    }));
    expect(between({ x: 0, y: 0, zoom: 1 }, { x: 100, y: -40, zoom: 1 }, 0.25)).toEqual({ x: 25, y: -10, zoom: 1 });
  });

  it("fits a part into sight, whole and in the middle", () => {
    fc.assert(fc.property(rect, (part) => {
      const seen = inSight(fitted(part, size), size);
      expect(holds({ x: seen.x - 1, y: seen.y - 1, width: seen.width + 2, height: seen.height + 2 }, part)).toBe(true);
      expect(seen.x + seen.width / 2).toBeCloseTo(part.x + part.width / 2, 3);
    }));
  });

  it("moves as little as needed: not at all for what is in sight", () => {
    const view = { x: 0, y: 0, zoom: 1 };
    expect(revealed(view, { x: 100, y: 100, width: 200, height: 70 }, size)).toEqual(view);
    expect(revealed(view, { x: 1100, y: 100, width: 200, height: 70 }, size)).toEqual({ x: -340, y: 0, zoom: 1 });
    expect(revealed(view, { x: 100, y: -50, width: 200, height: 70 }, size)).toEqual({ x: 0, y: 90, zoom: 1 });
  });

  it("covers what is in sight with a margin, and tells when that is used up", () => {
    const view = { x: 0, y: 0, zoom: 1 };
    const part = covered(view, size);
    expect(isCovered(part, { ...view, x: 60 }, size)).toBe(true);
    expect(isCovered(part, { ...view, x: 400 }, size)).toBe(false);
  });
});

describe("how much is shown", () => {
  it("keeps its mind between two scales, and gives up elements where there are too many", () => {
    expect(detailOf("near", 0.42, 10)).toBe("near");
    expect(detailOf("far", 0.42, 10)).toBe("far");
    expect(detailOf("near", 0.39, 10)).toBe("far");
    expect(detailOf("far", 0.5, 10)).toBe("near");
    expect(detailOf("near", 1, 1000)).toBe("far");
  });
});

describe("snapping", () => {
  const other = { x: 100, y: 300, width: 200, height: 80 };

  it("draws a box into line with a near one, and shows the line over both", () => {
    const { x, y, lines } = snap({ x: 103, y: 27, width: 200, height: 80 }, [other], 1);
    expect([x, y]).toEqual([100, 24]);
    expect(lines).toContainEqual({ axis: "x", at: 100, from: 24, to: 380 });
    expect(lines).toHaveLength(3);
  });

  it("takes the grid when nothing is near", () => {
    expect(snap({ x: 517, y: 29, width: 40, height: 40 }, [other], 1)).toEqual({ x: 520, y: 32, lines: [] });
  });

  it("pulls from farther when everything is small", () => {
    expect(snap({ x: 117, y: 1000, width: 200, height: 80 }, [other], 1).x).toBe(120);
    expect(snap({ x: 117, y: 1000, width: 200, height: 80 }, [other], 0.2).x).toBe(100);
  });
});

describe("the line of an edge", () => {
  it("begins and ends at its ports; its own points are on it", () => {
    fc.assert(fc.property(rect, fc.constantFrom("right" as const, "down" as const), fc.double({ min: 0, max: 1, noNaN: true }), ({ x, y, width, height }, direction, at) => {
      const curve = curveOf([x, y], [x + width, y - height], direction);
      expect(curve.slice(0, 2)).toEqual([x, y]);
      expect(curve.slice(6)).toEqual([x + width, y - height]);
      const [onX, onY] = pointAt(curve, at);
      // The distance is measured to straight segments.
      expect(distanceTo([curve], onX, onY)).toBeLessThan(12);
    }));
  });
});
