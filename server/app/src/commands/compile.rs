//! `cubeloom compile FILE --for local`: what the tasks submit, as data.

use cubeloom_compiler::preview;
use cubeloom_domain::executor::Facts;
use cubeloom_storage::snapshot::{self, Limits, Snapshot};
use serde_json::json;

use crate::cli;
use crate::clock::MachineClock;
use crate::config::Config;
use crate::exit::Exit;
use crate::planning::{self, Inputs, Source};
use crate::platform::templates_root;
use crate::show::{self, Output};
use crate::{problems, templates};

/// Prints each task's jobs as they are submitted. What only submission knows is a placeholder: `<address of
/// worker-0>`, `<run folder>`; so is what an earlier task will report: `<output rows of pull>`.
pub fn compile(args: &cli::Compile, config: &Config, output: Output) -> anyhow::Result<Exit> {
    let source = Source::read(&args.file)?;
    let document = match source.parse() {
        Ok(document) => document,
        Err(found) => {
            problems::print(&args.file, &found, output)?;
            return Ok(Exit::Invalid);
        }
    };
    let snapshot = Snapshot::take(&snapshot::folder_of(&args.file)?, Limits::CODE)?;
    let (set, refused) = templates::usable(&templates_root(config)?)?;
    refused.iter().for_each(|sentence| tracing::warn!("{sentence}"));
    let now = cubeloom_domain::Clock::now(&MachineClock::start());
    let inputs = Inputs {
        context: planning::context(now, Some(snapshot.digest))?,
        parameters: planning::parameters(&args.parameters)?,
        templates: set,
        facts: Facts::default(),
    };
    match inputs.plan(&document) {
        Ok(planned) => {
            problems::warn(&args.file, &planned.warnings);
            let cli::Target::Local = args.target;
            show::json(&json!({"run": planned.plan.context, "tasks": preview::all(&planned.plan)}))?;
            Ok(Exit::Ok)
        }
        Err(found) => {
            problems::print(&args.file, &found, output)?;
            Ok(Exit::Invalid)
        }
    }
}
