//! Gives a job to Slurm: its files first, its script last. Every step may be done again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::code_folder;
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::slurm::{SlurmJob, files};

use crate::attempt::Attempt;
use crate::cluster::Cluster;
use crate::commands::Trouble;
use crate::seen::SeenJob;
use crate::{WRITE_ARG, parcel};

/// How long a step that did not succeed waits until it is tried again.
const PAUSE: Duration = Duration::from_secs(2);

/// What a new attempt is submitted with.
pub struct Parcel {
    /// The job.
    pub job: SlurmJob,
    /// Its secrets' values, by name.
    pub secrets: BTreeMap<String, String>,
    /// Folders of this machine that it needs, and where its nodes look for them.
    pub folders: Vec<(PathBuf, PathBuf)>,
    /// Whether an earlier server may have submitted it.
    pub in_doubt: bool,
}

/// How a submission ended.
pub enum Submitted {
    /// Slurm has it.
    Done,
    /// It is wanted no more, and Slurm does not have it.
    Stopped,
    /// It cannot start.
    Refused(Failure),
}

/// The folders of this machine that a job needs where its nodes see them.
pub fn folders(cluster: &Cluster, job: &Job, slurm: &SlurmJob) -> Vec<(PathBuf, PathBuf)> {
    let worker = slurm.job.workers.first();
    let template = worker.and_then(|worker| worker.env.get("CUBELOOM_TEMPLATE_DIR"));
    let template = template.filter(|_| !job.template_folder.is_empty());
    let workspace = cluster.config.facts.of_project(&job.project).workspace;
    let code = job
        .code
        .as_ref()
        .map(|digest| (cluster.config.code.join(digest), Path::new(&workspace).join(code_folder(digest))));
    let needed = template.map(|to| (PathBuf::from(&job.template_folder), to.into())).into_iter().chain(code);
    // What this machine does not see there is sent: the account looks again.
    needed.filter(|(_, to): &(PathBuf, PathBuf)| !to.exists()).collect()
}

impl Attempt {
    /// Submits, however long the cluster is away.
    pub async fn submit(&mut self, parcel: Parcel) -> Submitted {
        if parcel.in_doubt && self.is_there().await {
            return Submitted::Done;
        }
        if let Err(failure) = self.write(&parcel).await {
            return self.stopped_or(failure);
        }
        let script = format!("{}/{}", parcel.job.folder, files::SCRIPT);
        loop {
            if self.is_stopped() {
                return Submitted::Stopped;
            }
            let done = {
                let _call = self.cluster.calls.acquire().await;
                self.cluster.commands.sbatch(&self.record.account, &script).await
            };
            match done {
                Ok(id) => {
                    self.cluster.waits_for(&self.key, None);
                    self.since = self.cluster.board.begun();
                    self.ids.push(id);
                    return Submitted::Done;
                }
                Err(Trouble::Refused(why)) => return Submitted::Refused(could_not(why)),
                Err(Trouble::Away(why)) => {
                    tracing::warn!(key = %self.key, why, "a job is submitted again later");
                    self.cluster.waits_for(&self.key, Some(why));
                    self.pause(PAUSE).await;
                    // Perhaps Slurm has taken it, and only its answer did not come.
                    if self.is_there().await {
                        return Submitted::Done;
                    }
                }
            }
        }
    }

    fn stopped_or(&self, failure: Option<Failure>) -> Submitted {
        failure.map_or(Submitted::Stopped, Submitted::Refused)
    }

    /// Has the person's account write what the job needs. `None`: it is wanted no more.
    async fn write(&mut self, parcel: &Parcel) -> Result<(), Option<Failure>> {
        let packed = parcel::pack(&parcel.job, parcel.secrets.clone(), &parcel.folders);
        let packed = packed.map_err(|error| Some(could_not(error.sentence())))?;
        loop {
            if self.is_stopped() {
                return Err(None);
            }
            let done = {
                let _call = self.cluster.calls.acquire().await;
                let record = &self.record;
                let commands = &self.cluster.commands;
                commands.program(&record.account, &record.program, &[WRITE_ARG], packed.clone()).await
            };
            match done {
                Ok(()) => return Ok(()),
                Err(Trouble::Refused(why)) => return Err(Some(could_not(why))),
                Err(Trouble::Away(_)) => self.pause(PAUSE).await,
            }
        }
    }

    /// Whether Slurm has, or had, the attempt. Waits while it does not answer.
    pub async fn is_there(&mut self) -> bool {
        let since = self.cluster.board.begun();
        let jobs: Vec<SeenJob> = self.cluster.board.find(&self.key).await;
        self.ids.extend(jobs.iter().map(|job| job.id.clone()));
        self.since = since;
        let has_begun = self.record.folder.join(files::SUBMITTED).exists();
        self.jobs = jobs;
        has_begun || !self.jobs.is_empty()
    }
}

fn could_not(why: String) -> Failure {
    Failure::new(FailureKind::CouldNotStart, why)
}
