//! Secrets, read when a worker starts: into its environment, or into a file that only it may read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path};

use cubeloom_domain::job::SecretMount;

use crate::config::{LocalConfig, SecretSource};
use crate::error::reason;
use crate::folders::{PRIVATE, give, make};

/// The folder, below the worker's own, that holds secret files.
pub(crate) const FOLDER: &str = "secrets";

/// Gives a worker its secrets; the variables that hold some.
///
/// # Errors
/// A sentence: the secret is not known or cannot be read.
pub(crate) fn provide(
    config: &LocalConfig,
    mounts: &[SecretMount],
    worker: &Path,
    user: Option<u32>,
) -> Result<Vec<(String, String)>, String> {
    let mut variables = Vec::new();
    for mount in mounts {
        let name = &mount.name;
        let value = read(config, name)?;
        if let Some(file) = &mount.file {
            write(worker, file, &value, user).map_err(|error| {
                format!("the secret `{name}` cannot be put into its file: {}", reason(&error))
            })?;
        }
        if let Some(variable) = &mount.env {
            variables.push((variable.clone(), value));
        }
    }
    Ok(variables)
}

fn read(config: &LocalConfig, name: &str) -> Result<String, String> {
    match config.secrets.get(name) {
        Some(SecretSource::Value(value)) => Ok(value.clone()),
        Some(SecretSource::File(path)) => {
            let text = fs::read_to_string(path).map_err(|error| {
                format!("the file of the secret `{name}` cannot be read: {}", reason(&error))
            })?;
            Ok(text.strip_suffix('\n').map(Into::into).unwrap_or(text))
        }
        None => Err(format!("the secret `{name}` is not known here; name it in the configuration")),
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
    let folder = worker.join(FOLDER);
    make(&folder, PRIVATE)?;
    let path = folder.join(file);
    let _ = fs::remove_file(&path);
    let mut out = OpenOptions::new().write(true).create_new(true).mode(0o400).open(&path)?;
    out.write_all(value.as_bytes())?;
    give(&path, user)?;
    give(&folder, user)
}
