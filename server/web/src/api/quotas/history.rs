//! `GET /quotas/history`, `GET /projects/{project}/quota/history`

use axum::extract::State;
use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::quota::Queue;
use cubeloom_store::PageOf;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::quotas::subject;
use crate::state::Web;
use crate::time::Time;

/// A change of the tree.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QuotaChangeView {
    /// The id of its entry in the audit log; later changes have greater ones.
    pub id: String,
    /// When.
    pub at: Time,
    /// The name of who made it.
    pub user: String,
    /// Of what: `project/NAME` or `group/NAME`.
    pub queue: String,
    /// How it was; absent for what was new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// How it is since; absent for what was taken away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

impl From<AuditEntry> for QuotaChangeView {
    fn from(entry: AuditEntry) -> Self {
        Self {
            id: entry.id,
            at: Time(entry.at),
            user: entry.user_name,
            queue: entry.subject,
            before: entry.before,
            after: entry.after,
        }
    }
}

/// Which changes are wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// Only of this: `project/NAME` or `group/NAME`.
    pub queue: Option<String>,
}

/// Every change of the tree, the newest first: who, when, before and after.
#[utoipa::path(
    get,
    path = "/quotas/history",
    tag = "quotas",
    params(HistoryQuery, PageQuery),
    responses((status = 200, body = Page<QuotaChangeView>))
)]
pub(crate) async fn history(
    State(web): State<Web>,
    Query(wanted): Query<HistoryQuery>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<QuotaChangeView>>> {
    Ok(Json(page(&web, wanted.queue.as_deref(), &query).await?))
}

/// The changes of a project's quota, the newest first.
#[utoipa::path(
    get,
    path = "/projects/{project}/quota/history",
    tag = "quotas",
    params(("project" = String, Path), PageQuery),
    responses((status = 200, body = Page<QuotaChangeView>))
)]
pub(crate) async fn of_project(
    State(web): State<Web>,
    Path(project): Path<String>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<QuotaChangeView>>> {
    Ok(Json(page(&web, Some(&subject(&Queue::Project(project))), &query).await?))
}

/// A page of changes, of one queue or of all.
pub(crate) async fn page(
    web: &Web,
    queue: Option<&str>,
    query: &PageQuery,
) -> ApiResult<Page<QuotaChangeView>> {
    let limit = query.limit()?;
    let wanted = PageOf { after: query.after()?, limit: limit + 1 };
    let found = web.store().queue_history(queue, &wanted).await?;
    Ok(Page::of(found, limit, |entry| entry.id.clone()).map(QuotaChangeView::from))
}
