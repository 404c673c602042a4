//! Cordoned nodes: list, cordon and uncordon.

use cubeloom_domain::ids::is_label;
use cubeloom_domain::nodes::{AsideReason, NodeAside, NodeFailure, NodeName};
use cubeloom_domain::slurm::is_word;
use cubeloom_store::Created;
use serde_json::json;

use crate::api::clusters::aside::{AsideBody, AsideFailureView, AsideView};
use crate::audit;
use crate::auth::{Caller, projects_of};
use crate::check::Found;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;
use crate::time::Time;

/// Maximum length of a node name: that of a DNS subdomain.
const NAME: usize = 253;
/// Maximum length of a note.
const NOTE: usize = 200;

/// Cordoned nodes of a cluster. Shows only the runs that `caller` can see.
pub(crate) async fn of(web: &Web, caller: &Caller, cluster: &str) -> ApiResult<Vec<AsideView>> {
    let mut nodes = web.store().nodes_aside().await?;
    nodes.retain(|aside| aside.of.cluster == cluster);
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    let projects = projects_of(web, caller).await?;
    let mut found = Vec::new();
    for aside in nodes {
        found.push(view(web, projects.as_deref(), aside).await?);
    }
    Ok(found)
}

/// The view for a reader of these projects. `None` means all.
async fn view(web: &Web, projects: Option<&[String]>, aside: NodeAside) -> ApiResult<AsideView> {
    let offered = web.settings().nodes.offers(&aside, web.now());
    let why = aside.why.sentence();
    let (user, note, failures) = match aside.why {
        AsideReason::Person { user, note } => (Some(user), Some(note), Vec::new()),
        AsideReason::Failures { failures } => (None, None, failures),
    };
    let mut told = Vec::new();
    for failure in failures {
        told.push(of_failure(web, projects, failure).await?);
    }
    Ok(AsideView { node: aside.of.node, since: Time(aside.since), why, user, note, failures: told, offered })
}

async fn of_failure(
    web: &Web,
    projects: Option<&[String]>,
    failure: NodeFailure,
) -> ApiResult<AsideFailureView> {
    let run = web.store().run(&failure.attempt.run).await?;
    let sees = |project: &String| projects.is_none_or(|projects| projects.contains(project));
    let is_seen = run.is_some_and(|run| sees(&run.project));
    let seen = Some(failure.attempt).filter(|_| is_seen);
    Ok(AsideFailureView {
        at: Time(failure.at),
        message: failure.message,
        run: seen.as_ref().map(|attempt| attempt.run.to_string()),
        task: seen.map(|attempt| attempt.task),
    })
}

/// Cordons a node. A node that is already cordoned keeps its first reason. Returns whether it was not.
///
/// # Errors
/// All problems, with their fields. Or the cluster does not exist or is the local machine.
pub(crate) async fn set(
    web: &Web,
    caller: &Caller,
    of: &NodeName,
    said: AsideBody,
) -> ApiResult<(Created, AsideView)> {
    let executor = web.clusters().get(&of.cluster);
    let executor = executor.ok_or_else(|| ApiError::not_found("cluster", &of.cluster))?;
    let mut found = Found::default();
    let kind = super::facts(&executor).await?.kind;
    if kind == "slurm" && (of.node.len() > NAME || !is_word(&of.node)) {
        found.wrong("/node", "a node's name has letters, digits, `-`, `_` and `.`");
    } else if kind != "slurm" && (of.node.len() > NAME || !of.node.split('.').all(is_label)) {
        found.wrong("/node", "a node's name has lower-case letters, digits, `-` and `.`");
    }
    found.line("/note", &said.note, NOTE);
    if kind == "local" {
        found.wrong("/cluster", "the server's machine is one node, which cannot be cordoned");
    }
    found.refuse()?;
    let why = AsideReason::Person { user: caller.user.name.clone(), note: said.note.trim().to_owned() };
    let aside = NodeAside { of: of.clone(), since: web.now(), why };
    let entry = audit::entry(web, caller, "node.set_aside", subject(of)).after(json!({"note": said.note}));
    let created = web.store().set_node_aside(&aside, Some(&entry)).await?;
    web.wake();
    let present = web.store().nodes_aside().await?.into_iter().find(|one| one.of == *of);
    let projects = projects_of(web, caller).await?;
    Ok((created, view(web, projects.as_deref(), present.unwrap_or(aside)).await?))
}

/// Uncordons a node.
///
/// # Errors
/// The node is not cordoned.
pub(crate) async fn take_back(web: &Web, caller: &Caller, of: &NodeName) -> ApiResult<()> {
    let not_found = || ApiError::not_found("cordoned node", &of.node);
    let aside = web.store().nodes_aside().await?.into_iter().find(|one| one.of == *of);
    let aside = aside.ok_or_else(not_found)?;
    let before = json!({"since": Time(aside.since), "why": aside.why.sentence()});
    let entry = audit::entry(web, caller, "node.take_back", subject(of)).before(before);
    if !web.store().take_node_back(of, &entry).await? {
        return Err(not_found());
    }
    web.wake();
    Ok(())
}

fn subject(of: &NodeName) -> String {
    format!("{}/{}", of.cluster, of.node)
}
