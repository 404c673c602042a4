//! Where files lie: logs in the server's data folder, as for jobs of this machine; what workers report in the project's
//! workspace, which pods see as a claim.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{io, iter};

use cubeloom_domain::AttemptKey;
use cubeloom_domain::executor::Notice;
use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::{OUTPUTS, attempt_folder, code_folder};
use cubeloom_domain::outcome::WorkerName;

use crate::config::KubernetesConfig;
use crate::objects::Names;
use crate::outputs;

/// What a worker wrote.
pub const LOG: &str = "stdout";
/// Exists when all that a worker wrote was read.
pub const DONE: &str = "done";

/// Exists once the engine has noted how the attempt ended.
const RELEASED: &str = "released";
/// What the cluster told of the job.
const TOLD: &str = "told.json";
/// What was submitted.
const RECORD: &str = "job.json";

/// Where files lie.
#[derive(Clone, Debug)]
pub struct Folders {
    runs: PathBuf,
    workspace: PathBuf,
    code: PathBuf,
}

impl Folders {
    /// As configured.
    pub fn new(config: &KubernetesConfig) -> Self {
        Self {
            runs: config.data.join("runs"),
            workspace: config.workspace.clone(),
            code: config.code.clone(),
        }
    }

    /// The folder of an attempt's logs.
    pub fn attempt(&self, key: &AttemptKey) -> PathBuf {
        self.runs.join(key.run.as_str()).join(format!("{}.{}.{}", key.task, key.instance, key.n))
    }

    /// The folder of one worker's log.
    pub fn worker(&self, key: &AttemptKey, worker: &WorkerName) -> PathBuf {
        self.attempt(key).join(worker.to_string())
    }

    /// The file that a worker reports into.
    pub fn outputs(&self, project: &str, key: &AttemptKey, worker: &WorkerName) -> PathBuf {
        self.workspace.join(project).join(attempt_folder(key)).join(worker.to_string()).join(OUTPUTS)
    }

    /// Notes what is about to be submitted, so that a server that knows nothing but its key can stop it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_record(&self, job: &Job, names: &Names) -> io::Result<()> {
        let folder = self.attempt(&job.key);
        fs::create_dir_all(&folder)?;
        let aside = folder.join(format!("{RECORD}.part"));
        fs::write(&aside, serde_json::to_vec(&(job, names))?)?;
        fs::rename(aside, folder.join(RECORD))
    }

    /// What was submitted under a key, as far as this server's data folder knows.
    pub fn record(&self, key: &AttemptKey) -> Option<(Arc<Job>, Names)> {
        let text = fs::read(self.attempt(key).join(RECORD)).ok()?;
        let (job, names): (Job, Names) = serde_json::from_slice(&text).ok()?;
        Some((Arc::new(job), names))
    }

    /// Notes that nobody will ask again how an attempt ended: its objects may go.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn mark_released(&self, key: &AttemptKey) -> io::Result<()> {
        fs::write(self.attempt(key).join(RELEASED), "")
    }

    /// Whether that was noted, by this server or one before it.
    pub fn is_released(&self, key: &AttemptKey) -> bool {
        self.attempt(key).join(RELEASED).exists()
    }

    /// Keeps what the cluster told of a job that has ended: the cluster forgets it within the hour.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep_told(&self, key: &AttemptKey, told: &[Notice]) -> io::Result<()> {
        if told.is_empty() {
            return Ok(());
        }
        fs::write(self.attempt(key).join(TOLD), serde_json::to_vec(told)?)
    }

    /// What was kept.
    pub fn told(&self, key: &AttemptKey) -> Vec<Notice> {
        let text = fs::read(self.attempt(key).join(TOLD)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Makes what the pods of a job find in the workspace, writable for workers of this uid and gid.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn prepare(&self, job: &Job, uid: u32) -> io::Result<()> {
        let workspace = self.workspace.join(&job.project);
        let key = &job.key;
        let run = format!("runs/{}", key.run);
        let checkpoints = format!("{run}/.checkpoints/{}/{}", key.task, key.instance);
        for folder in [run, attempt_folder(key), checkpoints] {
            make(&workspace, &folder, uid)?;
        }
        for worker in outputs::workers(job) {
            make(&workspace, &format!("{}/{worker}", attempt_folder(key)), uid)?;
        }
        match &job.code {
            Some(digest) => self.provide_code(&job.project, digest, key),
            None => Ok(()),
        }
    }

    /// Puts a pipeline's code where pods see it, unless it is there. Attempts that start at the same moment each make a
    /// copy, of which the first stays.
    ///
    /// # Errors
    /// It cannot be copied.
    fn provide_code(&self, project: &str, digest: &str, key: &AttemptKey) -> io::Result<()> {
        let to = self.workspace.join(project).join(code_folder(digest));
        if to.exists() {
            return Ok(());
        }
        let aside = to.with_extension(format!("{}.part", key.object_name()));
        let _ = fs::remove_dir_all(&aside);
        copy(&self.code.join(digest), &aside)?;
        match fs::rename(&aside, &to) {
            // Another attempt was faster; its copy is as good.
            Err(_) if to.exists() => fs::remove_dir_all(&aside),
            renamed => renamed,
        }
    }
}

/// Makes a folder and those above it, each writable for the workers: as theirs, where the server may give it to them, else
/// through the group that both are in.
fn make(workspace: &Path, folder: &str, uid: u32) -> io::Result<()> {
    fs::create_dir_all(workspace.parent().unwrap_or(workspace))?;
    let below = Path::new(folder).components().scan(workspace.to_path_buf(), |path, part| {
        path.push(part);
        Some(path.clone())
    });
    // The project's own folder first: its workers make folders in it.
    for path in iter::once(workspace.to_path_buf()).chain(below) {
        match fs::DirBuilder::new().mode(0o2775).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made?,
        }
        // The mask of the process takes bits away.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o2775))?;
        let _ = chown(&path, Some(uid), Some(uid));
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
