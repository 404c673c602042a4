//! Slurm's job states. Pure: parses texts into values.

use std::collections::{HashMap, HashSet};

/// One Slurm job; for a heterogeneous job, all its components together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenJob {
    pub id: String,
    pub name: String,
    /// Uid of its owner.
    pub uid: u32,
    pub state: State,
    /// Why it is pending, or ended, in Slurm's own word; `None` for no reason.
    pub reason: String,
    /// Its nodes, in Slurm's abbreviated form.
    pub nodes: String,
}

/// State of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Pending.
    Waiting,
    /// Running, or in an unknown state that is not an end.
    Runs,
    /// Its processes are being ended.
    Completing,
    /// Ended.
    Over(Fate),
}

/// How a job ended, from Slurm's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its script succeeded.
    Completed,
    /// Its script failed.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// Its time limit expired.
    TimedOut,
    /// It was OOM killed.
    OutOfMemory,
    /// One of its nodes failed.
    NodeFailed,
    /// One of its nodes could not boot.
    BootFailed,
    /// It was preempted.
    Preempted,
    /// Slurm does not report it.
    Unknown,
}

impl State {
    /// Parses Slurm's word, to which accounting adds details: `CANCELLED by 1000`.
    pub fn of(word: &str) -> Self {
        Self::Over(match word.split(' ').next().unwrap_or_default() {
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "RESV_DEL_HOLD" | "SPECIAL_EXIT" => {
                return Self::Waiting;
            }
            "COMPLETING" => return Self::Completing,
            "COMPLETED" => Fate::Completed,
            "FAILED" | "LAUNCH_FAILED" | "RECONFIG_FAIL" => Fate::Failed,
            "CANCELLED" | "REVOKED" => Fate::Cancelled,
            "TIMEOUT" | "DEADLINE" => Fate::TimedOut,
            "OUT_OF_MEMORY" => Fate::OutOfMemory,
            "NODE_FAIL" => Fate::NodeFailed,
            "BOOT_FAIL" => Fate::BootFailed,
            "PREEMPTED" => Fate::Preempted,
            _ => return Self::Runs,
        })
    }

    /// Combines two components: if one is active, its state; of two ends, the more informative one.
    pub fn join(self, other: Self) -> Self {
        let order = |state: Self| match state {
            Self::Runs => 0,
            Self::Completing => 1,
            Self::Waiting => 2,
            Self::Over(Fate::NodeFailed) => 3,
            Self::Over(Fate::BootFailed) => 4,
            Self::Over(Fate::OutOfMemory) => 5,
            Self::Over(Fate::TimedOut) => 6,
            Self::Over(Fate::Preempted) => 7,
            Self::Over(Fate::Cancelled) => 8,
            Self::Over(Fate::Failed) => 9,
            Self::Over(Fate::Completed) => 10,
            Self::Over(Fate::Unknown) => 11,
        };
        if order(other) < order(self) { other } else { self }
    }

    /// How it ended, if it has.
    pub fn fate(self) -> Option<Fate> {
        match self {
            Self::Over(fate) => Some(fate),
            Self::Waiting | Self::Runs | Self::Completing => None,
        }
    }
}

/// Identifies an attempt's jobs. Any user can choose any job name, and rename jobs later. So only jobs of the
/// attempt's account count that have its name, or an id that Slurm assigned to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    pub name: String,
    /// Uid of the account.
    pub uid: u32,
    /// The known ids.
    pub ids: Vec<String>,
}

/// Jobs from a command's list.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    all: Vec<SeenJob>,
    by_id: HashMap<String, usize>,
    by_name: HashMap<String, Vec<usize>>,
}

impl Jobs {
    /// The jobs of an attempt.
    pub fn of(&self, who: &Who) -> Vec<SeenJob> {
        let named = self.by_name.get(&who.name).into_iter().flatten();
        let mut places: Vec<usize> =
            who.ids.iter().filter_map(|id| self.by_id.get(id)).chain(named).copied().collect();
        places.sort_unstable();
        places.dedup();
        let own = places.into_iter().map(|place| &self.all[place]).filter(|job| job.uid == who.uid);
        own.cloned().collect()
    }

    /// Components of a heterogeneous job are one job.
    fn add(&mut self, job: SeenJob) {
        match self.by_id.get(&job.id).map(|place| &mut self.all[*place]) {
            Some(known) => {
                known.state = known.state.join(job.state);
                if !job.nodes.is_empty() {
                    known.nodes = if known.nodes.is_empty() {
                        job.nodes
                    } else {
                        format!("{},{}", known.nodes, job.nodes)
                    };
                }
            }
            None => {
                self.by_id.insert(job.id.clone(), self.all.len());
                self.by_name.entry(job.name.clone()).or_default().push(self.all.len());
                self.all.push(job);
            }
        }
    }
}

/// Filters the list: skips jobs with other names, unless they have one of these ids.
pub fn listed(jobs: impl IntoIterator<Item = SeenJob>, ids: &HashSet<String>) -> Jobs {
    let mut found = Jobs::default();
    for job in jobs {
        if job.name.starts_with("cl-") || ids.contains(&job.id) {
            found.add(job);
        }
    }
    found
}

/// Parses `%i|%U|%T|%r|%N|%j` of squeue.
pub fn lines(text: &str) -> Vec<SeenJob> {
    let read = |line: &str| match line.splitn(6, '|').collect::<Vec<_>>()[..] {
        [id, uid, state, reason, nodes, name] => job(id, uid, state, reason, nodes, name),
        _ => None,
    };
    text.lines().filter_map(read).collect()
}

/// Parses `JobID|UID|State|NodeList|JobName` of sacct.
pub fn accounted(text: &str) -> Jobs {
    let mut found = Jobs::default();
    for line in text.lines() {
        if let [id, uid, state, nodes, name] = line.splitn(5, '|').collect::<Vec<_>>()[..] {
            job(id, uid, state, "", nodes, name).into_iter().for_each(|job| found.add(job));
        }
    }
    found
}

fn job(id: &str, uid: &str, state: &str, reason: &str, nodes: &str, name: &str) -> Option<SeenJob> {
    Some(SeenJob {
        id: id.split('+').next().unwrap_or(id).into(),
        name: name.into(),
        uid: uid.trim().parse().ok()?,
        state: State::of(state),
        reason: reason.into(),
        nodes: nodes.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(name: &str, ids: &[&str]) -> Who {
        Who { name: name.into(), uid: 1000, ids: ids.iter().map(|id| (*id).to_owned()).collect() }
    }

    #[test]
    fn jobs_are_found_by_name_and_id_and_components_are_one() {
        let text = "1|1000|RUNNING|None|n1|cl-t-ab\n2|1000|PENDING|Resources||other|x\n3+0|1000|COMPLETED|None|n1|cl-m-cd\n\
            3+1|1000|RUNNING|None|n2|cl-m-cd\n4|1000|FAILED|NonZeroExitCode|n2|cl-t-ab\nnonsense\n\
            5|1000|RUNNING|None|n3|renamed\n";
        let found = listed(lines(text), &["5".to_owned()].into());
        let states = |who: &Who| found.of(who).into_iter().map(|job| (job.id, job.state)).collect::<Vec<_>>();
        let of = |id: &str, state| (id.to_owned(), state);
        assert_eq!(
            states(&who("cl-t-ab", &["4"])),
            [of("1", State::Runs), of("4", State::Over(Fate::Failed))]
        );
        assert_eq!(states(&who("cl-m-cd", &[])), [of("3", State::Runs)]);
        assert_eq!(found.of(&who("cl-m-cd", &[]))[0].nodes, "n1,n2");
        assert_eq!(states(&who("cl-x-ef", &["5"])), [of("5", State::Runs)], "it was called otherwise since");
        assert_eq!(found.all.len(), 4);
    }

    #[test]
    fn a_job_of_another_account_is_no_attempts_whatever_it_is_called() {
        let stranger = "7|1001|COMPLETED|None|n1|cl-t-ab\n";
        assert_eq!(listed(lines(stranger), &HashSet::new()).of(&who("cl-t-ab", &["7"])), []);
        assert_eq!(accounted("7|1001|COMPLETED|n1|cl-t-ab\n").of(&who("cl-t-ab", &["7"])), []);
        let own = accounted("7|1000|CANCELLED by 1000|n1|cl-t-ab\n").of(&who("cl-t-ab", &[]));
        assert_eq!(own[0].state, State::Over(Fate::Cancelled));
    }

    #[test]
    fn a_word_that_is_not_known_is_no_end() {
        assert_eq!(State::of("STAGE_OUT"), State::Runs);
        assert_eq!(State::of("OUT_OF_MEMORY"), State::Over(Fate::OutOfMemory));
        assert_eq!(State::of("TIMEOUT").join(State::of("COMPLETED")), State::Over(Fate::TimedOut));
    }
}
