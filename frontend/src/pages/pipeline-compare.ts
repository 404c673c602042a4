//! Two versions beside each other: what their newest runs measured.

export { drawCompared as start } from "../run/compared";
