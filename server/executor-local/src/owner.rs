//! The uid under which a project's workers run.
//!
//! As root, each project gets a number once, stored in `keys/projects.json`; its workers' uid and gid are the
//! base plus that number. They need no entry in /etc/passwd. Without root, workers run as the server's user.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use cubeloom_domain::failpoint::hit;
use cubeloom_files::own;

use crate::error::LocalError;

pub(crate) struct Owners {
    base: Option<u32>,
    file: PathBuf,
    numbers: Mutex<BTreeMap<String, u32>>,
}

impl Owners {
    /// Loads the assigned numbers.
    pub(crate) fn load(keys: PathBuf, base: u32) -> Result<Self, LocalError> {
        let base = rustix::process::geteuid().is_root().then_some(base);
        let file = keys.join("projects.json");
        let numbers = match own::read(&file) {
            Ok(text) => {
                serde_json::from_slice(&text).map_err(|error| LocalError::file(&file)(error.into()))?
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(LocalError::file(&file)(error)),
        };
        Ok(Self { base, file, numbers: Mutex::new(numbers) })
    }

    /// The first of the workers' uids, if the server can switch users.
    pub(crate) fn base(&self) -> Option<u32> {
        self.base
    }

    /// The uid and gid of a project's workers; `None`: the server's own.
    pub(crate) fn user(&self, project: &str) -> Result<Option<u32>, LocalError> {
        let Some(base) = self.base else { return Ok(None) };
        let mut numbers = self.numbers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(number) = numbers.get(project) {
            return Ok(Some(base + number));
        }
        let number = u32::try_from(numbers.len()).unwrap_or(0);
        let mut with_new = numbers.clone();
        with_new.insert(project.into(), number);
        self.save(&with_new).map_err(LocalError::file(&self.file))?;
        *numbers = with_new;
        Ok(Some(base + number))
    }

    fn save(&self, numbers: &BTreeMap<String, u32>) -> std::io::Result<()> {
        let fresh = self.file.with_extension("tmp");
        own::write(&fresh, serde_json::to_vec_pretty(numbers)?)?;
        hit("local.owner.before");
        let saved = own::rename(&fresh, &self.file);
        hit("local.owner.after");
        saved
    }
}
