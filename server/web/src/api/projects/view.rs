//! View of a project.

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
    /// Name of the project: letters, digits and `-`. The name cannot be changed.
    pub name: String,
    /// Display name.
    pub label: String,
    /// Description.
    pub description: String,
    /// Your role in the project: `viewer`, `editor` or `owner`. Omitted for administrators who are not members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// Retention settings for finished jobs.
    pub keeping: KeepingView,
    /// Allowed clusters and default placement of its jobs.
    pub places: PlacesView,
    /// Right-sizing mode of CPU and memory for pipelines and tasks that do not set one.
    pub sizing: SizingWord,
    /// Log copies that are still outstanding. Omitted if there are none, and in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs_behind: Option<BehindView>,
    /// Part of this month's budget that is spent. Omitted if the project has no budget, and in responses to updates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetStandingView>,
    /// Creation time.
    pub created_at: Time,
    /// Revision number, starting at 1 and incremented on each change. It is the ETag.
    pub revision: u64,
}

/// Log copies that are still outstanding. They are retried every 30 seconds.
#[derive(Debug, Serialize, ToSchema)]
pub struct BehindView {
    /// Number of attempts with outstanding copies that are known. It is 0 if only the store has this information and
    /// the store is unreachable.
    pub attempts: usize,
    /// Reason why the last try failed.
    pub why: String,
}

/// Retention settings of a project for finished jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeepingView {
    /// TTL after finish of the jobs' objects on a Kubernetes cluster, in seconds. If omitted, the settings of the
    /// cluster apply.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(maximum = 31_536_000)]
    pub objects: Option<u64>,
    /// Project volume in an object store to which logs are copied when jobs have ended. If omitted, logs are not
    /// copied and exist only on the server.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub logs: Option<String>,
}

/// Right-sizing mode: whether CPU and memory are chosen from the usage of earlier attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SizingWord {
    /// Never.
    Off,
    /// Show recommendations only.
    Advise,
    /// Apply recommendations automatically.
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
    /// Adds pending log archives.
    pub fn with_behind(self, web: &Web) -> Self {
        let behind = web.archive().behind(&self.name);
        let view = |behind: Behind| BehindView { attempts: behind.attempts, why: behind.why };
        Self { logs_behind: behind.map(view), ..self }
    }

    /// Adds the spent share of its budget.
    pub fn with_budget(self, standing: Option<&Standing>) -> Self {
        Self { budget: standing.map(BudgetStandingView::from), ..self }
    }

    /// View of a project for a user with this role.
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

/// Projects that the caller can see, by name, with their role.
pub(crate) async fn visible(web: &Web, caller: &Caller) -> ApiResult<Vec<(Project, Option<Role>)>> {
    let projects = auth::visible(web, caller).await?;
    let roles: BTreeMap<String, Role> = web.store().roles(&caller.user.id).await?.into_iter().collect();
    let with_role = |project: Project| {
        let role = roles.get(&project.name).copied();
        (project, role)
    };
    Ok(projects.into_iter().map(with_role).collect())
}
