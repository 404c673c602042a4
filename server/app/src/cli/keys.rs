//! `cubeloom keys`

use clap::Subcommand;

/// `keys`
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Encrypt all secrets with a new key; the server can keep running
    ///
    /// The new key is added at the beginning of the key file. If an environment variable holds the keys, add
    /// the new key at its beginning first; the command then only re-encrypts the secrets.
    Rotate,
    /// Remove all keys except the newest, once no secret uses them
    ///
    /// Older database backups need the removed keys: keep a copy of the key file as long as those backups.
    Forget,
}
