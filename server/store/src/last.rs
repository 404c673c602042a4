//! For each task of a run, the instance that ended last.

use cubeloom_domain::state::AttemptState;
use cubeloom_domain::{InstanceIx, RunId, TaskIx, Timestamp};
use sqlx::any::AnyRow;

use crate::Store;
use crate::error::StoreError;
use crate::values::{Columns, Values};

/// The instance of a task that ended last, with one of its attempts. An instance that has not ended counts as
/// later than any that has.
#[derive(Clone, Debug, PartialEq)]
pub struct LastInstance {
    pub task: TaskIx,
    pub instance: InstanceIx,
    pub ready_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// `None` if it has no attempt since it became ready.
    pub attempt: Option<LastAttempt>,
}

/// The first or the last attempt since the instance became ready.
#[derive(Clone, Debug, PartialEq)]
pub struct LastAttempt {
    pub n: u32,
    /// When it was stored.
    pub created_at: Timestamp,
    pub state: AttemptState,
}

impl Store {
    /// The last instance of each task, by task. With several attempts it comes twice: with the first and with
    /// the last of them. Tasks without an instance are omitted, and instances that will be rerun are excluded.
    pub async fn last_instances(&self, run: &RunId) -> Result<Vec<LastInstance>, StoreError> {
        // Of those that have not ended, the waiting ones come last, and then the ones in backoff.
        let sql = "SELECT i.task, i.instance, i.ready_at, i.ended_at, a.n, a.created_at, a.state_json FROM ( \
                       SELECT task, instance, ROW_NUMBER() OVER ( \
                           PARTITION BY task ORDER BY CASE WHEN ended_at IS NULL THEN 0 ELSE 1 END, \
                           ended_at DESC, SUBSTR(state_json, 11, 7) DESC, instance \
                       ) AS place FROM instances \
                       WHERE run_id = $1 AND state_json NOT LIKE '{\"state\":\"pending\"%' \
                   ) l JOIN instances i ON i.run_id = $1 AND i.task = l.task AND i.instance = l.instance \
                   LEFT JOIN attempts a ON a.run_id = $1 AND a.task = i.task AND a.instance = i.instance \
                   AND a.created_at >= i.ready_at AND (a.n = i.attempt OR a.n = ( \
                       SELECT MIN(f.n) FROM attempts f WHERE f.run_id = $1 AND f.task = i.task \
                       AND f.instance = i.instance AND f.created_at >= i.ready_at \
                   )) WHERE l.place = 1 ORDER BY i.task, a.n";
        self.all(sql, Values::texts("instance", &[run.as_str()])?, last_instance).await
    }
}

fn last_instance(row: &AnyRow) -> Result<LastInstance, StoreError> {
    let mut columns = Columns::of("instance", row);
    let (task, instance) = (TaskIx(columns.int()?), columns.int()?);
    let (ready_at, ended_at) = (columns.time()?, columns.maybe_time()?);
    let (n, created_at, state) = (columns.maybe_int()?, columns.maybe_time()?, columns.maybe_json()?);
    let attempt = match (n, created_at, state) {
        (Some(n), Some(created_at), Some(state)) => Some(LastAttempt { n, created_at, state }),
        _ => None,
    };
    Ok(LastInstance { task, instance, ready_at, ended_at, attempt })
}
