//! Layout of the data folder.

use std::path::{Path, PathBuf};

use cubeloom_domain::AttemptKey;
use cubeloom_domain::belongings::VolumePlace;
use cubeloom_domain::job::{Job, VolumeMount};
use cubeloom_domain::lowered::LocalPaths;
use cubeloom_domain::outcome::{Failure, FailureKind};

use crate::config::LocalConfig;
use crate::error::LocalError;
use crate::folders::{OPEN, PASSABLE, PRIVATE, make, make_all};

pub(crate) struct Layout {
    data: PathBuf,
}

impl Layout {
    /// Creates the top-level folders.
    pub(crate) fn prepare(data: &Path) -> Result<Self, LocalError> {
        make_all(data, PASSABLE).map_err(LocalError::folder(data))?;
        let top = [
            ("runs", PASSABLE),
            ("workspace", PASSABLE),
            ("code", PASSABLE),
            ("templates", OPEN),
            ("venvs", PASSABLE),
            ("tools", OPEN),
            ("cache", PASSABLE),
            (crate::terminal::FOLDER, PASSABLE),
            ("keys", PRIVATE),
        ];
        for (name, mode) in top {
            let path = data.join(name);
            make(&path, mode).map_err(LocalError::folder(&path))?;
        }
        Ok(Self { data: data.into() })
    }

    /// A folder directly below the data folder.
    pub(crate) fn top(&self, name: &str) -> PathBuf {
        self.data.join(name)
    }

    /// An attempt's folder: `runs/<run>/<task>.<instance>.<n>`. Flat, since creating folders dominates the
    /// cost here.
    pub(crate) fn attempt(&self, key: &AttemptKey) -> PathBuf {
        let name = format!("{}.{}.{}", key.task, key.instance, key.n);
        self.top("runs").join(key.run.as_str()).join(name)
    }

    /// All paths that a job receives.
    pub(crate) fn of_job(&self, job: &Job, config: &LocalConfig) -> Result<LocalPaths, Failure> {
        let key = &job.key;
        let workspace = self.top("workspace").join(&job.project);
        let run_dir = workspace.join("runs").join(key.run.as_str());
        let checkpoints = format!("{}.{}.{}", key.run, key.task, key.instance);
        let volume = |mount: &VolumeMount| Ok((mount.name.clone(), volume(mount, &workspace, config)?));
        Ok(LocalPaths {
            run_dir: text(&run_dir),
            attempt_dir: text(&self.attempt(key)),
            checkpoint_dir: text(&workspace.join("checkpoints").join(checkpoints)),
            workspace: text(&workspace),
            code: job.code.as_ref().map_or(String::new(), |digest| text(&self.top("code").join(digest))),
            template_dir: text(&self.template(&job.template_digest)),
            bin: text(&config.bin),
            volumes: job.volumes.iter().map(volume).collect::<Result<_, _>>()?,
        })
    }

    /// The workers' copy of a template's folder.
    pub(crate) fn template(&self, digest: &str) -> PathBuf {
        self.top("templates").join(digest.replace(['/', ':'], "-"))
    }
}

/// The folder of a volume: from the run plan, or from the configuration for plans of earlier versions.
fn volume(mount: &VolumeMount, workspace: &Path, config: &LocalConfig) -> Result<String, Failure> {
    let name = &mount.name;
    match &mount.place {
        Some(VolumePlace::Workspace { path }) if path.is_empty() => Ok(text(workspace)),
        Some(VolumePlace::Workspace { path }) => Ok(text(&workspace.join(path))),
        Some(VolumePlace::Folder { path }) => Ok(path.clone()),
        Some(VolumePlace::Claim { .. } | VolumePlace::ObjectStore { .. }) => Err(Failure::new(
            FailureKind::CouldNotStart,
            format!("the volume `{name}` is not a folder on this machine"),
        )),
        None => config.volumes.get(name).map(|path| text(path)).ok_or_else(|| {
            let message = format!("there is no volume `{name}` on this machine; add it to the configuration");
            Failure::new(FailureKind::CouldNotStart, message)
        }),
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
