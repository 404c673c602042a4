//! Accounts whose queue in Slurm is full (`MaxSubmitJobs`): of an account's waiting attempts, one retries on
//! behalf of all. Otherwise Slurm would refuse tens of submissions a second.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::submit::PAUSE;

/// Parts of Slurm's message about a full queue: from `sbatch` the name of the limit
/// (`AssocMaxSubmitJobLimit`), from slurmrestd a sentence. It is a definite refusal: there is no job.
const WORDS: [&str; 2] = ["SubmitJob", "job submit limit"];

/// Time after the last refusal at which an account's attempts submit independently again.
const OVER: Duration = PAUSE.saturating_mul(5);

/// Whether the message says that an account's queue is full.
pub fn is_full(said: &str) -> bool {
    WORDS.iter().any(|part| said.contains(part))
}

/// State of an account's queue.
struct Heard {
    /// Slurm's message.
    why: String,
    /// Time of the last refusal.
    at: Instant,
    /// When the next attempt may retry.
    next: Instant,
}

/// Recently full queues, by account.
#[derive(Default)]
pub struct FullQueues(Mutex<HashMap<String, Heard>>);

impl FullQueues {
    /// Checks whether an attempt may submit now. Another one may only after this one's response, or after a
    /// pause.
    ///
    /// # Errors
    /// Slurm's recent refusal of another attempt of the account.
    pub fn may_ask(&self, account: &str, now: Instant) -> Result<(), String> {
        self.with(|heard| match heard.get_mut(account) {
            Some(queue) if now < queue.next => Err(queue.why.clone()),
            Some(queue) => {
                queue.next = now + PAUSE;
                Ok(())
            }
            None => Ok(()),
        })
    }

    /// Records that Slurm refused a job because the queue is full.
    pub fn refused(&self, account: &str, why: &str, now: Instant) {
        let queue = Heard { why: why.to_owned(), at: now, next: now + PAUSE };
        self.with(|heard| heard.insert(account.to_owned(), queue));
    }

    /// Records that Slurm accepted a job: the next attempt may submit at once.
    pub fn took(&self, account: &str, now: Instant) {
        self.with(|heard| {
            let Some(queue) = heard.get_mut(account) else { return };
            queue.next = now;
            if now.duration_since(queue.at) > OVER {
                heard.remove(account);
            }
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<String, Heard>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_asks_for_all_of_its_account_until_none_was_refused_for_a_while() {
        let queues = FullQueues::default();
        let mut now = Instant::now();
        let may = |account: &str, now| queues.may_ask(account, now).is_ok();
        assert!(may("ada", now) && may("ada", now), "nothing was heard");
        queues.refused("ada", "AssocMaxSubmitJobLimit", now);
        assert_eq!(queues.may_ask("ada", now), Err("AssocMaxSubmitJobLimit".to_owned()));
        assert!(may("emil", now));
        now += PAUSE;
        assert!(may("ada", now) && !may("ada", now), "one asks");
        now += PAUSE;
        assert!(may("ada", now), "it may have ended before it heard");
        queues.took("ada", now);
        assert!(may("ada", now) && !may("ada", now), "the next asks at once, and only that one");
        now += OVER;
        queues.took("ada", now);
        assert!(may("ada", now) && may("ada", now));
    }

    #[test]
    fn what_a_full_queue_says_is_known() {
        assert!(is_full("sbatch: error: QOSMaxSubmitJobPerUserLimit"));
        assert!(is_full(
            "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
        ));
        assert!(!is_full("Slurm temporarily unable to accept job, sleeping and retrying"));
    }
}
