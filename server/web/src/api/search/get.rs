//! `GET /search`

use axum::extract::State;
use cubeloom_domain::identity::Project;
use cubeloom_store::NameSearch;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::{FoundProjectView, FoundView};
use crate::auth::{self, Caller};
use crate::error::ApiResult;
use crate::extract::{Json, Query};
use crate::state::Web;

/// Maximum number of results of each kind.
const EACH: usize = 8;

/// Maximum length of the text: names are shorter.
const LONGEST: usize = 100;

/// What to search for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FindQuery {
    /// Text that names contain, ignoring case, or whose letters they have in this order. Only the first 100 characters
    /// count.
    pub q: Option<String>,
    /// Project whose results come before equal ones of other projects.
    pub project: Option<String>,
}

/// Searches the projects, pipelines, runs and models that are visible to the caller.
///
/// Runs are found by the beginning of their ID and by the name of their pipeline. The newest 200 are also found by the
/// end of their ID. Without `q`, the response has the newest runs, and the pipelines that ran last.
#[utoipa::path(
    get,
    path = "/search",
    tag = "search",
    params(FindQuery),
    responses((status = 200, body = FoundView))
)]
pub(crate) async fn search(
    State(web): State<Web>,
    caller: Caller,
    Query(query): Query<FindQuery>,
) -> ApiResult<Json<FoundView>> {
    let text = query.q.as_deref().unwrap_or_default().trim().to_lowercase();
    let text: String = text.chars().take(LONGEST).collect();
    let project = query.project.unwrap_or_default();
    let visible = auth::visible(&web, &caller).await?;
    let projects = auth::projects_of(&web, &caller).await?;
    let search = NameSearch { projects: projects.as_deref(), text: &text, project: &project, limit: EACH };
    let pipelines = web.store().matching_pipelines(&search).await?;
    let mut runs = web.store().matching_runs(&search, &pipelines).await?;
    // Runs of deleted projects are still stored.
    runs.retain(|run| visible.iter().any(|project| project.name == run.project));
    let models = if text.is_empty() { Vec::new() } else { web.store().matching_models(&search).await? };
    Ok(Json(FoundView {
        projects: matching(&visible, &text),
        pipelines: pipelines.into_iter().map(Into::into).collect(),
        runs: runs.into_iter().map(Into::into).collect(),
        models: models.into_iter().map(Into::into).collect(),
    }))
}

/// The projects that match by name or label, the best first; none for an empty text.
fn matching(projects: &[Project], text: &str) -> Vec<FoundProjectView> {
    if text.is_empty() {
        return Vec::new();
    }
    let best = |project: &Project| {
        [&project.name, &project.label].into_iter().filter_map(|name| rank(&name.to_lowercase(), text)).min()
    };
    let mut found: Vec<_> =
        projects.iter().filter_map(|project| best(project).map(|rank| (rank, project))).collect();
    found.sort_by_key(|(rank, project)| (*rank, &project.name));
    found.into_iter().take(EACH).map(|(_, project)| project.into()).collect()
}

/// How well a name matches, 0 being the best: exactly, by its beginning, by a part, or by its letters in this order.
/// `None` if it does not match.
fn rank(name: &str, text: &str) -> Option<u8> {
    if name == text {
        return Some(0);
    }
    match name.find(text) {
        Some(0) => Some(1),
        Some(_) => Some(2),
        None => {
            let mut rest = name.chars();
            let mut letters = text.chars().filter(|letter| !letter.is_whitespace());
            letters.all(|letter| rest.any(|other| other == letter)).then_some(3)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_goes_before_a_part_and_a_part_before_single_letters() {
        let names = ["vision", "vision-2", "tele-vision", "vi-si-on", "sound", "division of labour"];
        let ranks = names.map(|name| rank(name, "vision"));
        assert_eq!(ranks, [Some(0), Some(1), Some(2), Some(3), None, Some(2)]);
        assert_eq!(rank("vision", "vi si"), Some(3));
        assert_eq!(rank("vision", "noisiv"), None);
    }
}
