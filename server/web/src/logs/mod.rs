//! Worker logs: read in chunks of complete lines, for all workers or one, followed and searched.

mod chosen;
mod cursor;
mod cut;
mod follow;
mod search;
mod source;
mod tail;

pub(crate) use chosen::Chosen;
pub(crate) use cursor::Cursor;
pub(crate) use follow::Follow;
pub(crate) use search::{Pattern, search};
