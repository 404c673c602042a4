//! The sizes of the canvas, in pixels of the document. A node's own is in graph/document.ts.

/** What is moved lands on multiples of this. */
export const GRID = 8;

/** The height of the part of a frame that has its title and can be dragged. */
export const TITLE = 36;

/** The scales between which one can zoom. */
export const ZOOM = { least: 0.02, most: 2, step: 1.25 } as const;

/** The size of a new note. */
export const NOTE = { width: 240, height: 120, least: 80 } as const;
