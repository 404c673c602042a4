//! Values of several series on top of each other. Pure.

/** The upper edge of each series, the first at the bottom. A missing value stays missing, and adds nothing. */
export function stacked(series: readonly (readonly (number | null)[])[]): (number | null)[][] {
  const edge: number[] = [];
  return series.map((values) => values.map((value, at) => {
    if (value === null) return null;
    edge[at] = (edge[at] ?? 0) + value;
    return edge[at];
  }));
}
