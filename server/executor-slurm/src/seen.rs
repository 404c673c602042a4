//! What Slurm says of jobs. Pure: texts to values.

use std::collections::HashMap;

/// One job of Slurm's; of a heterogeneous one all components together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenJob {
    /// Its id.
    pub id: String,
    /// What it does.
    pub state: State,
    /// Why it waits, or ended, in Slurm's own word; `None` for no reason.
    pub reason: String,
    /// Its nodes, as Slurm abbreviates them.
    pub nodes: String,
}

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits.
    Waiting,
    /// It runs, or does something that is not known here and is no end.
    Runs,
    /// Its processes are being ended.
    Completing,
    /// It has ended.
    Over(Fate),
}

/// How a job ended for Slurm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its script ended well.
    Completed,
    /// Its script ended otherwise.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
    /// Its time was up.
    TimedOut,
    /// It used more memory than it had.
    OutOfMemory,
    /// A node of it failed.
    NodeFailed,
    /// A node of it could not be booted.
    BootFailed,
    /// Another job needed its place.
    Preempted,
    /// Slurm does not say.
    Unknown,
}

impl State {
    /// By Slurm's word, of which accounting adds more: `CANCELLED by 1000`.
    fn of(word: &str) -> Self {
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

    /// Of two components: who is still at work is; of two that have ended the more telling end is the job's.
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

    /// How it ended, where it has.
    pub fn fate(self) -> Option<Fate> {
        match self {
            Self::Over(fate) => Some(fate),
            Self::Waiting | Self::Runs | Self::Completing => None,
        }
    }
}

/// The jobs by their comment, an attempt's key.
pub type ByKey = HashMap<String, Vec<SeenJob>>;

/// Reads `%i|%T|%r|%N|%j|%k` of squeue. Jobs of others have other names.
pub fn listed(text: &str) -> ByKey {
    let mut found = ByKey::new();
    for line in text.lines() {
        if let [id, state, reason, nodes, name, comment] = line.splitn(6, '|').collect::<Vec<_>>()[..]
            && name.starts_with("cl-")
        {
            add(
                &mut found,
                comment,
                SeenJob {
                    id: id.split('+').next().unwrap_or(id).into(),
                    state: State::of(state),
                    reason: reason.into(),
                    nodes: nodes.into(),
                },
            );
        }
    }
    found
}

/// Reads `JobID|State|NodeList|JobName|Comment` of sacct. Accounting may keep no comments: then the name, which `names` knows
/// the keys of, says whose job it is.
pub fn accounted(text: &str, names: &HashMap<String, String>) -> ByKey {
    let mut found = ByKey::new();
    for line in text.lines() {
        if let [id, state, nodes, name, comment] = line.splitn(5, '|').collect::<Vec<_>>()[..]
            && let Some(key) = names.get(name)
            && (comment.is_empty() || comment == key)
        {
            add(
                &mut found,
                key,
                SeenJob {
                    id: id.split('+').next().unwrap_or(id).into(),
                    state: State::of(state),
                    reason: String::new(),
                    nodes: nodes.into(),
                },
            );
        }
    }
    found
}

fn add(found: &mut ByKey, key: &str, job: SeenJob) {
    let jobs = found.entry(key.to_owned()).or_default();
    match jobs.iter_mut().find(|known| known.id == job.id) {
        Some(known) => {
            known.state = known.state.join(job.state);
            if !job.nodes.is_empty() {
                known.nodes =
                    if known.nodes.is_empty() { job.nodes } else { format!("{},{}", known.nodes, job.nodes) };
            }
        }
        None => jobs.push(job),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_found_by_their_comments_and_components_are_one() {
        let text = "1|RUNNING|None|n1|cl-t-ab|run.t.0.1\n2|PENDING|Resources||other|x|y\n3+0|COMPLETED|None|n1|cl-m-cd|run.m.0.1\n\
            3+1|RUNNING|None|n2|cl-m-cd|run.m.0.1\n4|FAILED|NonZeroExitCode|n2|cl-t-ab|run.t.0.1\nnonsense\n";
        let found = listed(text);
        let states =
            |key: &str| found[key].iter().map(|job| (job.id.as_str(), job.state)).collect::<Vec<_>>();
        assert_eq!(states("run.t.0.1"), [("1", State::Runs), ("4", State::Over(Fate::Failed))]);
        assert_eq!(states("run.m.0.1"), [("3", State::Runs)]);
        assert_eq!(found["run.m.0.1"][0].nodes, "n1,n2");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn accounting_without_comments_is_read_by_name() {
        let names = HashMap::from([("cl-t-ab".to_owned(), "run.t.0.1".to_owned())]);
        let text = "7|CANCELLED by 1000|n1|cl-t-ab|\n8|NODE_FAIL|n2|cl-t-ab|run.t.0.2\n9|COMPLETED|n1|cl-x|run.t.0.1\n";
        let found = accounted(text, &names);
        assert_eq!(found.len(), 1);
        assert_eq!(found["run.t.0.1"].len(), 1, "a comment that is another's counts");
        assert_eq!(found["run.t.0.1"][0].state, State::Over(Fate::Cancelled));
    }

    #[test]
    fn a_word_that_is_not_known_is_no_end() {
        assert_eq!(State::of("STAGE_OUT"), State::Runs);
        assert_eq!(State::of("OUT_OF_MEMORY"), State::Over(Fate::OutOfMemory));
        assert_eq!(State::of("TIMEOUT").join(State::of("COMPLETED")), State::Over(Fate::TimedOut));
    }
}
