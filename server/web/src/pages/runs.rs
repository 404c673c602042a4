//! `GET /projects/{project}/runs`: runs of a project, with filters in the URL.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::Timestamp;
use cubeloom_store::PipelineFilter;
use serde::Deserialize;
use serde_json::Value;

use super::run::bar::Bar;
use super::{Frame, html};
use crate::api::runs::list::{self, RunsQuery};
use crate::error::ApiResult;
use crate::extract::{Path, Query};
use crate::page::PageQuery;
use crate::runs::listed::Listed;
use crate::sort::Heading;
use crate::state::Web;
use crate::time::Time;

/// Rows per page.
const ROWS: usize = 50;

/// Maximum number of pipelines to choose from. The search finds others.
const CHOICES: usize = 500;

/// Default order of runs.
const NEWEST_FIRST: &str = "-created";

/// States to filter by.
pub(crate) const STATES: [&str; 6] = ["queued", "running", "cancelling", "succeeded", "failed", "cancelled"];

/// Periods to filter by.
pub(crate) const SINCE: [Since; 4] = [Since::Hour, Since::Day, Since::Week, Since::Month];

/// Filter by creation time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    Hour,
    Day,
    Week,
    Month,
}

impl Since {
    /// As in the URL.
    pub(crate) fn word(self) -> &'static str {
        self.parts().0
    }

    /// Text key.
    pub(crate) fn key(self) -> &'static str {
        self.parts().1
    }

    fn parts(self) -> (&'static str, &'static str, i64) {
        match self {
            Self::Hour => ("hour", "runs.since-hour", 1),
            Self::Day => ("day", "runs.since-day", 24),
            Self::Week => ("week", "runs.since-week", 7 * 24),
            Self::Month => ("month", "runs.since-month", 30 * 24),
        }
    }

    fn before(self, now: Timestamp) -> Timestamp {
        Timestamp(now.0 - self.parts().2 * 3_600_000_000)
    }
}

/// Query parameters. Empty fields do not filter.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    q: String,
    state: String,
    pipeline: String,
    user: String,
    since: String,
    /// `none` to exclude sub-runs, or the run whose sub-runs to list.
    parent: String,
    /// Empty means newest first.
    sort: String,
    cursor: String,
}

impl Asked {
    /// Whether a filter is set.
    fn narrows(&self) -> bool {
        self.fields().iter().any(|(_, value)| !value.is_empty())
    }

    /// Filters as in the URL.
    fn fields(&self) -> [(&'static str, &str); 6] {
        [
            ("q", &self.q),
            ("state", &self.state),
            ("pipeline", &self.pipeline),
            ("user", &self.user),
            ("since", &self.since),
            ("parent", &self.parent),
        ]
    }

    fn query(&self, now: Timestamp) -> RunsQuery {
        let since = SINCE.into_iter().find(|since| since.word() == self.since);
        RunsQuery {
            state: Some(self.state.clone()),
            pipeline: Some(self.pipeline.clone()),
            user: Some(self.user.clone()),
            text: Some(self.q.trim().to_owned()),
            since: since.map(|since| Time(since.before(now))),
            parent: Some(self.parent.clone()),
            sort: Some(self.sort.clone()),
            ..RunsQuery::default()
        }
    }

    /// URL of the list in this order, from this cursor.
    fn url(&self, project: &str, sort: &str, cursor: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in self.fields().into_iter().filter(|(_, value)| !value.is_empty()) {
            query.append_pair(name, value);
        }
        // The default order is omitted.
        for (name, value) in [("sort", sort), ("cursor", cursor)] {
            if !value.is_empty() && value != NEWEST_FIRST {
                query.append_pair(name, value);
            }
        }
        let query = query.finish();
        format!("/projects/{project}/runs{}{query}", if query.is_empty() { "" } else { "?" })
    }
}

struct Row {
    run: Listed,
}

impl Row {
    /// End of the id, which distinguishes runs of the same hour.
    fn short(&self) -> &str {
        short(&self.run.id)
    }

    fn bar(&self) -> Bar {
        Bar::of(&self.run.tasks)
    }

    /// `date=2026-01-01, rows=100`
    fn parameters(&self) -> String {
        let shown = |(name, value): (&String, &Value)| match value {
            Value::String(text) => format!("{name}={text}"),
            other => format!("{name}={other}"),
        };
        self.run.parameters.iter().map(shown).collect::<Vec<_>>().join(", ")
    }
}

/// End of a run's id.
pub(crate) fn short(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}

#[derive(Template)]
#[template(path = "runs.html")]
struct RunsPage {
    frame: Frame,
    project: String,
    asked: Asked,
    rows: Vec<Row>,
    pipelines: Vec<String>,
    users: Vec<String>,
    newest: String,
    older: Option<String>,
    url: String,
    now: Time,
}

impl RunsPage {
    /// Sortable heading of the runs.
    fn sorted(&self) -> Heading {
        let present = if self.asked.sort.is_empty() { NEWEST_FIRST } else { &self.asked.sort };
        Heading::new(NEWEST_FIRST, present, |sort| self.asked.url(&self.project, sort, ""))
    }

    /// A curl command that starts a pipeline.
    fn curl(&self) -> String {
        format!(
            "curl {}/api/v1/projects/{}/runs \\\n  -H \"Authorization: Bearer $TOKEN\" \\\n  --json '{{\"pipeline\": \"NAME\"}}'",
            self.url, self.project
        )
    }
}

pub(crate) async fn page(
    State(web): State<Web>,
    frame: Frame,
    Path(project): Path<String>,
    Query(asked): Query<Asked>,
) -> ApiResult<Response> {
    let page = PageQuery { limit: Some(ROWS), cursor: Some(asked.cursor.clone()) };
    let found = list::find(&web, Some(vec![project.clone()]), &asked.query(web.now()), &page).await?;
    let rows = found.items.into_iter().map(|run| Row { run }).collect();
    let older = found.next_cursor.map(|cursor| asked.url(&project, &asked.sort, &cursor));
    html(&RunsPage {
        newest: asked.url(&project, "", ""),
        older,
        pipelines: pipelines(&web, &project).await?,
        users: members(&web, &project).await?,
        rows,
        asked,
        url: web.settings().url.clone(),
        now: Time(web.now()),
        frame,
        project,
    })
}

/// Pipelines of the project, by name.
async fn pipelines(web: &Web, project: &str) -> ApiResult<Vec<String>> {
    let filter = PipelineFilter {
        projects: Some(vec![project.to_owned()]),
        limit: Some(CHOICES),
        ..PipelineFilter::default()
    };
    Ok(web.store().pipelines(&filter).await?.into_iter().map(|pipeline| pipeline.name).collect())
}

/// Users who may have started a run of the project.
async fn members(web: &Web, project: &str) -> ApiResult<Vec<String>> {
    let members = web.store().members(project).await?;
    Ok(members.into_iter().map(|member| member.user.name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_keep_what_was_asked_for() {
        let asked = Asked { q: "a&b".into(), state: "failed".into(), ..Asked::default() };
        assert_eq!(asked.url("p", "", "x"), "/projects/p/runs?q=a%26b&state=failed&cursor=x");
        assert_eq!(asked.url("p", "created", ""), "/projects/p/runs?q=a%26b&state=failed&sort=created");
        assert_eq!(Asked::default().url("p", NEWEST_FIRST, ""), "/projects/p/runs");
    }

    #[test]
    fn a_time_is_counted_back_from_now() {
        let asked = Asked { since: "hour".into(), q: " ctr ".into(), ..Asked::default() };
        let query = asked.query(Timestamp(10 * 3_600_000_000));
        assert_eq!(query.since, Some(Time(Timestamp(9 * 3_600_000_000))));
        assert_eq!(query.text.as_deref(), Some("ctr"));
    }
}
