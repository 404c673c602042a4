//! `cubeloom export argo FILE`

use std::fs;

use anyhow::Context;
use cubeloom_compiler::export::argo;

use crate::cli::Export;
use crate::config::Config;
use crate::exit::Exit;
use crate::planning::Source;
use crate::platform::known_templates;
use crate::problems;
use crate::show::{self, Output};

/// Prints a pipeline as a Workflow; the report is at its top.
pub async fn export(command: &Export, config: &Config, output: Output) -> anyhow::Result<Exit> {
    let Export::Argo { file, out } = command;
    let source = Source::read(file)?;
    let set = known_templates(config).await?;
    let made = match source.parse().and_then(|document| argo::workflow(&document, &set)) {
        Ok(made) => made,
        Err(found) => {
            problems::print(file, &found, output)?;
            return Ok(Exit::Invalid);
        }
    };
    if let Some(path) = out {
        fs::write(path, &made.document).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    match output {
        Output::Json => show::json(&made)?,
        Output::Human if out.is_none() => show::line(made.document.trim_end()),
        Output::Human => {}
    }
    Ok(Exit::Ok)
}
