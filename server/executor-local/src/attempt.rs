//! One attempt from its submission to its end: a single task (actor) receives all its events.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::executor::{Event, Progress};
use cubeloom_domain::failpoint::hit;
use cubeloom_domain::lowered::{LocalJob, LocalWorker};
use cubeloom_domain::outcome::{Failure, WorkerName};
use cubeloom_domain::quantity::Span;
use cubeloom_domain::{AttemptKey, Bytes, Timestamp};
use cubeloom_files::own;
use cubeloom_workers::ends::End;
use rustix::process::Signal;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::watch as latch;
use tokio::time::{Instant, MissedTickBehavior};

use crate::cgroup::{Cgroup, Cpusets};
use crate::conclude;
use crate::gang::{Gang, Verdict};
use crate::grow::{self, Growing};
use crate::look::{Found, look};
use crate::machine::Machine;
use crate::scale::Wanted;
use crate::spares::Spawned;
use crate::spec::{self, ExitRecord, Note, StopWhy, StopWish};
use crate::watch::{Gone, Watched, watch};
use crate::{sandbox, start};
use cubeloom_workers::tails::Tails;

/// An event of an attempt.
pub(crate) enum Happened {
    /// A request to stop it.
    Stop(StopWish),
    /// A request for another number of workers.
    Scale(Box<Wanted>),
    /// Its workers get the memory in this job.
    Grow(Arc<LocalJob>),
    /// A shim was started.
    Spawned(usize, Spawned),
    /// A shim from an earlier server was found running a worker.
    Found(usize, Arc<OwnedFd>),
    /// A worker cannot be started, for this reason.
    Refused(usize, String),
    /// No worker can be started.
    Unprepared(Failure),
    /// A message of a shim.
    Note(Note),
    /// A shim exited without doing anything, with this exit code. Its message, if any, has been read.
    Unexplained(usize, Option<i32>),
    /// A worker's shim is gone.
    Gone(usize, Gone),
}

/// How often to read progress from the output files.
const PROGRESS: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(crate) struct Worker {
    pub(crate) name: WorkerName,
    pub(crate) folder: PathBuf,
    pub(crate) outputs: PathBuf,
    /// Its memory limit, if known.
    pub(crate) memory: Bytes,
}

impl Worker {
    pub(crate) fn of(worker: &LocalWorker) -> Self {
        Self {
            name: worker.name.clone(),
            folder: (&worker.folder).into(),
            outputs: (&worker.outputs_file).into(),
            memory: worker.memory,
        }
    }
}

/// A running attempt.
pub(crate) struct Attempt {
    pub(crate) machine: Arc<Machine>,
    pub(crate) key: AttemptKey,
    pub(crate) dir: PathBuf,
    pub(crate) workers: Vec<Worker>,
    pub(crate) gang: Gang,
    /// How many workers must run for the attempt to count as started.
    pub(crate) together: usize,
    /// Outputs that must exist in the end.
    pub(crate) required: Vec<String>,
    /// Timeouts of its run and its preparation.
    pub(crate) timeout: Option<Span>,
    sender: UnboundedSender<Happened>,
    pub(crate) shims: Vec<Option<Arc<OwnedFd>>>,
    pub(crate) began: Vec<Option<Timestamp>>,
    /// The wanted workers, after a resize request.
    pub(crate) wanted: Option<Wanted>,
    /// How many workers it holds.
    pub(crate) holds: usize,
    /// Set once a stop has been sent to the workers.
    stopped: Option<Duration>,
    stopping: latch::Sender<bool>,
    /// Start of its first worker, once the whole gang runs.
    started: Option<Timestamp>,
    unprepared: Option<Failure>,
    pub(crate) tails: Tails,
    progress: Option<Progress>,
    /// Memory growth of its workers.
    pub(crate) growing: Growing,
}

impl Attempt {
    pub(crate) fn new(
        machine: Arc<Machine>,
        key: AttemptKey,
        workers: Vec<Worker>,
        gang: Gang,
        sender: UnboundedSender<Happened>,
    ) -> Self {
        let count = workers.len();
        Self {
            dir: machine.layout.attempt(&key),
            machine,
            key,
            gang,
            together: count,
            required: Vec::new(),
            timeout: None,
            sender,
            shims: vec![None; count],
            began: vec![None; count],
            wanted: None,
            holds: count,
            stopped: None,
            stopping: latch::channel(false).0,
            started: None,
            unprepared: None,
            tails: Tails::default(),
            progress: None,
            growing: Growing::default(),
            workers,
        }
    }

    /// Adopts existing workers. Returns the ranks that never had a shim.
    pub(crate) fn take_up(&mut self) -> Vec<usize> {
        if !self.dir.exists() {
            return (0..self.workers.len()).collect();
        }
        self.take_up_given_back();
        let mut missing = Vec::new();
        for rank in 0..self.workers.len() {
            match look(&self.workers[rank].folder) {
                Ok(Found::Nothing) => missing.push(rank),
                Ok(Found::Running(shim)) => {
                    self.began[rank] = Some(shim.started.at);
                    let pidfd = Arc::new(shim.pidfd);
                    self.found(rank, Arc::clone(&pidfd));
                    self.watch(rank, Some(Watched { pidfd, child: None }));
                }
                Ok(Found::Done(record)) => self.happened(Happened::Gone(rank, Gone::Ended(record))),
                Ok(Found::Locked | Found::Dead(_)) | Err(_) => self.watch(rank, None),
            }
        }
        missing
    }

    /// Adopts a stop request that an earlier server wrote.
    pub(crate) fn take_up_stop(&mut self) {
        if let Some(wish) = spec::wish_in(&self.dir) {
            self.stop(wish);
        }
    }

    /// Starts the workers `ranks` of `job` for the user `person`, in the background.
    pub(crate) fn start(&self, job: Arc<LocalJob>, person: String, ranks: Vec<usize>) {
        let starting = start::Start {
            machine: Arc::clone(&self.machine),
            job,
            person,
            timeout: self.timeout,
            ranks,
            dir: self.dir.clone(),
            sender: self.sender.clone(),
            stopping: self.stopping.subscribe(),
        };
        tokio::spawn(starting.run());
    }

    /// Marks workers that never started as ended by the stop.
    pub(crate) fn never_ran(&mut self, ranks: &[usize]) {
        for rank in ranks {
            let record = ExitRecord::without_run(End::NeverRan, true, self.machine.clock.now());
            self.happened(Happened::Gone(*rank, Gone::Ended(record)));
        }
    }

    /// Runs until nothing of the attempt runs any more.
    pub(crate) async fn run(mut self, mut inbox: UnboundedReceiver<Happened>) {
        let mut ticks = tokio::time::interval_at(Instant::now() + PROGRESS, PROGRESS);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut looks = tokio::time::interval(grow::EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while self.gang.verdict() != Verdict::Over {
            tokio::select! {
                biased;
                Some(happened) = inbox.recv() => self.happened(happened),
                _ = ticks.tick() => self.look_for_news(),
                _ = looks.tick(), if self.growing.watches => self.look_at_memory(),
            }
        }
        // Report its last progress before its end.
        self.look_for_news();
        let machine = Arc::clone(&self.machine);
        let key = self.key.clone();
        let unprepared = self.unprepared.take();
        let dir = self.dir.clone();
        let folders: Vec<PathBuf> = self.workers.iter().map(|worker| worker.folder.clone()).collect();
        let concluded = if conclude::is_quick(&self) {
            Ok(conclude::conclude(&self, unprepared))
        } else {
            tokio::task::spawn_blocking(move || conclude::conclude(&self, unprepared)).await
        };
        match concluded {
            Ok(ended) => machine.ended(&key, ended),
            Err(error) => tracing::error!(%key, %error, "the end of an attempt could not be reported"),
        }
        tokio::task::spawn_blocking(move || {
            conclude::clean(&folders);
            sandbox::remove(&dir, &key.object_name());
        });
    }

    fn happened(&mut self, happened: Happened) {
        match happened {
            Happened::Stop(wish) => self.stop(wish),
            Happened::Scale(wanted) => self.scale(*wanted),
            Happened::Grow(job) => self.grow(&job),
            Happened::Spawned(rank, Spawned { child, pidfd }) => self.spawned(rank, child, pidfd),
            Happened::Found(rank, pidfd) => self.found(rank, pidfd),
            Happened::Refused(rank, message) => self.could_not_start(rank, message),
            Happened::Unprepared(failure) => self.no_worker_starts(failure),
            Happened::Note(note) => self.noted(note),
            Happened::Unexplained(rank, code) => self.unexplained(rank, code),
            Happened::Gone(rank, gone) => self.gone(rank, gone),
        }
        if self.gang.verdict() == Verdict::StopRest && self.stopped.is_none() {
            self.stop(StopWish { why: StopWhy::Decided, grace_ms: millis(self.machine.config.grace) });
        }
        self.start_those_back();
        self.tell_resized();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    fn watch(&self, rank: usize, watched: Option<Watched>) {
        let Worker { name, folder, outputs, .. } = self.workers[rank].clone();
        let cgroup = self.cgroup(&name);
        let sender = self.sender.clone();
        tokio::spawn(async move {
            let found = |pidfd| {
                let _ = sender.send(Happened::Found(rank, pidfd));
            };
            let gone = watch(folder, outputs, watched, cgroup, found).await;
            let _ = sender.send(Happened::Gone(rank, gone));
        });
    }

    pub(crate) fn cgroup(&self, name: &WorkerName) -> Option<Cgroup> {
        start::cgroup(&self.machine, &self.key, name)
    }

    fn spawned(&mut self, rank: usize, child: std::process::Child, pidfd: OwnedFd) {
        let pidfd = Arc::new(pidfd);
        self.found(rank, Arc::clone(&pidfd));
        self.watch(rank, Some(Watched { pidfd, child: Some(child) }));
    }

    /// Registers a shim to be signalled on a stop, and signals it if the stop came before.
    fn found(&mut self, rank: usize, pidfd: Arc<OwnedFd>) {
        self.shims[rank] = Some(pidfd);
        self.give_memory(rank);
        if self.stopped.is_some() || self.gang.is_given_back(rank) {
            self.signal(rank);
        }
    }

    fn could_not_start(&mut self, rank: usize, message: String) {
        let stopped = self.stopped.is_some();
        let record =
            ExitRecord::without_run(End::CouldNotStart { message }, stopped, self.machine.clock.now());
        self.gang.exited(rank, record);
    }

    fn no_worker_starts(&mut self, failure: Failure) {
        self.unprepared = Some(failure);
        for rank in self.gang.live().collect::<Vec<_>>() {
            let record = ExitRecord::without_run(End::NeverRan, true, self.machine.clock.now());
            self.gang.exited(rank, record);
        }
    }

    fn noted(&mut self, note: Note) {
        let rank = note.rank as usize;
        if let Some(at) = note.started_at {
            self.runs(rank, at);
        }
        if let Some(message) = note.error {
            self.could_not_start(rank, message);
        }
    }

    /// Records that a worker's program runs, which may complete the gang.
    fn runs(&mut self, rank: usize, at: Timestamp) {
        if let Some(began) = self.began.get_mut(rank) {
            began.get_or_insert(at);
        }
        self.give_memory(rank);
        self.with_cpusets(Cpusets::refresh);
        self.tell_started();
    }

    /// Reports the start once the whole gang runs.
    pub(crate) fn tell_started(&mut self) {
        if self.started.is_some() || self.began.iter().flatten().count() < self.together {
            return;
        }
        let mut began: Vec<Timestamp> = self.began.iter().flatten().copied().collect();
        began.sort_unstable();
        if let Some(at) = began.get(self.together.saturating_sub(1)) {
            self.started = began.first().copied();
            self.machine.report(&self.key, Event::Started { at: *at });
        }
    }

    fn gone(&mut self, rank: usize, gone: Gone) {
        self.shims[rank] = None;
        let group = start::group_name(&self.key, &self.workers[rank].name);
        self.with_cpusets(move |cpusets| cpusets.release(&group));
        self.tails.ended(rank);
        match gone {
            Gone::Ended(record) => {
                if let Some(at) = record.started_at {
                    self.runs(rank, at);
                }
                self.gang.exited(rank, record);
            }
            Gone::Lost => {
                let record = ExitRecord {
                    started_at: self.began[rank],
                    ..ExitRecord::without_run(End::Lost, false, self.machine.clock.now())
                };
                self.gang.exited(rank, record);
            }
            Gone::NeverRan(code) => {
                self.machine.notes.drain(&self.machine);
                let _ = self.sender.send(Happened::Unexplained(rank, code));
            }
        }
    }

    /// Changes which CPUs are whose, in the background, while some are dedicated.
    fn with_cpusets(&self, change: impl FnOnce(&Cpusets) + Send + 'static) {
        if let Some(cpusets) = self.machine.cpusets.clone().filter(|cpusets| cpusets.is_used()) {
            tokio::task::spawn_blocking(move || change(&cpusets));
        }
    }

    /// Counts only if no message came before it: the first report of a worker's end wins.
    fn unexplained(&mut self, rank: usize, code: Option<i32>) {
        let code = code.map_or("no exit code".into(), |code| format!("exit code {code}"));
        self.could_not_start(rank, format!("its shim ended immediately, with {code}"));
    }

    /// Stops all remaining workers. Writes the request to disk before it signals anyone. So a shim that is
    /// only just starting finds it, as does one whose server dies now.
    pub(crate) fn stop(&mut self, wish: StopWish) {
        self.gang.stop(wish.why);
        let grace = Duration::from_millis(wish.grace_ms);
        if self.stopped.is_some_and(|earlier| earlier <= grace) {
            return;
        }
        hit("local.cancel.before");
        if let Err(error) = write_wish(&self.dir, &wish) {
            tracing::warn!(key = %self.key, %error, "the stop request could not be saved");
        }
        self.stopped = Some(grace);
        self.stopping.send_replace(true);
        (0..self.shims.len()).for_each(|rank| self.signal(rank));
        hit("local.cancel.after");
    }

    pub(crate) fn signal(&self, rank: usize) {
        if let Some(pidfd) = &self.shims[rank] {
            let _ = rustix::process::pidfd_send_signal(pidfd, Signal::TERM);
        }
    }

    /// Sets the metric whose values are reported while it runs.
    pub(crate) fn watch_metric(&mut self, name: Option<String>) {
        self.tails = Tails::new(name);
    }

    /// Reports the program's progress and its new metric values.
    pub(crate) fn look_for_news(&mut self) {
        let Some(began) = self.started else { return };
        let now = self.machine.clock.now();
        let news = self.tails.read(self.workers.iter().map(|worker| &worker.outputs), began, now);
        for metric in news.measured {
            self.machine.report(&self.key, Event::Measured(metric));
        }
        if let Some(progress) = news.progress.filter(|found| self.progress != Some(*found)) {
            self.progress = Some(progress);
            self.machine.report(&self.key, Event::Progress(progress));
        }
        if let Some(tested) = news.tested {
            self.machine.report(&self.key, Event::Tested(tested));
        }
        if let Some(pace) = news.pace {
            self.machine.report(&self.key, Event::Paced(Box::new(pace)));
        }
    }
}

/// Writes a stop request; the first reason stays, and the grace period can only shrink.
pub(crate) fn write_wish(dir: &Path, wish: &StopWish) -> std::io::Result<()> {
    let path = spec::stop_file(dir);
    let why = spec::wish_in(dir).map_or(wish.why, |earlier| earlier.why);
    let fresh = dir.join("stop.tmp");
    own::write(&fresh, serde_json::to_vec(&StopWish { why, ..*wish })?)?;
    hit("local.wish.before");
    let written = own::rename(&fresh, &path);
    hit("local.wish.after");
    written
}

/// A duration in whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
