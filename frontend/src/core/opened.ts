//! <details> with lazily loaded content, including those added later or opened before the page's scripts ran.

/** Calls `act` each time a <details data-NAME> is opened. */
export function whenOpened(name: string, act: (box: HTMLDetailsElement) => void): void {
  // The event of one opened just before may still arrive.
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
