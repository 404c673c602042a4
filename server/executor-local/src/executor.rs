//! Implementation of the executor port, and the machine's facts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use cubeloom_domain::clock::Clock;
use cubeloom_domain::executor::{
    BoxFuture, Ended, Event, Executor, Facts, Growth, Observer, Report, Scaling, StopCause, Submission,
};
use cubeloom_domain::failpoint::hit;
use cubeloom_domain::hang::WorkerStack;
use cubeloom_domain::job::{Job, SuccessRule};
use cubeloom_domain::logs::Logs;
use cubeloom_domain::lowered::{Bindings, LocalBindings, LocalJob, Lowered};
use cubeloom_domain::monitoring::Reading;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome, WorkerName};
use cubeloom_domain::terminal::Terminals;
use cubeloom_domain::usage::{UsageSeries, UsageSummary};
use cubeloom_domain::{AttemptKey, Bytes};
use cubeloom_files::own;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::attempt::{Attempt, Happened, Worker, millis};
use crate::cgroup::Cpusets;
use crate::config::LocalConfig;
use crate::disk_limits::{self, Workspaces};
use crate::error::LocalError;
use crate::facts;
use crate::folders::closed_parent;
use crate::gang::Gang;
use crate::gpu::Gpus;
use crate::leases::Leases;
use crate::machine::{Machine, Slot};
use crate::meter::Meter;
use crate::notes::Notes;
use crate::owner::Owners;
use crate::paths::Layout;
use crate::python::Pythons;
use crate::sandbox::Walls;
use crate::scale::Wanted;
use crate::spares::Spares;
use crate::spec::StopWish;
use crate::token::Tokens;
use crate::xid::Xids;
use crate::{cgroup, room, stacks, templates, terminal};
use cubeloom_workers::reports::Reports;

/// Runs jobs as processes on this machine.
pub struct LocalExecutor {
    pub(crate) machine: Arc<Machine>,
    facts: Facts,
    meter: Meter,
    xids: Arc<Xids>,
}

impl LocalExecutor {
    /// Prepares the data folder and detects the machine's resources.
    ///
    /// # Errors
    /// The data folder is unusable, or workers could not reach it.
    pub fn new(config: LocalConfig, clock: Arc<dyn Clock>) -> Result<Arc<Self>, LocalError> {
        facts::raise_open_files();
        let layout = Layout::prepare(&config.data)?;
        let owners = Owners::load(layout.top("keys"), config.uid_base)?;
        let closed = |uid: u32| closed_parent(&layout.top("runs"), uid).map(|path| (path, uid));
        if let Some((path, uid)) = owners.base().and_then(closed) {
            return Err(LocalError::NotTraversable { path, uid });
        }
        let gpus = Gpus::find().unwrap_or_default();
        let xids = Arc::<Xids>::default();
        let meter = Meter::new(&gpus, Arc::clone(&xids));
        let hierarchy = cgroup::detect(config.sandbox.network);
        let cpusets = Cpusets::of(&hierarchy).map(Arc::new);
        let facts = facts::facts(&config, &gpus, cpusets.is_some());
        let (walls, refused) = Walls::of(config.sandbox, &hierarchy);
        if let Some(why) = refused {
            tracing::warn!("workers are less isolated than configured in `[sandbox]`: {why}");
        }
        if walls.keeps_connections_apart()
            && let Err(error) = cgroup::network::keep_apart(&hierarchy)
        {
            tracing::warn!("workers can connect to workers of other projects, see `[sandbox]`: {error}");
        }
        let machine = Machine {
            leases: Leases::new(&config.data, gpus, Arc::clone(&xids))?,
            pythons: Pythons::new(&config, hierarchy.clone()),
            tokens: Tokens::load(&layout.top("keys"))?,
            notes: Notes::new().map_err(LocalError::file("a pipe"))?,
            spares: Spares::default(),
            workspaces: Workspaces::default(),
            reports: Reports::default(),
            listening: OnceLock::new(),
            cpusets,
            hierarchy,
            walls,
            observer: OnceLock::new(),
            attempts: Mutex::default(),
            layout,
            clock,
            owners,
            config,
        };
        Ok(Arc::new(Self { machine: Arc::new(machine), facts, meter, xids }))
    }

    /// Adds a job to the table of attempts; `None` if it is there already.
    fn enter(&self, key: &AttemptKey) -> Option<(Entry, UnboundedReceiver<Happened>)> {
        let mut attempts = self.machine.attempts();
        match attempts.get(key) {
            Some(Slot::Live(_)) => None,
            Some(Slot::Ended(ended)) => {
                let event = Event::Ended(ended.clone());
                drop(attempts);
                self.machine.report(key, event);
                None
            }
            None => {
                let (sender, inbox) = unbounded_channel();
                attempts.insert(key.clone(), Slot::Live(sender.clone()));
                Some((Entry { sender }, inbox))
            }
        }
    }

    fn take(&self, submission: &Submission, adopt: bool) {
        let key = &submission.job.key;
        let Lowered::Local(local) = &*submission.lowered else {
            let message = "it was not compiled for this machine; compile it with `--for local`";
            let failure = Failure::new(FailureKind::CouldNotStart, message);
            return self.machine.report(key, self.end_without_run(Outcome::Failed(failure)));
        };
        self.machine.listen();
        let Some((entry, inbox)) = self.enter(key) else { return };
        let mut attempt = entry.attempt(&self.machine, &submission.job, local);
        if !self.machine.config.adoption {
            if adopt {
                self.machine.attempts().remove(key);
                return self.machine.report(key, Event::NotFound);
            }
            forget(&attempt.dir);
        }
        // An earlier server may have been about to raise its workers' memory.
        attempt.growing.has_grown = adopt && submission.job.grows;
        // The stop request first: it determines what the exits mean.
        attempt.take_up_stop();
        let missing = attempt.take_up();
        if attempt.growing.has_grown {
            hit("local.grow.adopted");
        }
        if adopt && missing.len() == attempt.workers.len() && !attempt.is_stopped() {
            self.machine.attempts().remove(key);
            return self.machine.report(key, Event::NotFound);
        }
        attempt.tell_started();
        attempt.tell_resized();
        if attempt.is_stopped() {
            attempt.never_ran(&missing);
        } else if !missing.is_empty() {
            attempt.start(Arc::new(local.clone()), submission.job.user.clone(), missing);
        }
        tokio::spawn(attempt.run(inbox));
    }

    fn end_without_run(&self, outcome: Outcome) -> Event {
        Event::Ended(Box::new(Ended {
            outcome,
            started_at: None,
            ended_at: self.machine.clock.now(),
            report: Report::default(),
            usage: UsageSummary::default(),
            roles: Vec::new(),
        }))
    }

    fn stop(&self, key: &AttemptKey, wish: StopWish) {
        // Enter it first: otherwise it could be submitted in between, and would never see the stop.
        let Some((entry, inbox)) = self.enter(key) else {
            if let Some(Slot::Live(sender)) = self.machine.attempts().get(key) {
                let _ = sender.send(Happened::Stop(wish));
            }
            return;
        };
        let mut attempt = entry.remains(&self.machine, key);
        // Write the request even if nothing exists: a shim that an earlier server only just started finds it.
        if let Err(error) = crate::spawn::attempt_folder(&attempt.dir) {
            tracing::warn!(%key, %error, "the folder of a stopping attempt cannot be created");
        }
        attempt.stop(wish);
        let missing = attempt.take_up();
        attempt.never_ran(&missing);
        tokio::spawn(attempt.run(inbox));
    }
}

/// A new entry in the table of attempts.
struct Entry {
    sender: tokio::sync::mpsc::UnboundedSender<Happened>,
}

impl Entry {
    fn attempt(self, machine: &Arc<Machine>, job: &Job, local: &LocalJob) -> Attempt {
        let names = local.workers.iter().map(|worker| worker.name.clone()).collect();
        let gang = Gang::new(names, local.success.clone(), local.gang, job.elastic.is_some());
        let workers = local.workers.iter().map(Worker::of).collect();
        let mut attempt = Attempt::new(Arc::clone(machine), job.key.clone(), workers, gang, self.sender);
        attempt.together = (local.gang as usize).clamp(1, local.workers.len().max(1));
        attempt.required.clone_from(&local.outputs);
        attempt.timeout = job.timeout;
        attempt.watch_metric(job.watches.clone());
        attempt.growing.watches = job.grows && machine.has_groups();
        attempt
    }

    /// An attempt without state, except for its folders.
    fn remains(self, machine: &Arc<Machine>, key: &AttemptKey) -> Attempt {
        let folders = own::read_dir(machine.layout.attempt(key)).into_iter().flatten().flatten();
        let mut workers: Vec<Worker> =
            folders.filter(|entry| entry.path().is_dir()).map(|entry| worker_of(&entry.path())).collect();
        workers.sort_by(|a, b| a.name.cmp(&b.name));
        let names = workers.iter().map(|worker| worker.name.clone()).collect();
        let gang = Gang::new(names, SuccessRule::AllWorkers, 0, false);
        Attempt::new(Arc::clone(machine), key.clone(), workers, gang, self.sender)
    }
}

fn worker_of(folder: &Path) -> Worker {
    let name = folder.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let (outputs, memory) = (folder.join("outputs.jsonl"), Bytes(0));
    Worker { name: worker_name(&name), folder: folder.into(), outputs, memory }
}

/// The worker whose folder has this name.
pub(crate) fn worker_name(folder: &str) -> WorkerName {
    let (role, index) = folder.rsplit_once('-').unwrap_or((folder, "0"));
    WorkerName { role: role.into(), index: index.parse().unwrap_or(0) }
}

/// Without adoption, files of an earlier server do not prevent a start.
fn forget(dir: &Path) {
    if dir.exists() {
        let aside = dir.with_extension(format!("forgotten-{}", std::process::id()));
        let _ = own::rename(dir, aside);
    }
}

impl Scaling for LocalExecutor {
    fn resize(&self, job: &Job, _: &Bindings) -> Result<Bindings, Failure> {
        let paths = self.machine.layout.of_job(job, &self.machine.config)?;
        Ok(Bindings::Local(LocalBindings { workers: self.machine.leases.resize(job)?, paths }))
    }

    fn scale(&self, submission: Submission, grace: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let Lowered::Local(local) = &*submission.lowered else { return };
            let person = submission.job.user.clone();
            let wanted = Box::new(Wanted { job: Arc::new(local.clone()), person, grace_ms: millis(grace) });
            if let Some(Slot::Live(sender)) = self.machine.attempts().get(&submission.job.key) {
                let _ = sender.send(Happened::Scale(wanted));
            }
        })
    }
}

impl Growth for LocalExecutor {
    fn grow(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let Lowered::Local(local) = &*submission.lowered else { return };
            if let Some(Slot::Live(sender)) = self.machine.attempts().get(&submission.job.key) {
                let _ = sender.send(Happened::Grow(Arc::new(local.clone())));
            }
        })
    }
}

impl Executor for LocalExecutor {
    fn facts(&self) -> Facts {
        let (mut facts, kept_back) = (self.facts.clone(), self.machine.leases.kept_back());
        for card in facts.nodes.iter_mut().flat_map(|node| &mut node.gpus) {
            card.xid = kept_back.get(&card.uuid).copied();
        }
        facts
    }

    fn known_fault(&self, uuid: &str) -> Option<u32> {
        self.xids.known_fault(uuid)
    }

    fn forget_fault(&self, uuid: &str) -> Option<u32> {
        self.xids.forget(uuid)
    }

    fn measure(&self) -> Option<Reading> {
        let node = self.facts.nodes.first()?;
        Some(self.meter.measure(node, self.machine.clock.now()))
    }

    fn held_up(&self) -> Option<String> {
        room::lacking(&self.machine.config)
    }

    fn held_projects(&self) -> BTreeMap<String, String> {
        self.machine.workspaces.held(self.machine.config.workspace)
    }

    fn owner(&self, project: &str) -> Result<Option<u32>, Failure> {
        let could_not = |error: LocalError| Failure::new(FailureKind::CouldNotStart, error.sentence());
        self.machine.owners.user(project).map_err(could_not)
    }

    fn attach(&self, observer: Arc<dyn Observer>) {
        if self.machine.observer.set(observer).is_err() {
            tracing::error!("an executor can be attached to one observer only");
        }
        self.machine.spares.refill(&self.machine.config, &self.machine.notes);
        terminal::sweep(&self.machine.layout.top(terminal::FOLDER), &self.machine.hierarchy);
        disk_limits::start(&self.machine);
    }

    fn bind(&self, job: &Job) -> Result<Bindings, Failure> {
        let paths = self.machine.layout.of_job(job, &self.machine.config)?;
        let folder = Path::new(&job.template_folder);
        templates::provide(folder, Path::new(&paths.template_dir))
            .map_err(|message| Failure::new(FailureKind::CouldNotStart, message))?;
        let workers = self.machine.leases.take(job)?;
        Ok(Bindings::Local(LocalBindings { workers, paths }))
    }

    fn rebind(&self, job: &Job, bindings: &Bindings) {
        if let Bindings::Local(local) = bindings {
            self.machine.leases.retake(job, &local.workers);
        }
    }

    fn submit(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.take(&submission, false) })
    }

    fn adopt(&self, submission: Submission) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.take(&submission, true) })
    }

    fn cancel(&self, key: &AttemptKey, cause: StopCause, grace: Duration) -> BoxFuture<'_, ()> {
        let (key, wish) = (key.clone(), StopWish::new(cause, grace));
        Box::pin(async move { self.stop(&key, wish) })
    }

    fn release(&self, key: &AttemptKey) {
        self.machine.leases.release(key);
        let mut attempts = self.machine.attempts();
        if matches!(attempts.get(key), Some(Slot::Ended(_))) {
            attempts.remove(key);
        }
    }

    fn stacks<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, Vec<WorkerStack>> {
        let (machine, key) = (Arc::clone(&self.machine), key.clone());
        Box::pin(async move {
            tokio::task::spawn_blocking(move || stacks::take(&machine, &key)).await.unwrap_or_default()
        })
    }

    fn scaling(&self) -> Option<&dyn Scaling> {
        Some(self)
    }

    /// Without control groups, each shim enforces the limit with which it started: there is no growth.
    fn growth(&self) -> Option<&dyn Growth> {
        if self.machine.has_groups() { Some(self) } else { None }
    }

    fn logs(&self) -> Option<&dyn Logs> {
        Some(self)
    }

    fn usage(&self) -> Option<&dyn UsageSeries> {
        Some(self)
    }

    fn terminals(&self) -> Option<&dyn Terminals> {
        Some(self)
    }
}
