//! Files of volumes and runs. Both share listing, serving and previewing. The routes decide on paths and
//! permissions.

mod archive;
mod content;
mod demands;
mod object;
mod preview;
mod resolve;
mod serve;
mod view;
mod write;

pub(crate) use archive::archive;
pub(crate) use content::{Content, too_large};
pub(crate) use demands::Demands;
pub(crate) use object::{list_bucket, preview_object, serve_object};
pub(crate) use preview::preview;
pub(crate) use resolve::{blocking, owner, project_folder, run_folder};
pub(crate) use serve::{Show, media_type, serve};
pub(crate) use view::{EntryView, FileQuery, Preview, SortQuery, list};
pub(crate) use write::write;
