// Converts terminal output to styled text: colours are shown, all other control sequences are removed. Each
// line starts unstyled, because lines of several workers are interleaved.

/** A piece of a line with one style. */
export interface Piece {
  readonly text: string;
  /** Class names, separated by spaces; empty for plain text. */
  readonly style: string;
}

interface Pen {
  front: number | undefined;
  back: number | undefined;
  readonly flags: Set<"bold" | "dim" | "italic" | "underline" | "inverse">;
}

// CSI sequences, OSC sequences (titles, links), and single escapes.
 
const ESCAPE = /\u001b\[([0-9;:?]*)([ -/]*[@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]/g;
 
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** The visible text of a line with carriage returns: its last part. */
function afterReturns(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  const at = text.lastIndexOf("\r");
  return at < 0 ? text : text.slice(at + 1);
}

/** The line as pieces; their texts together are the readable line. */
export function pieces(line: string): Piece[] {
  const text = afterReturns(line);
  const found: Piece[] = [];
  const pen: Pen = { front: undefined, back: undefined, flags: new Set() };
  let from = 0;
  const put = (to: number): void => {
    const part = text.slice(from, to).replace(CONTROL, "");
    if (part !== "") found.push({ text: part, style: style(pen) });
  };
  for (const match of text.matchAll(ESCAPE)) {
    put(match.index);
    from = match.index + match[0].length;
    if (match[2] === "m") change(pen, match[1] ?? "");
  }
  put(text.length);
  return found;
}

/** The line without control sequences. */
export function plain(line: string): string {
  if (!/[\u0000-\u0008\u000b-\u001f\u007f]/.test(line)) return line;  
  return afterReturns(line).replace(ESCAPE, "").replace(CONTROL, "");
}

function style(pen: Pen): string {
  const names = [...pen.flags].map((flag) => `ansi-${flag}`);
  if (pen.front !== undefined) names.push(`ansi-front-${pen.front}`);
  if (pen.back !== undefined) names.push(`ansi-back-${pen.back}`);
  return names.join(" ");
}

/** Applies the parameters of one SGR sequence (ECMA-48, 8.3.117). */
function change(pen: Pen, parameters: string): void {
  const codes = parameters.split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(at + 1));
      if (code === 38) pen.front = colour;
      else pen.back = colour;
      at += used;
    } else {
      simple(pen, code);
    }
  }
}

function simple(pen: Pen, code: number): void {
  const on = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse" } as const;
  if (code === 0) {
    pen.front = pen.back = undefined;
    pen.flags.clear();
  } else if (code in on) pen.flags.add(on[code as keyof typeof on]);
  else if (code === 22) ["bold" as const, "dim" as const].forEach((flag) => pen.flags.delete(flag));
  else if (code === 23) pen.flags.delete("italic");
  else if (code === 24) pen.flags.delete("underline");
  else if (code === 27) pen.flags.delete("inverse");
  else if (code === 39) pen.front = undefined;
  else if (code === 49) pen.back = undefined;
  else if (code >= 30 && code <= 37) pen.front = code - 30;
  else if (code >= 90 && code <= 97) pen.front = code - 82;
  else if (code >= 40 && code <= 47) pen.back = code - 40;
  else if (code >= 100 && code <= 107) pen.back = code - 92;
}

/** The nearest of the 16 colours for `5;n` or `2;r;g;b`, and the number of parameters consumed. */
function extended(codes: readonly number[]): [number | undefined, number] {
  if (codes[0] === 5) return [of256(codes[1] ?? 0), 2];
  if (codes[0] === 2) return [nearest(codes[1] ?? 0, codes[2] ?? 0, codes[3] ?? 0), 4];
  return [undefined, 1];
}

function of256(code: number): number {
  if (code < 16) return code;
  if (code >= 232) {
    const grey = (code - 232) * 10 + 8;
    return nearest(grey, grey, grey);
  }
  const cube = code - 16;
  const level = (digit: number): number => (digit === 0 ? 0 : digit * 40 + 55);
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  if (most < 48) return 0;
  const least = Math.min(red, green, blue);
  if (most - least < 32) return most > 200 ? 15 : most > 120 ? 7 : 8;
  const half = most / 2;
  const base = (red > half ? 1 : 0) + (green > half ? 2 : 0) + (blue > half ? 4 : 0);
  return most > 170 ? base + 8 : base;
}
