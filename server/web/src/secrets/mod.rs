//! Secrets of projects and users: encrypted in the database, passed to tasks by name, never returned by the
//! API.
//!
//! A task that names a secret gets the first that exists: the personal secret of the run's user, the
//! project's, or the one in the server's configuration.

mod rotate;
mod seal;
mod vault;

pub use rotate::{Rotated, in_older_keys, rotate};
pub use seal::{Keyring, SealError};
pub(crate) use vault::of_project;
pub use vault::{StoreVault, names};
