//! Lanes: edges that pass the same gap between boxes lie beside each other, so that each can be followed with the eye.
//! Who comes later goes beside who is there; nobody is moved, so that what is drawn stays where it is.

/** How far lanes are from each other, in pixels: as long as the gap has room for it, and in a gap that is crowded. */
const APART = [7, 3] as const;

/** A piece of an edge between two bends: where it begins and ends along the edge, where it lies across, and where it would like to. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly at: number;
  readonly wish: number;
}

/** A free way between boxes: its borders may be infinite. */
export interface Gap {
  readonly low: number;
  readonly high: number;
}

// Pieces are looked for by where they lie across, in strips of so many pixels.
const STRIP = 64;

/** The lanes of one drawing. */
export class Lanes {
  readonly #strips = new Map<number, Piece[]>();

  /**
   * The lane of an edge that passes a gap from `from` to `to`: near `best`, inside of the gap, and beside every lane that
   * is taken already, on the side of it that the edge comes from by its `wish`. A gap that is full has shared lanes.
   */
  take(from: number, to: number, best: number, wish: number, gap: Gap): number {
    const at = this.#free(from, to, best, wish, gap);
    const strip = Math.floor(at / STRIP);
    const piece = { from, to, at, wish };
    const same = this.#strips.get(strip);
    if (same) same.push(piece);
    else this.#strips.set(strip, [piece]);
    return at;
  }

  #free(from: number, to: number, best: number, wish: number, { low, high }: Gap): number {
    for (const apart of APART) {
      const first = this.#near(best, apart, from, to);
      if (!first) return best;
      const side = wish < first.wish ? -1 : 1;
      for (let turn = 0; turn < 2; turn += 1) {
        const at = this.#along(first.at, turn === 0 ? side : -side, apart, from, to, { low, high });
        if (at !== null) return at;
      }
    }
    return best;
  }

  // From lane to lane, away from the first, until there is room or the gap ends.
  #along(first: number, side: number, apart: number, from: number, to: number, { low, high }: Gap): number | null {
    for (let at = first + side * apart; at >= low && at <= high; ) {
      const taken = this.#near(at, apart, from, to);
      if (!taken) return at;
      at = taken.at + side * apart;
    }
    return null;
  }

  #near(at: number, apart: number, from: number, to: number): Piece | undefined {
    for (let strip = Math.floor((at - apart) / STRIP); strip <= Math.floor((at + apart) / STRIP); strip += 1) {
      const found = this.#strips.get(strip)?.find((one) => Math.abs(one.at - at) < apart - 0.01 && one.from < to && one.to > from);
      if (found) return found;
    }
    return undefined;
  }
}
