// One line of a log as an element: colours, source, and search matches.

import { language } from "../../core/texts";
import { exact } from "../../core/time";
import { pieces } from "./ansi";
import type { Line } from "./lines";
import { spans, type Span } from "./search";
import { shown, WIDTH, type Times } from "./times";

/** Longer lines are truncated on the screen; the download has them in full. */
const LONGEST = 20_000;
/** The number of colours that distinguish workers. */
const COLOURS = 6;

/** How lines are rendered. */
export interface Look {
  /** Whether lines start with their source's name. */
  readonly named: boolean;
  /** The search expression. */
  readonly wanted: RegExp | undefined;
  /** The format of times. */
  readonly times: Times;
  /** When the attempt began, in milliseconds. */
  readonly begin: number;
  /** The width of line numbers, in characters; 0 if none is known. */
  readonly digits: number;
}

/** The width of what is before a line's text, in characters. */
export function before({ source }: Line, look: Look): number {
  const number = look.digits === 0 ? 0 : look.digits + 1;
  const time = look.times === "none" ? 0 : WIDTH;
  return number + time + (look.named ? source.worker.length + 1 : 0);
}

export function row({ text, source, at }: Line, number: number | undefined, look: Look): HTMLElement {
  const element = document.createElement("div");
  element.className = source.stream === "stderr" ? "log-row log-stderr" : "log-row";
  if (look.digits > 0) element.append(span(`${String(number ?? "").padStart(look.digits)} `, "log-number"));
  if (look.times !== "none") {
    const time = span((at === undefined ? "" : shown(at, look.times, look.begin)).padEnd(WIDTH), "log-time");
    if (at !== undefined) time.title = exact(new Date(at), language());
    element.append(time);
  }
  if (look.named) {
    element.append(span(source.worker, `log-worker log-worker-${colour(source.worker)}`), " ");
  }
  const parts = pieces(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
  const found = look.wanted ? spans(parts.map((part) => part.text).join(""), look.wanted) : [];
  let start = 0;
  for (const part of parts) {
    marked(element, part.text, part.style, start, found);
    start += part.text.length;
  }
  // Gives an empty line the normal height.
  if (element.childNodes.length === 0) element.append("\u200b");
  return element;
}

/** Appends a piece that begins at `start`, with search matches marked. */
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
