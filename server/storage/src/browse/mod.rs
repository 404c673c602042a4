//! Browses folders and buckets for users: list, read, write, never outside of what they may access.

mod archive;
mod bucket;
mod copy;
mod entry;
mod error;
mod folder;
mod list;
mod order;
mod path;
mod upload;

pub use archive::archive;
pub use bucket::{Bucket, Object};
pub use entry::{Entry, Kind};
pub use error::BrowseError;
pub use folder::{Folder, OpenFile};
pub use order::{By, Order, Place};
pub use path::clean;
pub use upload::Upload;
