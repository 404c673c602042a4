//! Durations of successful attempts, stored by task and target when their end is first written, so that reads
//! need no attempts.

use std::collections::{BTreeMap, HashMap};

use cubeloom_domain::RunId;
use cubeloom_domain::history::{History, KEPT, Lengths};
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::state::AttemptState;
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use crate::Store;
use crate::backend::Backend;
use crate::error::StoreError;
use crate::learned::Learned;
use crate::usage::Origin;
use crate::values::{Columns, Values};

const COLUMNS: &[&str] =
    &["project", "pipeline", "task_name", "template", "cluster", "node_group", "lengths_json"];

static LENGTHS: Learned<6> = Learned::new("lengths", COLUMNS);

/// Project, pipeline, task, template, cluster and node group; pipeline and task are empty for totals of the
/// template.
type Key = [String; 6];

impl Store {
    /// The durations of a pipeline's tasks, and of each template in its project.
    pub async fn run_times(&self, project: &str, pipeline: &str) -> Result<History, StoreError> {
        let sql = "SELECT task_name, template, cluster, node_group, lengths_json FROM lengths \
                   WHERE project = $1 AND pipeline IN ($2, '') ORDER BY task_name, template, cluster, node_group";
        let found = self.all(sql, Values::texts("lengths", &[project, pipeline])?, read).await?;
        Ok(found.into_iter().collect())
    }
}

fn read(row: &AnyRow) -> Result<Lengths, StoreError> {
    let mut columns = Columns::of("lengths", row);
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Ok(Lengths {
        task: some(columns.text()?),
        template: columns.text()?.into(),
        pool: Pool { cluster: columns.text()?.into(), node_group: some(columns.text()?) },
        micros: columns.json()?,
    })
}

/// Adds the durations of successful attempts. Attempts that failed, were stopped, or never ran say nothing
/// about the duration and are skipped.
pub(crate) async fn add(
    backend: Backend,
    connection: &mut AnyConnection,
    attempts: &[&AttemptRecord],
    origins: &HashMap<RunId, Origin>,
) -> Result<(), StoreError> {
    // Sorted, so that two servers that write the same rows never deadlock.
    let mut new: BTreeMap<Key, Vec<u64>> = BTreeMap::new();
    for attempt in attempts {
        let (Some(length), Some(origin)) = (length(attempt), origins.get(&attempt.key.run)) else { continue };
        let group = attempt.pool.node_group.as_deref().unwrap_or_default();
        let key = |pipeline: &str, task: &str| {
            [&origin.project, pipeline, task, &attempt.account.template, &attempt.pool.cluster, group]
                .map(str::to_owned)
        };
        for key in [key(&origin.pipeline, &attempt.key.task), key("", "")] {
            new.entry(key).or_default().push(length);
        }
    }
    LENGTHS.append(backend, connection, new, KEPT).await
}

/// The duration of a successful attempt, in microseconds.
fn length(attempt: &AttemptRecord) -> Option<u64> {
    let AttemptState::Ended { started_at: Some(started), ended_at, outcome: Outcome::Succeeded } =
        &attempt.state
    else {
        return None;
    };
    // A clock that went backwards makes the duration invalid.
    u64::try_from(ended_at.0.checked_sub(started.0)?).ok()
}
