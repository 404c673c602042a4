//! The text of a pipeline: parsed as a document, and written with unchanged parts preserved. Imports the
//! package `yaml`: load it on demand.

import type { Json, PipelineDocument } from "./document";
import { equal } from "./equal";
import { partsOf, type Finding } from "./finding";
import { readTree } from "./source/read";
import { documentOf } from "./source/shape";
import type { Tree } from "./source/tree";
import { written } from "./source/write";
import { toYaml } from "./yaml";

/** A position in a text: line and column from 1, and offsets. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
  readonly from: number;
  readonly to: number;
}

/** A text and its document. Immutable: writing returns a new one. */
export class SourceText {
  private constructor(
    readonly text: string,
    /** Absent if the text is invalid: `problems` then has at least one error. */
    readonly document: PipelineDocument | undefined,
    readonly problems: readonly Finding[],
    private readonly tree: Tree | undefined,
  ) {}

  static parse(text: string): SourceText {
    const { tree, found } = readTree(text);
    const lines = lineStarts(text);
    const findings = found.map(({ finding, at }) => ({ ...finding, ...placeAt(lines, at) }));
    if (!tree) return new SourceText(text, undefined, findings, undefined);
    const { document, findings: shape } = documentOf(tree.plain);
    const placed = shape.map((finding) => ({ ...finding, ...placeAt(lines, nodeAt(tree, finding.path).from) }));
    return new SourceText(text, document, [...findings, ...placed], tree);
  }

  /** A new text for a document that has none. */
  static of(document: PipelineDocument): SourceText {
    const text = toYaml(document as unknown as Json);
    return SourceText.parse(text);
  }

  /** Whether the text is JSON. */
  get isJson(): boolean {
    return isJson(this.text);
  }

  /**
   * The text of another document: only differences from `document` are written. Parsing the result always
   * yields that document: in the worst case everything is rewritten, and comments are lost.
   */
  with(document: PipelineDocument): SourceText {
    if (document === this.document || (this.document && equal(document, this.document))) return this;
    if (this.tree && this.document) {
      for (const depth of [Infinity, 3, 1]) {
        const text = written(this.text, this.tree, this.isJson, this.document, document as unknown as Json, depth);
        const next = text === "" ? undefined : SourceText.parse(text);
        if (next?.document && equal(next.document, document)) return next;
      }
    }
    return this.isJson ? SourceText.parse(`${JSON.stringify(document, undefined, 2)}\n`) : SourceText.of(document);
  }

  /** The position of a JSON pointer; of the nearest ancestor if it is not in the text. */
  locate(path: string): TextPlace {
    const { from, to } = this.tree ? nodeAt(this.tree, path) : { from: 0, to: 0 };
    return { ...placeAt(lineStarts(this.text), from), from, to };
  }

  /** The JSON pointer of the task or value at an offset. */
  pathAt(offset: number): string {
    let [path, tree] = ["", this.tree];
    while (tree) {
      const parts: [string, number, Tree][] = tree.kind === "map" ? tree.pairs.map(({ key, from, value }) => [key, from, value]) : tree.kind === "list" ? tree.items.map((item, at) => [String(at), item.from, item]) : [];
      const inner = parts.findLast(([, from]) => from <= offset);
      if (!inner) break;
      path += `/${inner[0].replaceAll("~", "~0").replaceAll("/", "~1")}`;
      tree = inner[2];
    }
    return path;
  }
}

/** Whether a text is JSON, which is then kept as JSON. */
function isJson(text: string): boolean {
  if (!/^\s*\{\s*["}]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function nodeAt(tree: Tree, path: string): { from: number; to: number } {
  let [node, place] = [tree, { from: tree.from, to: tree.to }];
  for (const part of partsOf(path)) {
    const around: Tree = node.kind === "alias" ? node.target : node;
    const pair = around.kind === "map" ? around.pairs.find(({ key }) => key === part) : undefined;
    const next = pair?.value ?? (around.kind === "list" ? around.items[Number(part)] : undefined);
    if (!next) break;
    place = { from: pair?.from ?? next.from, to: Math.max(next.to, pair?.to ?? 0) };
    node = next;
  }
  return place;
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function placeAt(starts: readonly number[], offset: number): { line: number; column: number } {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
}
