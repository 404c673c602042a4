// Moves between the cells of a grid by keys.

/** A cell's position. */
export interface Place {
  readonly row: number;
  readonly column: number;
}

/** The rows of a page: Page Up and Page Down. */
const PAGE = 10;

/** The place that a key leads to; null if it is no such key. */
export function moved(at: Place, key: string, ctrl: boolean, last: Place): Place | null {
  const to = target(at, key, ctrl, last);
  return to === null ? null : { row: between(to.row, last.row), column: between(to.column, last.column) };
}

function target({ row, column }: Place, key: string, ctrl: boolean, last: Place): Place | null {
  switch (key) {
    case "Home": return { row: ctrl ? 0 : row, column: 0 };
    case "End": return { row: ctrl ? last.row : row, column: last.column };
  }
  if (ctrl) return null;
  switch (key) {
    case "ArrowUp": return { row: row - 1, column };
    case "ArrowDown": return { row: row + 1, column };
    case "ArrowLeft": return { row, column: column - 1 };
    case "ArrowRight": return { row, column: column + 1 };
    case "PageUp": return { row: row - PAGE, column };
    case "PageDown": return { row: row + PAGE, column };
    default: return null;
  }
}

function between(value: number, most: number): number {
  return Math.max(0, Math.min(most, value));
}
