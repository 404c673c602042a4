//! Secrets of projects and of people: encrypted in the database, given to tasks by name, never told to anybody.
//!
//! A task that names a secret gets, in this order: the own secret of the person whose run it is, the project's, and the
//! one that the server's configuration holds under this name.

mod rotate;
mod seal;
mod vault;

pub use rotate::{Rotated, in_older_keys, rotate};
pub use seal::{Keyring, SealError};
pub(crate) use vault::of_project;
pub use vault::{StoreVault, names};
