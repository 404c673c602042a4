//! What the live display shows of a run, from this machine's database or from a server's API.

use cubeloom_domain::state::RunState;
use cubeloom_domain::{TaskIx, Timestamp};

use super::model::View;
use super::status::{self, Status};

/// A run and its tasks at a moment.
#[derive(Clone, Debug)]
pub struct Board {
    pub pipeline: String,
    pub state: RunState,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// In document order.
    pub tasks: Vec<Line>,
}

/// A task.
#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    pub status: Status,
}

impl Board {
    /// From the records of a run.
    pub fn of(view: &View, now: Timestamp) -> Self {
        let line = |(ix, name): (u32, &str)| Line {
            name: name.to_owned(),
            status: status::task(view, TaskIx(ix), now),
        };
        let names = view.plan.tasks.iter().map(|planned| planned.name.as_str());
        Self {
            pipeline: view.run.pipeline.clone(),
            state: view.run.state,
            created_at: view.run.created_at,
            ended_at: view.run.ended_at,
            tasks: (0u32..).zip(names).map(line).collect(),
        }
    }

    /// Time since the run was requested, or until its end.
    pub fn age(&self, now: Timestamp) -> std::time::Duration {
        self.ended_at.unwrap_or(now).since(self.created_at)
    }
}
