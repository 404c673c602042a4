// Positions of lines with different heights, in a Fenwick tree: finding a line at a position and changing a
// height both take logarithmic time.

/** Heights of lines, in rows: a wrapped line takes several. */
export class Heights {
  #rows: number[] = [];
  #tree: number[] = [0];

  get count(): number {
    return this.#rows.length;
  }

  /** The total number of rows. */
  get total(): number {
    return this.top(this.count);
  }

  /** The height of one line, in rows. */
  of(index: number): number {
    return this.#rows[index] ?? 0;
  }

  /** Replaces all heights. */
  reset(rows: number[]): void {
    this.#rows = rows;
    const tree = [0, ...rows];
    for (let at = 1; at < tree.length; at += 1) {
      const parent = at + (at & -at);
      if (parent < tree.length) tree[parent] = (tree[parent] ?? 0) + (tree[at] ?? 0);
    }
    this.#tree = tree;
  }

  /** Appends a line. */
  push(rows: number): void {
    this.#rows.push(rows);
    const at = this.#tree.length;
    let sum = rows;
    // A node covers as many lines as the lowest bit of its index.
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

  /** The number of rows before this line. */
  top(index: number): number {
    let sum = 0;
    for (let at = index; at > 0; at -= at & -at) sum += this.#tree[at] ?? 0;
    return sum;
  }

  /** The line at this row; the last line for rows beyond the end. */
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
