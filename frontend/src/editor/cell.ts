//! A value that components read and are told of when it changes: for what is no part of the document.

import { useSyncExternalStore } from "react";

/** Holds an object that is replaced, never changed. */
export class Cell<T extends object> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  /** Replaces parts of it. */
  set(parts: Partial<T>): void {
    this.#value = { ...this.#value, ...parts };
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** A part of a cell, in a component. `part` gives the same object until it has changed. */
export function useCell<T extends object, P>(cell: Cell<T>, part: (value: T) => P): P {
  return useSyncExternalStore(cell.subscribe, () => part(cell.value));
}
