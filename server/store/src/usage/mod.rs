//! Usage and allocation of attempts: added up by day in the transaction that writes their end, and read
//! without the attempts.

mod backfill;
mod count;
mod report;
mod rows;

use cubeloom_domain::accounting::Account;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::{AttemptRecord, RunRecord};

pub(crate) use count::{Origin, write_attempts};
pub use report::UsageFilter;
pub(crate) use report::lines;
pub(crate) use rows::{DayRow, REPLACED, day_row, rows_of};

/// Adds the account and the node pool from its run's plan to an attempt that an older program version wrote.
pub(crate) fn complete(attempt: &mut AttemptRecord, run: &RunRecord, plan: &RunPlan) {
    if attempt.account == Account::default() && attempt.task.index() < plan.tasks.len() {
        let user = run.acting.as_ref().unwrap_or(&run.user);
        let task = plan.task(attempt.task);
        attempt.account = Account::planned(user, plan, task);
        attempt.pool = Pool { cluster: plan.cluster.clone(), node_group: task.placement.node_group.clone() };
    }
}
