//! Which sections are shown for a typed text, and in which order.

import type { Entry, Section } from "./entry";
import { rank, ranked, WEAKEST } from "./rank";

/** A section of the list. */
export interface Shown {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The page's own sections, and below them all others; of each, the one with the best match first. */
export function shown(own: readonly Section[], others: readonly Section[], typed: string): Shown[] {
  return [...matching(own, typed), ...matching(others, typed)];
}

function matching(sections: readonly Section[], typed: string): Shown[] {
  return sections
    .map((section) => ({ title: section.title, entries: entriesOf(section, typed) }))
    .filter(({ entries }) => entries.length > 0)
    .map((section) => ({ section, best: best(section, typed) }))
    .sort((a, b) => a.best - b.best)
    .map(({ section }) => section);
}

function entriesOf({ entries, most, quiet = false, matched = false }: Section, typed: string): readonly Entry[] {
  const isEmpty = typed.trim() === "";
  if (isEmpty && quiet) return [];
  return (isEmpty || matched ? entries : ranked(entries, typed)).slice(0, most);
}

function best({ entries }: Shown, typed: string): number {
  return typed.trim() === "" ? 0 : Math.min(...entries.map((entry) => rank(entry, typed) ?? WEAKEST));
}
