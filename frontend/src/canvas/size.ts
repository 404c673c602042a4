//! Sizes on the canvas, in document pixels. graph/document.ts has the node size.

/** Dragged items snap to multiples of this. */
export const GRID = 8;

/** The height of a frame's title bar, which can be dragged. */
export const TITLE = 36;

/** The range of the zoom scale. */
export const ZOOM = { least: 0.02, most: 2, step: 1.25 } as const;

/** The size of a new note. */
export const NOTE = { width: 240, height: 120, least: 80 } as const;
