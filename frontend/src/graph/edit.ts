//! Changes of a document, all in one place. Each takes one document and gives another; what did not change is the same
//! object as before, and a change that changes nothing gives the document itself.

export { addTask, changeTask, connect, disconnect, freeName, place, setField, withCanvas } from "./edits/base";
export { setPath, setPipelinePath, valueAt, type Path } from "./edits/fields";
export { addToFrame, dissolveFrame, frameBounds, frameOf, makeFrame, removeFromFrame, renameFrame, type Bounds } from "./edits/frames";
export { addNote, changeNote } from "./edits/notes";
export { align, distribute, move, type Alignment } from "./edits/places";
export { freshNames, renameParameter, renameTask } from "./edits/rename";
export { insertOnEdge, removeItems } from "./edits/tasks";
