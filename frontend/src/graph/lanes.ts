//! Lanes: edges in the same gap between boxes are placed side by side, ordered by their ends, to avoid
//! crossings. All edges are processed together: their order in the document is irrelevant.

/** The distance between lanes, in pixels, if their gap is wide enough. */
const APART = 7;

/** A free gap between boxes; its borders may be infinite. */
export interface Gap {
  readonly low: number;
  readonly high: number;
}

/**
 * A section where an edge passes boxes: `from` and `to` along the edge, and its preferred position `best`
 * across, within its gap.
 */
export interface Pass extends Gap {
  readonly from: number;
  readonly to: number;
  readonly best: number;
  /** The positions across at the boxes before and after, or at its ends. */
  readonly before: number;
  readonly after: number;
  /** The sum of the positions of both ends of the edge, which orders edges that share a long way. */
  readonly ends: number;
}

// Passes that share a gap, side by side.
interface Block {
  readonly passes: readonly Pass[];
  /** How many lanes it takes, the lane of each pass, and the position of the first. */
  readonly lanes: ReadonlyMap<Pass, number>;
  readonly first: number;
  readonly last: number;
  readonly apart: number;
}

/** The lane of each pass: in its gap, and apart from all parallel ones. */
export function lanesOf(passes: Iterable<Pass>): Map<Pass, number> {
  const places = new Map<Pass, number>();
  for (const together of groupsOf([...passes])) {
    for (const block of blocksOf(together)) {
      for (const [pass, lane] of block.lanes) places.set(pass, within(block.first + lane * block.apart, pass));
    }
  }
  return places;
}

// Passes that may conflict, directly or transitively.
function groupsOf(passes: Pass[]): Pass[][] {
  const groups = new Set<Pass[]>();
  const groupOf = new Map<Pass, Pass[]>();
  let active: Pass[] = [];
  for (const pass of passes.sort((a, b) => a.from - b.from)) {
    active = active.filter(({ to }) => to > pass.from);
    let own = [pass];
    groups.add(own);
    groupOf.set(pass, own);
    for (const other of active) {
      const its = groupOf.get(other);
      if (!its || its === own || other.low > pass.high || other.high < pass.low) continue;
      const [small, large] = its.length < own.length ? [its, own] : [own, its];
      for (const one of small) groupOf.set(one, large);
      large.push(...small);
      groups.delete(small);
      own = large;
    }
    active.push(pass);
  }
  return [...groups];
}

// In ascending order: a block that would be too close to another is merged with it.
function blocksOf(passes: readonly Pass[]): Set<Block> {
  const blocks = new Set<Block>();
  for (const pass of passes.toSorted((a, b) => a.best - b.best || byWay(a, b))) {
    let block = blockOf([pass]);
    for (let near = meeting(blocks, block); near; near = meeting(blocks, block)) {
      blocks.delete(near);
      block = blockOf([...near.passes, ...block.passes]);
    }
    blocks.add(block);
  }
  return blocks;
}

function meeting(blocks: Iterable<Block>, block: Block): Block | undefined {
  for (const other of blocks) if (meet(other, block)) return other;
  return undefined;
}

function blockOf(passes: readonly Pass[]): Block {
  const lanes = numbered(passes);
  const steps = Math.max(...lanes.values());
  const [low, high] = [Math.max(...passes.map((pass) => pass.low)), Math.min(...passes.map((pass) => pass.high))];
  const room = Math.max(0, high - low);
  const apart = Math.min(APART, room / Math.max(1, steps));
  const middle = passes.reduce((sum, { best }) => sum + best, 0) / passes.length;
  const first = Math.max(low, Math.min(high - steps * apart, middle - (steps * apart) / 2));
  return { passes, lanes, first, last: first + steps * apart, apart };
}

// Each pass comes after the parallel ones that are ordered before it.
function numbered(passes: readonly Pass[]): Map<Pass, number> {
  const lanes = new Map<Pass, number>();
  for (const pass of passes.toSorted(byWay)) {
    let lane = 0;
    for (const [other, its] of lanes) if (beside(pass, other)) lane = Math.max(lane, its + 1);
    lanes.set(pass, lane);
  }
  return lanes;
}

// If both ends of one edge are above the other's, this order avoids a crossing; all others cross once anyway.
function byWay(a: Pass, b: Pass): number {
  return a.before + a.after - (b.before + b.after) || a.ends - b.ends || a.before - b.before;
}

function beside(a: Pass, b: Pass): boolean {
  return a.from < b.to && b.from < a.to;
}

function meet(a: Block, b: Block): boolean {
  const free = Math.max(b.first - a.last, a.first - b.last);
  if (free >= Math.min(APART, Math.max(a.apart, b.apart)) - 0.01) return false;
  return a.passes.some((pass) => b.passes.some((other) => beside(pass, other)));
}

function within(at: number, { low, high }: Gap): number {
  return Math.max(low, Math.min(high, at));
}
