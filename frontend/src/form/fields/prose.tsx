//! A message in which words between backticks are code.

/** The message; line breaks are spaces. */
export function Prose({ text }: { text: string }) {
  return text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index} className="mono">{part}</code> : part));
}
