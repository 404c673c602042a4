//! Versions of a pipeline, in pages.

use crate::api::pipelines::{VersionView, version_page};
use crate::error::ApiResult;
use crate::page::{Page, PageQuery};
use crate::state::Web;

/// The newest versions, or those after a cursor.
pub(super) async fn page(
    web: &Web,
    project: &str,
    name: &str,
    cursor: Option<String>,
) -> ApiResult<Page<VersionView>> {
    version_page(web, project, name, &PageQuery { limit: None, cursor }).await
}
