//! What every tab of a run has above it: the run, what failed first, and the run before it.

use cubeloom_domain::plan::{Choice, PlannedPart};
use cubeloom_store::RunFilter;

use super::Tab;
use super::bar::Bar;
use super::effective::Effective;
use crate::api::runs::view::RunView;
use crate::api::tasks::hang::HangView;
use crate::api::tasks::view::FailureView;
use crate::error::ApiResult;
use crate::pages::runs::short;
use crate::runs::{Reader, effective, queued};
use crate::state::Web;
use crate::time::Time;

/// The head of the page.
pub(crate) struct Head {
    pub(crate) run: RunView,
    pub(crate) tab: Tab,
    pub(crate) failure: Option<First>,
    /// The id of the run of this pipeline before this one.
    pub(crate) before: Option<String>,
    /// Which part of the pipeline it is, where it is not the whole.
    pub(crate) part: Option<PlannedPart>,
    /// Tasks that hang, and why.
    pub(crate) hangs: Vec<(String, HangView)>,
    /// What its time went to.
    pub(crate) effective: Option<Effective>,
    pub(crate) now: Time,
}

/// What failed first.
pub(crate) struct First {
    pub(crate) task: String,
    pub(crate) failure: FailureView,
}

impl First {
    /// Where its log is.
    pub(crate) fn log(&self, run: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("tab", "logs").append_pair("task", &self.task);
        for (name, number) in [("instance", self.failure.instance), ("attempt", self.failure.attempt)] {
            if let Some(number) = number {
                query.append_pair(name, &number.to_string());
            }
        }
        if let Some(worker) = &self.failure.worker {
            query.append_pair("worker", worker);
        }
        format!("/runs/{run}?{}", query.finish())
    }
}

impl Head {
    /// Reads it.
    pub(crate) async fn read(web: &Web, reader: &Reader<'_>, tab: Tab) -> ApiResult<Self> {
        let run = RunView { wait: queued::of(web, reader).await?, ..reader.run() };
        Ok(Self {
            failure: first_failure(reader).await?,
            hangs: hangs(web, reader).await?,
            before: before(web, &run).await?,
            part: reader.plan.part.clone(),
            effective: effective::of(web, reader, None).await?.map(Effective::new),
            now: Time(web.now()),
            run,
            tab,
        })
    }

    /// The end of the run's id.
    pub(crate) fn short(&self) -> &str {
        short(&self.run.id)
    }

    /// What the run says of itself, but for which part it is: that stands among its facts.
    pub(crate) fn message(&self) -> Option<&str> {
        let own = self.part.as_ref().map(crate::part::message);
        self.run.message.as_deref().filter(|said| own.as_deref() != Some(*said))
    }

    /// The text that names its part.
    pub(crate) fn part_key(part: &PlannedPart) -> &'static str {
        match part.choice {
            Choice::Only(_) => "run.part-only",
            Choice::From(_) | Choice::Rest(_) => "run.part-from",
        }
    }

    /// Whether something may still happen by itself.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.run.state.as_str(), "queued" | "running" | "cancelling")
    }

    /// Whether it can be stopped.
    pub(crate) fn can_cancel(&self) -> bool {
        matches!(self.run.state.as_str(), "queued" | "running")
    }

    /// Whether something is left to be done.
    pub(crate) fn can_resume(&self) -> bool {
        matches!(self.run.state.as_str(), "failed" | "cancelled")
    }

    /// Its tasks by state.
    pub(crate) fn bar(&self) -> Bar {
        Bar::of(&self.run.tasks)
    }
}

/// Failed tasks that are looked at; of a run with very many, the first of them have failed early too.
const FAILED: usize = 50;

/// Of the tasks that have failed, the one that did so first.
async fn first_failure(reader: &Reader<'_>) -> ApiResult<Option<First>> {
    let mut first: Option<(Option<Time>, First)> = None;
    let failed = (0..reader.record.tasks).filter(|index| reader.state(*index) == "failed");
    for index in failed.take(FAILED) {
        let task = reader.task(index).await?;
        let Some(failure) = task.failure else { continue };
        if first.as_ref().is_none_or(|(ended, _)| task.ended_at < *ended) {
            first = Some((task.ended_at, First { task: task.name, failure }));
        }
    }
    Ok(first.map(|(_, first)| first))
}

/// Attempts that hang, or did and still run, that are looked at.
const HANGS: usize = 500;

/// The tasks that hang, each once.
async fn hangs(web: &Web, reader: &Reader<'_>) -> ApiResult<Vec<(String, HangView)>> {
    let mut hangs: Vec<(String, HangView)> = Vec::new();
    for (task, hang) in web.store().hangs(&reader.record.id, HANGS).await? {
        if hang.is_present() && hangs.last().is_none_or(|(last, _)| *last != task) {
            hangs.push((task, HangView::brief(&hang)));
        }
    }
    Ok(hangs)
}

async fn before(web: &Web, run: &RunView) -> ApiResult<Option<String>> {
    let filter = RunFilter {
        projects: Some(vec![run.project.clone()]),
        pipeline: Some(run.pipeline.clone()),
        before: run.id.parse().ok(),
        limit: Some(1),
        ..RunFilter::default()
    };
    Ok(web.store().runs(&filter).await?.first().map(|run| run.id.to_string()))
}
