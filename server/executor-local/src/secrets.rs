//! Secrets, resolved when workers start: set as environment variables, or written to files that only the
//! workers can read.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Component, Path};

use cubeloom_domain::job::SecretMount;
use cubeloom_domain::lowered::LocalJob;
use cubeloom_domain::vault::{Consumer, Vault};
use cubeloom_files::{Dir, give, own};

use crate::config::{LocalConfig, SecretSource};
use crate::error::reason;
use crate::folders::PRIVATE;
use cubeloom_workers::mask;
use rustix::fs::OFlags;

/// The folder of secret files, below the worker's own.
pub(crate) const FOLDER: &str = "secrets";

/// The values of a job's secrets by name, while its workers start.
#[derive(Default)]
pub(crate) struct Values(BTreeMap<String, String>);

impl Values {
    /// Resolves the secrets of a job's workers for `user`: from the vault first, then from the configuration.
    ///
    /// # Errors
    /// A sentence: a secret is unknown or unreadable.
    pub(crate) async fn of(config: &LocalConfig, job: &LocalJob, user: &str) -> Result<Self, String> {
        let mut values = BTreeMap::new();
        for mount in job.workers.iter().flat_map(|worker| &worker.secrets) {
            if values.contains_key(&mount.name) {
                continue;
            }
            let value = match &config.vault {
                Some(vault) => {
                    let consumer = Consumer { key: &job.key, project: &job.project, user };
                    kept(config, vault.as_ref(), consumer, &mount.name).await?
                }
                None => configured(config, &mount.name)?,
            };
            values.insert(mount.name.clone(), value);
        }
        Ok(Self(values))
    }

    /// Values that the caller has resolved.
    pub(crate) fn given(values: BTreeMap<String, String>) -> Self {
        Self(values)
    }

    /// The first of these secrets without a value.
    pub(crate) fn missing<'m>(&self, mounts: &'m [SecretMount]) -> Option<&'m str> {
        mounts.iter().map(|mount| mount.name.as_str()).find(|name| !self.0.contains_key(*name))
    }

    /// Gives a worker its secrets; returns the environment variables with values.
    ///
    /// # Errors
    /// A sentence: a file cannot be written.
    pub(crate) fn provide(
        &self,
        mounts: &[SecretMount],
        worker: &Path,
        user: Option<u32>,
    ) -> Result<Vec<(String, String)>, String> {
        let mut variables = Vec::new();
        for mount in mounts {
            let Some(value) = self.0.get(&mount.name) else { continue };
            if let Some(file) = &mount.file {
                write(worker, file, value, user).map_err(|error| {
                    format!("the secret `{}` cannot be written to its file: {}", mount.name, reason(&error))
                })?;
            }
            if let Some(variable) = &mount.env {
                variables.push((variable.clone(), value.clone()));
            }
        }
        Ok(variables)
    }

    /// The strings to mask in the output of a worker with these secrets.
    pub(crate) fn masks(&self, mounts: &[SecretMount]) -> Vec<String> {
        mask::forms(mounts.iter().filter_map(|mount| self.0.get(&mount.name)))
    }
}

/// A secret from the vault, or else from the configuration.
async fn kept(
    config: &LocalConfig,
    vault: &dyn Vault,
    consumer: Consumer<'_>,
    name: &str,
) -> Result<String, String> {
    if let Some(value) = vault.secret(consumer, name).await? {
        return Ok(value);
    }
    let value = configured(config, name)?;
    vault.note(consumer, name).await?;
    Ok(value)
}

fn configured(config: &LocalConfig, name: &str) -> Result<String, String> {
    match config.secrets.get(name) {
        Some(SecretSource::Value(value)) => Ok(value.clone()),
        Some(SecretSource::File(path)) => {
            let text = own::read_to_string(path).map_err(|error| {
                format!("the file of the secret `{name}` cannot be read: {}", reason(&error))
            })?;
            Ok(text.strip_suffix('\n').map(Into::into).unwrap_or(text))
        }
        None => {
            Err(format!("the secret `{name}` no longer exists: add it to the project or the configuration"))
        }
    }
}

fn write(worker: &Path, file: &str, value: &str, user: Option<u32>) -> io::Result<()> {
    let plain = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
    if !plain || file.contains('/') {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{file}` is not a plain file name"),
        ));
    }
    // An earlier program of this worker may have left anything in its own folder.
    let folder = Dir::open(worker)?.make(Path::new(FOLDER), PRIVATE, |made| give(made, user))?;
    let mut out = folder.write(OsStr::new(file), OFlags::EXCL, 0o400)?;
    out.write_all(value.as_bytes())?;
    give(&out, user)
}
