//! Nodes with their GPUs, and one GPU with the history of its last hour.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::executor::NodeFacts;
use cubeloom_domain::monitoring::{CardHistory, CardReading, NodeReading};
use cubeloom_domain::sizing::SizedRole;
use cubeloom_monitoring::CardState;
use cubeloom_monitoring::advice::{Held, advice};
use cubeloom_store::Holding;

use super::holders::Holders;
use super::{history, look};
use crate::api::monitoring::view::{
    AdviceView, CardDetail, CardView, HistoryView, LinksView, MonitoredNodeView, SeriesView,
};
use crate::auth::Caller;
use crate::clusters;
use crate::error::{ApiError, ApiResult, Kind};
use crate::page::{Page, PageQuery};
use crate::runs::advice::sharing;
use crate::runs::reader;
use crate::state::Web;
use crate::time::Time;

/// Maximum page size. The page with the picture of a large cluster reads all its nodes at once.
const NODES: usize = 1_000;

/// A page of nodes, by name. Task names of projects that `caller` cannot see are omitted.
///
/// # Errors
/// No cluster has this name, or the cursor is invalid.
pub(crate) async fn nodes(
    web: &Web,
    caller: &Caller,
    cluster: &str,
    query: &PageQuery,
) -> ApiResult<Page<MonitoredNodeView>> {
    let look = look(web, cluster).await?;
    let holding = clusters::holding(web, &look.facts).await?;
    let holders = Holders::of(web, caller, &holding).await?;
    let groups: BTreeMap<&str, &NodeFacts> =
        look.facts.nodes.iter().map(|node| (node.name.as_str(), node)).collect();
    let found: Vec<_> = look.reading.nodes.iter().collect();
    let page = Page::cut_to(NODES, found, query, |(name, _)| (*name).clone())?;
    Ok(page.map(|(name, node)| {
        let groups = groups.get(name.as_str()).map(|node| node.groups.clone()).unwrap_or_default();
        node_view(name, node, groups, &holders)
    }))
}

fn node_view(
    name: &str,
    node: &NodeReading,
    groups: Vec<String>,
    holders: &Holders<'_>,
) -> MonitoredNodeView {
    let states = holders.states(node);
    let mut cards: Vec<CardView> = node
        .cards
        .iter()
        .zip(states)
        .map(|((uuid, card), state)| card_view(uuid, card, state, holders))
        .collect();
    cards.sort_by_key(|card| card.index);
    let links = node.links.iter().map(|link| LinksView {
        from: link.from.clone(),
        to: link.to.clone(),
        count: link.count,
    });
    MonitoredNodeView {
        name: name.to_owned(),
        groups,
        cpu: node.cpu.into(),
        memory: node.memory.into(),
        gpus: node.gpus.into(),
        cards,
        links: links.collect(),
    }
}

fn card_view(uuid: &str, card: &CardReading, state: CardState, holders: &Holders<'_>) -> CardView {
    let (shown, others) = holders.shown(uuid, card);
    CardView {
        uuid: uuid.to_owned(),
        index: card.index,
        model: card.model.clone(),
        state: state.as_str(),
        usage: card.usage,
        recent_usage: card.recent_usage,
        tensor: card.tensor,
        memory_used: card.memory_used,
        memory_total: card.memory_total,
        temperature: card.temperature,
        power: card.power,
        power_limit: card.power_limit,
        nvlink: card.nvlink,
        xid: card.xid,
        holders: shown,
        others,
    }
}

/// One GPU, with its last hour and advice.
///
/// # Errors
/// No cluster has this name, or no GPU this UUID.
pub(crate) async fn card(web: &Web, caller: &Caller, cluster: &str, uuid: &str) -> ApiResult<CardDetail> {
    let look = look(web, cluster).await?;
    let holding = clusters::holding(web, &look.facts).await?;
    let holders = Holders::of(web, caller, &holding).await?;
    let place = look.reading.nodes.iter().find_map(|(name, node)| {
        let at = node.cards.keys().position(|known| known == uuid)?;
        Some((name, holders.states(node)[at], node.cards.get(uuid)?))
    });
    let (node, state, reading) = place.ok_or_else(|| ApiError::not_found("card", uuid))?;
    let mut problems = look.problems();
    let found = history(web, &look, uuid, node, &reading.pods, &mut problems).await;
    let (holding, _) = holders.of_card(uuid, reading);
    let mut advice = Vec::new();
    for held in holding.iter().filter(|held| holders.sees(&held.project)) {
        advice.extend(advised(web, held, reading, &holders, &found).await?);
    }
    let mut rules = BTreeSet::new();
    advice.retain(|found: &AdviceView| rules.insert(found.rule));
    Ok(CardDetail {
        card: card_view(uuid, reading, state, &holders),
        cluster: look.facts.cluster.clone(),
        node: node.clone(),
        at: Time(look.reading.at),
        history: history_view(found),
        advice,
        problems,
    })
}

/// Advice about a GPU for one of the attempts that it is allocated to. Empty if the run no longer exists.
async fn advised(
    web: &Web,
    held: &Holding,
    card: &CardReading,
    holders: &Holders<'_>,
    history: &CardHistory,
) -> ApiResult<Vec<AdviceView>> {
    let attempt = &held.attempt;
    let plan = match reader::plan(web, &attempt.key.run).await {
        Ok(plan) => plan,
        // The run was deleted after the allocations were read. The GPU itself still exists.
        Err(error) if error.kind() == Kind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let task = plan.task(attempt.task);
    // The worker that uses the GPU is unknown: take the first role with GPUs.
    let role = task.roles.iter().find(|role| role.resources.gpu.is_some());
    let (cores, asked) = cores(held, card, holders);
    let held = Held {
        history,
        seconds: attempt.state.started_at().map_or(0.0, |since| web.now().since(since).as_secs_f64()),
        cores,
        asked,
        card_memory: card.memory_total,
        // The worker that uses the GPU is unknown. The task page shows its memory.
        memory: None,
        sharing: role.map(|role| sharing(&plan, task, role)).unwrap_or_default(),
    };
    let found = advice(held, &web.settings().advice);
    Ok(found.into_iter().map(|found| AdviceView::of_card(found, &attempt.key)).collect())
}

/// Whether the GPU may belong to the cluster. True for any UUID while its metrics are incomplete.
///
/// # Errors
/// No cluster has this name.
pub(crate) async fn may_have(web: &Web, cluster: &str, uuid: &str) -> ApiResult<bool> {
    let look = look(web, cluster).await?;
    let known = look.reading.nodes.values().any(|node| node.cards.contains_key(uuid));
    Ok(known || !look.reading.problems.is_empty())
}

/// CPUs of the pods that use a GPU, and the CPUs they requested. Both are `None` if other attempts share the
/// GPU. The second is `None` without right-sizing.
fn cores(held: &Holding, card: &CardReading, holders: &Holders<'_>) -> (Option<f64>, Option<f64>) {
    let attempt = &held.attempt;
    if !card.pods.iter().all(|pod| holders.of_pod(pod).is_some_and(|of| of.attempt.key == attempt.key)) {
        return (None, None);
    }
    let object = attempt.key.object_name();
    let sized = attempt.sizing.as_ref().and_then(|sizing| sized(&sizing.roles, &object, &card.pods));
    if let Some((has, asked)) = sized {
        return (Some(has), Some(asked));
    }
    let each = attempt.amount.cpu.0 as f64 / 1000.0 / f64::from(attempt.workers.max(1));
    (Some(each * card.pods.len() as f64), None)
}

/// The same from the sizes of the pods' roles. `None` if a pod's name does not contain its role.
fn sized(roles: &[SizedRole], object: &str, pods: &[String]) -> Option<(f64, f64)> {
    let mut sum = (0.0, 0.0);
    for pod in pods {
        let rest = pod.strip_prefix(object)?.trim_start_matches('-');
        let is_of = |role: &str| {
            let index = rest.strip_prefix(role).and_then(|rest| rest.strip_prefix('-')?.split('-').next());
            index.is_some_and(|index| index.parse::<u32>().is_ok())
        };
        // The name of a job's only pod may lack the role.
        let size = match roles {
            [only] => only,
            several => several.iter().find(|size| is_of(&size.role))?,
        };
        sum.0 += size.gets.cpu.0 as f64 / 1000.0;
        sum.1 += size.asked.cpu.0 as f64 / 1000.0;
    }
    Some(sum)
}

fn history_view(history: CardHistory) -> HistoryView {
    let series =
        history.series.into_iter().map(|(measure, values)| SeriesView { of: measure.as_str(), values });
    HistoryView { start: history.start, step: history.step, series: series.collect() }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::quantity::{Bytes, Cpu};
    use cubeloom_domain::sizing::{Reason, Size};

    use super::*;

    fn role(name: &str, asked: u64, gets: u64) -> SizedRole {
        let size = |cpu| Size { cpu: Cpu(cpu), memory: Bytes(1 << 30) };
        let as_asked = SizedRole::asked(name, size(asked), Reason::Asked, Reason::Asked);
        SizedRole { gets: size(gets), ..as_asked }
    }

    #[test]
    fn what_the_pods_of_a_card_have_and_asked_for_is_that_of_their_roles() {
        let (ps, worker) = (role("ps", 1000, 1000), role("worker", 8000, 2000));
        let of = |roles: &[SizedRole], pods: &[&str]| {
            let pods: Vec<String> = pods.iter().map(ToString::to_string).collect();
            sized(roles, "cl-train-x", &pods)
        };
        let both = [ps, worker.clone()];
        assert_eq!(of(&both, &["cl-train-x-worker-0-x7k2p"]), Some((2.0, 8.0)));
        assert_eq!(of(&both, &["cl-train-x-ps-0", "cl-train-x-worker-1"]), Some((3.0, 9.0)));
        assert_eq!(of(&both, &["cl-train-x-x7k2p"]), None, "which of the two is not known");
        assert_eq!(of(&[worker], &["cl-train-x-x7k2p"]), Some((2.0, 8.0)), "there is but one role");
    }
}
