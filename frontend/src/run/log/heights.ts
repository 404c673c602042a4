// Where the lines of a long list lie when they are of different heights: a Fenwick tree, so that finding a line at a
// position and changing a height both take logarithmic time.

/** Heights of lines, in rows: a line that is wrapped takes several. */
export class Heights {
  #rows: number[] = [];
  #tree: number[] = [0];

  /** How many lines. */
  get count(): number {
    return this.#rows.length;
  }

  /** The rows of all lines. */
  get total(): number {
    return this.top(this.count);
  }

  /** The rows of one line. */
  of(index: number): number {
    return this.#rows[index] ?? 0;
  }

  /** Takes these heights instead of all before. */
  reset(rows: number[]): void {
    this.#rows = rows;
    const tree = [0, ...rows];
    for (let at = 1; at < tree.length; at += 1) {
      const parent = at + (at & -at);
      if (parent < tree.length) tree[parent] = (tree[parent] ?? 0) + (tree[at] ?? 0);
    }
    this.#tree = tree;
  }

  /** One more line at the end. */
  push(rows: number): void {
    this.#rows.push(rows);
    const at = this.#tree.length;
    let sum = rows;
    // The node covers the lines back to where the lowest bit of its index points.
    for (let child = at - 1; child > at - (at & -at); child -= child & -child) sum += this.#tree[child] ?? 0;
    this.#tree.push(sum);
  }

  /** Changes the height of one line. */
  set(index: number, rows: number): void {
    const by = rows - this.of(index);
    if (by === 0) return;
    this.#rows[index] = rows;
    for (let at = index + 1; at < this.#tree.length; at += at & -at) this.#tree[at] = (this.#tree[at] ?? 0) + by;
  }

  /** The rows of all lines before this one. */
  top(index: number): number {
    let sum = 0;
    for (let at = index; at > 0; at -= at & -at) sum += this.#tree[at] ?? 0;
    return sum;
  }

  /** The line that this row belongs to; the last one for rows beyond. */
  lineAt(row: number): number {
    let at = 0;
    let left = row;
    let step = 1;
    while (step * 2 <= this.count) step *= 2;
    for (; step > 0; step = Math.floor(step / 2)) {
      const next = at + step;
      const rows = this.#tree[next] ?? 0;
      if (next <= this.count && rows <= left) {
        at = next;
        left -= rows;
      }
    }
    return Math.max(0, Math.min(at, this.count - 1));
  }
}
