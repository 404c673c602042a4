//! Writes flow collections (brackets and braces), keeping the text of unchanged parts.

import { aligned } from "../align";
import type { Json } from "../document";
import { isMapping } from "../equal";
import type { Context } from "./context";
import { mergedKeys, type ListTree, type MapTree, type PairTree, type Tree } from "./tree";

/** One item between commas, with its surrounding white space and comments. */
interface Piece {
  readonly before: string;
  readonly text: string;
  readonly after: string;
}

/** The text of a value in flow style. `before` is the tree's value in the document. */
export function flowText(context: Context, tree: Tree, before: unknown, after: Json): string {
  if (context.stays(tree, before, after)) return context.text.slice(tree.from, tree.to);
  context.settle(tree, after);
  if (tree.kind === "map" && isMapping(after)) return mapText(context, tree, before, after);
  if (tree.kind === "list" && Array.isArray(after)) return listText(context, tree, before, after as readonly Json[]);
  context.gone(tree);
  return fresh(context, after, tree.kind === "scalar" ? tree : undefined);
}

/** A new value, on one line. */
export function fresh(context: Context, value: Json, like?: Extract<Tree, { kind: "scalar" }>): string {
  if (Array.isArray(value)) return `[${value.map((one) => fresh(context, one as Json)).join(", ")}]`;
  if (!isMapping(value)) return context.scalar(value, true, like);
  const pairs = Object.entries(value as Readonly<Record<string, Json | undefined>>).filter(([, one]) => one !== undefined);
  return `{${pairs.map(([key, one]) => `${context.key(key, true)}: ${fresh(context, one ?? null)}`).join(", ")}}`;
}

/** A new value on several lines, as in formatted JSON. */
function pretty(context: Context, value: Json, indent: string, step: string): string {
  const inner = indent + step;
  const line = (texts: string[], open: string, close: string) => `${open}\n${inner}${texts.join(`,\n${inner}`)}\n${indent}${close}`;
  if (Array.isArray(value)) {
    const flat = value.every((one) => typeof one !== "object" || one === null);
    return flat ? fresh(context, value) : line(value.map((one) => pretty(context, one as Json, inner, step)), "[", "]");
  }
  if (!isMapping(value) || Object.keys(value).length === 0) return fresh(context, value);
  const pairs = Object.entries(value as Readonly<Record<string, Json | undefined>>).filter(([, one]) => one !== undefined);
  return line(pairs.map(([key, one]) => `${context.key(key, true)}: ${pretty(context, one ?? null, inner, step)}`), "{", "}");
}

function listText(context: Context, tree: ListTree, before: unknown, after: readonly Json[]): string {
  const was = Array.isArray(before) ? before : [];
  const spans = tree.items.map((item): [number, number] => [item.from, item.to]);
  const pieces: (Piece | { fresh: Json; key?: string })[] = [];
  for (const { before: from, after: to } of aligned(tree.items.map((item) => item.plain), after)) {
    const item = from === undefined ? undefined : tree.items[from];
    if (item && to === undefined) context.gone(item);
    else if (to === undefined) continue;
    else if (item && from !== undefined) pieces.push({ ...around(context, tree, spans, from), text: flowText(context, item, was[from], after[to] ?? null) });
    else pieces.push({ fresh: after[to] ?? null });
  }
  return joined(context, tree, spans, pieces, "[", "]");
}

function mapText(context: Context, tree: MapTree, before: unknown, after: Readonly<Record<string, Json | undefined>>): string {
  const was = isMapping(before) ? before : {};
  const all = [...tree.merged, ...tree.pairs].sort((a, b) => a.from - b.from);
  const spans = all.map((pair): [number, number] => [pair.from, Math.max(pair.to, pair.value.to)]);
  const pieces: (Piece | { fresh: Json; key?: string })[] = [];
  const open = new Map(Object.entries(after).filter((entry): entry is [string, Json] => entry[1] !== undefined));
  const merged = mergedKeys(tree.merged, (source) => context.valueOf(source) ?? null);
  const own = new Set(tree.pairs.map((pair) => pair.key));
  const mergeStays = [...merged.keys()].every((key) => open.has(key) || own.has(key));
  all.forEach((pair, at) => {
    if (pair.key === "<<") {
      if (mergeStays) pieces.push({ ...around(context, tree, spans, at), text: context.text.slice(...(spans[at] ?? [0, 0])) });
      return;
    }
    const value = open.get(pair.key);
    const keptNothing = value === undefined && pair.value.plain === null && !merged.has(pair.key);
    open.delete(pair.key);
    if (value !== undefined || keptNothing) pieces.push({ ...around(context, tree, spans, at), text: pairText(context, pair, was[pair.key], value ?? null) });
    else context.gone(pair.value);
  });
  for (const [key, value] of open) if (!mergeStays || !merged.has(key) || JSON.stringify(merged.get(key)) !== JSON.stringify(value)) pieces.push({ fresh: value, key });
  return joined(context, tree, spans, pieces, "{", "}");
}

function pairText(context: Context, pair: PairTree, before: unknown, after: Json): string {
  const { value } = pair;
  const key = context.text.slice(pair.from, pair.to);
  if (value.from === value.to) return after === null ? context.text.slice(pair.from, Math.max(pair.to, value.to)) : `${key}: ${fresh(context, after)}`;
  return context.text.slice(pair.from, value.from) + flowText(context, value, before, after);
}

/** The text between the commas around an item, without the item. */
function around(context: Context, tree: Tree, spans: readonly [number, number][], at: number): Omit<Piece, "text"> {
  const [from, to] = spans[at] ?? [0, 0];
  const previous = spans[at - 1]?.[1];
  const start = previous === undefined ? tree.from + 1 : comma(context.text, previous, from) + 1;
  const next = spans[at + 1]?.[0] ?? tree.to - 1;
  const end = comma(context.text, to, next);
  return { before: context.text.slice(start, from), after: context.text.slice(to, end < 0 ? next : end) };
}

/** The first comma in a range outside of comments; -1 if there is none. */
function comma(text: string, from: number, to: number): number {
  for (let at = from; at < to; at += 1) {
    if (text.charAt(at) === ",") return at;
    if (text.charAt(at) === "#") at = Math.max(at, text.indexOf("\n", at));
  }
  return -1;
}

function joined(context: Context, tree: Tree, spans: readonly [number, number][], pieces: readonly (Piece | { fresh: Json; key?: string })[], open: string, close: string): string {
  const first = around(context, tree, spans, 0).before;
  const inner = spans.length > 0 ? context.text.slice(tree.from, spans[0]?.[0]) : "";
  const lines = inner.includes("\n");
  const indent = lines ? (/[ \t]*$/.exec(first)?.[0] ?? "") : "";
  const end = spans.length > 0 ? around(context, tree, spans, spans.length - 1).after : "";
  const gap = lines ? context.eol + indent : open === "{" && first !== "" && pieces.length > 0 ? first : "";
  const start = context.column(tree.from) - context.text.slice(context.lineStart(tree.from), tree.from).trimStart().length;
  const step = " ".repeat(Math.max(1, indent.length - start));
  const texts = pieces.map((piece, at) => {
    const last = at === pieces.length - 1;
    if ("fresh" in piece) {
      const value = lines && context.json ? pretty(context, piece.fresh, indent, indent.startsWith("\t") ? "\t" : step) : fresh(context, piece.fresh);
      const text = piece.key === undefined ? value : `${context.key(piece.key, true)}: ${value}`;
      return `${at === 0 ? gap : lines ? gap : " "}${text}${last ? end : ""}`;
    }
    const before = at === 0 ? first : piece.before === "" && !lines ? " " : piece.before;
    const behind = piece.after.includes("#") ? piece.after : last ? end : piece.after === end ? "" : piece.after;
    return before + piece.text + behind;
  });
  return open + texts.join(",") + close;
}
