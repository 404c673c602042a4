//! Parses, matches and formats shortcuts.

/**
 * Whether an event matches this shortcut: `Mod+Shift+z`, `f`, `?`, `Delete`. One in brackets is the
 * browser's.
 */
export function matches(shortcut: string, event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">): boolean {
  if (shortcut.startsWith("(") || event.altKey) return false;
  const parts = shortcut === "+" ? ["+"] : shortcut.split("+");
  const key = parts.at(-1) ?? "";
  if (parts.includes("Mod") !== (event.ctrlKey || event.metaKey)) return false;
  // A symbol implies Shift or not, depending on the keyboard layout.
  const shift = parts.includes("Shift");
  if (key.length > 1 || /[a-z]/i.test(key)) {
    if (shift !== event.shiftKey) return false;
  }
  return key.toLowerCase() === event.key.toLowerCase();
}

const SIGNS: Readonly<Record<string, string>> = { Mod: "Ctrl", ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", Delete: "Del" };

/** The keys of a shortcut, one by one, for `<kbd>`. */
export function keysOf(shortcut: string, mac: boolean): string[] {
  const bare = shortcut.replace(/[()]/g, "");
  const parts = bare === "+" ? ["+"] : bare.split("+");
  return parts.map((part) => (part === "Mod" && mac ? "⌘" : (SIGNS[part] ?? (part.length === 1 ? part.toUpperCase() : part))));
}
