//! `cubeloom keys`

use clap::Subcommand;

/// `keys`
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Encrypt all secrets with a new key, also while a server runs
    ///
    /// The new key is put before the others in the file that holds them. Where the key comes from a variable, put it there
    /// first: then only the secrets are encrypted anew.
    Rotate,
    /// Remove the keys that nothing in the database is encrypted with any more
    ///
    /// A backup of the database from before needs them: keep a copy of the file as long as you keep that.
    Forget,
}
