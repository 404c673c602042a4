//! Page shortcuts. They are inactive while the user types, and with Ctrl, Alt or Meta.

/**
 * Registers key handlers. Returns the unsubscribe function. The key is KeyboardEvent.key, e.g. `/` or `g`.
 * With `inside`, only while the focus is in that element.
 */
export function onKeys(actions: Record<string, (event: KeyboardEvent) => void>, inside: Document | HTMLElement = document): () => void {
  const listener = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  };
  const root: EventTarget = inside;
  root.addEventListener("keydown", listener as EventListener);
  return () => { root.removeEventListener("keydown", listener as EventListener); };
}

/** Whether keys typed there are text. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}
