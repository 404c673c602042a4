//! Combines Slurm's information with the workers' records. Pure.

use cubeloom_domain::executor::Ended;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};

use crate::commands::is_away;
use crate::seen::{Fate, SeenJob, State};

/// How an attempt's jobs ended, once all have. If there are several, the most informative end counts: all but
/// one found that the attempt had begun. Jobs that are completing count as ended if all workers have recorded
/// their ends.
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

/// Line prefixes of the commands in a script; `scontrol` uses the second one for what it could not load.
const SPEAKERS: [&str; 3] = ["srun: ", "slurm_load_node error: ", "scontrol: "];

/// Whether a command of the script says that the cluster is unreachable.
fn is_unanswered(line: &str) -> bool {
    SPEAKERS.iter().any(|speaker| line.starts_with(speaker)) && is_away(line)
}

/// Adds Slurm's information if the workers' records leave open why the job ended. `log` is the end of the
/// script's log. A program that Slurm stops may exit with success, but has not done its work.
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
        Fate::NodeFailed => {
            Failure::new(FailureKind::Lost, format!("Slurm lost a node of the job: one of {nodes}"))
        }
        Fate::BootFailed => Failure::new(
            FailureKind::CouldNotStart,
            format!("Slurm could not boot a node of the job: one of {nodes}"),
        ),
        Fate::TimedOut => Failure::new(FailureKind::Timeout, "Slurm ended it at its time limit"),
        Fate::OutOfMemory => {
            Failure::new(FailureKind::OutOfMemory, "Slurm ended it because it ran out of memory (OOM killed)")
        }
        Fate::Preempted => Failure::new(FailureKind::Preempted, "Slurm preempted it for another job"),
        // A user who cancels a job does not want a retry at once, which a lost one would get.
        Fate::Cancelled => Failure::new(FailureKind::Signal, "it was cancelled on the cluster"),
        Fate::Failed if ended.started_at.is_none() => {
            // This is not the job's fault: it is retried like a lost one.
            let away = log.iter().find(|line| is_unanswered(line)).map(|line| {
                Failure::new(FailureKind::Lost, format!("Slurm did not respond to its script: {line}"))
            });
            let message = "its script ended before any worker started";
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
        // The message of 22.05 when munge is unavailable.
        let said = [
            "scontrol: error: slurm_send_node_msg: auth_g_create: REQUEST_NODE_INFO has authentication error",
            "srun: error: Unable to confirm allocation for job 9: Protocol authentication error",
        ];
        let jobs = jobs(&["FAILED"]);
        let mut ended = lost(FailureKind::Lost);
        explain(&mut ended, Fate::Failed, &jobs, said.map(Into::into).into());
        let Outcome::Failed(failure) = &ended.outcome else { panic!("{ended:?}") };
        assert_eq!(failure.kind, FailureKind::Lost);
        assert_eq!(failure.message, format!("Slurm did not respond to its script: {}", said[1]));
        assert_eq!(failure.last_lines, said);
        // The script does not see scontrol's exit code, so only the second message is available.
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
