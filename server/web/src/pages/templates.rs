//! `GET /templates`: the catalog of task templates.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::{Frame, html};
use crate::api::templates::{TemplateQuery, TemplateSummaryView, TextView, found};
use crate::error::ApiResult;
use crate::extract::Query;
use crate::state::Web;

#[derive(Template)]
#[template(path = "templates.html")]
struct TemplatesPage {
    frame: Frame,
    q: String,
    group: String,
    /// All groups.
    groups: Vec<String>,
    /// Templates found, by group.
    found: BTreeMap<String, Vec<TemplateSummaryView>>,
}

impl TemplatesPage {
    fn text<'t>(&self, text: &'t TextView) -> &'t str {
        in_language(&self.frame, text)
    }

    /// First paragraph of a help text.
    fn first<'t>(&self, text: &'t TextView) -> &'t str {
        self.text(text).trim().split("\n\n").next().unwrap_or_default()
    }
}

/// A text in the reader's language.
pub(super) fn in_language<'t>(frame: &Frame, text: &'t TextView) -> &'t str {
    if frame.lang.as_str() == "zh" { &text.zh } else { &text.en }
}

pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    Query(query): Query<TemplateQuery>,
) -> ApiResult<Response> {
    let set = web.templates();
    let mut groups: Vec<String> =
        found(&set, &TemplateQuery::default()).into_iter().map(|view| view.group).collect();
    groups.sort();
    groups.dedup();
    let mut by_group: BTreeMap<String, Vec<TemplateSummaryView>> = BTreeMap::new();
    for view in found(&set, &query) {
        by_group.entry(view.group.clone()).or_default().push(view);
    }
    let (q, group) = (query.q.unwrap_or_default(), query.group.unwrap_or_default());
    html(&TemplatesPage { frame, q, group, groups, found: by_group })
}
