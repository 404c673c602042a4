//! `cubeloom validate FILE`: all problems of a pipeline, without a data folder.

use std::path::Path;

use cubeloom_compiler::check_pipeline;
use cubeloom_domain::executor::Facts;
use cubeloom_domain::{Clock, JsonMap};
use cubeloom_storage::snapshot;

use crate::clock::MachineClock;
use crate::config::Config;
use crate::exit::Exit;
use crate::planning::{self, Inputs, Source};
use crate::platform::known_templates;
use crate::problems;
use crate::show::{self, Output};

pub async fn validate(file: &Path, config: &Config, output: Output) -> anyhow::Result<Exit> {
    let source = Source::read(file)?;
    let set = known_templates(config).await?;
    // The machine's resources matter to a run, not to the document.
    let (document, mut found) = check_pipeline(&source.text, &set, &Facts::default());
    if let Some(document) = document {
        let inputs = Inputs {
            context: planning::context(Clock::now(&MachineClock::start()), None)?,
            parameters: JsonMap::new(),
            templates: set,
            facts: Facts::default(),
        };
        // Without a value for each parameter there is no plan, and its files are unknown.
        if let Ok(planned) = inputs.plan(&document) {
            found.extend(planning::missing(&document, &planned, &snapshot::folder_of(file)?));
        }
    }
    problems::print(file, &found, output)?;
    if !problems::none_stops(&found) {
        return Ok(Exit::Invalid);
    }
    if output == Output::Human {
        show::line(format!("{}: valid", file.display()));
    }
    Ok(Exit::Ok)
}
