//! Parses the expressions of a text, and the tasks that they read, like the server: only `{{ ... }}` is
//! special.

/** A range of a text, by offsets. `closed` is false if `}}` is missing; the range then extends to the end. */
export interface Expression {
  readonly source: string;
  readonly from: number;
  readonly to: number;
  readonly closed: boolean;
}

/** A task that an expression reads, the offsets of its name, and the output, unless all are read together. */
export interface Read {
  readonly task: string;
  readonly output: string | undefined;
  /** Offsets of `.name` or `['name']` after `tasks`. */
  readonly from: number;
  readonly to: number;
}

/** The ranges between `{{` and `}}`, exclusive. */
export function expressionsIn(text: string): Expression[] {
  const found: Expression[] = [];
  for (let start = text.indexOf("{{"); start >= 0; ) {
    const from = start + 2;
    const end = endOf(text, from);
    const to = end ?? text.length;
    found.push({ source: text.slice(from, to), from, to, closed: end !== undefined });
    start = end === undefined ? -1 : text.indexOf("{{", end + 2);
  }
  return found;
}

/** The offset of the `}}` that ends an expression: outside of quotes and brackets. */
function endOf(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === '"' || sign === "'") at = endOfString(text, at);
    else if ("{[(".includes(sign)) depth += 1;
    else if (sign === "}" && depth === 0 && text.charAt(at + 1) === "}") return at;
    else if ("}])".includes(sign)) depth = Math.max(0, depth - 1);
  }
  return undefined;
}

/** The offset of the quote that ends the string starting at `start`, or beyond the end of the text. */
export function endOfString(text: string, start: number): number {
  const quote = text.charAt(start);
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== quote) at += text.charAt(at) === "\\" ? 2 : 1;
  return at;
}

/** The root variables of expressions. */
export const ROOTS = ["params", "run", "workspace", "code", "tasks", "item", "task", "args"] as const;

/** A variable in an expression, and its constant member: offsets as in `Read`. */
export interface Name {
  readonly root: (typeof ROOTS)[number];
  readonly member: string | undefined;
  readonly from: number;
  readonly to: number;
}

/** The names in one expression; `wrong` if it multiplies, or names a task dynamically. */
export interface Scanned {
  readonly reads: readonly Read[];
  readonly names: readonly Name[];
  readonly wrong: "times" | "tasks" | undefined;
}

/** Scans one expression like the server. */
export function scan(expression: string): Scanned {
  const [reads, names]: [Read[], Name[]] = [[], []];
  let wrong: Scanned["wrong"];
  let afterDot = false;
  for (let at = 0; at < expression.length; ) {
    const sign = expression.charAt(at);
    const start = at;
    at += 1;
    if (sign === '"' || sign === "'") at = endOfString(expression, start) + 1;
    else if (expression.startsWith("**", start)) at += 1;
    else if (sign === "*") wrong ??= "times";
    else if (isWord(sign)) {
      at = endOfWord(expression, start);
      const word = expression.slice(start, at);
      if (!afterDot && isRoot(word)) {
        const taken = member(expression, at, false);
        const name = taken?.name;
        names.push({ root: word, member: name !== undefined && /^[A-Za-z_]\w*$/.test(name) ? name : undefined, from: at, to: taken?.to ?? at });
      }
      if (!afterDot && word === "tasks") {
        const read = readAt(expression, at);
        if (read) reads.push(read);
        else wrong ??= "tasks";
        at = read?.to ?? at;
      }
    }
    if (sign.trim() !== "") afterDot = sign === ".";
  }
  return { reads, names, wrong };
}

function isRoot(word: string): word is Name["root"] {
  return (ROOTS as readonly string[]).includes(word);
}

function readAt(expression: string, at: number): Read | undefined {
  const task = member(expression, at, true);
  const what = task && member(expression, task.to, false);
  if (what?.name !== "outputs" && what?.name !== "state") return undefined;
  const output = what.name === "outputs" ? member(expression, what.to, false) : undefined;
  return { task: task?.name ?? "", output: output?.name, from: at, to: task?.to ?? at };
}

/** The constant member at an offset, and where it ends. */
function member(expression: string, from: number, dashes: boolean): { name: string; to: number } | undefined {
  const skip = (at: number) => at + (/^[ \t\n\r\f]*/.exec(expression.slice(at))?.[0].length ?? 0);
  const at = skip(from);
  const start = skip(at + 1);
  if (expression.charAt(at) === ".") {
    let to = start;
    while (isWord(expression.charAt(to)) || (dashes && expression.charAt(to) === "-")) to += 1;
    return to > start ? { name: expression.slice(start, to), to } : undefined;
  }
  if (expression.charAt(at) !== "[" || !/["']/.test(expression.charAt(start))) return undefined;
  const end = endOfString(expression, start);
  const name = expression.slice(start + 1, end);
  const close = skip(end + 1);
  return /[\\"]/.test(name) || expression.charAt(close) !== "]" ? undefined : { name, to: close + 1 };
}

function isWord(sign: string): boolean {
  return /^[A-Za-z0-9_\u0080-\uffff]/.test(sign);
}

function endOfWord(text: string, from: number): number {
  let at = from;
  while (isWord(text.charAt(at))) at += 1;
  return at;
}

/** A constant member, and its offsets. */
interface Taken {
  readonly name: string | undefined;
  readonly from: number;
  readonly to: number;
}

/** Replaces names in an expression. A name that no expression can contain is not inserted. */
function renamedIn(expression: string, taken: readonly Taken[], names: ReadonlyMap<string, string>): string {
  let text = "";
  let done = 0;
  for (const { name: before = "", from, to } of taken) {
    const name = names.get(before);
    if (name === undefined || /[\\"]/.test(name)) continue;
    const dotted = expression.slice(from, to).trimStart().startsWith(".");
    text += expression.slice(done, from) + (dotted && /^[\w-]+$/.test(name) ? `.${name}` : quoted(name, expression.slice(from, to)));
    done = to;
  }
  return done === 0 ? expression : text + expression.slice(done);
}

function quoted(name: string, before: string): string {
  const quote = before.includes("'") && !name.includes("'") ? "'" : '"';
  return `[${quote}${name}${quote}]`;
}

/** Replaces task names in a text. With `bare`, a text without braces is an expression itself. */
export function renameTasksIn(text: string, names: ReadonlyMap<string, string>, bare = false): string {
  if (!text.includes("tasks")) return text;
  return mapExpressions(text, bare, (source) => renamedIn(source, scan(source).reads.map((read) => ({ ...read, name: read.task })), names));
}

/** Replaces parameter names in a text; `bare` as above. */
export function renameParametersIn(text: string, names: ReadonlyMap<string, string>, bare = false): string {
  if (!text.includes("params")) return text;
  const taken = (source: string) => scan(source).names.filter(({ root }) => root === "params").map((one) => ({ ...one, name: one.member }));
  return mapExpressions(text, bare, (source) => renamedIn(source, taken(source), names));
}

function mapExpressions(text: string, bare: boolean, change: (source: string) => string): string {
  if (bare && !text.includes("{{")) return change(text);
  let changed = "";
  let done = 0;
  for (const { source, from, to } of expressionsIn(text)) {
    changed += text.slice(done, from) + change(source);
    done = to;
  }
  return changed + text.slice(done);
}

/** Whether a text contains an expression. */
export function hasExpression(text: string): boolean {
  return text.includes("{{");
}
