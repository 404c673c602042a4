//! File layout: logs are in the server's data folder, as for local jobs. Workers' reports are in the
//! project's workspace, which pods mount as a claim.

use std::ffi::OsStr;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::belongings::VolumePlace;
use cubeloom_domain::executor::Notice;
use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::{OUTPUTS, attempt_folder, code_folder};
use cubeloom_domain::outcome::WorkerName;
use cubeloom_files::{Dir, Links, give, own};
use cubeloom_workers::place::{Guard, Place};
use rustix::fs::OFlags;

use crate::config::KubernetesConfig;
use crate::objects::Names;
use crate::{claim, outputs};

/// A worker's output.
pub const LOG: &str = "stdout";
/// Exists once all output of a worker was read.
pub const DONE: &str = "done";

/// Exists once the engine has recorded how the attempt ended.
const RELEASED: &str = "released";
/// Events of the job's objects.
const TOLD: &str = "told.json";
/// The submitted job.
const RECORD: &str = "job.json";

/// Mode of workspace folders: workers write there as owner, or through the group that they share with the
/// server.
const SHARED: u32 = 0o2775;
/// Mode of code folders in the workspace.
const OPEN: u32 = 0o755;

#[derive(Clone, Debug)]
pub struct Folders {
    runs: PathBuf,
    workspace: PathBuf,
    code: PathBuf,
}

impl Folders {
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

    /// The files that an attempt's workers report into. Reads are guarded: pods can put anything in their
    /// place.
    ///
    /// # Errors
    /// The project's workspace cannot be opened.
    pub fn outputs(&self, project: &str, key: &AttemptKey) -> io::Result<impl Fn(&WorkerName) -> Place> {
        let top = self.workspace.join(project);
        // Network file systems have their own owners.
        let guard = Arc::new(Guard::new(&top, None)?);
        let folder = top.join(attempt_folder(key));
        Ok(move |worker: &WorkerName| {
            Place::guarded(Arc::clone(&guard), &folder.join(worker.to_string()).join(OUTPUTS))
        })
    }

    /// Records what is about to be submitted, so that a server that knows only its key can stop it.
    pub fn write_record(&self, job: &Job, names: &Names) -> io::Result<()> {
        let folder = self.attempt(&job.key);
        own::create_dir_all(&folder)?;
        let aside = folder.join(format!("{RECORD}.part"));
        own::write(&aside, serde_json::to_vec(&(job, names))?)?;
        own::rename(aside, folder.join(RECORD))
    }

    /// The submission of this key, if it is in this server's data folder.
    pub fn record(&self, key: &AttemptKey) -> Option<(Arc<Job>, Names)> {
        let text = own::read(self.attempt(key).join(RECORD)).ok()?;
        let (job, names): (Job, Names) = serde_json::from_slice(&text).ok()?;
        Some((Arc::new(job), names))
    }

    /// Marks an attempt whose end the engine has recorded: its manifests may be deleted.
    pub fn mark_released(&self, key: &AttemptKey) -> io::Result<()> {
        own::write(self.attempt(key).join(RELEASED), "")
    }

    /// Whether this server or an earlier one marked it.
    pub fn is_released(&self, key: &AttemptKey) -> bool {
        self.attempt(key).join(RELEASED).exists()
    }

    /// Saves the events of an ended job: the cluster drops them within an hour.
    pub fn keep_told(&self, key: &AttemptKey, told: &[Notice]) -> io::Result<()> {
        if told.is_empty() {
            return Ok(());
        }
        own::write(self.attempt(key).join(TOLD), serde_json::to_vec(told)?)
    }

    pub fn told(&self, key: &AttemptKey) -> Vec<Notice> {
        let text = own::read(self.attempt(key).join(TOLD)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Creates what the pods of a job expect in the workspace, writable for this uid and gid.
    pub fn prepare(&self, job: &Job, uid: u32) -> io::Result<()> {
        // Where the server may not change the owner, the group gives workers access.
        let share = |made: BorrowedFd<'_>| {
            let _ = give(made, Some(uid));
            Ok(())
        };
        let workspace = self.project(&job.project, share)?;
        let key = &job.key;
        let run = format!("runs/{}", key.run);
        let checkpoints = format!("{run}/.checkpoints/{}/{}", key.task, key.instance);
        for folder in [run, attempt_folder(key), checkpoints] {
            workspace.make(Path::new(&folder), SHARED, share)?;
        }
        let attempt = workspace.enter(Path::new(&attempt_folder(key)), Links::Refused)?;
        // Also for workers added later: no other step creates their folders.
        for worker in outputs::workers(&job.clone().at_most()) {
            attempt.make(Path::new(&worker.to_string()), SHARED, share)?;
        }
        for mount in &job.volumes {
            if let Some(VolumePlace::Workspace { path }) = &mount.place {
                workspace.make(Path::new(path), SHARED, share)?;
            }
        }
        match &job.code {
            Some(digest) => self.provide_code(&workspace, digest, key),
            None => Ok(()),
        }
    }

    /// The folder of the claim in which the kubelet creates one folder per probing attempt. It is in the
    /// claim of project `own`, else in the shared one.
    pub fn probes(&self, own: Option<&str>) -> io::Result<Dir> {
        let root = match own {
            Some(project) => self.project(project, |_| Ok(()))?,
            None => {
                own::create_dir_all(&self.workspace)?;
                Dir::open(&self.workspace)?
            }
        };
        root.make(Path::new(claim::FOLDER), OPEN, |_| Ok(()))
    }

    /// Whether the kubelet has created the attempt's folder, which is then removed.
    #[must_use]
    pub fn take_probe(&self, own: Option<&str>, key: &AttemptKey) -> bool {
        let Ok(all) = self.probes(own) else { return false };
        let name = key.object_name();
        let is_there = all.stat(OsStr::new(&name)).is_ok();
        let _ = all.remove(OsStr::new(&name));
        is_there
    }

    /// A project's folder of the workspace. It may be a symlink of an administrator: no project can create
    /// one there.
    fn project(&self, name: &str, share: impl Fn(BorrowedFd<'_>) -> io::Result<()>) -> io::Result<Dir> {
        match Dir::open(&self.workspace.join(name)) {
            Err(errno) if io::Error::from(errno).kind() == io::ErrorKind::NotFound => {
                own::create_dir_all(&self.workspace)?;
                Dir::open(&self.workspace)?.make(Path::new(name), SHARED, share)
            }
            opened => Ok(opened?),
        }
    }

    /// Copies a pipeline's code to where pods see it, unless it exists. Attempts that start at the same
    /// moment each make a copy; the first one stays.
    fn provide_code(&self, workspace: &Dir, digest: &str, key: &AttemptKey) -> io::Result<()> {
        let to = code_folder(digest);
        let (above, name) = to.rsplit_once('/').unwrap_or(("", &to));
        let above = workspace.make(Path::new(above), OPEN, |_| Ok(()))?;
        let (name, aside) = (OsStr::new(name), format!("{name}.{}.part", key.object_name()));
        if above.stat(name).is_ok() {
            return Ok(());
        }
        let aside = OsStr::new(&aside);
        let _ = above.remove(aside);
        copy(&self.code.join(digest), &above.make(Path::new(aside), OPEN, |_| Ok(()))?)?;
        match above.rename(aside, name) {
            // Another attempt was faster; its copy is equal.
            Err(_) if above.stat(name).is_ok() => above.remove(aside),
            renamed => Ok(renamed?),
        }
    }
}

/// Copies a server folder into one that pods may change concurrently.
fn copy(from: &Path, to: &Dir) -> io::Result<()> {
    for entry in own::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&path, &to.make(Path::new(&name), OPEN, |_| Ok(()))?)?;
        } else {
            let mut source = own::open(path)?;
            let mode = source.metadata()?.permissions().mode();
            io::copy(&mut source, &mut to.write(&name, OFlags::EXCL, mode)?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;
    use crate::testing::elastic_job as job;

    fn folders(all: &Path) -> Folders {
        Folders { runs: all.join("runs"), workspace: all.join("workspace"), code: all.join("code") }
    }

    /// Symlinks that pods of an earlier attempt can have put in the workspace.
    #[test]
    fn links_of_pods_lead_nowhere() {
        let all = tempfile::tempdir().unwrap();
        let (job, folders) = (job(), folders(all.path()));
        fs::create_dir_all(all.path().join("keys")).unwrap();
        fs::write(all.path().join("keys/sealing"), "secret").unwrap();
        fs::set_permissions(all.path().join("keys"), fs::Permissions::from_mode(0o700)).unwrap();
        let project = all.path().join("workspace").join(&job.project);
        for folder in ["runs", ".code"] {
            fs::create_dir_all(&project).unwrap();
            symlink(all.path().join("keys"), project.join(folder)).unwrap();
            let with_code = Job { code: Some("digest".into()), ..job.clone() };
            assert!(folders.prepare(&with_code, 61_001).is_err(), "{folder}");
            fs::remove_dir_all(&project).unwrap();
        }
        let keys = fs::metadata(all.path().join("keys")).unwrap();
        assert_eq!((keys.mode() & 0o7777, keys.uid()), (0o700, rustix::process::geteuid().as_raw()));
        assert_eq!(fs::read_dir(all.path().join("keys")).unwrap().count(), 1);

        folders.prepare(&job, 61_001).unwrap();
        let worker = outputs::workers(&job).next().unwrap();
        let outputs = project.join(attempt_folder(&job.key)).join(worker.to_string()).join(OUTPUTS);
        symlink(all.path().join("keys/sealing"), &outputs).unwrap();
        let place = folders.outputs(&job.project, &job.key).unwrap()(&worker);
        assert_eq!(place.read(100).unwrap_err().kind(), io::ErrorKind::InvalidData);
        fs::remove_file(&outputs).unwrap();
        fs::write(&outputs, "said").unwrap();
        assert_eq!(place.read(100).unwrap(), b"said");
    }

    #[test]
    fn code_is_there_whole_and_once() {
        let all = tempfile::tempdir().unwrap();
        let folders = folders(all.path());
        let job = Job { code: Some("digest".into()), ..job() };
        fs::create_dir_all(all.path().join("code/digest/lib")).unwrap();
        fs::write(all.path().join("code/digest/lib/run.sh"), "echo").unwrap();
        fs::set_permissions(all.path().join("code/digest/lib/run.sh"), fs::Permissions::from_mode(0o755))
            .unwrap();
        folders.prepare(&job, 61_001).unwrap();
        folders.prepare(&job, 61_001).unwrap();
        let code = all.path().join("workspace").join(&job.project).join(".code");
        let copied = fs::metadata(code.join("digest/lib/run.sh")).unwrap();
        assert_eq!((copied.mode() & 0o777, copied.len()), (0o755, 4));
        assert_eq!(fs::read_dir(code).unwrap().count(), 1, "nothing is left beside it");
    }
}
