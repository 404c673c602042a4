// One line of a log as an element: colours, who wrote it, and what was found in it.

import { pieces } from "./ansi";
import type { Source } from "./lines";
import { spans, type Span } from "./search";
import { shown, WIDTH, type Times } from "./times";

/** Longer lines are cut on the screen; the download has them whole. */
const LONGEST = 20_000;
/** So many colours tell workers apart. */
const COLOURS = 6;

/** How lines are shown. */
export interface Look {
  /** Whether lines begin with the name of who wrote them. */
  readonly named: boolean;
  /** What is looked for. */
  readonly wanted: RegExp | undefined;
  /** How the time stands before a line. */
  readonly times: Times;
  /** When the attempt began, in milliseconds. */
  readonly begin: number;
}

/** The line's element. */
export function row(text: string, source: Source | undefined, at: number | undefined, look: Look): HTMLElement {
  const element = document.createElement("div");
  element.className = source?.stream === "stderr" ? "log-row log-stderr" : "log-row";
  if (look.times !== "none") {
    const time = at === undefined ? "" : shown(at, look.times, look.begin);
    element.append(span(time.padEnd(WIDTH), "log-time"));
  }
  if (look.named && source !== undefined) {
    element.append(span(source.worker, `log-worker log-worker-${colour(source.worker)}`), " ");
  }
  const parts = pieces(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
  const found = look.wanted ? spans(parts.map((part) => part.text).join(""), look.wanted) : [];
  let start = 0;
  for (const part of parts) {
    marked(element, part.text, part.style, start, found);
    start += part.text.length;
  }
  // An empty line is as high as any other.
  if (element.childNodes.length === 0) element.append("\u200b");
  return element;
}

/** Appends a piece that begins at `start`, with the parts marked that were found. */
function marked(into: HTMLElement, text: string, style: string, start: number, found: readonly Span[]): void {
  let at = 0;
  for (const { from, to } of found) {
    const [first, last] = [Math.max(from - start, at), Math.min(to - start, text.length)];
    if (last <= first) continue;
    if (first > at) into.append(styled(text.slice(at, first), style));
    const mark = document.createElement("mark");
    mark.append(styled(text.slice(first, last), style));
    into.append(mark);
    at = last;
  }
  if (at < text.length) into.append(styled(text.slice(at), style));
}

function styled(text: string, style: string): Node {
  return style === "" ? document.createTextNode(text) : span(text, style);
}

function span(text: string, className: string): HTMLElement {
  const element = document.createElement("span");
  element.className = className;
  element.textContent = text;
  return element;
}

function colour(name: string): number {
  let sum = 0;
  for (const sign of name) sum = (sum * 31 + (sign.codePointAt(0) ?? 0)) % 997;
  return sum % COLOURS;
}
