//! Concurrency limits, with their current holders and pending jobs.

use std::collections::BTreeMap;

use cubeloom_domain::Timestamp;
use cubeloom_domain::limit::Limit;
use cubeloom_domain::state::InstanceState;
use cubeloom_store::Holding;
use serde_json::Value;

use crate::api::limits::view::{LimitBody, LimitView, LimitsView, MissingLimitView};
use crate::api::quotas::view::JobView;
use crate::audit::{self, Entry};
use crate::auth::{Caller, projects_of};
use crate::check::Found;
use crate::error::ApiResult;
use crate::etag::changed;
use crate::quotas;
use crate::state::Web;

/// Maximum number of listed holders.
const TOLD: usize = 20;
/// Maximum number of pending jobs to read. The ones that wait longest come first.
const LOOKED_AT: usize = 1000;
/// Maximum length of a name.
const NAME: usize = 63;
/// Maximum length of a description.
const DESCRIPTION: usize = 200;

/// Current usage of a limit.
#[derive(Default)]
struct Use {
    held: usize,
    started: usize,
    waiting: usize,
    holders: Vec<JobView>,
}

/// All limits, with the holders that `caller` can see.
pub(crate) async fn shown(web: &Web, caller: &Caller) -> ApiResult<LimitsView> {
    let projects = projects_of(web, caller).await?;
    let mut uses = uses(web, projects.as_deref()).await?;
    let limits = web.store().limits().await?;
    let items = limits.into_iter().map(|limit| {
        let used = uses.remove(&limit.name).unwrap_or_default();
        view(limit, used)
    });
    let items = items.collect();
    let missing = uses.into_iter().filter(|(_, used)| used.held + used.waiting > 0);
    let missing =
        missing.map(|(name, used)| MissingLimitView { name, held: used.held, waiting: used.waiting });
    Ok(LimitsView { items, missing: if projects.is_none() { missing.collect() } else { Vec::new() } })
}

/// Usage by limit: totals, and the holders in these projects.
async fn uses(web: &Web, projects: Option<&[String]>) -> ApiResult<BTreeMap<String, Use>> {
    let mut uses: BTreeMap<String, Use> = BTreeMap::new();
    for held in web.store().holding().await? {
        let sees = projects.is_none_or(|projects| projects.contains(&held.project));
        for name in held.attempt.limits.clone() {
            let used = uses.entry(name).or_default();
            used.held += 1;
            if sees && used.holders.len() < TOLD {
                used.holders.push(holder(&held));
            }
        }
    }
    let minute_ago = Timestamp(web.now().0 - 60_000_000);
    for name in web.store().limited_starts(minute_ago).await?.into_iter().flat_map(|start| start.limits) {
        uses.entry(name).or_default().started += 1;
    }
    for waiting in web.store().waiting(None, LOOKED_AT).await? {
        let waits = matches!(waiting.instance.state, InstanceState::Waiting { .. });
        for name in waiting.planned.filter(|_| waits).into_iter().flat_map(|planned| planned.limits) {
            uses.entry(name).or_default().waiting += 1;
        }
    }
    Ok(uses)
}

fn holder(held: &Holding) -> JobView {
    JobView::from(&quotas::held_by(held.clone()))
}

fn view(limit: Limit, used: Use) -> LimitView {
    LimitView {
        name: limit.name,
        at_once: limit.at_once,
        a_minute: limit.a_minute,
        description: limit.description,
        held: used.held,
        started: used.started,
        waiting: used.waiting,
        holders: used.holders,
        revision: limit.revision,
    }
}

/// Creates or changes a limit.
///
/// # Errors
/// All problems, with their fields. A conflict if it was changed concurrently.
pub(crate) async fn put(
    web: &Web,
    caller: &Caller,
    name: &str,
    expected: Option<u64>,
    said: LimitBody,
) -> ApiResult<()> {
    let limit = read(name, said)?;
    let entry = entry(web, caller, "limit.set", name).await?.after(audited(&limit));
    changed(web.store().put_limit(&limit, expected, &entry).await?, "limit", name)?;
    web.wake();
    Ok(())
}

/// Deletes a limit.
///
/// # Errors
/// A conflict if it was changed concurrently. Not found if it does not exist.
pub(crate) async fn delete(web: &Web, caller: &Caller, name: &str, expected: Option<u64>) -> ApiResult<()> {
    let entry = entry(web, caller, "limit.delete", name).await?;
    changed(web.store().delete_limit(name, expected, &entry).await?, "limit", name)?;
    web.wake();
    Ok(())
}

fn read(name: &str, said: LimitBody) -> ApiResult<Limit> {
    let mut found = Found::default();
    found.name("/limit", name, NAME);
    if said.at_once.is_none() && said.a_minute.is_none() {
        found.wrong("/at_once", "set a maximum of concurrent jobs, of starts per minute, or both");
    }
    if said.a_minute == Some(0) {
        found.wrong("/a_minute", "must be at least 1; to let none start, set the concurrent maximum to 0");
    }
    let description = said.description.filter(|text| !text.trim().is_empty());
    if let Some(text) = &description {
        found.line("/description", text, DESCRIPTION);
    }
    found.refuse()?;
    let (at_once, a_minute) = (said.at_once, said.a_minute);
    Ok(Limit { name: name.to_owned(), at_once, a_minute, description, revision: 0 })
}

async fn entry(web: &Web, caller: &Caller, action: &str, name: &str) -> ApiResult<Entry> {
    let entry = audit::entry(web, caller, action, name);
    Ok(match web.store().limit(name).await? {
        Some(before) => entry.before(audited(&before)),
        None => entry,
    })
}

/// Limit as the audit log records it: as it is sent.
fn audited(limit: &Limit) -> Value {
    let body = LimitBody {
        at_once: limit.at_once,
        a_minute: limit.a_minute,
        description: limit.description.clone(),
    };
    serde_json::to_value(body).unwrap_or_default()
}
