//! Positions in a heat map: a row per node, a column per interval. Pure.

/** The height of a row, in pixels. */
export const ROW = 16;
/** The width of the names, in pixels; in a narrow map they have a third. */
const LABEL = 130;

/** A cell. */
export interface HeatSpot {
  row: number;
  column: number;
}

export interface HeatLayout {
  rows: number;
  columns: number;
  /** The width of the names, in pixels. */
  label: number;
  /** The width of a cell, in pixels. */
  wide: number;
  /** The total height, in pixels. */
  height: number;
}

/** The layout in this width in pixels. */
export function heatLayout(rows: number, columns: number, width: number): HeatLayout {
  const label = Math.min(LABEL, width / 3);
  return { rows, columns, label, wide: Math.max(1, width - label) / Math.max(1, columns), height: rows * ROW };
}

/** The cell at a point, if there is one. */
export function heatAt(of: HeatLayout, x: number, y: number): HeatSpot | null {
  const [row, column] = [Math.floor(y / ROW), Math.floor((x - of.label) / of.wide)];
  return row >= 0 && row < of.rows && column >= 0 && column < of.columns ? { row, column } : null;
}

/** The first and the last visible row in a vertical range. */
export function heatSeen(of: HeatLayout, from: number, to: number): [number, number] {
  return [Math.min(of.rows, Math.max(0, Math.floor(from / ROW))), Math.min(of.rows, Math.ceil(to / ROW))];
}

/** The cell that a key leads to; at first the last interval of the first node. */
export function heatStep(of: HeatLayout, from: HeatSpot | null, key: string): HeatSpot | null {
  if (of.rows === 0 || of.columns === 0) return null;
  const [row, column] = [of.rows - 1, of.columns - 1];
  if (!from) return { row: 0, column };
  switch (key) {
    case "ArrowLeft": return { ...from, column: Math.max(0, from.column - 1) };
    case "ArrowRight": return { ...from, column: Math.min(column, from.column + 1) };
    case "ArrowUp": return { ...from, row: Math.max(0, from.row - 1) };
    case "ArrowDown": return { ...from, row: Math.min(row, from.row + 1) };
    case "Home": return { ...from, column: 0 };
    case "End": return { ...from, column };
    default: return from;
  }
}
