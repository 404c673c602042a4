//! One attempt from its submission to its end. When it is over, Slurm says; how it ended, its workers' records.

mod stop;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::executor::{Ended, Event, Progress};
use cubeloom_domain::lowered::LocalJob;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::slurm::files;
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_executor_local::StopWish;
use cubeloom_executor_local::afar::{self, Seen};
use cubeloom_workers::logs;
use cubeloom_workers::place::Place;
use cubeloom_workers::tails::{News, Tails};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, MissedTickBehavior};

use crate::cluster::{Cluster, Slot, UNSEEN};
use crate::commands::Trouble;
use crate::folders::Record;
use crate::judge;
use crate::logs::blocking;
use crate::orders::What;
use crate::seen::{Fate, SeenJob, State, Who};
use crate::submit::{Parcel, Submitted};

/// How long, of looks that were answered, a job is looked for that neither the list nor accounting knows: both may be told late.
const MISSING: Duration = Duration::from_secs(70);
/// The same where accounting says that it runs, and it is wanted no more.
const LATE: Duration = Duration::from_secs(60);
/// Between two looks that were answered, no more counts than this: the cluster was away meanwhile.
const BETWEEN: Duration = Duration::from_secs(5);
/// How long the records of workers may take to be seen on this machine after Slurm's word: files of other machines come late.
const SEEN: Duration = Duration::from_secs(60);
/// The same where no record can come any more, or none is needed: a node is lost, or the attempt is wanted no more.
const NOT_SEEN: Duration = Duration::from_secs(3);
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
    /// Its jobs, as they were listed last.
    pub jobs: Vec<SeenJob>,
    /// The looks that had begun when it was submitted: what they say of it is older.
    pub since: u64,
    /// The wish to stop it.
    stop: Option<Stop>,
    started: Option<Timestamp>,
    /// When it was noted, before anything of it was submitted.
    noted: Timestamp,
    tails: Tails,
    watches: Option<String>,
    progress: Option<Progress>,
    /// Its jobs are listed no more.
    missing: Option<Missing>,
    /// Since when Slurm says that it is over.
    over: Option<Instant>,
    /// Whether workers on a node that Slurm has lost were told to end.
    is_left: bool,
    /// Whether the server itself had Slurm end it, as it was missing.
    is_given_up: bool,
}

/// What is known of jobs that are listed no more.
struct Missing {
    /// The last look that was answered without them, and when.
    look: u64,
    at: Instant,
    /// How long such looks have gone on.
    lasted: Duration,
    /// What accounting said last of them.
    accounted: Option<Vec<SeenJob>>,
    /// Slurm was told to end them, whatever they are.
    is_ended: bool,
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
            jobs: Vec::new(),
            since: 0,
            stop: None,
            started: None,
            noted: Timestamp::default(),
            tails: Tails::new(watches.clone()),
            watches,
            progress: None,
            missing: None,
            over: None,
            is_left: false,
            is_given_up: false,
        }
    }

    /// To its end.
    pub async fn run(mut self, begin: Begin) {
        let who = Who { name: self.key.object_name(), uid: self.record.uid, ids: self.record.ids.clone() };
        self.cluster.board.follow(&self.key, who);
        let (cluster, key) = (Arc::clone(&self.cluster), self.key.clone());
        let noted = blocking(move || Ok((cluster.folders.stop(&key), cluster.folders.noted(&key)))).await;
        let (wish, at) = noted.unwrap_or_default();
        self.noted = at.unwrap_or_default();
        if let Some(wish) = wish {
            self.wanted(wish);
        }
        let ended = match begin {
            Begin::Submit(parcel) => match self.submit(*parcel).await {
                Submitted::Done => self.watch().await,
                Submitted::Stopped => self.conclude(Fate::Unknown).await,
                // A job may come whose answer did not: it is watched until it is known as none.
                Submitted::InDoubt => self.watch().await,
                Submitted::Refused(failure) => self.refused(failure).await,
            },
            Begin::Adopt => {
                // Its files tell of what was begun also while Slurm is away.
                if self.has_begun().await.unwrap_or(true) || self.is_there().await {
                    self.watch().await
                } else {
                    self.take_in();
                    if self.stop.is_none() {
                        self.cluster.attempts().remove(&self.key);
                        self.cluster.board.forget(&self.key);
                        return self.cluster.report(&self.key, Event::NotFound);
                    }
                    self.watch().await
                }
            }
        };
        self.cluster.ended(&self.key, ended);
    }

    /// Looks at its folder, on a thread for that.
    async fn at_its_folder<T: Send + 'static>(
        &self,
        look: impl FnOnce(Place) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let record = self.record.clone();
        self.cluster.on_disk(move || look(record.place()?)).await
    }

    /// Whether its script has begun.
    ///
    /// # Errors
    /// It cannot be seen now.
    pub async fn has_begun(&self) -> io::Result<bool> {
        self.at_its_folder(|folder| folder.join(files::SUBMITTED).found()).await
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
    pub fn wanted(&mut self, wish: StopWish) {
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
            // What cannot be seen now is no end, unless nobody waits for one.
            let workers = self.look().await;
            let seen = workers.as_deref().unwrap_or_default();
            let all_said = !seen.is_empty() && seen.iter().all(|worker| worker.ended);
            if let Some(fate) = self.fate(all_said) {
                if fate == Fate::NodeFailed && !all_said {
                    self.leave().await;
                }
                // What the nodes wrote last may be seen here later than what Slurm says.
                let over = *self.over.get_or_insert_with(Instant::now);
                if fate == Fate::Unknown && over.elapsed() < SEEN && self.is_to_be_told().await {
                    continue;
                }
                let stopped = self.stop.is_some();
                let patience = if fate == Fate::NodeFailed || stopped { NOT_SEEN } else { SEEN };
                let is_time = over.elapsed() >= if workers.is_some() { patience } else { SEEN };
                let silent = stopped && matches!(self.has_begun().await, Ok(false));
                let can_conclude = workers.is_some() || stopped;
                if all_said || (can_conclude && is_time) || (silent && fate != Fate::Completed) {
                    return self.conclude(fate).await;
                }
            } else {
                self.over = None;
                self.make_sure().await;
                self.press().await;
            }
        }
    }

    /// Looks at what its workers have written, and tells what is new; `None` when that cannot be seen now.
    async fn look(&mut self) -> Option<Vec<Seen>> {
        let (job, mut tails) = (Arc::clone(&self.job), std::mem::take(&mut self.tails));
        let (started, now) = (self.started, self.cluster.clock.now());
        let span = afar::Span::new(self.noted, now);
        let together = (job.gang as usize).clamp(1, job.workers.len().max(1));
        let looking = self.at_its_folder(move |folder| {
            let workers = match afar::look(&job, &folder, span) {
                Ok(workers) => workers,
                // How far the files were read stays known.
                Err(error) => return Ok((Err(error), None, None, News::default(), tails)),
            };
            for (rank, _) in workers.iter().enumerate().filter(|(_, worker)| worker.ended) {
                tails.ended(rank);
            }
            let mut began: Vec<Timestamp> = workers.iter().filter_map(|worker| worker.began).collect();
            began.sort_unstable();
            let all = began.get(together - 1).copied();
            let outputs = job.workers.iter().map(|worker| folder.other(&worker.outputs_file));
            let news = started
                .or(began.first().copied().filter(|_| all.is_some()))
                .map(|began| tails.read(outputs, began, now));
            Ok((Ok(workers), all, began.first().copied(), news.unwrap_or_default(), tails))
        });
        let looked = match looking.await {
            Ok((workers, all, first, news, tails)) => {
                self.tails = tails;
                if let (None, Some(at)) = (self.started, all) {
                    self.started = first;
                    self.cluster.report(&self.key, Event::Started { at });
                }
                self.tell(news);
                workers
            }
            Err(error) => {
                // The folder above could not be opened: the files are read anew.
                self.tails = Tails::new(self.watches.clone());
                Err(error)
            }
        };
        let why = looked.as_ref().err().map(|error| format!("its workers' records cannot be read: {error}"));
        self.cluster.waits_for(&self.key, why.map(|why| (UNSEEN, why)));
        looked.ok()
    }

    fn tell(&mut self, news: News) {
        for metric in news.measured {
            self.cluster.report(&self.key, Event::Measured(metric));
        }
        if let Some(progress) = news.progress.filter(|found| self.progress != Some(*found)) {
            self.progress = Some(progress);
            self.cluster.report(&self.key, Event::Progress(progress));
        }
        if let Some(tested) = news.tested {
            self.cluster.report(&self.key, Event::Tested(tested));
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
            self.jobs = jobs;
            return judge::fate(&self.jobs, all_said);
        }
        if all_said {
            return Some(Fate::Unknown);
        }
        let now = Instant::now();
        let missing = self.missing.get_or_insert(Missing {
            look: answered,
            at: now,
            lasted: Duration::ZERO,
            accounted: None,
            is_ended: false,
        });
        if answered != missing.look {
            missing.lasted += (now - missing.at).min(BETWEEN);
            (missing.look, missing.at) = (answered, now);
        }
        match self.cluster.board.answer(&self.key) {
            Some(jobs) => missing.accounted = Some(jobs),
            None => self.cluster.board.ask(&self.key),
        }
        let accounted = missing.accounted.as_ref()?;
        if accounted.is_empty() {
            // Slurm was told to end it before, should it be there after all.
            return missing.is_ended.then_some(Fate::Unknown);
        }
        self.jobs.clone_from(accounted);
        let wanted_no_more = self.stop.is_some() && missing.lasted >= LATE;
        judge::fate(&self.jobs, all_said).or(wanted_no_more.then_some(Fate::Unknown))
    }

    /// Whether its workers' records leave open why it ended, and Slurm is about to say so: while it ends a job's processes, it
    /// does not say why.
    async fn is_to_be_told(&self) -> bool {
        if self.stop.is_some() || self.jobs.iter().all(|job| job.state != State::Completing) {
            return false;
        }
        let (job, span) = (Arc::clone(&self.job), afar::Span::new(self.noted, self.cluster.clock.now()));
        let concluded = self.at_its_folder(move |folder| Ok(afar::conclude(&job, &folder, None, span)));
        concluded.await.is_ok_and(|ended| judge::is_open(&ended.outcome))
    }

    /// Puts together how it ended.
    async fn conclude(&mut self, fate: Fate) -> Ended {
        let job = Arc::clone(&self.job);
        let (wish, now) = (self.stop.as_ref().map(|stop| stop.wish), self.cluster.clock.now());
        let span = afar::Span::new(self.noted, now);
        let jobs = std::mem::take(&mut self.jobs);
        // Nobody else cancelled what the server had given up.
        let fate = if fate == Fate::Cancelled && self.is_given_up { Fate::Unknown } else { fate };
        let concluded = self.at_its_folder(move |folder| {
            let mut ended = afar::conclude(&job, &folder, wish, span);
            judge::explain(&mut ended, fate, &jobs, log(&folder));
            Ok(ended)
        });
        let ended = concluded.await.unwrap_or_else(|error| {
            // That is only concluded where it was wanted no more.
            let failure = Failure::new(FailureKind::Lost, error.to_string());
            without_run(wish.map_or(Outcome::Failed(failure), |_| Outcome::Cancelled), now)
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
        if !self.at_its_folder(|folder| folder.join(files::SECRETS).found()).await.unwrap_or(false) {
            return;
        }
        let cleaned = self.cluster.orders.give(&self.record, What::Clean).await;
        if let Err(Trouble::Away(why) | Trouble::Refused(why)) = cleaned {
            let folder = self.record.folder.display();
            tracing::warn!(key = %self.key, %folder, why, "the secrets of a job that has ended cannot be removed");
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
fn log(folder: &Place) -> Vec<String> {
    logs::tail(folder.join(files::LOG), LAST_LINES).unwrap_or_default()
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

#[cfg(test)]
mod tests;
