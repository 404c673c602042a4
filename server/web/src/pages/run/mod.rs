//! `GET /runs/{run}`: one run, in tabs. All tabs share [`head::Head`]. Each tab is a file here.

pub(crate) mod bar;
pub(crate) mod effective;
mod files;
mod gantt;
mod graph;
pub(crate) mod head;
mod logs;
mod metrics;
mod newer;
mod objects;
mod outputs;
mod parallel;
mod parameters;
mod question;
pub(crate) mod row;
mod table;
mod tally;
pub(crate) mod task;

use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::RunId;
use serde::Deserialize;

use super::Frame;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::{Path, Query};
use crate::runs::Reader;
use crate::state::Web;
use head::Head;

/// A tab of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tab {
    /// Tasks and edges.
    #[default]
    Graph,
    /// Attempts over time.
    Gantt,
    /// Tasks as a table.
    Table,
    Logs,
    Parameters,
    Outputs,
    Files,
    /// Reported metrics.
    Metrics,
    /// Submitted manifests.
    Objects,
}

impl Tab {
    /// All tabs, from left to right.
    pub(crate) const ALL: [Self; 9] = [
        Self::Graph,
        Self::Gantt,
        Self::Table,
        Self::Logs,
        Self::Parameters,
        Self::Outputs,
        Self::Files,
        Self::Metrics,
        Self::Objects,
    ];

    /// As in the URL.
    pub(crate) fn word(self) -> &'static str {
        self.parts().0
    }

    /// Text key of the tab.
    pub(crate) fn key(self) -> &'static str {
        self.parts().1
    }

    fn parts(self) -> (&'static str, &'static str) {
        match self {
            Self::Graph => ("graph", "run.tab-graph"),
            Self::Gantt => ("gantt", "run.tab-gantt"),
            Self::Table => ("table", "run.tab-table"),
            Self::Logs => ("logs", "run.tab-logs"),
            Self::Parameters => ("parameters", "run.tab-parameters"),
            Self::Outputs => ("outputs", "run.tab-outputs"),
            Self::Files => ("files", "run.tab-files"),
            Self::Metrics => ("metrics", "run.tab-metrics"),
            Self::Objects => ("objects", "run.tab-objects"),
        }
    }
}

/// Larger graphs are not drawn: the table is shown instead.
const NODES: u32 = 5000;

/// Query parameters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    tab: Tab,
    task: String,
    instance: String,
    attempt: String,
    worker: String,
    stream: String,
    path: String,
    sort: String,
    cursor: String,
}

pub(crate) async fn page(
    State(web): State<Web>,
    caller: Caller,
    frame: Frame,
    Path(run): Path<RunId>,
    Query(asked): Query<Asked>,
) -> ApiResult<Response> {
    let reader = Reader::open(&web, &run).await?.with_starts(&caller).await?;
    let tab = if asked.tab == Tab::Graph && reader.record.tasks > NODES { Tab::Table } else { asked.tab };
    let head = Head::read(&web, &caller, &reader, tab).await?;
    match tab {
        Tab::Graph => graph::page(frame, head, &reader),
        Tab::Gantt => gantt::page(&web, frame, head, &reader).await,
        Tab::Table => table::page(frame, head, &reader).await,
        Tab::Logs => logs::page(&web, frame, head, &reader, &asked).await,
        Tab::Parameters => parameters::page(frame, head, &reader),
        Tab::Outputs => outputs::page(&web, frame, head, &reader).await,
        Tab::Files => files::page(&web, frame, head, &reader, &asked).await,
        Tab::Metrics => metrics::page(frame, head),
        Tab::Objects => objects::page(&web, frame, head, &reader, &asked).await,
    }
}
