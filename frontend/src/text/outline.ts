//! The structure of a YAML text, parsed line by line: it also works for incomplete text. Pure.

/** A key or item with its position. */
export interface Entry {
  /** From the root: keys, and indices of list items. */
  path: (string | number)[];
  /** The line, from 0. */
  line: number;
  /** The scalar after the key, if it is on the same line. */
  value: string;
}

/** The context of a cursor. */
export interface Place {
  /** The mapping or list at the cursor; for a value, the path of the value itself. */
  path: (string | number)[];
  /** Whether a value is being typed, rather than a key. */
  value: boolean;
  /** The typed part of the word. */
  word: string;
}

interface Level {
  indent: number;
  part: string | number;
}

const KEY = /^("[^"]*"|'[^']*'|[^\s#:{}[\],"'&*!|>-][^:#]*?|[\w.-]+)\s*:(?=\s|$)/;

/** Parses lines and tracks their path in the document. */
class Reader {
  readonly entries: Entry[] = [];
  #levels: Level[] = [];
  #block: number | null = null;

  /** The current path. */
  get path(): (string | number)[] {
    return this.#levels.map((level) => level.part);
  }

  /** Whether a line is inside a block scalar (`|` or `>`). */
  inBlock(text: string): boolean {
    const indent = text.length - text.trimStart().length;
    if (this.#block === null) return false;
    if (text.trim() === "" || indent > this.#block) return true;
    this.#block = null;
    return false;
  }

  read(text: string, line: number): void {
    const trimmed = text.trim();
    if (this.inBlock(text) || trimmed === "" || trimmed.startsWith("#") || trimmed === "---") return;
    const [rest, column] = this.dashes(text);
    const found = KEY.exec(rest);
    if (!found) {
      if (rest !== "") this.entries.push({ path: this.path, line, value: scalar(rest) });
      return;
    }
    this.open(column, bare(found[1] ?? ""));
    const value = rest.slice(found[0].length).trim();
    this.entries.push({ path: this.path, line, value: scalar(value) });
    if (/^(&\S+\s+)?[|>]/.test(value)) this.#block = column;
  }

  /** Enters the list items that a line begins with. Returns the rest and its column. */
  dashes(text: string): [rest: string, column: number] {
    let column = text.length - text.trimStart().length;
    let rest = text.slice(column);
    while (rest === "-" || rest.startsWith("- ")) {
      const last = this.#element(column);
      this.#levels.push({ indent: column, part: last + 1 });
      const inner = rest.slice(1).trimStart();
      column += rest.length - inner.length;
      rest = inner;
    }
    return [rest, column];
  }

  /** Closes all levels that do not contain this column, and enters a key. */
  open(column: number, key: string): void {
    this.leave(column);
    this.#levels.push({ indent: column, part: key });
  }

  /** Closes all levels that do not contain this column. */
  leave(column: number): void {
    while ((this.#levels.at(-1)?.indent ?? -1) >= column) this.#levels.pop();
  }

  // The index of the previous item in a list at this column; -1 if there is none.
  #element(column: number): number {
    let last = -1;
    for (let top = this.#levels.at(-1); top; top = this.#levels.at(-1)) {
      const other = top.indent === column && typeof top.part === "number";
      if (top.indent < column || (top.indent === column && !other)) break;
      if (other) last = Number(top.part);
      this.#levels.pop();
    }
    return last;
  }
}

function bare(text: string): string {
  return text.replace(/^(["'])(.*)\1$/, "$2");
}

function scalar(text: string): string {
  return bare(text.replace(/\s+#.*$/, "").trim());
}

/** Every key and item of a text. */
export function outline(text: string): Entry[] {
  const reader = new Reader();
  text.split("\n").forEach((line, at) => { reader.read(line, at); });
  return reader.entries;
}

/** The context of the cursor at the end of this text. Null inside a block scalar or a comment. */
export function placeAt(before: string): Place | null {
  const lines = before.split("\n");
  const last = lines.pop() ?? "";
  const reader = new Reader();
  lines.forEach((line, at) => { reader.read(line, at); });
  if (reader.inBlock(last) && last.trim() !== "") return null;
  if (/(^|\s)#/.test(last.replace(/(["']).*?\1/g, ""))) return null;
  const [rest, column] = reader.dashes(last);
  const found = KEY.exec(rest);
  if (!found) {
    const list = /^\s*-/.test(last);
    if (!list) reader.leave(last.trim() === "" ? last.length : column);
    return flow(rest, { path: reader.path, value: false, word: rest });
  }
  reader.open(column, bare(found[1] ?? ""));
  const value = rest.slice(found[0].length).trimStart();
  return flow(value, { path: reader.path, value: true, word: value });
}

/** Enters the open collections of `{a: [b, `. */
function flow(text: string, place: Place): Place {
  const open: { kind: string; part: string | number | null; count: number }[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    const top = open.at(-1);
    if ((sign === "{" && text.charAt(at + 1) !== "{" && text.charAt(at - 1) !== "{") || (sign === "[" && !text.startsWith("{{"))) {
      open.push({ kind: sign, part: null, count: 0 });
    } else if ((sign === "}" || sign === "]") && top) open.pop();
    else if (sign === "," && top) Object.assign(top, { part: null, count: top.count + 1 });
    else if (sign === ":" && top?.kind === "{" && top.part === null) top.part = bare(text.slice(from, at).trim());
    else continue;
    from = at + 1;
  }
  if (open.length === 0) return place;
  const inside = open.map((level, at) => (level.kind === "[" ? level.count : at < open.length - 1 || level.part !== null ? level.part : null));
  const path = [...place.path, ...inside.filter((part) => part !== null)];
  const last = open.at(-1);
  return { path, value: last?.kind === "[" || last?.part !== null, word: text.slice(from).trimStart() };
}
