//! Clusters: their facts, their usage, and the templates that they can run.

pub(crate) mod added;
pub(crate) mod aside;

use std::collections::BTreeSet;
use std::sync::Arc;

use cubeloom_domain::clusters::{Clusters, Standing};
use cubeloom_domain::executor::{Executor, Facts, NodeFacts};
use cubeloom_domain::faulty::FaultyCards;
use cubeloom_domain::job::Job;
use cubeloom_domain::kubernetes::KubernetesFacts;
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::resources::Amount;
use cubeloom_domain::template::TaskTemplate;
use cubeloom_store::Holding;

use crate::api::clusters::view::{
    AmountView, ClusterDetail, ClusterView, GpuView, NodeView, RunnableView, RunningView, StandingView,
};
use crate::auth::{Caller, visible};
use crate::error::{ApiError, ApiResult};
use crate::state::Web;
use crate::time::Time;

pub(crate) use added::prometheus as prometheus_of;
pub use added::{cards_over_time, cards_worked, measured, open as open_kubeconfig, pods_used};

/// Maximum number of attempts that are listed individually.
const TOLD: usize = 200;

/// All clusters, by name.
pub(crate) async fn all(web: &Web) -> ApiResult<Vec<ClusterView>> {
    let (mut found, all) = (Vec::new(), web.store().holding().await?);
    for (_, executor) in web.clusters().all() {
        let facts = facts(&executor).await?;
        let holding = all.iter().filter(|held| is_on(held, &facts));
        found.push(view(&facts, executor.standing(), holding));
    }
    Ok(found)
}

/// One cluster, with the details that `caller` can see.
///
/// # Errors
/// No cluster has this name.
pub(crate) async fn detail(web: &Web, caller: &Caller, name: &str) -> ApiResult<ClusterDetail> {
    let executor = web.clusters().get(name).ok_or_else(|| ApiError::not_found("cluster", name))?;
    let facts = facts(&executor).await?;
    let holding = holding(web, &facts).await?;
    let cluster = view(&facts, executor.standing(), holding.iter());
    let projects: BTreeSet<String> =
        visible(web, caller).await?.into_iter().map(|project| project.name).collect();
    let seen = |held: &&Holding| projects.contains(&held.project);
    let mut running: Vec<RunningView> = holding.iter().filter(seen).map(running).collect();
    let others = holding.len() - running.len();
    running.truncate(TOLD);
    let aside = aside::of(web, caller, name).await?;
    Ok(ClusterDetail { cluster, aside, running, others, templates: runnable(web, &facts) })
}

/// The volume claim for workspaces on a cluster. `None` without a cluster of this name or without claims.
pub(crate) async fn workspace_claim(web: &Web, cluster: &str) -> ApiResult<Option<String>> {
    let Some(executor) = web.clusters().get(cluster) else { return Ok(None) };
    Ok(facts(&executor).await?.kubernetes.map(|facts| facts.workspace_claim))
}

/// Whether projects may use a claim of a cluster by name: the workspace claim, of which jobs see only their
/// own part, or any in a namespace of the project. Other namespaces contain claims of other projects or of
/// the server.
pub(crate) async fn is_of_projects(web: &Web, cluster: &str, claim: &str) -> ApiResult<bool> {
    let Some(executor) = web.clusters().get(cluster) else { return Ok(false) };
    let facts = facts(&executor).await?.kubernetes;
    Ok(facts.is_some_and(|facts| facts.workspace_claim == claim || facts.namespace.contains("{project}")))
}

/// In a blocking task: the executor may inspect its machine.
pub(crate) async fn facts(executor: &Arc<dyn Executor>) -> ApiResult<Facts> {
    let executor = Arc::clone(executor);
    tokio::task::spawn_blocking(move || executor.facts()).await.map_err(ApiError::internal)
}

/// Returns the bindings that a cluster would give a job. `None` if the cluster no longer exists: then the job
/// is planned for the local machine.
pub(crate) fn foresee(
    clusters: &Clusters,
    cluster: &str,
) -> impl Fn(&Job) -> Result<Option<Bindings>, Failure> + Send + use<> {
    let executor = clusters.get(cluster);
    move |job| executor.as_ref().map_or(Ok(None), |executor| executor.foresee(job))
}

/// Attempts with allocations on a cluster, the newest first.
pub(crate) async fn holding(web: &Web, facts: &Facts) -> ApiResult<Vec<Holding>> {
    let mut found = web.store().holding().await?;
    found.retain(|held| is_on(held, facts));
    Ok(found)
}

/// Whether an attempt has allocations on a cluster.
pub(crate) fn is_on(held: &Holding, facts: &Facts) -> bool {
    match &held.attempt.bindings {
        // Bindings of local processes belong to this machine.
        Bindings::Local(_) => facts.kind == "local",
        Bindings::Kubernetes(_) | Bindings::Slurm(_) => {
            held.attempt.bindings.cluster() == Some(facts.cluster.as_str())
        }
        Bindings::Run { .. } => false,
        Bindings::None => facts.kind != "local",
    }
}

fn view<'h>(facts: &Facts, standing: Standing, holding: impl Iterator<Item = &'h Holding>) -> ClusterView {
    let (attempts, used) =
        holding.fold((0, Amount::default()), |(count, sum), held| (count + 1, sum.plus(held.attempt.amount)));
    ClusterView {
        name: facts.cluster.clone(),
        kind: facts.kind.clone(),
        capacity: facts.capacity().into(),
        used: used.into(),
        attempts,
        nodes: facts.nodes.iter().map(node).collect(),
        node_groups: facts.node_groups.clone(),
        spares: spares(facts),
        standing: standing.into(),
        problems: problems(facts, used),
    }
}

/// Current standby nodes of a cluster.
fn spares(facts: &Facts) -> Vec<String> {
    let of_slurm = || facts.slurm.as_ref().map(|facts| facts.spare_nodes.clone());
    let found = facts.kubernetes.as_ref().map(|facts| facts.spare_nodes.clone()).or_else(of_slurm);
    found.unwrap_or_default()
}

/// Problems of a cluster that users should know.
fn problems(facts: &Facts, used: Amount) -> Vec<String> {
    let mut found = Vec::new();
    if facts.nodes.is_empty() {
        found.push("it has no nodes: nothing can run there".to_owned());
    }
    if !facts.nodes.iter().any(NodeFacts::has_cards) {
        found.push("it has no known GPUs: tasks that request GPUs are rejected".to_owned());
    }
    found.extend(FaultyCards::of(&facts.nodes).map(|faulty| faulty.sentence()));
    found.extend(facts.kubernetes.iter().flat_map(unshared));
    if !facts.nodes.is_empty() && !used.fits(facts.capacity()) {
        found.push("more is allocated than it has: its settings were changed while jobs ran".to_owned());
    }
    found
}

/// GPU sharing schedulers that cannot work, as Volcano places every pod.
fn unshared(facts: &KubernetesFacts) -> impl Iterator<Item = String> {
    let is_volcanos = facts.volcano.is_some() && !facts.cards.vgpu;
    let others = [("HAMi", facts.cards.hami), ("KAI-Scheduler", facts.cards.kai.is_some())];
    others.into_iter().filter(move |(_, shares)| is_volcanos && *shares).map(|(who, _)| {
        format!(
            "{who} shares its GPUs, but Volcano schedules every pod and does not support such shares: tasks that request a GPU fraction are rejected"
        )
    })
}

fn node(node: &NodeFacts) -> NodeView {
    let card = |gpu: &cubeloom_domain::executor::GpuFacts| GpuView {
        name: gpu.name.clone(),
        memory: gpu.memory.0,
        uuid: gpu.uuid.clone(),
        xid: gpu.xid,
    };
    NodeView {
        name: node.name.clone(),
        amount: node.amount().into(),
        gpus: node.gpus.iter().map(card).collect(),
        groups: node.groups.clone(),
    }
}

fn running(held: &Holding) -> RunningView {
    let key = &held.attempt.key;
    RunningView {
        run: key.run.to_string(),
        project: held.project.clone(),
        pipeline: held.pipeline.clone(),
        task: key.task.clone(),
        instance: key.instance,
        attempt: key.n,
        state: held.attempt.state.as_str(),
        workers: held.attempt.workers,
        amount: held.attempt.amount.into(),
    }
}

/// The newest version of each template, and its missing requirements on this cluster.
fn runnable(web: &Web, facts: &Facts) -> Vec<RunnableView> {
    let templates = web.templates();
    let newest = templates.values().filter_map(|versions| versions.values().next_back());
    newest
        .map(|installed| RunnableView {
            name: installed.template.name.clone(),
            framework: installed.template.framework.clone(),
            missing: missing(&installed.template, facts),
        })
        .collect()
}

fn missing(template: &TaskTemplate, facts: &Facts) -> Vec<String> {
    let Some(installed) = &facts.installed_apt else { return Vec::new() };
    let needed = template.local.iter().flat_map(|local| &local.apt);
    needed.filter(|name| !installed.contains(name)).cloned().collect()
}

impl From<Amount> for AmountView {
    fn from(amount: Amount) -> Self {
        Self { cpu: amount.cpu.0 as f64 / 1000.0, memory: amount.memory.0, gpus: amount.gpus }
    }
}

impl From<Standing> for StandingView {
    fn from(standing: Standing) -> Self {
        let view = |state: &str| Self { state: state.to_owned(), since: None, why: None };
        match standing {
            Standing::Unknown => view("unknown"),
            Standing::Connected => view("connected"),
            Standing::GivenUp { since } => Self { since: Some(Time(since)), ..view("given_up") },
            Standing::Away { since, why } => {
                Self { since: Some(Time(since)), why: Some(why), ..view("away") }
            }
            Standing::Refused { since, why } => {
                Self { since: Some(Time(since)), why: Some(why), ..view("refused") }
            }
        }
    }
}
