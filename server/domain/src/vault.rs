//! The port to secrets: executors ask for them by name when a worker starts.

use std::fmt::Debug;

use crate::executor::BoxFuture;

/// Where the secrets of projects and people are.
pub trait Vault: Debug + Send + Sync {
    /// The value of the secret that a job of `user` in `project` means by `name`; `None` when neither of them has one.
    /// It is asked for when workers are started, and is not kept, nor written down.
    ///
    /// # Errors
    /// A sentence that names the secret, never its value.
    fn secret<'a>(
        &'a self,
        project: &'a str,
        user: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, String>>;
}
