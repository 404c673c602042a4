//! Volumes of projects: from a name to accessible files.

use std::sync::Arc;

use cubeloom_domain::Timestamp;
use cubeloom_domain::belongings::{Volume, VolumePlace};
use cubeloom_storage::browse::{BrowseError, Bucket, Folder};
use serde_json::json;

use crate::audit::{self, Act};
use crate::auth::Caller;
use crate::belongings::WORKSPACE;
use crate::clusters::workspace_claim;
use crate::error::{ApiError, ApiResult};
use crate::files::{blocking, owner, project_folder};
use crate::secrets;
use crate::state::Web;

/// Access to a volume's files.
#[derive(Clone)]
pub(crate) enum Tree {
    Folder(Arc<Folder>),
    Bucket(Arc<Bucket>),
    /// A folder that is created by the first write.
    Empty,
}

/// A volume of the project. The built-in one always exists.
///
/// # Errors
/// No volume has this name.
pub(crate) async fn find(web: &Web, project: &str, name: &str) -> ApiResult<Volume> {
    if name == WORKSPACE {
        return Ok(built_in(project));
    }
    let found = web.store().volume(project, name).await?;
    found.ok_or_else(|| ApiError::not_found("volume", name))
}

/// All volumes of a project, the built-in one first.
pub(crate) async fn all(web: &Web, project: &str) -> ApiResult<Vec<Volume>> {
    let stored = web.store().volumes(project).await?;
    Ok(std::iter::once(built_in(project)).chain(stored).collect())
}

fn built_in(project: &str) -> Volume {
    Volume {
        project: project.into(),
        name: WORKSPACE.into(),
        description: String::new(),
        place: VolumePlace::Workspace { path: String::new() },
        created_at: Timestamp(0),
        revision: 0,
    }
}

/// Location of a volume's files for this server. A cluster's workspace claim is the workspace: the server has
/// the same files (docs/kubernetes.md), and the project's own are those that its jobs see. Another claim is
/// the folder where an administrator has mounted it for the server.
async fn seen(web: &Web, place: VolumePlace) -> ApiResult<VolumePlace> {
    let VolumePlace::Claim { cluster, claim, folder } = &place else { return Ok(place) };
    let whole = VolumePlace::Workspace { path: String::new() };
    let is_workspace =
        workspace_claim(web, cluster).await?.is_some_and(|of_workspace| of_workspace == *claim);
    Ok(match folder {
        _ if is_workspace => whole,
        Some(path) => VolumePlace::Folder { path: path.clone() },
        None => place,
    })
}

/// Whether the files of a volume can be browsed from here.
pub(crate) async fn is_browsable(web: &Web, place: VolumePlace) -> ApiResult<bool> {
    Ok(!matches!(seen(web, place).await?, VolumePlace::Claim { .. }))
}

/// Opens a volume for reading. Records the use of a secret by a caller, but not by the server itself.
///
/// # Errors
/// The volume is unreachable from here.
pub(crate) async fn open(web: &Web, caller: Option<&Caller>, project: &str, name: &str) -> ApiResult<Tree> {
    match seen(web, find(web, project, name).await?.place).await? {
        VolumePlace::Workspace { path } => {
            let Some(root) = project_folder(web, project).await? else { return Ok(Tree::Empty) };
            let opened = blocking(move || match root.sub(&path) {
                Err(BrowseError::NotFound(_)) => Ok(None),
                other => other.map(Some),
            });
            Ok(opened.await?.map_or(Tree::Empty, |folder| Tree::Folder(Arc::new(folder))))
        }
        VolumePlace::Folder { path } => {
            let owner = owner(web, project)?;
            let opened = blocking(move || Folder::open(path.as_ref(), owner)).await?;
            let missing = || {
                ApiError::unavailable(format!(
                    "the folder of the volume `{name}` does not exist: an administrator can create it"
                ))
            };
            opened.map(|folder| Tree::Folder(Arc::new(folder))).ok_or_else(missing)
        }
        VolumePlace::Claim { cluster, .. } => Err(out_of_sight(web, name, &cluster).await?),
        place @ VolumePlace::ObjectStore { .. } => bucket(web, caller, project, name, place).await,
    }
}

/// The same for writing: creates missing folders.
///
/// # Errors
/// The volume is unreachable from here, or a folder cannot be created.
pub(crate) async fn open_to_write(web: &Web, caller: &Caller, project: &str, name: &str) -> ApiResult<Tree> {
    match open(web, Some(caller), project, name).await? {
        Tree::Empty => {}
        tree => return Ok(tree),
    }
    let place = find(web, project, name).await?.place;
    let VolumePlace::Workspace { path } = seen(web, place).await? else {
        return Err(ApiError::not_found("volume", name));
    };
    let (top, owner) = (web.folders().workspace.join(project), owner(web, project)?);
    let made = blocking(move || {
        let root = Folder::make(&top, owner)?;
        if path.is_empty() {
            return Ok(root);
        }
        match root.make_folder(&path) {
            Ok(()) | Err(BrowseError::Exists(_)) => root.sub(&path),
            Err(error) => Err(error),
        }
    });
    Ok(Tree::Folder(Arc::new(made.await?)))
}

/// Why a claim cannot be browsed, and what to do.
async fn out_of_sight(web: &Web, name: &str, cluster: &str) -> ApiResult<ApiError> {
    let sentence = match workspace_claim(web, cluster).await? {
        Some(workspace) => format!(
            "the volume `{name}` is a PVC that only jobs on the Kubernetes cluster `{cluster}` can access: an administrator can mount it on this server and set its mount path; or copy its files into the workspace, the PVC `{workspace}`, with a task that has the volume"
        ),
        None => format!(
            "the volume `{name}` is a PVC on the Kubernetes cluster `{cluster}`, which is not added here: an administrator can add it on the page Clusters"
        ),
    };
    Ok(ApiError::conflict(sentence))
}

async fn bucket(
    web: &Web,
    caller: Option<&Caller>,
    project: &str,
    name: &str,
    place: VolumePlace,
) -> ApiResult<Tree> {
    let VolumePlace::ObjectStore { credentials, .. } = &place else { return Ok(Tree::Empty) };
    let keys = match credentials {
        Some((id, secret)) => {
            let keys = (
                secrets::of_project(web, project, id).await?,
                secrets::of_project(web, project, secret).await?,
            );
            if let Some(caller) = caller {
                let act = Act::of(web, caller);
                let used =
                    act.entry("secret.use", secret.as_str()).after(json!({"of": "project", "volume": name}));
                audit::take_out(web, &act, &used).await;
            }
            Some(keys)
        }
        None => None,
    };
    let inner = web.settings().private_endpoints;
    Ok(Tree::Bucket(Arc::new(Bucket::open(&place, keys, inner).await?)))
}
