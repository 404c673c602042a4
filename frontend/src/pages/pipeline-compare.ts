//! Comparison of two versions: the metrics of their newest runs.

export { drawCompared as start } from "../run/compared";
