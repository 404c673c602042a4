//! Hooks of a pipeline, for users who may see their URLs.

use crate::api::hooks::HookView;
use crate::error::ApiResult;
use crate::state::Web;

/// All hooks, the oldest first.
pub(super) async fn all(web: &Web, project: &str, name: &str) -> ApiResult<Vec<HookView>> {
    let hooks = web.store().hooks(project, Some(name)).await?;
    Ok(hooks.into_iter().map(|hook| HookView::new(web, hook)).collect())
}
