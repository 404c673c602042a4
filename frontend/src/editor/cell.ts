//! An observable value for components: for state outside of the document.

import { useSyncExternalStore } from "react";

/** Holds an immutable object, which changes replace. */
export class Cell<T extends object> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(parts: Partial<T>): void {
    this.#value = { ...this.#value, ...parts };
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** Selects a part of a cell in a component. `part` must return the same object until it changes. */
export function useCell<T extends object, P>(cell: Cell<T>, part: (value: T) => P): P {
  return useSyncExternalStore(cell.subscribe, () => part(cell.value));
}
