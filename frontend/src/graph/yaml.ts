//! Writes plain values as YAML, without the parser: for copies and text changes.

import type { Json } from "./document";

/** A YAML style. */
export interface Style {
  /** Indentation of nested mappings, in columns. */
  readonly indent: number;
  /** Whether list items are aligned with their key (`0`) or indented. */
  readonly listIndent: number;
}

const USUAL: Style = { indent: 2, listIndent: 2 };

/** A whole document, with a final line break. */
export function toYaml(value: Json, style: Style = USUAL): string {
  return isLeaf(value) ? `${flow(value)}\n` : `${block(value, 0, style).join("\n")}\n`;
}

/** The lines of a mapping or list in block style, with this indentation. */
export function block(value: Json, column: number, style: Style = USUAL): string[] {
  const space = " ".repeat(column);
  if (isList(value)) return value.flatMap((item) => element(item, column, style));
  return Object.entries(value as Record<string, Json | undefined>).flatMap(([key, inner]) =>
    inner === undefined ? [] : pair(`${space}${scalar(key)}`, inner, column, style));
}

/** The lines of `key: value`. */
export function pair(key: string, value: Json, column: number, style: Style = USUAL): string[] {
  if (typeof value === "string" && isText(value)) return [`${key}: ${literalSign(value)}`, ...literal(value, column + style.indent)];
  if (isLeaf(value)) return [`${key}: ${flow(value)}`];
  return [`${key}:`, ...block(value, column + (isList(value) ? style.listIndent : style.indent), style)];
}

/** The lines of `- value`. */
export function element(item: Json, column: number, style: Style = USUAL): string[] {
  const space = " ".repeat(column);
  if (typeof item === "string" && isText(item)) return [`${space}- ${literalSign(item)}`, ...literal(item, column + style.indent)];
  if (isLeaf(item)) return [`${space}- ${flow(item)}`];
  const [first = "", ...rest] = block(item, column + 2, { ...style });
  return [`${space}- ${first.trimStart()}`, ...rest];
}

/** Whether a value is written on one line: scalars, empty collections, short lists of scalars. */
export function isLeaf(value: Json): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (!isList(value)) return Object.keys(value).length === 0;
  return value.length === 0 || (value.every((one) => typeof one !== "object" || one === null) && value.length <= LIST_ITEMS && flow(value).length <= LIST_WIDTH);
}

// Longer lists are written one item per line.
const LIST_ITEMS = 8;
const LIST_WIDTH = 72;

/** A value on one line: `{a: [1, b]}`. */
export function flow(value: Json): string {
  if (typeof value === "string") return scalar(value, true);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(flow).join(", ")}]`;
  const pairs = Object.entries(value as Record<string, Json | undefined>).filter(([, inner]) => inner !== undefined);
  return `{${pairs.map(([key, inner]) => `${scalar(key, true)}: ${flow(inner ?? null)}`).join(", ")}}`;
}

// Texts that YAML 1.1 or 1.2 would parse as another type.
const RESERVED = /^(?:~|null|true|false|yes|no|on|off|y|n|\.inf|\.nan|\.\.\..*)$/i;
const NUMBER_LIKE = /^[\d.][\d_.]*(?:e[-+]?\d+)?$|^0[xob][\da-f_]*$|^\d{4}-\d\d?-\d/i;

/** A text as a scalar on one line: plain where that is safe everywhere, else double-quoted. */
export function scalar(text: string, inFlow = false): string {
  const plain = inFlow ? /^[\p{L}\p{N}_/$(^.][^\p{C}\p{Z}:#,[\]{}"'`\\&*!|>%@?]*(?: [^\p{C}\p{Z}:#,[\]{}"'`\\&*!|>%@?]+)*$/u : /^[\p{L}\p{N}_/$(^.][^\p{C}\p{Z}:#"'`\\{}]*(?: [^\p{C}\p{Z}:#"'`\\{}]+)*$/u;
  if (plain.test(text) && !RESERVED.test(text) && !NUMBER_LIKE.test(text)) return text;
  if (/^[a-z][\w+.-]*:\/\/[^\s#,[\]{}"'`\\]+$/i.test(text) && !/:(?=$)/.test(text)) return text;
  return quoted(text);
}

/** Double-quoted, with non-printable characters escaped. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Whether a text is written as a literal block: it has several lines (or may have only one), and only
 * characters that a block can contain.
 */
export function isText(text: string, oneLine = false): boolean {
  return (/\n./.test(text) || (oneLine && text !== "")) && !/[^\P{C}\n\t]|[\u2028\u2029\u0085\ufeff]|[ \t]\n|^[ \t\n]|[ \t]$/u.test(text);
}

/** `|` with the chomping indicator that keeps the trailing line breaks. */
export function literalSign(text: string): string {
  if (!text.endsWith("\n")) return "|-";
  return text.endsWith("\n\n") ? "|+" : "|";
}

/** The lines of a literal block. */
export function literal(text: string, column: number): string[] {
  const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
  return lines.map((line) => (line === "" ? "" : " ".repeat(column) + line));
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
