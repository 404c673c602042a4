//! `GET /quotas/history`, `GET /projects/{project}/quota/history`

use std::collections::BTreeSet;

use axum::extract::State;
use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::quota::Queue;
use cubeloom_domain::quota::tree::Tree;
use cubeloom_store::PageOf;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::auth::{Caller, projects_of};
use crate::error::ApiResult;
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::quotas::subject;
use crate::state::Web;
use crate::time::Time;

/// A change of the quota tree, of a concurrency limit or of a priority class.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QuotaChangeView {
    /// ID of the entry in the audit log. Later changes have greater IDs.
    pub id: String,
    /// Time of the change.
    pub at: Time,
    /// Name of the user who made the change.
    pub user: String,
    /// What changed: `project/NAME`, `group/NAME`, `limit/NAME` or `priority-class/NAME`. If several items changed, their names are
    /// separated by spaces, and `before` and `after` contain each item by name.
    pub queue: String,
    /// Previous state. Omitted if the item was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// New state. Omitted if the item was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

impl QuotaChangeView {
    /// A change, restricted to the queues in `told`. A change of several queues lists the others and their
    /// quotas.
    fn new(entry: AuditEntry, told: &Told) -> Self {
        let is_of_several = entry.action == "queue.change";
        let queues: Vec<String> = changed(&entry).filter(|queue| told.has(queue)).collect();
        let own = |said: Option<Value>| match (said?, told, &*queues) {
            // For a single queue, the change looks as if it had been changed alone.
            (Value::Object(mut all), Told::One(_), [queue]) if is_of_several => all.remove(queue),
            (Value::Object(mut all), _, _) if is_of_several => {
                all.retain(|queue, _| told.has(queue));
                Some(Value::Object(all))
            }
            (said, _, _) => Some(said),
        };
        Self {
            id: entry.id,
            at: Time(entry.at),
            user: entry.user_name,
            before: own(entry.before),
            after: own(entry.after),
            queue: queues.join(" "),
        }
    }
}

/// Prefixes of concurrency limits and priority classes in the names of changed objects.
const LIMIT: &str = "limit/";
const CLASS: &str = "priority-class/";

/// Names of the changed objects.
fn changed(entry: &AuditEntry) -> impl Iterator<Item = String> {
    let prefix = match entry.action.split('.').next() {
        Some("limit") => LIMIT,
        Some("priority_class") => CLASS,
        _ => "",
    };
    entry.subject.split(' ').map(move |subject| format!("{prefix}{subject}"))
}

/// Queues and limits whose changes are returned.
pub(crate) enum Told {
    All,
    /// The requested one.
    One(String),
    /// Those that the user can see.
    Some(Vec<String>),
}

impl Told {
    /// What a user can see: everything, or their projects with parent groups, the limits and the priority
    /// classes.
    pub(crate) async fn to(web: &Web, caller: &Caller) -> ApiResult<Self> {
        let Some(projects) = projects_of(web, caller).await? else { return Ok(Self::All) };
        let queues = web.store().queues().await?;
        let tree = Tree::of(&queues);
        let above = projects.iter().flat_map(|name| tree.path(name)).map(|one| subject(&one.queue));
        let own = projects.iter().map(|name| subject(&Queue::Project(name.clone())));
        let limits = web.store().limits().await?;
        let limits = limits.iter().map(|limit| format!("{LIMIT}{}", limit.name));
        let classes = web.store().priority_classes().await?;
        let classes = classes.iter().map(|class| format!("{CLASS}{}", class.name));
        let all: BTreeSet<String> = above.chain(own).chain(limits).chain(classes).collect();
        Ok(Self::Some(all.into_iter().collect()))
    }

    /// Restricts it to the requested one. A hidden one looks like a missing one.
    pub(crate) fn only(self, queue: Option<String>) -> Self {
        match queue {
            None => self,
            Some(queue) if self.has(&queue) => Self::One(queue),
            Some(_) => Self::Some(Vec::new()),
        }
    }

    /// Whether changes of this one are returned.
    fn has(&self, queue: &str) -> bool {
        match self {
            Self::All => true,
            Self::One(one) => one == queue,
            Self::Some(all) => all.iter().any(|one| one == queue),
        }
    }

    /// Whether a change concerns one of them.
    fn has_of(&self, entry: &AuditEntry) -> bool {
        changed(entry).any(|queue| self.has(&queue))
    }

    /// Name of the requested one in the audit log, where limits and classes have no prefix.
    fn subject(&self) -> Option<&str> {
        match self {
            Self::One(one) => {
                Some(one.strip_prefix(LIMIT).or_else(|| one.strip_prefix(CLASS)).unwrap_or(one))
            }
            Self::All | Self::Some(_) => None,
        }
    }
}

/// Filters of changes.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// Filters by `project/NAME`, `group/NAME`, `limit/NAME` or `priority-class/NAME`.
    pub queue: Option<String>,
}

/// Lists the changes of the quota tree, of concurrency limits and of priority classes, newest first.
///
/// Each change contains the user, the time, and the state before and after. Users who are not administrators see
/// changes of their own projects, the groups above these, concurrency limits and priority classes.
#[utoipa::path(
    get,
    path = "/quotas/history",
    tag = "quotas",
    params(HistoryQuery, PageQuery),
    responses((status = 200, body = Page<QuotaChangeView>))
)]
pub(crate) async fn history(
    State(web): State<Web>,
    caller: Caller,
    Query(wanted): Query<HistoryQuery>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<QuotaChangeView>>> {
    let told = Told::to(&web, &caller).await?.only(wanted.queue);
    Ok(Json(page(&web, &told, &query).await?))
}

/// Lists the changes of a project's quota, newest first.
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
    Ok(Json(page(&web, &Told::One(subject(&Queue::Project(project))), &query).await?))
}

/// A page of the changes in `told`.
pub(crate) async fn page(web: &Web, told: &Told, query: &PageQuery) -> ApiResult<Page<QuotaChangeView>> {
    let limit = query.limit()?;
    if matches!(told, Told::Some(all) if all.is_empty()) {
        // Nothing is visible: do not search the whole log.
        return Ok(Page::of(Vec::new(), limit, |entry: &AuditEntry| entry.id.clone())
            .map(|entry| QuotaChangeView::new(entry, told)));
    }
    let mut wanted = PageOf { after: query.after()?, limit: limit + 1 };
    let mut found: Vec<AuditEntry> = Vec::new();
    // Visible names may be too many for a query: filter here.
    loop {
        let read = web.store().queue_history(told.subject(), &wanted).await?;
        let is_last = read.len() < wanted.limit;
        wanted.after = read.last().map(|entry| entry.id.clone());
        found.extend(read.into_iter().filter(|entry| told.has_of(entry)));
        if is_last || found.len() > limit {
            break;
        }
    }
    found.truncate(limit + 1);
    Ok(Page::of(found, limit, |entry| entry.id.clone()).map(|entry| QuotaChangeView::new(entry, told)))
}
