//! Files that people look at: those of volumes and those that runs leave. Listing, serving and previewing are the same
//! for both; where they lie, and who may see them, is decided by the routes.

mod preview;
mod resolve;
mod serve;
mod view;

pub(crate) use preview::preview;
pub(crate) use resolve::{blocking, project_folder, run_folder};
pub(crate) use serve::{Show, media_type, serve};
pub(crate) use view::{EntryView, FileQuery, Preview, list};
