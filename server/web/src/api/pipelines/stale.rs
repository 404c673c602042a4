//! Response to a write with an outdated revision.

use cubeloom_store::{NewVersion, PipelineVersion};
use serde_json::json;
use similar::TextMerge;

use crate::error::{ApiError, ApiResult};
use crate::etag::etag;
use crate::pipelines::difference;
use crate::state::Web;
use crate::time::Time;

/// Maximum number of lines of a document to merge: merging very different documents would take too long.
const MERGED: usize = 5_000;

/// The error, with the newest version, its author and three diffs. They show the changes since the writer's
/// base version, the effect of overwriting, and a merge of both changes.
///
/// # Errors
/// The pipeline was deleted in the meantime.
pub(super) async fn stale(web: &Web, sent: &NewVersion, base: Option<u32>) -> ApiResult<ApiError> {
    let (project, name) = (&sent.project, &sent.name);
    let missing = || ApiError::not_found("pipeline", name);
    let present = web.store().newest(project, name).await?.ok_or_else(missing)?;
    let base = match base {
        Some(base) => web.store().pipeline(project, name, base).await?,
        None => None,
    };
    let what = format!("the pipeline `{name}` (version {} by {})", present.version, present.user);
    let error = ApiError::stale(&what, etag(u64::from(present.version)));
    let (document, now) = (sent.document.clone(), present.clone());
    // Comparing long documents takes a while: do not block other requests.
    let compared = tokio::task::spawn_blocking(move || differences(&document, &now, base.as_ref())).await;
    let difference = compared.map_err(ApiError::internal)?;
    Ok(error.with("present", shown(&present)).with("difference", difference))
}

fn shown(version: &PipelineVersion) -> serde_json::Value {
    json!({
        "version": version.version,
        "user": version.user,
        "message": version.message,
        "created_at": Time(version.created_at),
        "document": version.document,
    })
}

fn differences(sent: &str, present: &PipelineVersion, base: Option<&PipelineVersion>) -> serde_json::Value {
    let now = format!("version {}", present.version);
    let yours = difference(&present.document, sent, (&now, "yours"));
    let Some(base) = base else { return json!({"yours": yours}) };
    let long = |text: &str| text.lines().count() > MERGED;
    let was = format!("version {}", base.version);
    let theirs = difference(&base.document, &present.document, (&was, &now));
    if [&base.document, sent, &present.document].into_iter().any(long) {
        return json!({"theirs": theirs, "yours": yours});
    }
    let mut merged = TextMerge::from_lines(&base.document, sent, &present.document);
    merged.labels(&was, "yours", &now);
    json!({
        "theirs": theirs,
        "yours": yours,
        "merged": {"document": merged.to_string(), "conflicts": merged.conflict_count()},
    })
}
