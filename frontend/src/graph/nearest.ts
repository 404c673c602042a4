//! "Did you mean ...?"

/** The candidate closest to a text, if it is close enough for a typo. */
export function nearest(text: string, candidates: Iterable<string>): string | undefined {
  if (text.length > 64) return undefined;
  let best: { distance: number; candidate: string } | undefined;
  for (const candidate of candidates) {
    const limit = 1 + Math.floor(Math.max(candidate.length, text.length) / 4);
    if (Math.abs(candidate.length - text.length) > limit) continue;
    const distance = apart(text.toLowerCase(), candidate.toLowerCase());
    if (distance <= limit && (!best || distance < best.distance || (distance === best.distance && candidate < best.candidate))) best = { distance, candidate };
  }
  return best?.candidate;
}

/** The edit distance: additions, removals, replacements and swaps of adjacent characters. */
function apart(a: string, b: string): number {
  let [twoBefore, before]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= a.length; row += 1) {
    const now = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a.charAt(row - 1) === b.charAt(column - 1) ? 0 : 1;
      let least = Math.min((before[column] ?? 0) + 1, (now[column - 1] ?? 0) + 1, (before[column - 1] ?? 0) + same);
      const swapped = row > 1 && column > 1 && a.charAt(row - 1) === b.charAt(column - 2) && a.charAt(row - 2) === b.charAt(column - 1);
      if (swapped) least = Math.min(least, (twoBefore[column - 2] ?? 0) + 1);
      now.push(least);
    }
    [twoBefore, before] = [before, now];
  }
  return before[b.length] ?? 0;
}

/** The existing names for an error about a missing one: at most eight. */
export function listing(names: Iterable<string>): string {
  const all = [...names];
  return all.length > 8 ? `${all.slice(0, 8).join(", ")}, ...` : all.join(", ");
}
