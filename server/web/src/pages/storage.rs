//! `GET /projects/{project}/storage`: volumes of the project, the files of one, and its registries.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_domain::belongings::{Registry, Volume, VolumePlace};
use serde::Deserialize;

use super::crumbs::{Crumb, crumbs, encoded, inside};
use super::{Frame, html};
use crate::belongings::WORKSPACE;
use crate::code;
use crate::error::{ApiError, ApiResult, Kind};
use crate::extract::{Path, Query};
use crate::files::{self, EntryView, SortQuery};
use crate::page::{Page, PageQuery};
use crate::show;
use crate::sort::Heading;
use crate::state::Web;
use crate::volumes::{self, Tree};

/// Rows per page.
const ROWS: usize = 100;

/// Query parameters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    volume: String,
    path: String,
    sort: String,
    cursor: String,
}

#[derive(Template)]
#[template(path = "storage.html")]
struct StoragePage {
    frame: Frame,
    project: String,
    volumes: Vec<Volume>,
    volume: Volume,
    crumbs: Vec<Crumb>,
    path: String,
    sort: String,
    files: Page<EntryView>,
    /// Why the files cannot be shown, if so.
    refused: Option<String>,
    registries: Vec<Registry>,
    secrets: String,
    code: Code,
}

/// Size of the project's uploaded code.
struct Code {
    folders: usize,
    bytes: u64,
}

pub(crate) async fn page(
    State(web): State<Web>,
    frame: Frame,
    Path(project): Path<String>,
    Query(asked): Query<Asked>,
) -> ApiResult<Response> {
    let name = if asked.volume.is_empty() { WORKSPACE } else { &asked.volume };
    let volume = volumes::find(&web, &project, name).await?;
    let (files, refused) = match listed(&web, &frame, &project, name, &asked).await {
        Ok(files) => (files, None),
        Err(error) if error.kind() == Kind::Internal => return Err(error),
        Err(error) => (Page { items: Vec::new(), next_cursor: None }, Some(error.detail().to_owned())),
    };
    let volumes = volumes::all(&web, &project).await?;
    let registries = web.store().registries(&project).await?;
    let secrets = secret_names(&web, &frame, &project).await?;
    let sent = code::notes_of(&web, &project).await?;
    let code = Code { folders: sent.len(), bytes: sent.iter().map(|one| one.bytes).sum() };
    let (crumbs, path) = (crumbs(&asked.path), asked.path.trim_matches('/').to_owned());
    let sort = if asked.sort.is_empty() { "name".to_owned() } else { asked.sort };
    html(&StoragePage {
        frame,
        project,
        volumes,
        volume,
        crumbs,
        path,
        sort,
        files,
        refused,
        registries,
        secrets,
        code,
    })
}

async fn listed(
    web: &Web,
    frame: &Frame,
    project: &str,
    name: &str,
    asked: &Asked,
) -> ApiResult<Page<EntryView>> {
    let cursor = Some(asked.cursor.clone()).filter(|cursor| !cursor.is_empty());
    let page = PageQuery { limit: Some(ROWS), cursor };
    let sort = SortQuery { sort: Some(asked.sort.clone()) }.read()?;
    match volumes::open(web, frame.caller.as_ref(), project, name).await? {
        Tree::Folder(folder) => files::list(Some(Arc::clone(&folder)), &asked.path, &sort, &page).await,
        Tree::Bucket(bucket) => files::list_bucket(&bucket, &asked.path, &sort, &page).await,
        Tree::Empty if asked.path.is_empty() => files::list(None, "", &sort, &page).await,
        Tree::Empty => Err(ApiError::not_found("folder", &asked.path)),
    }
}

/// Secret names to choose from in the owners' dialogs, as JSON.
async fn secret_names(web: &Web, frame: &Frame, project: &str) -> ApiResult<String> {
    if !frame.may_own() {
        return Ok("[]".into());
    }
    let owner = cubeloom_domain::belongings::Owner::Project(project.into());
    let names: Vec<String> =
        web.store().secrets(&owner).await?.into_iter().map(|secret| secret.name).collect();
    serde_json::to_string(&names).map_err(ApiError::internal)
}

impl StoragePage {
    /// Text about the uploaded code.
    fn code_text(&self) -> String {
        let (folders, size) = (self.code.folders.to_string(), show::bytes(self.code.bytes));
        self.frame.t_with("storage.code-text", [("folders", &folders), ("size", &size)])
    }

    /// URL of a folder of the volume.
    fn folder(&self, path: &str) -> String {
        let (volume, path) = (encoded(&self.volume.name), encoded(path));
        format!("/projects/{}/storage?volume={volume}&path={path}", self.project)
    }

    /// URL of the next page of this folder.
    fn next(&self) -> Option<String> {
        let cursor = self.files.next_cursor.as_ref()?;
        Some(format!("{}&sort={}&cursor={cursor}", self.folder(&self.path), encoded(&self.sort)))
    }

    /// Sortable heading of the files.
    fn sorted(&self, first: &str) -> Heading {
        Heading::new(first, &self.sort, |sort| format!("{}&sort={sort}", self.folder(&self.path)))
    }

    /// API URL of the volume, for example with `file` for a file.
    fn api(&self, what: &str, path: &str) -> String {
        let base = format!("/api/v1/projects/{}/volumes/{}", self.project, self.volume.name);
        format!("{base}/{what}?path={}", encoded(path))
    }

    /// Path of an entry in the current folder.
    fn inside(&self, name: &str) -> String {
        inside(&self.path, name)
    }

    /// Location of a volume, for the table.
    fn place(&self, volume: &Volume) -> String {
        match &volume.place {
            VolumePlace::Workspace { path } => format!("{}/{path}", self.project),
            VolumePlace::Folder { path } => path.clone(),
            VolumePlace::Claim { cluster, claim, folder: None } => format!("{cluster}: {claim}"),
            VolumePlace::Claim { cluster, claim, folder: Some(path) } => {
                format!("{cluster}: {claim}, {path}")
            }
            VolumePlace::ObjectStore { scheme, bucket, prefix, .. } => {
                format!("{scheme}://{bucket}/{prefix}")
            }
        }
    }

    /// Text for a volume's kind.
    fn kind(&self, volume: &Volume) -> &str {
        self.frame.t(match &volume.place {
            VolumePlace::Workspace { .. } => "storage.kind-workspace",
            VolumePlace::Folder { .. } => "storage.kind-folder",
            VolumePlace::Claim { .. } => "storage.kind-claim",
            VolumePlace::ObjectStore { .. } => "storage.kind-bucket",
        })
    }

    /// Whether the reader may upload files here.
    fn may_write(&self) -> bool {
        self.frame.may_edit() && self.refused.is_none()
    }

    /// Whether it is a bucket: folders cannot be downloaded as an archive.
    fn is_bucket(&self) -> bool {
        matches!(self.volume.place, VolumePlace::ObjectStore { .. })
    }
}
