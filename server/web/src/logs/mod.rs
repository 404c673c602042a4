//! Worker logs: read in chunks of complete lines, for all workers or one, followed and searched.

mod back;
mod chosen;
mod cursor;
mod cut;
mod errors;
mod follow;
mod pattern;
mod positions;
mod scan;
mod search;
mod source;
mod visible;

pub(crate) use chosen::Chosen;
pub(crate) use cursor::{Cursor, SearchCursor};
pub(crate) use follow::Follow;
pub(crate) use pattern::Pattern;
pub(crate) use search::search;
pub(crate) use source::Read;
