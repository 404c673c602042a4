//! How well an entry matches a typed text.

/** What is matched. */
export interface Ranked {
  readonly label: string;
  /** Search terms besides the label, separated by spaces. */
  readonly words?: string | undefined;
}

/** The weakest rank. */
export const WEAKEST = 5;

/**
 * The rank, 0 being the best: the label or a whole search term, the label's beginning, that of one of its
 * words or of a search term, a part of the label, all typed words somewhere, and last the typed letters in
 * this order. Null if it does not match.
 */
export function rank({ label, words = "" }: Ranked, typed: string): number | null {
  const text = typed.trim().toLowerCase();
  const name = label.toLowerCase();
  const terms = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (name === text || terms.includes(text)) return 0;
  if (name.startsWith(text)) return 1;
  if (parts(name).some((part) => part.startsWith(text)) || terms.some((term) => term.startsWith(text))) return 2;
  if (name.includes(text)) return 3;
  const all = `${name} ${terms.join(" ")}`;
  if (text.split(/\s+/).every((word) => all.includes(word))) return 4;
  return inOrder(name, text) ? WEAKEST : null;
}

/** The entries that match, best first; equal ones stay in their order. */
export function ranked<Kind extends Ranked>(entries: readonly Kind[], typed: string): Kind[] {
  return entries
    .map((entry) => ({ entry, rank: rank(entry, typed) }))
    .filter((one): one is { entry: Kind; rank: number } => one.rank !== null)
    .sort((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
}

/** The rest of a name from each of its words on: `load-test 2` begins also with `test` and with `2`. */
function parts(name: string): string[] {
  return [...name.matchAll(/(?<=[^\p{L}\p{N}])[\p{L}\p{N}]/gu)].map(({ index }) => name.slice(index));
}

function inOrder(name: string, text: string): boolean {
  let at = 0;
  for (const letter of text.replace(/\s+/g, "")) {
    at = name.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
