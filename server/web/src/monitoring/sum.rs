//! Totals of a cluster: capacity, requests and usage, by project.

use std::collections::BTreeMap;

use cubeloom_domain::monitoring::{Levels, NodeReading, Reading};
use cubeloom_domain::resources::Amount;
use cubeloom_monitoring::CardState;
use cubeloom_store::Holding;

use super::holders::Holders;
use super::look;
use crate::api::monitoring::view::{LevelsView, MonitoringView, ProjectUseView};
use crate::auth::Caller;
use crate::clusters;
use crate::error::ApiResult;
use crate::state::Web;
use crate::time::Time;

/// The cluster's totals. Projects that `caller` is no member of are summed up.
///
/// # Errors
/// No cluster has this name.
pub(crate) async fn overview(web: &Web, caller: &Caller, name: &str) -> ApiResult<MonitoringView> {
    let look = look(web, name).await?;
    let holding = clusters::holding(web, &look.facts).await?;
    let holders = Holders::of(web, caller, &holding).await?;
    let nodes = &look.reading.nodes;
    let states = nodes.values().flat_map(|node| holders.states(node));
    let mut cards: BTreeMap<String, usize> =
        CardState::ALL.into_iter().map(|state| (state.as_str().to_owned(), 0)).collect();
    states.for_each(|state| *cards.entry(state.as_str().to_owned()).or_default() += 1);
    let (projects, others) = by_project(&look.reading, &holding, &holders);
    let asked = holding.iter().fold(Amount::default(), |sum, held| sum.plus(held.attempt.amount));
    let level = |of: fn(&NodeReading) -> Levels, asked: f64| {
        let sum = sum(nodes.values().map(of));
        // Without metrics of the requests, use the requests of our own jobs.
        LevelsView::from(Levels { requested: sum.requested.or(Some(asked)), ..sum })
    };
    Ok(MonitoringView {
        cluster: look.facts.cluster.clone(),
        at: Time(look.reading.at),
        source: look.source.as_str().to_owned(),
        grafana: look.grafana.clone(),
        nodes: nodes.len(),
        cpu: level(|node| node.cpu, asked.cpu.0 as f64 / 1000.0),
        memory: level(|node| node.memory, asked.memory.0 as f64),
        gpus: level(|node| node.gpus, f64::from(asked.gpus)),
        cards,
        projects,
        others,
        problems: look.problems(),
    })
}

/// Sum of the known values. `None` if none is known.
fn sum(levels: impl Iterator<Item = Levels>) -> Levels {
    levels.fold(Levels::default(), |sum, one| Levels {
        capacity: plus(sum.capacity, one.capacity),
        requested: plus(sum.requested, one.requested),
        used: plus(sum.used, one.used),
    })
}

fn plus(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (one, other) => one.or(other),
    }
}

/// Requests and usage of each visible project. All others with allocations are summed up, `None` without any.
fn by_project(
    reading: &Reading,
    holding: &[Holding],
    holders: &Holders<'_>,
) -> (Vec<ProjectUseView>, Option<ProjectUseView>) {
    let mut found: BTreeMap<Option<&str>, ProjectUseView> = BTreeMap::new();
    let name = |held: &'_ Holding| holders.sees(&held.project);
    for held in holding {
        let own = name(held).then_some(held.project.as_str());
        let view = found.entry(own).or_default();
        view.attempts += 1;
        view.add(held.attempt.amount);
    }
    for (pod, used) in &reading.pods {
        let Some(held) = holders.of_pod(pod) else { continue };
        let Some(view) = found.get_mut(&name(held).then_some(held.project.as_str())) else { continue };
        view.cpu_used = plus(view.cpu_used, used.cpu);
        view.memory_used = plus(view.memory_used, used.memory);
    }
    for (uuid, card) in reading.nodes.values().flat_map(|node| &node.cards) {
        for (held, part) in holders.parts(uuid, card) {
            let Some(view) = found.get_mut(&name(held).then_some(held.project.as_str())) else { continue };
            view.gpus_used = plus(view.gpus_used, card.usage.map(|usage| usage * part));
        }
    }
    let others = found.remove(&None);
    let own = found
        .into_iter()
        .filter_map(|(project, view)| Some(ProjectUseView { project: Some(project?.to_owned()), ..view }));
    (own.collect(), others)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cubeloom_domain::monitoring::CardReading;

    use super::super::sample::held;
    use super::*;

    #[test]
    fn a_card_that_tasks_share_is_one_card_in_use() {
        let quarter = |project: &str, task: &str| {
            let mut held = held(project, task, &["GPU-1"]);
            held.attempt.account.card_parts = 250;
            held
        };
        let own = ["a", "b", "c"].map(|task| quarter("own", task));
        let holding: Vec<Holding> = own.into_iter().chain([quarter("theirs", "d")]).collect();
        let card = CardReading { present: true, usage: Some(1.0), ..CardReading::default() };
        let node = NodeReading { cards: BTreeMap::from([("GPU-1".into(), card)]), ..NodeReading::default() };
        let reading = Reading { nodes: BTreeMap::from([("local".into(), node)]), ..Reading::default() };
        let holders = Holders::new(&holding, BTreeSet::from(["own".to_owned()]));
        let (projects, others) = by_project(&reading, &holding, &holders);
        assert_eq!(projects.iter().map(|one| one.gpus_used).collect::<Vec<_>>(), [Some(0.75)]);
        assert_eq!(others.and_then(|one| one.gpus_used), Some(0.25));
    }
}
