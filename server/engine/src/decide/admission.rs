//! Who starts now: whole gangs only, in order of priority, then age; wide gangs do not starve.
//!
//! Jobs are offered in that order. The first one without room becomes the *head*. Jobs behind it may still start
//! in what is free, but only while the head has waited less than [`PATIENCE`]; after that nothing overtakes it, so
//! that what ends makes room for it.

use std::time::Duration;

use cubeloom_domain::resources::Amount;
use cubeloom_domain::state::WaitReason;

/// How long a job without room lets later ones start before it.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// A job that wants to start.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What it is called, for those that wait behind it.
    pub name: &'a str,
    /// What it needs at the least: the whole gang.
    pub amount: Amount,
    /// How long it has been waiting.
    pub waited: Duration,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It starts; its amount is taken.
    Start,
    /// It waits.
    Wait(WaitReason),
}

/// The admission of one pass, on one cluster.
#[derive(Debug)]
pub struct Admission {
    free: Amount,
    capacity: Amount,
    head: Option<(String, Duration)>,
}

impl Admission {
    /// With this much free of what there is in all.
    #[must_use]
    pub fn new(free: Amount, capacity: Amount) -> Self {
        Self { free, capacity, head: None }
    }

    /// What is still free.
    #[must_use]
    pub fn free(&self) -> Amount {
        self.free
    }

    /// Whether no job was left without room.
    #[must_use]
    pub fn all_placed(&self) -> bool {
        self.head.is_none()
    }

    /// Whether no later job can start in this pass, so that looking further is of no use.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.head.as_ref().is_some_and(|(_, waited)| *waited >= PATIENCE)
    }

    /// Takes more for a job that was started.
    pub fn take(&mut self, amount: Amount) {
        self.free = self.free.minus(amount);
    }

    /// Decides about the next job in order.
    pub fn consider(&mut self, request: Request<'_>) -> Verdict {
        if !request.amount.fits(self.capacity) {
            // The cluster has become smaller. No end of a job makes room for it, so nobody waits behind it.
            let message = shortage(request.amount, self.capacity, "are all there is");
            return Verdict::Wait(WaitReason::Capacity { message });
        }
        if self.is_closed() {
            let ahead = self.head.as_ref().map_or("", |(name, _)| name);
            let message = format!("`{ahead}` is ahead and waits for room");
            return Verdict::Wait(WaitReason::Behind { message });
        }
        if request.amount.fits(self.free) {
            self.take(request.amount);
            return Verdict::Start;
        }
        if self.head.is_none() {
            self.head = Some((request.name.to_owned(), request.waited));
        }
        Verdict::Wait(WaitReason::Capacity { message: shortage(request.amount, self.free, "are free") })
    }
}

/// The first kind of which there is too little, with both amounts.
fn shortage(asked: Amount, has: Amount, are: &str) -> String {
    if asked.gpus > has.gpus {
        format!("asks for {} GPUs, {} {are}", asked.gpus, has.gpus)
    } else if asked.cpu > has.cpu {
        format!("asks for {} CPU, {} {are}", asked.cpu, has.cpu)
    } else {
        format!("asks for {} of memory, {} {are}", asked.memory, has.memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cubeloom_domain::{Bytes, Cpu};

    fn amount(cpu: u64) -> Amount {
        Amount { cpu: Cpu(cpu), memory: Bytes(0), gpus: 0 }
    }

    fn request(cpu: u64, waited: u64) -> Request<'static> {
        Request { name: "wide", amount: amount(cpu), waited: Duration::from_secs(waited) }
    }

    #[test]
    fn a_gang_starts_whole_or_waits_and_says_for_what() {
        let mut admission = Admission::new(amount(4000), amount(8000));
        assert_eq!(admission.consider(request(3000, 0)), Verdict::Start);
        let Verdict::Wait(reason) = admission.consider(request(2000, 0)) else { panic!("must wait") };
        assert_eq!(reason.message(), "asks for 2 CPU, 1 are free");
        assert_eq!(admission.free(), amount(1000));
    }

    #[test]
    fn nobody_waits_behind_what_can_never_fit() {
        let mut admission = Admission::new(amount(4000), amount(8000));
        let Verdict::Wait(reason) = admission.consider(request(9000, 11)) else { panic!("must wait") };
        assert_eq!(reason.message(), "asks for 9 CPU, 8 are all there is");
        assert_eq!(admission.consider(request(1000, 0)), Verdict::Start);
        assert!(admission.all_placed());
    }

    #[test]
    fn small_jobs_overtake_a_wide_one_only_for_a_while() {
        let mut fresh = Admission::new(amount(4000), amount(8000));
        assert!(matches!(fresh.consider(request(8000, 1)), Verdict::Wait(_)));
        assert_eq!(fresh.consider(request(1000, 0)), Verdict::Start);

        let mut waited = Admission::new(amount(4000), amount(8000));
        assert!(matches!(waited.consider(request(8000, 11)), Verdict::Wait(_)));
        let Verdict::Wait(reason) = waited.consider(request(1000, 0)) else { panic!("must wait") };
        assert_eq!(reason.message(), "`wide` is ahead and waits for room");
    }
}
