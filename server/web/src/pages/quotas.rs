//! `GET /quotas`: the quota tree as bars, and its changes.

mod bar;
mod changes;

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use self::bar::Bar;
use self::changes::{Asked, Changes};
use super::{Frame, carried, html};
use crate::api::limits::view::{LimitView, LimitsView};
use crate::api::priority_classes::{PreemptsView, PriorityClassesView};
use crate::api::quotas::view::{PoolShareView, PoolView, QueueView, QuotasView};
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::extract::Query;
use crate::named_limits;
use crate::quotas::shown;
use crate::show;
use crate::state::Web;

/// Number of holders of a limit that are listed.
const HOLDERS: usize = 3;

/// Number of levels that are indented.
const LEVELS: usize = 4;

#[derive(Template)]
#[template(path = "quotas.html")]
struct QuotasPage {
    frame: Frame,
    quotas: QuotasView,
    changes: Changes,
    asked: Asked,
    limits: LimitsView,
    classes: PriorityClassesView,
    /// Data for the page's script.
    data: String,
    /// Concurrency limits, for the script.
    limits_data: String,
    /// Priority classes, for the script.
    classes_data: String,
}

pub(crate) async fn page(
    State(web): State<Web>,
    frame: Frame,
    caller: Caller,
    Query(asked): Query<Asked>,
) -> ApiResult<Response> {
    let quotas = shown(&web, &caller).await?;
    let limits = named_limits::shown(&web, &caller).await?;
    let classes = PriorityClassesView::read(&web).await?;
    let queues = quotas.queues.iter().map(|queue| format!("{}/{}", queue.kind, queue.name));
    let of = queues.chain(limits.items.iter().map(|limit| format!("limit/{}", limit.name)));
    let of = of.chain(classes.items.iter().map(|class| format!("priority-class/{}", class.name)));
    let changes = changes::asked_for(&web, &caller, &asked, of).await?;
    let (data, limits_data, classes_data) = (carried(&quotas)?, carried(&limits)?, carried(&classes)?);
    html(&QuotasPage { frame, quotas, changes, asked, limits, classes, data, limits_data, classes_data })
}

/// Total of a resource in a pool.
struct Total<'p> {
    share: &'p PoolShareView,
    held: String,
    has: String,
    guaranteed: String,
    /// From 0 to 100.
    percent: f64,
}

impl QuotasPage {
    /// Whether the reader may change quotas.
    fn may_change(&self) -> bool {
        let scope = self.frame.caller.as_ref().map(|caller| caller.scope);
        self.frame.is_admin() && scope == Some(cubeloom_domain::identity::Scope::Admin)
    }

    /// Whether the reader may simulate a move between two queues. Non-administrators can do so between their
    /// own projects, without saving.
    fn may_ask_moves(&self) -> bool {
        let projects = self.quotas.queues.iter().filter(|queue| queue.kind == "project");
        self.may_change() || projects.count() > 1
    }

    fn totals<'p>(&self, pool: &'p PoolView) -> Vec<Total<'p>> {
        let shown = pool.resources.iter().filter(|share| share.capacity.is_some());
        shown
            .map(|share| {
                let has = share.capacity.unwrap_or_default();
                Total {
                    share,
                    held: show::amount(&share.resource, share.held),
                    has: show::amount(&share.resource, has),
                    guaranteed: show::amount(&share.resource, share.guaranteed),
                    percent: if has > 0.0 { (share.held / has * 100.0).clamp(0.0, 100.0) } else { 0.0 },
                }
            })
            .collect()
    }

    /// Bars of a queue in a pool, one per resource.
    fn bars(&self, pool: &PoolView, queue: &QueueView) -> Vec<Bar> {
        let shares = queue.shares.get(&pool.pool).map(Vec::as_slice).unwrap_or_default();
        let capacity = |name: &str| pool.resources.iter().find(|share| share.resource == name)?.capacity;
        shares.iter().map(|share| Bar::of(share, capacity(&share.resource))).collect()
    }

    /// Indentation level of a queue.
    fn level(&self, queue: &QueueView) -> usize {
        let mut level = 0;
        let mut above = queue.parent.as_ref();
        while let Some(name) = above.filter(|_| level < LEVELS) {
            level += 1;
            let group = self.quotas.queues.iter().find(|one| one.kind == "group" && one.name == *name);
            above = group.and_then(|group| group.parent.as_ref());
        }
        level
    }

    /// Filled part of a limit's bar. After a limit is lowered, there can be more holders than it allows.
    fn held_of(&self, limit: &LimitView) -> usize {
        limit.held.min(limit.at_once.unwrap_or_default() as usize)
    }

    /// The same for recent starts.
    fn started_of(&self, limit: &LimitView) -> usize {
        limit.started.min(limit.a_minute.unwrap_or_default() as usize)
    }

    /// Number of holders that are not listed.
    fn others(&self, limit: &LimitView) -> usize {
        limit.held - limit.holders.len().min(HOLDERS)
    }

    /// Options of a queue that differ from the defaults.
    fn switches(&self, pool: &PoolView, queue: &QueueView) -> Vec<String> {
        let Some(quota) = queue.quotas.get(&pool.pool) else { return Vec::new() };
        let mut found = Vec::new();
        if quota.weight != cubeloom_domain::quota::Quota::usual_weight() {
            found.push(self.frame.t_with("quotas.weight-is", [("weight", quota.weight)]));
        }
        if !quota.borrow {
            found.push(self.frame.t("quotas.no-borrow").to_owned());
        }
        if !quota.lend {
            found.push(self.frame.t("quotas.no-lend").to_owned());
        }
        if let Some(most) = quota.max_priority {
            found.push(self.frame.t_with("quotas.max-priority-is", [("most", most)]));
        }
        found
    }
}
