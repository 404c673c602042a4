//! <details> whose inside is read when somebody opens them, also those that are added later, or were opened before the
//! page's scripts ran.

/** Calls `act` each time that a <details data-NAME> is opened. */
export function whenOpened(name: string, act: (box: HTMLDetailsElement) => void): void {
  // The event of what was opened just before this may still come.
  const known = new WeakSet<HTMLDetailsElement>();
  const look = (box: HTMLDetailsElement): void => {
    if (!box.open) known.delete(box);
    else if (!known.has(box)) {
      known.add(box);
      act(box);
    }
  };
  document.addEventListener("toggle", ({ target }) => {
    if (target instanceof HTMLDetailsElement && target.dataset[name] !== undefined) look(target);
  }, true);
  document.querySelectorAll<HTMLDetailsElement>(`details[open][data-${name}]`).forEach(look);
}
