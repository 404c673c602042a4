//! `PUT /projects/{project}/pipelines/{pipeline}`

use axum::extract::State;
use cubeloom_store::{Expected, PutPipeline};
use serde_json::json;

use super::stale::stale;
use super::view::{NewDocument, PipelineView, VersionView};
use crate::api::events::view::SavedPipeline;
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{IfMatch, Tagged};
use crate::extract::{Json, Path};
use crate::pipelines::{Accepted, Sent, accept};
use crate::state::Web;
use crate::texts::Lang;
use crate::time::Time;

/// Stores a document as the next version of a pipeline.
///
/// `If-Match` contains the version that your change is based on. If a newer version exists, the response contains its
/// author and the differences.
#[utoipa::path(
    put,
    path = "/projects/{project}/pipelines/{pipeline}",
    tag = "pipelines",
    params(("project" = String, Path), ("pipeline" = String, Path), ("If-Match" = String, Header)),
    request_body = NewDocument,
    responses(
        (status = 200, body = PipelineView, headers(("ETag" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 428, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn put(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path((project, name)): Path<(String, String)>,
    IfMatch(seen): IfMatch,
    Json(new): Json<NewDocument>,
) -> ApiResult<Tagged<PipelineView>> {
    let missing = || ApiError::not_found("pipeline", &name);
    let present = web.store().newest(&project, &name).await?.ok_or_else(missing)?;
    let kept = new.code.is_none().then(|| present.code.clone()).flatten();
    let sent = Sent { document: new.document, message: new.message, code: new.code };
    let mut accepted = accept(&web, &caller, &project, sent).await?;
    accepted.must_be(&name)?;
    accepted.new.code = accepted.new.code.or(kept);
    let expected = seen.map(|seen| u32::try_from(seen).unwrap_or(u32::MAX));
    let entry =
        entry(&web, &caller, "pipeline.update", &accepted).before(json!({"version": present.version}));
    let expecting = Expected::Version(expected.unwrap_or(present.version));
    match web.store().put_pipeline(&accepted.new, expecting, &entry).await? {
        PutPipeline::Stored(version) => {
            web.live().saved(saved(&accepted, version));
            Ok(Tagged(u64::from(version), view(accepted, version, lang)))
        }
        PutPipeline::Same(version) => Ok(Tagged(u64::from(version), view(accepted, version, lang))),
        PutPipeline::Stale(_) => Err(stale(&web, &accepted.new, expected).await?),
        PutPipeline::Missing | PutPipeline::Exists => Err(missing()),
    }
}

/// Audit log entry of an accepted document.
pub(super) fn entry(web: &Web, caller: &Caller, action: &str, accepted: &Accepted) -> audit::Entry {
    let new = &accepted.new;
    let after = json!({"digest": new.digest, "code": new.code, "message": new.message});
    audit::entry(web, caller, action, &new.name).project(&new.project).after(after)
}

/// Event for listeners of the project.
pub(super) fn saved(accepted: &Accepted, version: u32) -> SavedPipeline {
    let new = &accepted.new;
    SavedPipeline {
        project: new.project.clone(),
        name: new.name.clone(),
        version,
        user: new.user.clone(),
        message: new.message.clone(),
        created_at: Time(new.now),
    }
}

/// View of the stored version.
pub(super) fn view(accepted: Accepted, version: u32, lang: Lang) -> PipelineView {
    let new = accepted.new;
    let newest = VersionView {
        version,
        document: Some(new.document),
        digest: new.digest,
        code: new.code,
        message: new.message,
        user: new.user,
        created_at: Time(new.now),
    };
    PipelineView::new(&new.project, &accepted.pipeline, newest, &accepted.problems, lang)
}
