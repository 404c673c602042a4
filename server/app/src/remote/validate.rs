//! `cubeloom validate FILE` with a server: with its templates and the project's resources.

use std::path::Path;

use cubeloom_web::error::ProblemView;
use serde::Deserialize;
use serde_json::json;

use super::Remote;
use crate::exit::Exit;
use crate::planning::Source;
use crate::problems;
use crate::show::{self, Output};

/// The server's check of a document.
#[derive(Deserialize)]
pub struct Checked {
    pub problems: Vec<ProblemView>,
    /// Name of the pipeline, if the document's form is valid.
    #[serde(default)]
    pub name: Option<String>,
}

pub async fn validate(remote: &Remote, file: &Path) -> anyhow::Result<Exit> {
    let source = Source::read(file)?;
    let checked = check(remote, &source).await?;
    problems::print(file, &checked.problems, remote.output)?;
    if !problems::none_stops(&checked.problems) {
        return Ok(Exit::Invalid);
    }
    if remote.output == Output::Human {
        show::line(format!("{}: valid", file.display()));
    }
    Ok(Exit::Ok)
}

/// Checks a document without storing it.
pub async fn check(remote: &Remote, source: &Source) -> anyhow::Result<Checked> {
    let path = ["projects", remote.project.as_str(), "validate"];
    remote.client.post(&path, &json!({"document": source.text})).await
}
