//! `GET /templates`

use axum::extract::State;
use cubeloom_compiler::newest_template;
use cubeloom_domain::template::{TaskTemplate, TemplateSet};
use serde::Deserialize;
use utoipa::IntoParams;

use super::TemplateSummaryView;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Query};
use crate::page::{Page, PageQuery};
use crate::sort::Sort;
use crate::state::Web;

/// Sort keys of templates.
#[derive(Clone, Copy, Debug)]
enum By {
    Name,
    Group,
    Framework,
}

/// Values of `sort`.
const ORDERS: [(&str, By); 3] = [("name", By::Name), ("group", By::Group), ("framework", By::Framework)];

/// Filters and order of templates.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TemplateQuery {
    /// Text to search for in the name, label, help or framework. Case-insensitive.
    pub q: Option<String>,
    /// Group to filter by.
    pub group: Option<String>,
    /// Sort order: `name`, `group` or `framework`. Prefix with `-` for descending order.
    pub sort: Option<String>,
    /// Number of items, from 1 to 200. Defaults to 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Lists the installed task templates, by name unless `sort` is set.
#[utoipa::path(
    get,
    path = "/templates",
    tag = "templates",
    params(TemplateQuery),
    responses(
        (status = 200, body = Page<TemplateSummaryView>),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    Query(query): Query<TemplateQuery>,
) -> ApiResult<Json<Page<TemplateSummaryView>>> {
    let page = PageQuery { limit: query.limit, cursor: query.cursor.clone() };
    let limit = page.limit()?;
    let sort = Sort::read(query.sort.as_deref(), &ORDERS)?;
    let place = |view: &TemplateSummaryView| {
        let by = match sort.by {
            By::Name => String::new(),
            By::Group => view.group.clone(),
            By::Framework => view.framework.clone(),
        };
        (by, view.name.clone())
    };
    let after = page.place(&sort.word())?;
    let comes = |view: &TemplateSummaryView, after: &(String, String)| match sort.descending {
        true => place(view) < *after,
        false => place(view) > *after,
    };
    let mut views = found(&web.templates(), &query);
    views.sort_by_key(place);
    if sort.descending {
        views.reverse();
    }
    views.retain(|view| after.as_ref().is_none_or(|after| comes(view, after)));
    views.truncate(limit + 1);
    Ok(Json(Page::sorted(views, limit, &sort.word(), place)))
}

/// Templates that match a query, by name.
pub(crate) fn found(set: &TemplateSet, query: &TemplateQuery) -> Vec<TemplateSummaryView> {
    let words = query.q.as_deref().unwrap_or_default().to_lowercase();
    let words: Vec<&str> = words.split_whitespace().collect();
    let newest = set.values().filter_map(|versions| Some((newest_template(versions)?, versions)));
    newest
        .filter(|(found, _)| {
            query.group.as_ref().is_none_or(|group| group.is_empty() || *group == found.template.group)
        })
        .filter(|(found, _)| words.iter().all(|word| text(&found.template).contains(word)))
        .map(|(found, versions)| TemplateSummaryView::of(found, versions))
        .collect()
}

/// Text that a search covers.
fn text(template: &TaskTemplate) -> String {
    let TaskTemplate { name, label, help, framework, group, .. } = template;
    let text =
        [name, &label.en, &label.zh, &help.en, &help.zh, framework, group].map(String::as_str).join("\n");
    text.to_lowercase()
}
