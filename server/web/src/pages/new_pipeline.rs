//! `GET /projects/{project}/new-pipeline`: creates a pipeline from a document.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use cubeloom_compiler::newest_template;
use cubeloom_domain::template::InstalledTemplate;
use serde::Deserialize;

use super::{Frame, carried, html};
use crate::error::{ApiError, ApiResult};
use crate::extract::{Path, Query};
use crate::state::Web;
use crate::templates::beside;

/// Initial document: small, but it runs.
const EMPTY: &str = include_str!("new_pipeline.yaml");

#[derive(Template)]
#[template(path = "new-pipeline.html")]
struct NewPipelinePage {
    frame: Frame,
    project: String,
    beginnings: Vec<Beginning>,
    /// Initial document of the editor, as JSON.
    document: String,
}

/// A document to start from.
struct Beginning {
    /// The template of the example. Empty for the minimal document.
    name: String,
    label: String,
    chosen: bool,
}

/// Query parameters.
#[derive(Debug, Deserialize)]
pub(crate) struct From {
    /// Template whose example to use.
    #[serde(default)]
    from: String,
}

pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    Path(project): Path<String>,
    Query(From { from }): Query<From>,
) -> ApiResult<Response> {
    let set = web.templates();
    let newest: BTreeMap<String, InstalledTemplate> = set
        .iter()
        .filter_map(|(name, versions)| Some((name.clone(), newest_template(versions)?.clone())))
        .collect();
    let zh = frame.lang.as_str() == "zh";
    let label = |found: &InstalledTemplate| {
        let label = &found.template.label;
        if zh { label.zh.clone() } else { label.en.clone() }
    };
    let empty = Beginning {
        name: String::new(),
        label: frame.t("pipeline.begin-empty").to_owned(),
        chosen: from.is_empty(),
    };
    let others = newest.iter().map(|(name, found)| Beginning {
        name: name.clone(),
        label: label(found),
        chosen: *name == from,
    });
    let beginnings = std::iter::once(empty).chain(others).collect();
    let document = document(newest.get(&from).cloned()).await?;
    let document = carried(&named(&web, &project, &document).await?)?;
    html(&NewPipelinePage { frame, project, beginnings, document })
}

/// Maximum number of names that are tried.
const NAMES: usize = 100;

/// The document with a name that no pipeline of the project has: `my-pipeline`, `my-pipeline-2`, ...
pub(super) async fn named(web: &Web, project: &str, document: &str) -> ApiResult<String> {
    let Some(line) = document.lines().find(|line| line.starts_with("name: ")) else {
        return Ok(document.to_owned());
    };
    let wanted = line.trim_start_matches("name: ");
    for number in 1..=NAMES {
        let name = if number == 1 { wanted.to_owned() } else { format!("{wanted}-{number}") };
        if web.store().newest(project, &name).await?.is_none() {
            return Ok(document.replacen(line, &format!("name: {name}"), 1));
        }
    }
    Ok(document.to_owned())
}

async fn document(template: Option<InstalledTemplate>) -> ApiResult<String> {
    let Some(template) = template else { return Ok(EMPTY.to_owned()) };
    let read = move || beside(&template).example.map(|example| example.document);
    let example = tokio::task::spawn_blocking(read).await.map_err(ApiError::internal)?;
    Ok(example.unwrap_or_else(|| EMPTY.to_owned()))
}
