//! Parses YAML to a tree with the package `yaml`, reporting problems with the server's codes.

import { isAlias, isMap, isScalar, isSeq, parseDocument, type Node, type YAMLMap } from "yaml";
import type { Json } from "../document";
import { isMapping } from "../equal";
import { mistake, pointer, type Code, type Finding } from "../finding";
import { plainMap, type PairTree, type Tree } from "./tree";

/** The maximum number of values behind all aliases of a document, as on the server. */
const MAX_ALIASED = 1_000_000;

/** The maximum nesting of lists and mappings, as on the server. */
const MAX_DEPTH = 64;

/** A problem at an offset of the text. */
export interface Found {
  readonly finding: Finding;
  readonly at: number;
}

/** Parses a text. Without a tree there is at least one problem. */
export function readTree(text: string): { tree: Tree | undefined; found: Found[] } {
  try {
    const document = parseDocument(text, { uniqueKeys: false, stringKeys: false, logLevel: "error" });
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem) return { tree: undefined, found: [wrong("syntax", problem.pos[0], reason(problem.code, problem.message))] };
    if (!document.contents) return { tree: undefined, found: [wrong("syntax", 0, "the document is empty")] };
    const reader = new Reader(text);
    const tree = reader.read(document.contents, []);
    return reader.broken ? { tree: undefined, found: [reader.broken] } : { tree, found: reader.found };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The package has a limit, too, but a much higher one.
    return { tree: undefined, found: [tooDeep(0)] };
  }
}

function tooDeep(at: number): Found {
  return { finding: mistake("too_large", "", /* text */ "graph.too-deep", { limit: MAX_DEPTH }), at };
}

function wrong(code: Code, at: number, why: string): Found {
  return { finding: mistake(code, "", /* text */ "graph.syntax", { reason: why }), at };
}

function reason(code: string, message: string): string {
  if (code === "MULTIPLE_DOCS") return "a second document begins here; write one document per file";
  return message.split("\n")[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? message;
}

/** The number of values in a value, including itself, and its nesting depth. */
interface Size {
  readonly count: number;
  readonly depth: number;
}

class Reader {
  readonly found: Found[] = [];
  broken: Found | undefined;
  readonly #anchors = new Map<string, Tree>();
  readonly #sizes = new Map<Tree, Size>();
  #aliased = 0;

  constructor(private readonly text: string) {}

  read(node: Node, path: readonly (string | number)[]): Tree {
    const tree = this.#value(node, path);
    if (tree.anchor !== undefined) this.#anchors.set(tree.anchor, tree);
    return tree;
  }

  #value(node: Node, path: readonly (string | number)[]): Tree {
    const [from, to] = node.range ?? [0, 0];
    if (isAlias(node)) return this.#alias(node.source, path.length, { from, to });
    const anchor = "anchor" in node ? node.anchor : undefined;
    if ((isMap(node) || isSeq(node)) && path.length >= MAX_DEPTH) {
      this.broken ??= tooDeep(from);
      return this.#nothing(from);
    }
    if (isMap(node)) return this.#map(node, path, { from, to, anchor });
    if (isSeq(node)) {
      const items = node.items.map((item, at) => this.read(item as Node, [...path, at]));
      return { kind: "list", from, to, anchor, flow: node.flow === true, items, plain: items.map((item) => item.plain), aliased: items.some((item) => item.aliased) };
    }
    const text = this.text.slice(from, to);
    const style = text.startsWith('"') ? "double" : text.startsWith("'") ? "single" : /^[|>]/.test(text) ? "block" : "plain";
    const value: unknown = isScalar(node) ? node.value : null;
    return { kind: "scalar", from, to, anchor, style, plain: plainOf(value, text, isWord(path)), aliased: false };
  }

  #alias(name: string, depth: number, { from, to }: { from: number; to: number }): Tree {
    const target = this.#anchors.get(name);
    if (!target) {
      this.broken ??= wrong("syntax", from, `the alias \`*${name}\` names nothing that stands before it`);
      return { kind: "scalar", from, to, style: "plain", plain: null, aliased: false };
    }
    const size = this.#size(target);
    this.#aliased += size.count;
    if (depth + size.depth > MAX_DEPTH) this.broken ??= tooDeep(from);
    if (this.#aliased > MAX_ALIASED) this.broken ??= { finding: mistake("too_large", "", /* text */ "graph.too-many-aliases", { limit: MAX_ALIASED }), at: from };
    return { kind: "alias", from, to, target, plain: this.broken ? null : target.plain, aliased: true };
  }

  #map(node: YAMLMap, path: readonly (string | number)[], { from, to, anchor }: { from: number; to: number; anchor: string | undefined }): Tree {
    const [pairs, merged]: [PairTree[], PairTree[]] = [[], []];
    const seen = new Set<string>();
    for (const { key, value } of node.items) {
      const place = (key as Node).range ?? [from, from];
      const name = this.#key(key as Node);
      const inner = value ? this.read(value as Node, [...path, name]) : this.#nothing(place[1]);
      const pair = { key: name, from: place[0], to: place[1], value: inner };
      if (name === "<<") merged.push(this.#merge(pair));
      else {
        if (seen.has(name)) this.found.push({ finding: mistake("duplicate_key", pointer([...path, name]), /* text */ "graph.duplicate-key", { key: name }), at: place[0] });
        seen.add(name);
        pairs.push(pair);
      }
    }
    return { kind: "map", from, to, anchor, flow: node.flow === true, pairs, merged, plain: plainMap(pairs, merged), aliased: [...pairs, ...merged].some((pair) => pair.value.aliased) };
  }

  #merge(pair: PairTree): PairTree {
    const { value } = pair;
    const target = value.kind === "alias" ? value.target : value;
    const sources = target.kind === "list" ? target.items.map((item) => item.plain) : [target.plain];
    if (!sources.every(isMapping)) this.broken ??= wrong("syntax", value.from, "`<<` must be a mapping, or a list of mappings");
    return pair;
  }

  #key(key: Node): string {
    if (isScalar(key)) return key.source ?? "";
    const value = isAlias(key) ? this.#anchors.get(key.source)?.plain : undefined;
    if (typeof value === "string") return value;
    this.broken ??= wrong("syntax", key.range?.[0] ?? 0, "a key must be text, not a list or a mapping");
    return "";
  }

  #nothing(at: number): Tree {
    return { kind: "scalar", from: at, to: at, style: "plain", plain: null, aliased: false };
  }

  #size(tree: Tree): Size {
    if (tree.kind === "alias") return this.#size(tree.target);
    const known = this.#sizes.get(tree);
    if (known) return known;
    const inner = tree.kind === "map" ? [...tree.pairs, ...tree.merged].map((pair) => pair.value) : tree.kind === "list" ? tree.items : [];
    const sizes = inner.map((one) => this.#size(one));
    const size = { count: sizes.reduce((sum, { count }) => sum + count, 1), depth: tree.kind === "scalar" ? 0 : sizes.reduce((most, { depth }) => Math.max(most, depth), 0) + 1 };
    this.#sizes.set(tree, size);
    return size;
  }
}

/** Names may be written as numbers: `name: 1`, `needs: [1]`. */
function isWord(path: readonly (string | number)[]): boolean {
  const [tasks, task, field] = path;
  if (path.length === 1) return tasks === "name";
  return tasks === "tasks" && typeof task === "number" && ((field === "name" && path.length === 3) || (field === "needs" && path.length === 4));
}

function plainOf(value: unknown, text: string, word: boolean): Json {
  if (typeof value === "string" || value === null || value === undefined) return value ?? null;
  if (word || (typeof value === "number" && !Number.isFinite(value))) return text;
  return typeof value === "number" || typeof value === "boolean" ? value : text;
}
