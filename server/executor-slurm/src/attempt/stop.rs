//! Stops an attempt: workers poll a stop file; if they do not end, Slurm cancels the job.

use std::time::Duration;

use cubeloom_executor_local::{StopWhy, StopWish};
use tokio::time::Instant;

use super::{Attempt, MISSING};
use crate::commands::Trouble;
use crate::orders::What;

/// How long workers have after the grace period to record their ends, before Slurm kills them.
const BEYOND: Duration = Duration::from_secs(15);
/// How long Slurm has to end them before the cancel is repeated.
const AGAIN: Duration = Duration::from_secs(30);
/// Time between TERM and KILL for workers on a lost node, in milliseconds. Together with their poll interval
/// it is at most [`NOT_SEEN`].
const LEAVING: u64 = 1000;

impl Attempt {
    /// Cancels jobs before the server gives up its search for them. A job that runs in spite of all must not
    /// run beside the next attempt.
    pub(super) async fn make_sure(&mut self) {
        let Some(missing) = self.missing.as_ref().filter(|missing| !missing.is_ended) else { return };
        let is_unknown = missing.accounted.as_ref().is_some_and(Vec::is_empty);
        if !is_unknown || missing.lasted < MISSING {
            return;
        }
        let done = self.scancel(false).await;
        self.is_given_up = true;
        if let (Ok(()), Some(missing)) = (done, &mut self.missing) {
            missing.is_ended = true;
        }
    }

    /// Cancels its jobs by id, or by name if no id is known.
    async fn scancel(&self, kill: bool) -> Result<(), ()> {
        let mut jobs = self.cluster.board.ids_of(&self.key);
        if jobs.is_empty() {
            jobs.push(format!("--name={}", self.key.object_name()));
        }
        let done = self.cluster.orders.give(&self.record, What::Cancel { jobs, kill }).await;
        done.map_err(|trouble| {
            let (Trouble::Away(why) | Trouble::Refused(why)) = trouble;
            tracing::warn!(key = %self.key, why, "Slurm does not end a job");
        })
    }

    /// Takes the next step of a stop: first sends it to the workers; if they do not end, cancels the job in
    /// Slurm.
    pub(super) async fn press(&mut self) {
        let Some(stop) = &self.stop else { return };
        // If this is unknown, give its workers their grace period.
        let has_begun = self.has_begun().await.unwrap_or(true);
        let grace = Duration::from_millis(stop.wish.grace_ms) + BEYOND;
        let cancelled = stop.cancelled;
        match stop.told {
            None => {
                match self.tell_workers().await {
                    Err(Trouble::Away(_)) => return,
                    // Slurm can still end it.
                    Err(Trouble::Refused(why)) => {
                        tracing::warn!(key = %self.key, why, "the stop request cannot be sent to the workers");
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
        if self.scancel(cancelled.is_some()).await.is_ok() {
            self.stop.iter_mut().for_each(|stop| stop.cancelled = Some(Instant::now()));
        }
    }

    /// Stops workers on a node that Slurm has lost. The node may still be running and see the file system,
    /// and its workers must not run beside the next attempt.
    pub(super) async fn leave(&mut self) {
        if self.is_left {
            return;
        }
        let wish = StopWish { why: StopWhy::Decided, grace_ms: LEAVING };
        match self.cluster.orders.give(&self.record, What::Tell(wish)).await {
            Ok(()) => self.is_left = true,
            Err(Trouble::Away(why) | Trouble::Refused(why)) => {
                tracing::warn!(key = %self.key, why, "the stop request cannot be sent to the workers of a lost node");
            }
        }
    }

    /// Writes the stop request where its workers poll it.
    async fn tell_workers(&self) -> Result<(), Trouble> {
        let Some(stop) = &self.stop else { return Ok(()) };
        self.cluster.orders.give(&self.record, What::Tell(stop.wish)).await
    }
}
