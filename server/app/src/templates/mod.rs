//! The task templates: found, read, checked, and stored if they are new.
//!
//! A stored version never changes. A template whose folder has changed without a new version, as during
//! development, is stored and used as `<version>+<digest>`. So a trial needs no new version, the version
//! keeps its meaning, and a run records which of them it used.

mod folder;
mod stamp;

use std::path::{Path, PathBuf};

use cubeloom_domain::template::{InstalledTemplate, TemplateSet};
use cubeloom_domain::{Problem, Timestamp};
use cubeloom_store::{Store, StoreError};

pub use folder::{find, provide};
pub use stamp::stamp;

use crate::exit::Invalid;

/// A template's folder after reading.
#[derive(Debug)]
pub struct Read {
    pub folder: PathBuf,
    /// The template, unless it could not be read.
    pub installed: Option<InstalledTemplate>,
    /// All problems, warnings included.
    pub problems: Vec<Problem>,
}

impl Read {
    pub fn usable(&self) -> bool {
        self.installed.is_some()
            && self.problems.iter().all(|problem| problem.severity < cubeloom_domain::Severity::Error)
    }
}

/// Reads every template of a folder, or the one template that the folder itself is.
///
/// # Errors
/// When the folder cannot be read, or contains no template.
pub fn read_all(root: &Path) -> anyhow::Result<Vec<Read>> {
    let folders = folder::list(root)?;
    if folders.is_empty() {
        return Err(Invalid::error(format!(
            "{} holds no task templates (folders with a template.yaml)",
            root.display()
        )));
    }
    folders.into_iter().map(|folder| folder::read(&folder)).collect()
}

/// The usable templates of a folder, as a set; a message for each unusable one.
pub fn usable(root: &Path) -> anyhow::Result<(TemplateSet, Vec<String>)> {
    let mut set = TemplateSet::new();
    let mut refused = Vec::new();
    for read in read_all(root)? {
        if read.usable()
            && let Some(installed) = read.installed
        {
            insert(&mut set, installed);
        } else {
            let count = read.problems.len();
            let first = read.problems.first().map(ToString::to_string).unwrap_or_default();
            let folder = read.folder.display();
            refused.push(format!(
                "the task template {folder} is skipped ({count} problems, the first: {first}); see `cubeloom template check`"
            ));
        }
    }
    Ok((set, refused))
}

/// Puts a template into a set under its plain version.
fn insert(set: &mut TemplateSet, installed: InstalledTemplate) {
    let plain = installed.template.version.split('+').next().unwrap_or_default().to_owned();
    set.entry(installed.template.name.clone()).or_default().insert(plain, installed);
}

/// Stores the new ones of a folder's templates, and returns all usable ones, older stored versions included.
pub async fn store(store: &Store, here: TemplateSet, now: Timestamp) -> anyhow::Result<TemplateSet> {
    let mut all = TemplateSet::new();
    for (name, versions) in store.templates().await? {
        // Trial versions are only for the runs that use them.
        let published = versions.into_iter().filter(|(version, _)| !version.contains('+'));
        all.insert(name, published.collect());
    }
    let mut changed = Vec::new();
    for installed in here.into_values().flat_map(|versions| versions.into_values()) {
        let known =
            all.get(&installed.template.name).and_then(|versions| versions.get(&installed.template.version));
        let same =
            known.is_some_and(|known| known.digest == installed.digest && known.folder == installed.folder);
        if !same {
            let stored = put(store, installed, now).await?;
            if stored.template.version.contains('+') {
                changed.push(format!("{} {}", stored.template.name, stored.template.version));
            }
            insert(&mut all, stored);
        }
    }
    // After an update of Cubeloom there are many: one line lists all of them.
    if !changed.is_empty() {
        tracing::warn!(
            "task templates have changed without a new version in template.yaml and are used under generated \
             versions: {}",
            changed.join(", ")
        );
    }
    Ok(all)
}

/// Stores one; under its own version if other content has its version.
async fn put(
    store: &Store,
    mut installed: InstalledTemplate,
    now: Timestamp,
) -> anyhow::Result<InstalledTemplate> {
    match store.put_template(&installed, now).await {
        Ok(_) => Ok(installed),
        Err(StoreError::TemplateChanged { version, .. }) => {
            let short: String = installed.digest.chars().take(8).collect();
            installed.template.version = format!("{version}+{short}");
            store.put_template(&installed, now).await?;
            Ok(installed)
        }
        Err(error) => Err(error.into()),
    }
}
