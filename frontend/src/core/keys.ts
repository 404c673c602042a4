//! Shortcuts of a page. They are silent while somebody types, and with Ctrl, Alt or Meta held.

/** Calls what belongs to a key; returns how to stop. The key is KeyboardEvent.key, e.g. `/` or `g`. */
export function onKeys(actions: Record<string, (event: KeyboardEvent) => void>): () => void {
  const listener = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  };
  document.addEventListener("keydown", listener);
  return () => { document.removeEventListener("keydown", listener); };
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}
