//! Text truncation: SVG has no ellipsis.

/** The text truncated to about `width` pixels at a font size; wide characters (Chinese) count double. */
export function clip(text: string, width: number, size: number): string {
  const limit = width / size;
  let used = 0;
  for (let index = 0; index < text.length; index += 1) {
    used += advance(text.charCodeAt(index));
    if (used > limit) return `${text.slice(0, Math.max(1, index - 1)).trimEnd()}…`;
  }
  return text;
}

// In ems; generous, so that a wider system font fits too.
function advance(code: number): number {
  if (code >= 0x2e80) return 1.02;
  if (code >= 0x41 && code <= 0x5a) return 0.7;
  return "fijlrt.,:;'|!()[] -".includes(String.fromCharCode(code)) ? 0.36 : 0.58;
}
