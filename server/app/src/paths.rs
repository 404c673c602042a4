//! The data folder, which contains everything that outlives a process.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::exit::Invalid;

/// The default data folder of a server that root runs.
const SYSTEM: &str = "/var/lib/cubeloom";

/// Workers find their files by digest, and cannot list those of other projects.
const UNLISTED: u32 = 0o711;

/// Folders in the data folder, and their modes: workers may run as other users than the server.
const FOLDERS: &[(&str, u32)] = &[
    ("db", 0o700),
    ("keys", 0o700),
    ("runs", 0o711),
    ("workspace", 0o711),
    ("venvs", UNLISTED),
    ("code", UNLISTED),
    ("templates", 0o755),
    ("tools", 0o755),
];

/// The configured data folder, or the default one, as an absolute path.
pub fn data_folder(said: Option<String>, environment: &BTreeMap<String, String>) -> anyhow::Result<PathBuf> {
    let set = |name: &str| environment.get(name).filter(|value| !value.is_empty());
    let path = match said {
        Some(said) => PathBuf::from(said),
        None if rustix::process::geteuid().is_root() => SYSTEM.into(),
        None => match (set("XDG_DATA_HOME"), set("HOME")) {
            (Some(data), _) => Path::new(data).join("cubeloom"),
            (None, Some(home)) => Path::new(home).join(".local/share/cubeloom"),
            (None, None) => return Err(Invalid::error("name a data folder with --data: HOME is not set")),
        },
    };
    std::path::absolute(&path).with_context(|| format!("the data folder `{}` is not a path", path.display()))
}

/// A file system error as the end of a message that says what to do.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "permission denied; choose another folder with --data".into(),
        ErrorKind::ReadOnlyFilesystem => {
            "the file system is read-only; choose another folder with --data".into()
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "the disk is full; free some space".into(),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => "its path is a file".into(),
        _ => error.to_string(),
    }
}

/// Writes as much as a new database needs: SQLite does not report a full or read-only disk as such.
fn probe(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!(".probe-{}", std::process::id()));
    let written = fs::write(&path, [0; 64 << 10]);
    let _ = fs::remove_file(&path);
    written
}

#[derive(Clone, Debug)]
pub struct DataFolder(PathBuf);

impl DataFolder {
    /// Creates the missing parts.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let refused = |folder: &Path, error: io::Error| {
            let why = reason(&error);
            anyhow::anyhow!("the data folder {} cannot be used: {}: {why}", path.display(), folder.display())
        };
        DirBuilder::new().recursive(true).mode(0o755).create(path).map_err(|error| refused(path, error))?;
        for (name, mode) in FOLDERS {
            let folder = path.join(name);
            match DirBuilder::new().mode(*mode).create(&folder) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists || !folder.is_dir() => {
                    return Err(refused(&folder, error));
                }
                // An earlier version created it listable for all.
                Err(_) if *mode == UNLISTED => {
                    let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(UNLISTED));
                }
                _ => {}
            }
        }
        probe(&path.join("db")).map_err(|error| refused(&path.join("db"), error))?;
        // One canonical path: workers and shims use it, and it identifies the engine.
        let path = fs::canonicalize(path).map_err(|error| refused(path, error))?;
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The default URL of the database.
    pub fn database_url(&self) -> String {
        format!("sqlite:{}", self.0.join("db/cubeloom.sqlite").display())
    }

    /// Copies of pipelines' folders, one per digest.
    pub fn code(&self) -> PathBuf {
        self.0.join("code")
    }

    /// Copies of the task templates, one per digest of them all.
    pub fn templates(&self) -> PathBuf {
        self.0.join("templates")
    }

    /// Programs that workers must be able to read.
    pub fn tools(&self) -> PathBuf {
        self.0.join("tools")
    }

    /// The projects' shared storage.
    pub fn workspace(&self) -> PathBuf {
        self.0.join("workspace")
    }

    /// A run's folder, shared by its tasks.
    pub fn run_dir(&self, project: &str, run: &str) -> PathBuf {
        self.workspace().join(project).join("runs").join(run)
    }

    /// Locked by the process that is the engine.
    pub fn lock(&self) -> PathBuf {
        self.0.join("engine.lock")
    }

    /// The socket for wake-ups of the engine.
    pub fn wake(&self) -> PathBuf {
        self.0.join("wake.sock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_cannot_list_what_is_of_all_projects() {
        let data = tempfile::tempdir().unwrap();
        let code = data.path().join("code");
        fs::create_dir(&code).unwrap();
        fs::set_permissions(&code, fs::Permissions::from_mode(0o755)).unwrap();
        let folder = DataFolder::open(data.path()).unwrap();
        for path in [folder.code(), folder.path().join("venvs")] {
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o711,
                "{}",
                path.display()
            );
        }
    }
}
