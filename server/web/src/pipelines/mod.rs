//! What the API and the pages both do with pipelines: accepting documents, and saying what differs between two.

mod accept;
mod difference;
mod structure;

pub(crate) use accept::{Accepted, Sent, accept};
pub(crate) use difference::{Difference, Hunk, HunkKind, difference};
pub(crate) use structure::{StructureView, structure};
