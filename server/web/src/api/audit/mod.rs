//! The audit log.

mod export;
mod list;
mod of_project;
mod view;

use cubeloom_store::AuditFilter;
use utoipa_axum::router::OpenApiRouter;

use crate::error::ApiResult;
use crate::page::{Page, PageQuery};
use crate::routes::routes;
use crate::state::Web;

pub(crate) use export::json_line;
pub(crate) use view::{AuditQuery, AuditView};

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(list::list)).routes(routes!(of_project::of_project))
}

/// A page of entries, the newest first.
pub(crate) async fn page(web: &Web, wanted: AuditQuery, query: &PageQuery) -> ApiResult<Page<AuditView>> {
    let limit = query.limit()?;
    let filter = AuditFilter { before: query.after()?, limit: limit + 1, ..AuditFilter::from(wanted) };
    let found = web.store().audit_log(&filter).await?;
    Ok(Page::of(found, limit, |entry| entry.id.clone()).map(AuditView::from))
}
