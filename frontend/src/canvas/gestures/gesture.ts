//! A gesture: an interaction from pointer down to pointer up.

/** Points are in drawing coordinates. */
export interface Gesture {
  move: (x: number, y: number, event: PointerEvent) => void;
  end: (x: number, y: number, event: PointerEvent) => void;
  /** Called on Escape, or when a second finger touches. */
  cancel: () => void;
}
