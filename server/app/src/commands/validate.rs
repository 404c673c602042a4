//! `cubeloom validate FILE`: everything that is wrong with a pipeline, without a data folder.

use std::path::Path;

use cubeloom_compiler::check_pipeline;
use cubeloom_domain::executor::Facts;

use crate::config::Config;
use crate::exit::Exit;
use crate::planning::Source;
use crate::platform::known_templates;
use crate::problems;
use crate::show::{self, Output};

/// Prints all problems of a document.
pub async fn validate(file: &Path, config: &Config, output: Output) -> anyhow::Result<Exit> {
    let source = Source::read(file)?;
    let set = known_templates(config).await?;
    // What the machine has is a question of the run, not of the document.
    let (_, found) = check_pipeline(&source.text, &set, &Facts::default());
    problems::print(file, &found, output)?;
    if !problems::none_stops(&found) {
        return Ok(Exit::Invalid);
    }
    if output == Output::Human {
        show::line(format!("{}: valid", file.display()));
    }
    Ok(Exit::Ok)
}
