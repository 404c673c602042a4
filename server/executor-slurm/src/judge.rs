//! What Slurm's own word adds to what the workers have written down. Pure.

use cubeloom_domain::executor::Ended;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};

use crate::commands::is_away;
use crate::seen::{Fate, SeenJob, State};

/// How an attempt's jobs ended, once all have: the more telling end of several, of which all but one found the attempt begun.
/// Those whose processes are being ended count as ended where all workers have said how they ended.
pub fn fate(jobs: &[SeenJob], all_said: bool) -> Option<Fate> {
    let of = |job: &SeenJob| match job.state {
        State::Completing if all_said => Some(Fate::Unknown),
        state => state.fate(),
    };
    let fates: Option<Vec<Fate>> = jobs.iter().map(of).collect();
    fates?.into_iter().map(State::Over).reduce(State::join)?.fate()
}

/// Whether the workers' records leave open why a job ended.
pub fn is_open(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Lost)
}

/// How lines of the commands begin that a script calls; `scontrol` says by the second what it could not load.
const SPEAKERS: [&str; 3] = ["srun: ", "slurm_load_node error: ", "scontrol: "];

/// Whether one of the commands that a script calls says that the cluster does not answer.
fn is_unanswered(line: &str) -> bool {
    SPEAKERS.iter().any(|speaker| line.starts_with(speaker)) && is_away(line)
}

/// Says what Slurm knows where the workers' records leave open why the job ended. `log` are the last lines of the script. A
/// program that Slurm stops may well end in order: it has not done its work for all that.
pub fn explain(ended: &mut Ended, fate: Fate, jobs: &[SeenJob], log: Vec<String>) {
    let stopped = matches!(
        fate,
        Fate::NodeFailed | Fate::TimedOut | Fate::OutOfMemory | Fate::Preempted | Fate::Cancelled
    );
    if !(is_open(&ended.outcome) || (ended.outcome == Outcome::Succeeded && stopped)) {
        return;
    }
    let nodes =
        jobs.iter().map(|job| job.nodes.as_str()).find(|nodes| !nodes.is_empty()).unwrap_or("its nodes");
    let known = match fate {
        Fate::NodeFailed => Failure::new(FailureKind::Lost, format!("Slurm lost a node of it, of {nodes}")),
        Fate::BootFailed => {
            Failure::new(FailureKind::CouldNotStart, format!("Slurm could not boot a node of it, of {nodes}"))
        }
        Fate::TimedOut => Failure::new(FailureKind::Timeout, "Slurm ended it at its limit of time"),
        Fate::OutOfMemory => {
            Failure::new(FailureKind::OutOfMemory, "Slurm ended it as it used more memory than it had")
        }
        Fate::Preempted => Failure::new(FailureKind::Preempted, "Slurm needed its place for another job"),
        // Whoever did that does not want it tried again at once, as what is lost is.
        Fate::Cancelled => Failure::new(FailureKind::Signal, "somebody cancelled it on the cluster"),
        Fate::Failed if ended.started_at.is_none() => {
            // That is no fault of the job's: it is tried again, as what is lost is.
            let away = log.iter().find(|line| is_unanswered(line)).map(|line| {
                Failure::new(FailureKind::Lost, format!("Slurm did not answer its script: {line}"))
            });
            let message = "its script ended before a worker had begun";
            let failure = away.unwrap_or_else(|| Failure::new(FailureKind::CouldNotStart, message));
            Failure { last_lines: log, ..failure }
        }
        Fate::Completed | Fate::Failed | Fate::Unknown => return,
    };
    ended.outcome = Outcome::Failed(known);
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use cubeloom_domain::Timestamp;
    use cubeloom_domain::executor::Report;
    use cubeloom_domain::usage::UsageSummary;

    use super::*;
    use crate::seen::{self, Who, listed};

    fn lost(kind: FailureKind) -> Ended {
        Ended {
            outcome: Outcome::Failed(Failure::new(kind, "worker-0 is lost")),
            started_at: None,
            ended_at: Timestamp(1),
            report: Report::default(),
            usage: UsageSummary::default(),
            roles: Vec::new(),
        }
    }

    fn jobs(states: &[&str]) -> Vec<SeenJob> {
        let lines = states.iter().enumerate().map(|(id, state)| format!("{id}|1|{state}|None|n2|cl-t\n"));
        let who = Who { name: "cl-t".into(), uid: 1, ids: Vec::new() };
        listed(seen::lines(&lines.collect::<String>()), &HashSet::new()).of(&who)
    }

    #[test]
    fn a_program_that_slurm_stops_has_not_succeeded_though_it_ends_in_order() {
        for (state, kind) in [
            ("TIMEOUT", Some(FailureKind::Timeout)),
            ("PREEMPTED", Some(FailureKind::Preempted)),
            ("CANCELLED", Some(FailureKind::Signal)),
            ("COMPLETED", None),
        ] {
            let jobs = jobs(&[state]);
            let mut ended = Ended { outcome: Outcome::Succeeded, ..lost(FailureKind::Lost) };
            explain(&mut ended, fate(&jobs, true).unwrap(), &jobs, Vec::new());
            let told = match ended.outcome {
                Outcome::Failed(failure) => Some(failure.kind),
                _ => None,
            };
            assert_eq!(told, kind, "{state}");
        }
    }

    #[test]
    fn slurms_word_counts_where_no_worker_said_why() {
        for (state, kind) in [
            ("NODE_FAIL", FailureKind::Lost),
            ("BOOT_FAIL", FailureKind::CouldNotStart),
            ("TIMEOUT", FailureKind::Timeout),
            ("OUT_OF_MEMORY", FailureKind::OutOfMemory),
            ("PREEMPTED", FailureKind::Preempted),
            ("CANCELLED", FailureKind::Signal),
            ("FAILED", FailureKind::CouldNotStart),
        ] {
            let jobs = jobs(&[state]);
            let mut ended = lost(FailureKind::Lost);
            explain(&mut ended, fate(&jobs, false).unwrap(), &jobs, vec!["no such program".into()]);
            let Outcome::Failed(failure) = &ended.outcome else { panic!("{state}") };
            assert_eq!(failure.kind, kind, "{state}");
            assert_ne!(failure.message, "worker-0 is lost", "{state}");
            let mut ended = lost(FailureKind::Exit);
            explain(&mut ended, fate(&jobs, false).unwrap(), &jobs, Vec::new());
            assert_eq!(ended, lost(FailureKind::Exit), "a worker's own record goes first");
        }
    }

    #[test]
    fn a_script_that_slurm_did_not_answer_is_lost_and_no_fault_of_the_job() {
        // The words of 22.05 where munge is away.
        let said = [
            "scontrol: error: slurm_send_node_msg: auth_g_create: REQUEST_NODE_INFO has authentication error",
            "srun: error: Unable to confirm allocation for job 9: Protocol authentication error",
        ];
        let jobs = jobs(&["FAILED"]);
        let mut ended = lost(FailureKind::Lost);
        explain(&mut ended, Fate::Failed, &jobs, said.map(Into::into).into());
        let Outcome::Failed(failure) = &ended.outcome else { panic!("{ended:?}") };
        assert_eq!(failure.kind, FailureKind::Lost);
        assert_eq!(failure.message, format!("Slurm did not answer its script: {}", said[1]));
        assert_eq!(failure.last_lines, said);
        // scontrol, whose exit the script does not see, names the second only.
        let said =
            ["slurm_load_node error: Socket timed out on send/recv operation", "no `0 NODE ADDRESS PORT`"];
        let mut ended = lost(FailureKind::Lost);
        explain(&mut ended, Fate::Failed, &jobs, said.map(Into::into).into());
        let Outcome::Failed(failure) = &ended.outcome else { panic!("{ended:?}") };
        assert_eq!(failure.kind, FailureKind::Lost, "{failure:?}");
    }

    #[test]
    fn all_jobs_of_an_attempt_must_have_ended() {
        assert_eq!(fate(&jobs(&["FAILED", "RUNNING"]), true), None);
        assert_eq!(fate(&jobs(&["COMPLETING"]), false), None);
        assert_eq!(fate(&jobs(&["COMPLETING"]), true), Some(Fate::Unknown));
        assert_eq!(fate(&jobs(&["FAILED", "TIMEOUT"]), false), Some(Fate::TimedOut));
        assert_eq!(fate(&[], true), None);
    }
}
