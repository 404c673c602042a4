//! Workers without a server: a batch system starts each on a node, in a folder that all nodes share.
//!
//! The workers make a server's decisions themselves. Each one that ends checks how the others have ended. If
//! that decides the job, it writes a stop request into the attempt's folder, which the other workers' shims
//! poll.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use cubeloom_domain::lowered::{LocalJob, LocalWorker};
use cubeloom_domain::outcome::Outcome;
use cubeloom_files::own;
use cubeloom_workers::ends::End;
use cubeloom_workers::outputs;
use cubeloom_workers::place::Place;

use crate::conclude::last_lines;
use crate::config::{LOG, NOFILE, PIDS};
use crate::error::reason;
use crate::folders::{OWN, make_all};
use crate::gang::{Gang, Verdict};
use crate::look::exit_record;
use crate::secrets::Values;
use crate::shim::{self, RecordFile, now};
use crate::spawn::{folders, remove_scratch, tell};
use crate::spec::{
    CODE_DONE, CODE_LOST_RACE, CODE_NO_FILES, EXIT, ExitRecord, Limits, STARTED, ShimSpec, Started, StopWhy,
    StopWish, stop_file,
};

pub struct Alone<'a> {
    /// The fully resolved job.
    pub job: &'a LocalJob,
    pub worker: &'a LocalWorker,
    pub folder: &'a Path,
    /// Token by which the workers of an attempt authenticate to each other.
    pub token: &'a str,
    /// The values of its secrets, by name.
    pub secrets: BTreeMap<String, String>,
    /// Time between TERM and KILL.
    pub grace: Duration,
}

impl Alone<'_> {
    /// Becomes the worker's shim, runs it to its end, and stops the others if that decides the job. Returns
    /// the exit code: 0 if the end is recorded, whatever the end was.
    #[must_use]
    pub fn run(self) -> i32 {
        shim::enter();
        if [EXIT, STARTED].iter().any(|name| Path::new(&self.worker.folder).join(name).exists()) {
            // It runs, or ran before. Preparing it again would change files in use, and record secrets as
            // missing that are gone by now.
            return CODE_LOST_RACE;
        }
        let code = match self.order() {
            Ok(order) => shim::obey(&order),
            Err(sentence) => self.could_not_start(sentence),
        };
        if code != CODE_DONE {
            // The files in the folder belong to another shim.
            return code;
        }
        remove_scratch(Path::new(&self.worker.folder));
        if let Err(error) = self.stop_others() {
            let _ = writeln!(io::stderr(), "the other workers cannot be stopped: {}", reason(&error));
            return CODE_NO_FILES;
        }
        code
    }

    fn order(&self) -> Result<ShimSpec, String> {
        let worker = self.worker;
        for folder in &self.job.folders {
            make_all(Path::new(folder), OWN)
                .map_err(|error| format!("the folder {folder} cannot be created: {}", reason(&error)))?;
        }
        folders(worker, None)
            .map_err(|error| format!("the folder {} cannot be created: {}", worker.folder, reason(&error)))?;
        let values = Values::given(self.secrets.clone());
        if let Some(name) = values.missing(&worker.secrets) {
            return Err(format!("the secret `{name}` was not passed to the job"));
        }
        let provided = values.provide(&worker.secrets, Path::new(&worker.folder), None)?;
        let mut env = worker.env.clone();
        tell(&mut env, worker, self.token, provided);
        Ok(ShimSpec {
            attempt: self.job.key.clone(),
            rank: worker.rank,
            folder: (&worker.folder).into(),
            stop_file: stop_file(self.folder),
            server_pid: 0,
            argv: worker.argv.clone(),
            setup: worker.setup.clone(),
            env: env.into_iter().collect(),
            cwd: (&worker.cwd).into(),
            user: None,
            masks: values.masks(&worker.secrets),
            outputs: (&worker.outputs_file).into(),
            limits: Limits {
                cpu_millis: worker.cpu.0,
                cpu_most_millis: worker.cpu_limit.map_or(0, |limit| limit.0),
                memory: worker.memory.0,
                pids: PIDS,
                nofile: NOFILE,
                log: LOG,
            },
            view: None,
            fence: None,
            cgroup: None,
            grace_ms: u64::try_from(self.grace.as_millis()).unwrap_or(u64::MAX),
            terminal: None,
            alone: true,
        })
    }

    /// Records that the worker never started.
    fn could_not_start(&self, message: String) -> i32 {
        let folder = Path::new(&self.worker.folder);
        let started = Started { pid: 0, ticks: 0, at: now(), cgroup: None };
        match RecordFile::create(folder, &started) {
            Ok(file) => {
                file.write(&ExitRecord::without_run(End::CouldNotStart { message }, false, now()));
                CODE_DONE
            }
            Err(_) => {
                let _ = writeln!(io::stderr(), "{} could not start: {message}", self.worker.name);
                CODE_NO_FILES
            }
        }
    }

    fn stop_others(&self) -> io::Result<()> {
        if gang(self.job, self.folder, None).verdict() != Verdict::StopRest || stop_file(self.folder).exists()
        {
            return Ok(());
        }
        let grace_ms = u64::try_from(self.grace.as_millis()).unwrap_or(u64::MAX);
        let wish = serde_json::to_vec(&StopWish { why: StopWhy::Decided, grace_ms })?;
        let made = own::open_with(
            OpenOptions::new().write(true).create_new(true).mode(0o640),
            stop_file(self.folder),
        );
        match made {
            Ok(mut file) => file.write_all(&wish),
            // Another worker was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// How an attempt ended whose workers have all ended: one without a record is lost.
#[must_use]
pub fn outcome(job: &LocalJob, folder: &Path) -> Outcome {
    let mut gang = gang(job, folder, None);
    let silent: Vec<usize> = gang.live().collect();
    for rank in silent {
        gang.exited(rank, ExitRecord::without_run(End::Lost, false, now()));
    }
    let outcome = gang.outcome(|rank| last_lines(Path::new(&job.workers[rank].folder)));
    let files = job.workers.iter().map(|worker| (worker.name.to_string(), Path::new(&worker.outputs_file)));
    match outcome {
        Outcome::Succeeded => match outputs::missing(&job.outputs, &outputs::collect(files)) {
            Some(missing) => Outcome::Failed(missing),
            None => Outcome::Succeeded,
        },
        other => other,
    }
}

/// The state that the workers have recorded so far. A stop request in the folder takes precedence over
/// `wish`.
pub(crate) fn gang(job: &LocalJob, folder: impl Into<Place>, wish: Option<StopWish>) -> Gang {
    let folder = folder.into();
    let names = job.workers.iter().map(|worker| worker.name.clone()).collect();
    let elastic = (job.gang as usize) < job.workers.len();
    let mut gang = Gang::new(names, job.success.clone(), job.gang, elastic);
    if let Some(wish) = crate::spec::wish_in(&folder).or(wish) {
        gang.stop(wish.why);
    }
    for (rank, worker) in job.workers.iter().enumerate() {
        if let Some(record) = exit_record(folder.other(&worker.folder)) {
            gang.exited(rank, record);
        }
    }
    gang
}

/// Copies a template's folder for workers, unless it was copied before.
///
/// # Errors
/// A sentence that names the folder.
pub fn provide_template(from: &Path, to: &Path) -> Result<(), String> {
    if let Some(above) = to.parent() {
        own::create_dir_all(above).map_err(|error| {
            format!("the folder {} cannot be created: {}", above.display(), reason(&error))
        })?;
    }
    crate::templates::provide(from, to)
}
