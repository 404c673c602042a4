//! A spatial index of boxes: by rectangle and by point. A box is in every cell that it touches.

import { touches, type Rect } from "./view";

const CELL = 512;
// A cell's key is one integer: rows and columns from -32768 to 32767.
const HALF = 32_768;

interface Cells {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Boxes by position. Call `moved` after moving a box. */
export class Grid<T extends Rect> {
  readonly #cells = new Map<number, Set<T>>();
  readonly #where = new Map<T, Cells>();

  get size(): number {
    return this.#where.size;
  }

  add(item: T): void {
    const cells = cellsOf(item);
    this.#where.set(item, cells);
    each(cells, (cell) => {
      const inside = this.#cells.get(cell);
      if (inside) inside.add(item);
      else this.#cells.set(cell, new Set([item]));
    });
  }

  remove(item: T): void {
    const cells = this.#where.get(item);
    if (!cells) return;
    this.#where.delete(item);
    each(cells, (cell) => {
      const inside = this.#cells.get(cell);
      inside?.delete(item);
      if (inside?.size === 0) this.#cells.delete(cell);
    });
  }

  /** Updates an item's position. */
  moved(item: T): void {
    const [before, now] = [this.#where.get(item), cellsOf(item)];
    if (before && same(before, now)) return;
    this.remove(item);
    this.add(item);
  }

  /** How many items touch a rectangle. */
  count(rect: Rect): number {
    if (!this.#isMost(cellsOf(rect))) return this.within(rect).size;
    let count = 0;
    for (const item of this.#where.keys()) if (touches(item, rect)) count += 1;
    return count;
  }

  /** Every item that touches a rectangle. */
  within(rect: Rect): Set<T> {
    const found = new Set<T>();
    const wanted = cellsOf(rect);
    if (this.#isMost(wanted)) {
      for (const item of this.#where.keys()) if (touches(item, rect)) found.add(item);
      return found;
    }
    each(wanted, (cell) => {
      for (const item of this.#cells.get(cell) ?? []) if (touches(item, rect)) found.add(item);
    });
    return found;
  }

  // For a rectangle of very many cells, testing every item is cheaper.
  #isMost({ left, top, right, bottom }: Cells): boolean {
    return (right - left + 1) * (bottom - top + 1) > this.#where.size;
  }

  /** The most recently added item at a point. */
  at(x: number, y: number): T | undefined {
    let found: T | undefined;
    for (const item of this.#cells.get(numberOf(Math.floor(x / CELL), Math.floor(y / CELL))) ?? []) {
      if (x >= item.x && y >= item.y && x <= item.x + item.width && y <= item.y + item.height) found = item;
    }
    return found;
  }
}

function cellsOf({ x, y, width, height }: Rect): Cells {
  return {
    left: Math.floor(x / CELL),
    top: Math.floor(y / CELL),
    right: Math.floor((x + width) / CELL),
    bottom: Math.floor((y + height) / CELL),
  };
}

function numberOf(column: number, row: number): number {
  return (column + HALF) * 2 * HALF + row + HALF;
}

function each({ left, top, right, bottom }: Cells, call: (cell: number) => void): void {
  for (let column = left; column <= right; column += 1) {
    for (let row = top; row <= bottom; row += 1) call(numberOf(column, row));
  }
}

function same(a: Cells, b: Cells): boolean {
  return a.left === b.left && a.top === b.top && a.right === b.right && a.bottom === b.bottom;
}
