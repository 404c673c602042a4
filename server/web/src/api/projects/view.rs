//! A project, as the API shows it.

use std::collections::BTreeMap;

use cubeloom_domain::accounting::budget::Standing;
use cubeloom_domain::identity::{Project, Role};
use cubeloom_domain::pipeline::SizingMode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::places::PlacesView;
use crate::api::budgets::view::BudgetStandingView;
use crate::archive::Behind;
use crate::auth::{self, Caller};
use crate::error::ApiResult;
use crate::state::Web;
use crate::time::Time;

/// A project.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectView {
    /// The name: letters, digits and `-`; it never changes.
    pub name: String,
    /// What it is called.
    pub label: String,
    /// What it is for.
    pub description: String,
    /// What you may do in it: `viewer`, `editor` or `owner`; absent for administrators who are no members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// What of its jobs is kept.
    pub keeping: KeepingView,
    /// Where its jobs may go.
    pub places: PlacesView,
    /// Whether CPU and memory are chosen from real use, for pipelines and tasks that do not say it.
    pub sizing: SizingWord,
    /// Copies of logs that could not be made yet; absent when there are none, and in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs_behind: Option<BehindView>,
    /// How much of this month's budget is spent; absent where there is none, and in answers to changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetStandingView>,
    /// Since when there is one.
    pub created_at: Time,
    /// Counts its changes, from 1: its ETag.
    pub revision: u64,
}

/// Copies of logs that could not be made yet; they are tried again every half minute.
#[derive(Debug, Serialize, ToSchema)]
pub struct BehindView {
    /// Of how many attempts that is known: 0 where only the store could tell, and does not answer.
    pub attempts: usize,
    /// Why the last try failed.
    pub why: String,
}

/// What a project wants kept of jobs that have ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeepingView {
    /// How long their objects stay on a Kubernetes cluster, in seconds; absent: as long as the cluster's settings say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(maximum = 31_536_000)]
    pub objects: Option<u64>,
    /// The volume of the project, in an object store, into which their logs are copied when they have ended; absent: into
    /// none, the server alone has them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub logs: Option<String>,
}

/// Whether CPU and memory are chosen from what earlier attempts used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SizingWord {
    /// Never.
    Off,
    /// Only said.
    Advise,
    /// Done.
    Auto,
}

impl From<SizingMode> for SizingWord {
    fn from(mode: SizingMode) -> Self {
        match mode {
            SizingMode::Off => Self::Off,
            SizingMode::Advise => Self::Advise,
            SizingMode::Auto => Self::Auto,
        }
    }
}

impl From<SizingWord> for SizingMode {
    fn from(word: SizingWord) -> Self {
        match word {
            SizingWord::Off => Self::Off,
            SizingWord::Advise => Self::Advise,
            SizingWord::Auto => Self::Auto,
        }
    }
}

impl ProjectView {
    /// The same, with what could not be done for it yet.
    pub fn with_behind(self, web: &Web) -> Self {
        let behind = web.archive().behind(&self.name);
        let view = |behind: Behind| BehindView { attempts: behind.attempts, why: behind.why };
        Self { logs_behind: behind.map(view), ..self }
    }

    /// The same, with how much of its budget is spent.
    pub fn with_budget(self, standing: Option<&Standing>) -> Self {
        Self { budget: standing.map(BudgetStandingView::from), ..self }
    }

    /// A project, to somebody with this role.
    pub fn new(project: Project, role: Option<Role>) -> Self {
        Self {
            name: project.name,
            label: project.label,
            description: project.description,
            keeping: KeepingView { objects: project.keeping.objects, logs: project.keeping.logs },
            places: PlacesView::from(&project.places),
            sizing: project.sizing.into(),
            role: role.map(Role::as_str),
            logs_behind: None,
            budget: None,
            created_at: Time(project.created_at),
            revision: project.revision,
        }
    }
}

/// The projects that somebody may see, by name, with their role there.
///
/// # Errors
/// When the database does not answer.
pub(crate) async fn visible(web: &Web, caller: &Caller) -> ApiResult<Vec<(Project, Option<Role>)>> {
    let projects = auth::visible(web, caller).await?;
    let roles: BTreeMap<String, Role> = web.store().roles(&caller.user.id).await?.into_iter().collect();
    let with_role = |project: Project| {
        let role = roles.get(&project.name).copied();
        (project, role)
    };
    Ok(projects.into_iter().map(with_role).collect())
}
