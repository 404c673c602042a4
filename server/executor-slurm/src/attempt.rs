//! One attempt from its submission to its end. When it is over, Slurm says; how it ended, its workers' records.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::executor::{Ended, Event, Progress};
use cubeloom_domain::lowered::LocalJob;
use cubeloom_domain::outcome::{Failure, Outcome};
use cubeloom_domain::slurm::files;
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_executor_local::StopWish;
use cubeloom_executor_local::afar::{self, Seen};
use cubeloom_workers::logs;
use cubeloom_workers::tails::{News, Tails};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, MissedTickBehavior};

use crate::cluster::{Cluster, Slot};
use crate::commands::Trouble;
use crate::folders::Record;
use crate::judge;
use crate::seen::{Fate, SeenJob};
use crate::submit::{Parcel, Submitted};
use crate::{CLEAN_ARG, STOP_ARG};

/// How long a job that is listed no more is looked for.
const MISSING: Duration = Duration::from_secs(10);
/// The same where accounting says that it runs, or knows nothing: it may be told late.
const LATE: Duration = Duration::from_secs(60);
/// How long the records of workers may take to be seen on this machine when Slurm says that all ended well; and when it does not.
const SEEN: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(3)];
/// How long workers have to write down how they ended after the grace, before Slurm ends them.
const BEYOND: Duration = Duration::from_secs(15);
/// How long Slurm has to end them before it is told again.
const AGAIN: Duration = Duration::from_secs(30);
/// How many of the script's last lines are told.
const LAST_LINES: usize = 20;

/// How an attempt begins.
pub enum Begin {
    /// It is new, or perhaps is not.
    Submit(Box<Parcel>),
    /// An earlier server may have submitted it.
    Adopt,
}

/// One attempt at work.
pub struct Attempt {
    pub cluster: Arc<Cluster>,
    pub key: AttemptKey,
    pub record: Record,
    /// Its processes.
    pub job: Arc<LocalJob>,
    /// What is wanted of it.
    pub wishes: UnboundedReceiver<StopWish>,
    /// The ids of its jobs; more than one only after a doubt.
    pub ids: Vec<String>,
    /// Its jobs, as they were listed last.
    pub jobs: Vec<SeenJob>,
    /// The looks that had begun when it was submitted: what they say of it is older.
    pub since: u64,
    /// The wish to stop it.
    stop: Option<Stop>,
    started: Option<Timestamp>,
    tails: Tails,
    progress: Option<Progress>,
    /// Since when its jobs are listed no more.
    missing: Option<Instant>,
    /// Since when Slurm says that it is over.
    over: Option<Instant>,
}

/// A stop on its way.
struct Stop {
    wish: StopWish,
    /// Since when the workers are told.
    told: Option<Instant>,
    /// When Slurm was told last.
    cancelled: Option<Instant>,
}

impl Attempt {
    pub fn new(
        cluster: Arc<Cluster>,
        key: AttemptKey,
        record: Record,
        job: Arc<LocalJob>,
        watches: Option<String>,
        wishes: UnboundedReceiver<StopWish>,
    ) -> Self {
        Self {
            cluster,
            key,
            record,
            job,
            wishes,
            ids: Vec::new(),
            jobs: Vec::new(),
            since: 0,
            stop: None,
            started: None,
            tails: Tails::new(watches),
            progress: None,
            missing: None,
            over: None,
        }
    }

    /// To its end.
    pub async fn run(mut self, begin: Begin) {
        if let Some(wish) = self.cluster.folders.stop(&self.key) {
            self.wanted(wish);
        }
        let ended = match begin {
            Begin::Submit(parcel) => match self.submit(*parcel).await {
                Submitted::Done => self.watch().await,
                Submitted::Stopped => {
                    // Slurm may have taken it without an answer: then its workers find the wish.
                    if self.record.folder.exists() && self.tell_workers().await.is_err() {
                        tracing::warn!(key = %self.key, "its workers cannot be told to stop");
                    }
                    self.conclude(Fate::Unknown).await
                }
                Submitted::Refused(failure) => self.refused(failure).await,
            },
            Begin::Adopt => {
                // Its files tell of what was begun also while Slurm is away.
                if !self.record.folder.join(files::SUBMITTED).exists() && !self.is_there().await {
                    self.take_in();
                    if self.stop.is_some() {
                        self.conclude(Fate::Unknown).await
                    } else {
                        self.cluster.attempts().remove(&self.key);
                        self.cluster.board.forget(&self.key);
                        return self.cluster.report(&self.key, Event::NotFound);
                    }
                } else {
                    self.watch().await
                }
            }
        };
        self.cluster.ended(&self.key, ended);
    }

    /// Whether it is wanted no more.
    pub fn is_stopped(&mut self) -> bool {
        self.take_in();
        self.stop.is_some()
    }

    fn take_in(&mut self) {
        while let Ok(wish) = self.wishes.try_recv() {
            self.wanted(wish);
        }
    }

    /// The first reason counts, and the shortest grace.
    fn wanted(&mut self, wish: StopWish) {
        match &mut self.stop {
            Some(stop) if stop.wish.grace_ms <= wish.grace_ms => {}
            Some(stop) => {
                stop.wish.grace_ms = wish.grace_ms;
                stop.told = None;
            }
            None => self.stop = Some(Stop { wish, told: None, cancelled: None }),
        }
    }

    /// Waits, or until something is wanted.
    pub async fn pause(&mut self, pause: Duration) {
        tokio::select! {
            Some(wish) = self.wishes.recv() => self.wanted(wish),
            () = tokio::time::sleep(pause) => {}
        }
    }

    /// Until nothing of it runs any more.
    async fn watch(&mut self) -> Ended {
        let mut ticks = tokio::time::interval(self.cluster.config.every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                Some(wish) = self.wishes.recv() => self.wanted(wish),
                _ = ticks.tick() => {}
            }
            let workers = self.look().await;
            let all_said = !workers.is_empty() && workers.iter().all(|worker| worker.ended);
            if let Some(fate) = self.fate(all_said) {
                // What the nodes wrote last may be seen here later than what Slurm says.
                let over = *self.over.get_or_insert_with(Instant::now);
                let patience = SEEN[usize::from(fate != Fate::Completed)];
                let has_begun = self.record.folder.join(files::SUBMITTED).exists();
                let stays_silent = fate != Fate::Completed && !has_begun && self.stop.is_some();
                if all_said || stays_silent || over.elapsed() >= patience {
                    return self.conclude(fate).await;
                }
            } else {
                self.over = None;
                self.press().await;
            }
        }
    }

    /// Looks at what its workers have written, and tells what is new.
    async fn look(&mut self) -> Vec<Seen> {
        let (job, mut tails) = (Arc::clone(&self.job), std::mem::take(&mut self.tails));
        let (started, now) = (self.started, self.cluster.clock.now());
        let together = (job.gang as usize).clamp(1, job.workers.len().max(1));
        let looking = tokio::task::spawn_blocking(move || {
            let workers = afar::look(&job);
            for (rank, _) in workers.iter().enumerate().filter(|(_, worker)| worker.ended) {
                tails.ended(rank);
            }
            let mut began: Vec<Timestamp> = workers.iter().filter_map(|worker| worker.began).collect();
            began.sort_unstable();
            let all = began.get(together - 1).copied();
            let news = started
                .or(began.first().copied().filter(|_| all.is_some()))
                .map(|began| tails.read(job.workers.iter().map(|worker| &worker.outputs_file), began, now));
            (workers, all, began.first().copied(), news.unwrap_or_default(), tails)
        });
        let Ok((workers, all, first, news, tails)) = looking.await else { return Vec::new() };
        self.tails = tails;
        if let (None, Some(at)) = (self.started, all) {
            self.started = first;
            self.cluster.report(&self.key, Event::Started { at });
        }
        self.tell(news);
        workers
    }

    fn tell(&mut self, news: News) {
        for metric in news.measured {
            self.cluster.report(&self.key, Event::Measured(metric));
        }
        if let Some(progress) = news.progress.filter(|found| self.progress != Some(*found)) {
            self.progress = Some(progress);
            self.cluster.report(&self.key, Event::Progress(progress));
        }
        if let Some(pace) = news.pace {
            self.cluster.report(&self.key, Event::Paced(Box::new(pace)));
        }
    }

    /// How its jobs ended, once they have.
    fn fate(&mut self, all_said: bool) -> Option<Fate> {
        let (answered, jobs) = self.cluster.board.jobs(&self.key);
        if answered <= self.since {
            return None;
        }
        if !jobs.is_empty() {
            self.missing = None;
            for job in &jobs {
                if !self.ids.contains(&job.id) {
                    self.ids.push(job.id.clone());
                }
            }
            self.jobs = jobs;
            return judge::fate(&self.jobs, all_said);
        }
        if all_said {
            return Some(Fate::Unknown);
        }
        let missing = self.missing.get_or_insert_with(Instant::now).elapsed();
        let answer = self.cluster.board.answer(&self.key);
        if answer.is_none() {
            self.cluster.board.ask(&self.key);
        }
        if let Some(jobs) = answer.filter(|jobs| !jobs.is_empty()) {
            self.jobs = jobs;
            if let Some(fate) = judge::fate(&self.jobs, all_said) {
                return Some(fate);
            }
            return (missing >= LATE).then_some(Fate::Unknown);
        }
        (missing >= MISSING + LATE).then_some(Fate::Unknown)
    }

    /// Does what is next for it to stop: its workers are told, and where they do not go, Slurm.
    async fn press(&mut self) {
        let has_begun = self.record.folder.join(files::SUBMITTED).exists();
        let Some(stop) = &self.stop else { return };
        let grace = Duration::from_millis(stop.wish.grace_ms) + BEYOND;
        let cancelled = stop.cancelled;
        match stop.told {
            None => {
                match self.tell_workers().await {
                    Err(Trouble::Away(_)) => return,
                    // Slurm can still end it.
                    Err(Trouble::Refused(why)) => {
                        tracing::warn!(key = %self.key, why, "the workers cannot be told to stop");
                    }
                    Ok(()) => {}
                }
                self.stop.iter_mut().for_each(|stop| stop.told = Some(Instant::now()));
                if has_begun {
                    return;
                }
            }
            Some(told) => {
                let is_due = match cancelled {
                    None => !has_begun || told.elapsed() >= grace,
                    Some(at) => at.elapsed() >= AGAIN,
                };
                if !is_due {
                    return;
                }
            }
        }
        let hard = cancelled.is_some();
        if let Err(Trouble::Away(why) | Trouble::Refused(why)) =
            self.cluster.commands.scancel(&self.record.account, &self.ids, hard).await
        {
            tracing::warn!(key = %self.key, why, "Slurm does not end a job");
            return;
        }
        self.stop.iter_mut().for_each(|stop| stop.cancelled = Some(Instant::now()));
    }

    /// Leaves the wish to stop where its workers look.
    async fn tell_workers(&self) -> Result<(), Trouble> {
        let Some(stop) = &self.stop else { return Ok(()) };
        let wish = serde_json::to_vec(&stop.wish).unwrap_or_default();
        let folder = self.record.folder.display().to_string();
        let record = &self.record;
        let words = [STOP_ARG, &folder];
        self.cluster.commands.program(&record.account, &record.program, &words, wish).await
    }

    /// Puts together how it ended.
    async fn conclude(&mut self, fate: Fate) -> Ended {
        let (job, folder) = (Arc::clone(&self.job), self.record.folder.clone());
        let (wish, now) = (self.stop.as_ref().map(|stop| stop.wish), self.cluster.clock.now());
        let jobs = std::mem::take(&mut self.jobs);
        let concluded = tokio::task::spawn_blocking(move || {
            let mut ended = afar::conclude(&job, &folder, wish, now);
            judge::explain(&mut ended, fate, &jobs, log(&folder));
            ended
        });
        let ended = concluded.await.unwrap_or_else(|error| {
            let failure = Failure::new(cubeloom_domain::outcome::FailureKind::Lost, error.to_string());
            without_run(Outcome::Failed(failure), now)
        });
        self.clean().await;
        ended
    }

    async fn refused(&mut self, failure: Failure) -> Ended {
        self.clean().await;
        without_run(Outcome::Failed(failure), self.cluster.clock.now())
    }

    /// A script that never began has left the secrets that it was given.
    async fn clean(&self) {
        if !self.record.folder.join(files::SECRETS).exists() {
            return;
        }
        let folder = self.record.folder.display().to_string();
        let record = &self.record;
        let words = [CLEAN_ARG, &folder];
        let cleaned =
            self.cluster.commands.program(&record.account, &record.program, &words, Vec::new()).await;
        if let Err(Trouble::Away(why) | Trouble::Refused(why)) = cleaned {
            tracing::warn!(key = %self.key, why, "the secrets of a job that has ended cannot be removed");
        }
    }
}

/// The end of an attempt of which nothing ran.
pub fn without_run(outcome: Outcome, now: Timestamp) -> Ended {
    Ended {
        outcome,
        started_at: None,
        ended_at: now,
        report: Default::default(),
        usage: Default::default(),
        roles: Vec::new(),
    }
}

/// The script's last lines.
fn log(folder: &Path) -> Vec<String> {
    logs::tail(&folder.join(files::LOG), LAST_LINES).unwrap_or_default()
}

/// Tells an attempt that goes on that it is to stop; whether there is one.
pub fn tell(cluster: &Cluster, key: &AttemptKey, wish: StopWish) -> bool {
    match cluster.attempts().get(key) {
        Some(Slot::Live(sender)) => {
            // One that is just ending needs no telling.
            let _ = sender.send(wish);
            true
        }
        Some(Slot::Ended(_)) => true,
        None => false,
    }
}
