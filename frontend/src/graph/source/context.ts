//! The context of writing: the text, its style, and the final values of anchors.

import type { Json } from "../document";
import { equal } from "../equal";
import { quoted, scalar, type Style } from "../yaml";
import type { ScalarTree, Tree } from "./tree";

/** A range of the text and its replacement. */
export interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The state of one write. */
export class Context {
  readonly eol: string;
  readonly style: Style;
  /** The new values of changed anchors; `null` if removed. */
  readonly #settled = new Map<Tree, { readonly value: Json } | null>();

  constructor(
    readonly text: string,
    root: Tree,
    /** Whether strings and keys are double-quoted, as in JSON. */
    readonly json: boolean,
  ) {
    this.eol = text.includes("\r\n") ? "\r\n" : "\n";
    this.style = styleOf(text, root);
  }

  /** Whether a value keeps its text. `before` and `after` are often the same object. */
  stays(tree: Tree, before: unknown, after: Json): boolean {
    if (tree.kind === "alias") return this.#standsFor(tree.target, after);
    if (tree.aliased && this.#settled.size > 0) return false;
    return (before === after && before !== undefined) || equal(tree.plain, after);
  }

  /** Records the new value of an anchored node. */
  settle(tree: Tree, after: Json): void {
    if (tree.anchor !== undefined && !equal(tree.plain, after)) this.#settled.set(tree, { value: after });
  }

  /** Records that a value is removed, with all anchors in it. */
  gone(tree: Tree): void {
    if (tree.anchor !== undefined) this.#settled.set(tree, null);
    if (tree.kind === "list") for (const item of tree.items) this.gone(item);
    if (tree.kind === "map") for (const { value } of [...tree.pairs, ...tree.merged]) this.gone(value);
  }

  /** The final value of a tree; `undefined` if its anchor is removed. */
  valueOf(tree: Tree): Json | undefined {
    const settled = this.#settled.get(tree.kind === "alias" ? tree.target : tree);
    return settled === undefined ? tree.plain : settled?.value;
  }

  #standsFor(target: Tree, after: Json): boolean {
    const settled = this.#settled.get(target);
    return settled === undefined ? equal(target.plain, after) : settled !== null && equal(settled.value, after);
  }

  /** A scalar on one line, quoted like the previous one. */
  scalar(value: Json, inFlow: boolean, like?: ScalarTree): string {
    if (typeof value !== "string") return JSON.stringify(value);
    if (this.json) return quoted(value);
    if (like && typeof like.plain === "string") {
      if (like.style === "double") return quoted(value);
      if (like.style === "single" && /^[\P{C}]*$/u.test(value)) return `'${value.replaceAll("'", "''")}'`;
    }
    return scalar(value, inFlow);
  }

  /** A key as written before `:`. */
  key(name: string, inFlow: boolean): string {
    return this.json ? quoted(name) : scalar(name, inFlow);
  }

  lineStart(at: number): number {
    return this.text.lastIndexOf("\n", at - 1) + 1;
  }

  /** The start of the next line, or the end of the text. */
  nextLine(at: number): number {
    const end = this.text.indexOf("\n", at);
    return end < 0 ? this.text.length : end + 1;
  }

  column(at: number): number {
    return at - this.lineStart(at);
  }

  /** The end of a value's text, without trailing comments and blank lines. */
  end(tree: Tree): number {
    if ((tree.kind === "map" || tree.kind === "list") && !tree.flow) {
      const ends = tree.kind === "list" ? tree.items.map((item) => this.end(item)) : [...tree.pairs, ...tree.merged].map((pair) => Math.max(pair.to, this.end(pair.value)));
      return Math.max(tree.from, ...ends);
    }
    const written = this.text.slice(tree.from, tree.to);
    return tree.kind === "scalar" && tree.style === "block" ? tree.from + written.replace(/\r?\n$/, "").length : tree.to;
  }
}

/** The indentation style of a text, from its first mapping and its first list. */
function styleOf(text: string, root: Tree): Style {
  const column = (at: number) => at - (text.lastIndexOf("\n", at - 1) + 1);
  let [indent, listIndent] = [0, -1];
  const look = (tree: Tree, depth: number) => {
    if (depth > 4 || (indent > 0 && listIndent >= 0)) return;
    if (tree.kind === "list") for (const item of tree.items.slice(0, 5)) look(item, depth + 1);
    if (tree.kind !== "map" || tree.flow) return;
    for (const { from, value } of tree.pairs) {
      const by = column(value.from) - column(from);
      if (value.kind === "map" && !value.flow && by > 0) indent ||= by;
      if (value.kind === "list" && !value.flow && listIndent < 0 && by >= 0) listIndent = by;
      look(value, depth + 1);
    }
  };
  look(root, 0);
  return { indent: indent || 2, listIndent: listIndent < 0 ? 2 : listIndent };
}
