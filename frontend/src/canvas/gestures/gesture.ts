//! A gesture: what goes on between pressing and letting go.

/** Points are of the drawing. */
export interface Gesture {
  move: (x: number, y: number, event: PointerEvent) => void;
  end: (x: number, y: number, event: PointerEvent) => void;
  /** Somebody pressed Escape, or a second finger came. */
  cancel: () => void;
}
