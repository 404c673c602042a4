//! When a job's workers together have succeeded or failed, and which one was the first cause. Pure.

use cubeloom_domain::job::SuccessRule;
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome, WorkerName};
use cubeloom_workers::ends::{End, Finish, span};

use crate::disk_limits::{TOO_DEEP, attempt_sentence};
use crate::spec::{ExitRecord, StopWhy};

/// The state of an attempt's workers.
pub(crate) struct Gang {
    success: SuccessRule,
    /// Minimum number of workers of an elastic job; `None` for others.
    keeps: Option<usize>,
    workers: Vec<Member>,
    /// Why the attempt was stopped from outside; the first reason counts.
    stop: Option<StopWhy>,
}

struct Member {
    name: WorkerName,
    exit: Option<ExitRecord>,
    /// Whether the job releases this worker.
    given_back: bool,
}

impl Member {
    fn new(name: WorkerName) -> Self {
        Self { name, exit: None, given_back: false }
    }
}

/// Conclusion from the exits so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Undecided: wait for more.
    Open,
    /// The result is decided; stop the workers that still run.
    StopRest,
    /// All have ended.
    Over,
}

impl Gang {
    /// Workers in rank order; an elastic job needs `gang` of them, any other job all.
    pub(crate) fn new(names: Vec<WorkerName>, success: SuccessRule, gang: u32, elastic: bool) -> Self {
        let workers = names.into_iter().map(Member::new).collect();
        Self { success, keeps: elastic.then_some(gang as usize), workers, stop: None }
    }

    /// How many workers the job can lose.
    fn spare(&self) -> usize {
        let has = self.workers.iter().filter(|member| !member.given_back).count();
        self.keeps.map_or(0, |keeps| has.saturating_sub(keeps))
    }

    /// Whether workers may be added and released.
    pub(crate) fn is_elastic(&self) -> bool {
        self.keeps.is_some()
    }

    /// Adds a worker with the highest rank.
    pub(crate) fn add(&mut self, name: WorkerName) {
        self.workers.push(Member::new(name));
    }

    /// Releases a worker: its end does not affect the job.
    pub(crate) fn give_back(&mut self, rank: usize) {
        if let Some(member) = self.workers.get_mut(rank) {
            member.given_back = true;
        }
    }

    /// Whether the job releases this worker.
    pub(crate) fn is_given_back(&self, rank: usize) -> bool {
        self.workers.get(rank).is_some_and(|member| member.given_back)
    }

    /// Whether a released worker is gone.
    pub(crate) fn has_gone(&self, rank: usize) -> bool {
        self.workers.get(rank).is_some_and(|member| member.given_back && member.exit.is_some())
    }

    /// Whether a worker that was not released is lost.
    pub(crate) fn is_lost(&self, rank: usize) -> bool {
        let failed = |exit: &ExitRecord| !exit.stopped && !ended_well(exit);
        self.workers
            .get(rank)
            .is_some_and(|member| !member.given_back && member.exit.as_ref().is_some_and(failed))
    }

    /// Restarts a worker that has ended.
    pub(crate) fn return_to(&mut self, rank: usize) {
        if let Some(member) = self.workers.get_mut(rank) {
            *member = Member::new(member.name.clone());
        }
    }

    /// Number of workers once the released ones are gone: all up to the highest rank that is kept or has not
    /// ended yet.
    pub(crate) fn held(&self) -> usize {
        let is_held = |member: &Member| !member.given_back || member.exit.is_none();
        self.workers.iter().rposition(is_held).map_or(0, |last| last + 1)
    }

    /// Records a stop of the whole attempt.
    pub(crate) fn stop(&mut self, why: StopWhy) {
        // A decision by the workers themselves is derived again from their exits.
        if why != StopWhy::Decided && (self.workers.is_empty() || self.verdict() == Verdict::Open) {
            self.stop.get_or_insert(why);
        }
    }

    /// Records the end of a worker. The first report counts.
    pub(crate) fn exited(&mut self, rank: usize, record: ExitRecord) -> Verdict {
        if let Some(member) = self.workers.get_mut(rank) {
            member.exit.get_or_insert(record);
        }
        self.verdict()
    }

    /// Ranks that have not ended.
    pub(crate) fn live(&self) -> impl Iterator<Item = usize> {
        self.workers.iter().enumerate().filter(|(_, member)| member.exit.is_none()).map(|(rank, _)| rank)
    }

    /// All exits so far.
    pub(crate) fn exits(&self) -> impl Iterator<Item = &ExitRecord> {
        self.workers.iter().filter_map(|member| member.exit.as_ref())
    }

    /// How the worker of this rank has ended.
    pub(crate) fn exit(&self, rank: usize) -> Option<&ExitRecord> {
        self.workers.get(rank)?.exit.as_ref()
    }

    /// Exits that the stop caused.
    fn stopped(&self) -> impl Iterator<Item = &ExitRecord> {
        let kept = self.workers.iter().filter(|member| !member.given_back);
        kept.filter_map(|member| member.exit.as_ref()).filter(|exit| exit.stopped)
    }

    pub(crate) fn verdict(&self) -> Verdict {
        if self.live().next().is_none() {
            Verdict::Over
        } else if self.stop.is_some()
            || self.failures().len() > self.spare()
            || self.first_failed()
            || self.succeeded()
        {
            Verdict::StopRest
        } else {
            Verdict::Open
        }
    }

    /// Whether the sole deciding worker has failed: the job cannot spare it.
    fn first_failed(&self) -> bool {
        let ended_badly = |member: &Member| member.exit.as_ref().is_some_and(|exit| !ended_well(exit));
        self.first().is_some_and(ended_badly)
    }

    /// The worker that decides alone, if the rule has one.
    fn first(&self) -> Option<&Member> {
        let SuccessRule::First(role) = &self.success else { return None };
        self.workers.iter().find(|member| member.name.role == *role && member.name.index == 0)
    }

    /// Whether the success rule is already met.
    fn succeeded(&self) -> bool {
        let well = |member: &Member| member.exit.as_ref().is_some_and(ended_well);
        match &self.success {
            SuccessRule::Role(role) => {
                let mut of_role = self.workers.iter().filter(|member| member.name.role == *role).peekable();
                of_role.peek().is_some() && of_role.all(well)
            }
            SuccessRule::First(_) => self.first().is_some_and(well),
            SuccessRule::AllWorkers | SuccessRule::AnyWorker => {
                self.live().next().is_none()
                    && self.workers.iter().any(well)
                    && self.failures().len() <= self.spare()
            }
        }
    }

    /// Workers that failed by themselves, in the order of their ends.
    fn failures(&self) -> Vec<(usize, &Member, &ExitRecord)> {
        let mut failed: Vec<_> = self
            .workers
            .iter()
            .enumerate()
            .filter_map(|(rank, member)| Some((rank, member, member.exit.as_ref()?)))
            .filter(|(_, member, exit)| !member.given_back && !exit.stopped && !ended_well(exit))
            .collect();
        failed.sort_by_key(|(rank, _, exit)| (finish(exit).order(), *rank));
        failed
    }

    /// How the attempt ended; `last_lines` reads the end of a worker's log.
    pub(crate) fn outcome(&self, last_lines: impl Fn(usize) -> Vec<String>) -> Outcome {
        // Losses that the job could spare are no cause; the first one beyond is.
        let failures = self.failures();
        // Workers that ended before the stop reached them count as if there was no stop.
        let reached = self.workers.is_empty() || self.stopped().next().is_some();
        match self.stop.filter(|_| reached) {
            Some(StopWhy::Cancelled) => return Outcome::Cancelled,
            Some(StopWhy::Timeout) => return failed(FailureKind::Timeout, self.timeout_sentence()),
            Some(StopWhy::Preempted) => {
                return failed(FailureKind::Preempted, "it was preempted for another job".into());
            }
            Some(StopWhy::Hung) => return failed(FailureKind::Hung, "it was stopped because it hung".into()),
            Some(StopWhy::DiskLimit { used, limit }) => {
                return failed(FailureKind::DiskLimit, attempt_sentence(used, limit));
            }
            Some(StopWhy::TooDeep) => return failed(FailureKind::DiskLimit, TOO_DEEP.into()),
            // Reasons of single workers do not apply to the whole.
            Some(StopWhy::Decided | StopWhy::GivenBack) | None => {}
        }
        if self.succeeded() {
            return Outcome::Succeeded;
        }
        match failures.get(self.spare()).or(failures.last()) {
            Some((rank, member, exit)) => Outcome::Failed(self.cause(member, exit, last_lines(*rank))),
            None => failed(
                FailureKind::Lost,
                "it was stopped from outside Cubeloom, for an unknown reason".into(),
            ),
        }
    }

    fn timeout_sentence(&self) -> String {
        let began = self.exits().filter_map(|exit| exit.started_at).min();
        let ended = self.exits().map(|exit| exit.ended_at).max();
        match began.zip(ended) {
            Some((began, ended)) => format!("it was stopped after {}, its timeout", span(began, ended)),
            None => "it reached its timeout before it started".into(),
        }
    }

    fn cause(&self, member: &Member, exit: &ExitRecord, last_lines: Vec<String>) -> Failure {
        let others = self.stopped().count();
        finish(exit).cause(&member.name, others, last_lines)
    }
}

fn finish(exit: &ExitRecord) -> Finish<'_> {
    Finish { end: &exit.end, started_at: exit.started_at, ended_at: exit.ended_at }
}

fn ended_well(exit: &ExitRecord) -> bool {
    exit.end == End::Exit { code: 0 }
}

fn failed(kind: FailureKind, message: String) -> Outcome {
    Outcome::Failed(Failure::new(kind, message))
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Timestamp;

    use super::*;

    /// `master-0`, then workers; two roles in rank order.
    fn names(workers: u32) -> Vec<WorkerName> {
        let name = |role: &str, index| WorkerName { role: role.into(), index };
        std::iter::once(name("master", 0)).chain((0..workers).map(|index| name("worker", index))).collect()
    }

    fn gang(workers: u32, success: SuccessRule) -> Gang {
        Gang::new(names(workers), success, workers + 1, false)
    }

    fn exit(code: i32, at: i64) -> ExitRecord {
        let record = ExitRecord::without_run(End::Exit { code }, false, Timestamp(at));
        ExitRecord { started_at: Some(Timestamp(0)), ..record }
    }

    fn stopped(at: i64) -> ExitRecord {
        ExitRecord { stopped: true, end: End::Signal { signal: 15 }, ..exit(0, at) }
    }

    fn cause(outcome: Outcome) -> Failure {
        match outcome {
            Outcome::Failed(failure) => failure,
            other => panic!("it has not failed: {other:?}"),
        }
    }

    #[test]
    fn the_first_that_failed_is_the_cause_whoever_is_heard_of_first() {
        let mut gang = gang(3, SuccessRule::AllWorkers);
        assert_eq!(gang.exited(1, exit(1, 2_000_000)), Verdict::StopRest);
        assert_eq!(gang.exited(2, exit(7, 1_000_000)), Verdict::StopRest);
        assert_eq!(gang.live().collect::<Vec<_>>(), [0, 3]);
        gang.exited(0, stopped(3_000_000));
        assert_eq!(gang.exited(3, stopped(500_000)), Verdict::Over);
        let cause = cause(gang.outcome(|rank| vec![format!("last line of {rank}")]));
        assert_eq!(cause.worker, Some(WorkerName { role: "worker".into(), index: 1 }));
        assert_eq!((cause.exit_code, cause.last_lines), (Some(7), vec!["last line of 2".to_owned()]));
        assert_eq!(
            cause.message,
            "worker-1 ended with exit code 7 after 1s; 2 other workers were stopped because of it"
        );
    }

    #[test]
    fn a_kill_is_the_cause_of_the_exits_noted_shortly_before_it() {
        let killed = |at| ExitRecord { end: End::Signal { signal: 9 }, ..exit(0, at) };
        for (at, signal) in [(6_900_000, Some(9)), (7_100_000, None)] {
            let mut gang = gang(1, SuccessRule::AllWorkers);
            gang.exited(0, exit(1, 5_000_000));
            gang.exited(1, killed(at));
            assert_eq!(cause(gang.outcome(|_| Vec::new())).signal, signal);
        }
    }

    #[test]
    fn a_role_decides_alone_but_a_failure_of_the_others_counts() {
        let master = SuccessRule::Role("master".into());
        let mut gang = gang(1, master.clone());
        assert_eq!(gang.exited(0, exit(0, 1)), Verdict::StopRest);
        gang.exited(1, stopped(2));
        assert_eq!(gang.outcome(|_| Vec::new()), Outcome::Succeeded);
        let mut gang = self::gang(1, master);
        assert_eq!(gang.exited(1, exit(3, 1)), Verdict::StopRest);
        gang.exited(0, stopped(2));
        assert_eq!(cause(gang.outcome(|_| Vec::new())).exit_code, Some(3));
    }

    #[test]
    fn the_first_of_a_role_decides_alone() {
        let mut gang = gang(2, SuccessRule::First("worker".into()));
        assert_eq!(gang.exited(2, exit(0, 1)), Verdict::Open);
        assert_eq!(gang.exited(1, exit(0, 2)), Verdict::StopRest);
        gang.exited(0, stopped(3));
        assert_eq!(gang.outcome(|_| Vec::new()), Outcome::Succeeded);
    }

    #[test]
    fn what_can_be_spared_is_no_cause() {
        let elastic = || Gang::new(names(3), SuccessRule::AnyWorker, 3, true);
        let mut gang = elastic();
        assert_eq!(gang.exited(3, exit(9, 1)), Verdict::Open);
        for rank in [0, 1] {
            assert_eq!(gang.exited(rank, exit(0, 5)), Verdict::Open);
        }
        assert_eq!(gang.exited(2, exit(0, 6)), Verdict::Over);
        assert_eq!(gang.outcome(|_| Vec::new()), Outcome::Succeeded);
        let mut gang = elastic();
        gang.exited(3, exit(9, 1));
        assert_eq!(gang.exited(2, exit(8, 2)), Verdict::StopRest);
        gang.exited(0, stopped(3));
        gang.exited(1, stopped(3));
        assert_eq!(cause(gang.outcome(|_| Vec::new())).exit_code, Some(8));
    }

    #[test]
    fn the_first_that_decides_alone_cannot_be_spared() {
        let elastic = || Gang::new(names(2), SuccessRule::First("worker".into()), 1, true);
        let mut gang = elastic();
        assert_eq!(gang.exited(2, exit(9, 1)), Verdict::Open);
        assert_eq!(gang.exited(1, exit(0, 2)), Verdict::StopRest);
        gang.exited(0, stopped(3));
        assert_eq!(gang.outcome(|_| Vec::new()), Outcome::Succeeded);
        let mut gang = elastic();
        assert_eq!(gang.exited(2, exit(9, 1)), Verdict::Open);
        assert_eq!(gang.exited(1, exit(7, 2)), Verdict::StopRest);
        gang.exited(0, stopped(3));
        assert_eq!(cause(gang.outcome(|_| Vec::new())).exit_code, Some(7));
    }

    #[test]
    fn a_stop_from_outside_counts_only_for_whom_it_reached() {
        let mut gang = gang(1, SuccessRule::AllWorkers);
        gang.stop(StopWhy::Timeout);
        gang.exited(0, stopped(1));
        gang.exited(1, stopped(2));
        assert_eq!(cause(gang.outcome(|_| Vec::new())).kind, FailureKind::Timeout);
        let mut gang = self::gang(1, SuccessRule::AllWorkers);
        gang.stop(StopWhy::Cancelled);
        gang.exited(0, exit(0, 1));
        gang.exited(1, exit(0, 1));
        assert_eq!(gang.outcome(|_| Vec::new()), Outcome::Succeeded);
        let mut gang = self::gang(1, SuccessRule::AllWorkers);
        gang.exited(0, exit(4, 1));
        gang.stop(StopWhy::Cancelled);
        gang.exited(1, stopped(2));
        assert_eq!(cause(gang.outcome(|_| Vec::new())).exit_code, Some(4), "it had failed before");
    }

    #[test]
    fn nothing_to_stop_is_stopped() {
        let mut gang = Gang::new(Vec::new(), SuccessRule::AllWorkers, 0, false);
        gang.stop(StopWhy::Cancelled);
        assert_eq!((gang.verdict(), gang.outcome(|_| Vec::new())), (Verdict::Over, Outcome::Cancelled));
    }
}
