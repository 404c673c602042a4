//! Writes a document into its text with minimal changes: comments, order, quoting and line breaks of
//! everything else are kept.

import { aligned } from "../align";
import type { Json } from "../document";
import { equal, isMapping } from "../equal";
import { block, isLeaf, isText, literal, literalSign } from "../yaml";
import { Context, type Splice } from "./context";
import { flowText, fresh } from "./flow";
import { mergedKeys, type ListTree, type MapTree, type PairTree, type Tree } from "./tree";

/** The position of a value: behind `at` (a `:` or `-`), in a collection that starts at a column. */
interface Slot {
  readonly at: number;
  readonly column: number;
  readonly inList: boolean;
}

/** Down to this depth values are replaced individually; below, whole collections are. */
export type Depth = number;

/** The text of a changed document. `before` is the parsed value of the tree. */
export function written(text: string, root: Tree, json: boolean, before: unknown, after: Json, depth: Depth): string {
  const writer = new Writer(new Context(text, root, json), depth);
  writer.value(root, before, after, { at: 0, column: -1, inList: false }, 0);
  return writer.done();
}

class Writer {
  readonly #splices: Splice[] = [];

  constructor(
    private readonly context: Context,
    private readonly depth: Depth,
  ) {}

  done(): string {
    const { text } = this.context;
    let [result, at] = ["", 0];
    for (const splice of this.#splices.sort((a, b) => a.from - b.from)) {
      // Overlapping changes: the caller then writes larger parts.
      if (splice.from < at) return "";
      result += text.slice(at, splice.from) + splice.text;
      at = splice.to;
    }
    return result + text.slice(at);
  }

  value(tree: Tree, before: unknown, after: Json, slot: Slot, depth: number): void {
    if (this.context.stays(tree, before, after)) return;
    if ((tree.kind === "map" || tree.kind === "list") && tree.flow) {
      const sameKind = tree.kind === "map" ? isMapping(after) : Array.isArray(after);
      if (sameKind || this.context.json) {
        this.#splice(tree.from, tree.to, flowText(this.context, tree, before, after));
        return;
      }
    }
    this.context.settle(tree, after);
    const fine = depth < this.depth && !isEmpty(after);
    if (fine && tree.kind === "map" && isMapping(after)) this.#map(tree, before, after, depth);
    else if (fine && tree.kind === "list" && Array.isArray(after)) this.#list(tree, before, after as readonly Json[], depth);
    else this.#replace(tree, after, slot);
  }

  #map(tree: MapTree, before: unknown, after: Readonly<Record<string, Json | undefined>>, depth: number): void {
    const was = isMapping(before) ? before : {};
    const column = this.context.column(Math.min(...[...tree.pairs, ...tree.merged].map((pair) => pair.from)));
    const open = new Map(Object.entries(after).filter((entry): entry is [string, Json] => entry[1] !== undefined));
    const removed: PairTree[] = [];
    for (const pair of tree.pairs) {
      const value = open.get(pair.key);
      open.delete(pair.key);
      if (value !== undefined) this.value(pair.value, was[pair.key], value, { at: this.#colon(pair) + 1, column, inList: false }, depth + 1);
      else if (pair.value.plain !== null) removed.push(pair);
    }
    // Implicit values (a missing name is an empty one) are not written either.
    for (const [key, value] of open) if (key in was && was[key] === value && !(key in (tree.plain as object))) open.delete(key);
    this.#merges(tree, open);
    const gone = this.#renamed(removed, open);
    this.#add(tree, open, column);
    this.#remove(tree, gone);
  }

  /** The offset of the colon after a key. */
  #colon(pair: PairTree): number {
    return this.context.text.indexOf(":", pair.to);
  }

  /**
   * Keys from `<<` need no line. If one of them is removed, the others are written out and `<<` is removed.
   */
  #merges(tree: MapTree, open: Map<string, Json>): void {
    if (tree.merged.length === 0) return;
    const merged = mergedKeys(tree.merged, (source) => this.context.valueOf(source) ?? null);
    const own = new Set(tree.pairs.map((pair) => pair.key));
    if ([...merged.keys()].every((key) => open.has(key) || own.has(key))) {
      for (const [key, value] of merged) if (equal(open.get(key), value)) open.delete(key);
    } else this.#remove(tree, tree.merged);
  }

  /**
   * A removed key is a rename if an added one has the same value. Returns the keys that are really removed.
   */
  #renamed(removed: readonly PairTree[], open: Map<string, Json>): PairTree[] {
    return removed.filter((pair) => {
      const again = [...open].find(([, value]) => equal(value, pair.value.plain));
      if (!again) return true;
      open.delete(again[0]);
      this.#splice(pair.from, pair.to, this.context.key(again[0], false));
      return false;
    });
  }

  #add(tree: MapTree, open: ReadonlyMap<string, Json>, column: number): void {
    const { context } = this;
    const tasks = column === 0 ? tree.pairs.find((pair) => pair.key === "tasks") : undefined;
    for (const [key, value] of open) {
      const lines = this.#lines(`${" ".repeat(column)}${context.key(key, false)}:`, value, column, false);
      if (tasks && key !== "canvas" && tree.pairs[0] !== tasks) this.#insert(this.#comments(tasks.from), lines);
      else this.#insert(context.nextLine(context.end(tree)), lines);
    }
  }

  /** The lines of a value after `key:` or `-`. */
  #lines(start: string, value: Json, column: number, inList: boolean, asBlock = false): string[] {
    const { style } = this.context;
    if (typeof value === "string" && isText(value, asBlock)) return [`${start} ${literalSign(value)}`, ...literal(value, column + style.indent)];
    if (isLeaf(value)) return [`${start} ${fresh(this.context, value)}`];
    if (!inList) return [start, ...block(value, column + (Array.isArray(value) ? style.listIndent : style.indent), style)];
    const [first = "", ...rest] = block(value, column + 2, style);
    return [`${start} ${first.trimStart()}`, ...rest];
  }

  #remove(tree: MapTree, removed: readonly PairTree[]): void {
    const { context } = this;
    for (const pair of removed) {
      context.gone(pair.value);
      const start = context.lineStart(pair.from);
      if (context.text.slice(start, pair.from).trim() === "") {
        this.#splice(this.#comments(pair.from), context.nextLine(Math.max(pair.to, context.end(pair.value))), "");
        continue;
      }
      const next = [...tree.pairs, ...tree.merged].filter((one) => one.from > pair.from).sort((a, b) => a.from - b.from)[0];
      if (next) this.#splice(pair.from, next.from, "");
    }
  }

  #list(tree: ListTree, before: unknown, after: readonly Json[], depth: number): void {
    const { context } = this;
    const was = Array.isArray(before) ? before : [];
    const column = context.column(tree.from);
    let last: Tree | undefined;
    for (const { before: from, after: to } of aligned(tree.items.map((item) => item.plain), after)) {
      const item = from === undefined ? undefined : tree.items[from];
      const dash = item ? this.#dash(item, column) : 0;
      if (item && from !== undefined && to !== undefined) this.value(item, was[from], after[to] ?? null, { at: dash + 1, column, inList: true }, depth + 1);
      else if (item) this.#drop(tree, item, dash);
      else if (to !== undefined) this.#place(tree, after[to] ?? null, last, column);
      if (item) last = item;
    }
  }

  /** The offset of the dash before an item. */
  #dash(item: Tree, column: number): number {
    const { context } = this;
    for (let start = context.lineStart(item.from); ; start = context.lineStart(start - 1)) {
      if (context.text.charAt(start + column) === "-" || start === 0) return start + column;
    }
  }

  #drop(tree: ListTree, item: Tree, dash: number): void {
    const { context } = this;
    context.gone(item);
    const start = this.#comments(dash);
    let end = context.nextLine(Math.max(dash, context.end(item)));
    // Blank lines between items belong to the preceding one.
    if (item !== tree.items.at(-1)) while (end < context.text.length && context.text.slice(end, context.nextLine(end)).trim() === "") end = context.nextLine(end);
    this.#splice(start, end, "");
  }

  #place(tree: ListTree, value: Json, last: Tree | undefined, column: number): void {
    const { context } = this;
    const near = last ?? tree.items[0];
    const flow = near?.kind === "map" && near.flow && isMapping(value);
    const dash = `${" ".repeat(column)}-`;
    const lines = flow ? [`${dash} ${fresh(context, value)}`] : this.#lines(dash, value, column, true);
    const [first, second] = tree.items;
    const apart = first && second ? /\n[ \t]*\r?\n/.test(context.text.slice(context.end(first), second.from)) : false;
    if (last) this.#insert(context.nextLine(context.end(last)), apart ? ["", ...lines] : lines);
    else this.#insert(this.#comments(first ? this.#dash(first, column) : tree.from), apart ? [...lines, ""] : lines);
  }

  /** The start of the comments directly above an offset; the start of its line if there are none. */
  #comments(at: number): number {
    const { context } = this;
    let start = context.lineStart(at);
    while (start > 0) {
      const above = context.lineStart(start - 1);
      if (!/^[ \t]*#/.test(context.text.slice(above, start))) break;
      start = above;
    }
    // Comments at the top are about the whole document.
    return start === 0 && context.lineStart(at) > 0 ? context.lineStart(at) : start;
  }

  /** Replaces a value. */
  #replace(tree: Tree, after: Json, slot: Slot): void {
    const { context } = this;
    context.gone(tree);
    const end = context.end(tree);
    const like = tree.kind === "scalar" ? tree : undefined;
    const wasText = like?.style === "block" && typeof after === "string" && isText(after, true);
    const quoted = like?.style === "double" || like?.style === "single";
    const inLine = isLeaf(after) && !wasText && !(typeof after === "string" && !quoted && isText(after));
    const text = like ? context.scalar(after, false, like) : fresh(context, after);
    const behind = context.text.slice(slot.at, tree.from);
    const sameLine = !behind.includes("\n") && !(tree.from === tree.to);
    if (inLine && (sameLine || tree.from === tree.to)) {
      this.#splice(sameLine ? tree.from : slot.at, sameLine ? end : slot.at, sameLine ? text : ` ${fresh(context, after)}`);
      return;
    }
    const props = /^(?:[ \t]*[&!]\S*)*/.exec(behind)?.[0].length ?? 0;
    const at = slot.at + props;
    const [head = "", ...lines] = this.#lines("", after, slot.column, slot.inList, wasText);
    if (sameLine) {
      this.#splice(at, end, head);
      this.#insert(context.nextLine(end), lines);
    } else {
      this.#splice(at, at, inLine ? ` ${fresh(context, after)}` : head);
      if (tree.from < tree.to) this.#splice(context.nextLine(at), context.nextLine(end), lines.map((line) => line + context.eol).join(""));
      else this.#insert(context.nextLine(at), lines);
    }
  }

  #insert(at: number, lines: readonly string[]): void {
    if (lines.length === 0) return;
    const { context } = this;
    const open = at === context.text.length && at > 0 && !context.text.endsWith("\n");
    this.#splice(at, at, (open ? context.eol : "") + lines.map((line) => line + context.eol).join(""));
  }

  #splice(from: number, to: number, text: string): void {
    this.#splices.push({ from, to, text });
  }
}

function isEmpty(value: Json): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
