//! Undo and redo: a history of immutable states, with the name of each step.

/** A state, and the name of the step that led to it. */
interface Step<T> {
  readonly state: T;
  readonly label: string;
}

const LIMIT = 500;

/** A linear history with a current state. Immutable: every method returns a new history. */
export class History<T> {
  private constructor(
    private readonly past: readonly Step<T>[],
    private readonly now: Step<T> & { readonly merge?: string | undefined },
    private readonly future: readonly Step<T>[],
  ) {}

  /** A new history with this state. */
  static of<T>(state: T): History<T> {
    return new History([], { state, label: "" }, []);
  }

  get present(): T {
    return this.now.state;
  }

  /** The name of the step to undo; `null` if there is none. */
  get undoLabel(): string | null {
    return this.past.length > 0 ? this.now.label : null;
  }

  /** The name of the step to redo; `null` if there is none. */
  get redoLabel(): string | null {
    return this.future[0]?.label ?? null;
  }

  /**
   * Adds a new state and discards undone steps. Consecutive steps with the same `merge` become one (a drag,
   * typing in one field). An unchanged state is no step.
   */
  push(state: T, label: string, merge?: string): History<T> {
    if (state === this.now.state) return this;
    const joins = merge !== undefined && merge === this.now.merge;
    const past = joins ? this.past : [...this.past, { state: this.now.state, label: this.now.label }].slice(-LIMIT);
    return new History(past, { state, label, merge }, []);
  }

  /** Closes a step: the next change starts a new one. */
  seal(): History<T> {
    return this.now.merge === undefined ? this : new History(this.past, { state: this.now.state, label: this.now.label }, this.future);
  }

  undo(): History<T> {
    const before = this.past.at(-1);
    if (!before) return this;
    return new History(this.past.slice(0, -1), before, [{ state: this.now.state, label: this.now.label }, ...this.future]);
  }

  redo(): History<T> {
    const [next, ...rest] = this.future;
    if (!next) return this;
    return new History([...this.past, { state: this.now.state, label: this.now.label }], next, rest);
  }
}
