//! All changes of a document. Each takes a document and returns a new one. Unchanged parts keep their
//! identity, and a change without effect returns the document itself.

export { addTask, changeTask, connect, disconnect, freeName, place, setField, withCanvas } from "./edits/base";
export { setPath, setPipelinePath, valueAt, type Path } from "./edits/fields";
export { addToFrame, dissolveFrame, frameBounds, frameOf, makeFrame, removeFromFrame, renameFrame, type Bounds } from "./edits/frames";
export { addNote, changeNote } from "./edits/notes";
export { align, distribute, move, type Alignment } from "./edits/places";
export { freshNames, renameParameter, renameTask } from "./edits/rename";
export { insertOnEdge, removeItems } from "./edits/tasks";
