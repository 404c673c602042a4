//! Pipelines in the API and on pages: validating and comparing documents.

mod accept;
mod difference;
mod grid;
mod structure;

pub(crate) use accept::{Accepted, Sent, accept};
pub(crate) use difference::{Difference, Hunk, HunkKind, difference};
pub(crate) use grid::grid_tasks;
pub(crate) use structure::{StructureView, structure};
