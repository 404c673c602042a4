//! `cubeloom compile FILE --for local|kubernetes`: what the tasks submit, as data.

mod kubernetes;

use cubeloom_compiler::preview;
use cubeloom_domain::executor::Facts;
use cubeloom_storage::snapshot::{self, Limits, Snapshot};
use serde_json::json;

use crate::cli::{self, Target};
use crate::clock::MachineClock;
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::planning::{self, Inputs, Source};
use crate::platform::known_templates;
use crate::problems;
use crate::show::{self, Output};
use kubernetes::Cluster;

/// Prints each task's jobs as they are submitted. What only submission knows is a placeholder: `<address of
/// worker-0>`, `<run folder>`; so is what an earlier task will report: `<output rows of pull>`.
pub async fn compile(args: &cli::Compile, config: &Config, output: Output) -> anyhow::Result<Exit> {
    let cluster = cluster(args)?;
    let source = Source::read(&args.file)?;
    let document = match source.parse() {
        Ok(document) => document,
        Err(found) => {
            problems::print(&args.file, &found, output)?;
            return Ok(Exit::Invalid);
        }
    };
    let folder = snapshot::folder_of(&args.file)?;
    let snapshot = Snapshot::take(&folder, Limits::CODE)?;
    let set = known_templates(config).await?;
    let now = cubeloom_domain::Clock::now(&MachineClock::start());
    let inputs = Inputs {
        context: planning::context(now, Some(snapshot.digest))?,
        parameters: planning::parameters(&args.parameters)?,
        templates: set,
        facts: cluster.as_ref().map_or_else(Facts::default, |cluster| cluster.facts.clone()),
    };
    let printed = inputs.plan(&document).and_then(|planned| {
        problems::warn(&args.file, &planned.warnings);
        let missing = planning::missing(&document, &planned, &folder);
        if !missing.is_empty() {
            return Err(missing);
        }
        match &cluster {
            Some(cluster) => cluster.print(&planned.plan, output),
            None => {
                Ok(show::json(&json!({"run": planned.plan.context, "tasks": preview::all(&planned.plan)})))
            }
        }
    });
    match printed {
        Ok(printed) => printed.map(|()| Exit::Ok),
        Err(found) => {
            problems::print(&args.file, &found, output)?;
            Ok(Exit::Invalid)
        }
    }
}

/// The Kubernetes cluster to compile for; `None` for this machine.
fn cluster(args: &cli::Compile) -> anyhow::Result<Option<Cluster>> {
    match (args.target, &args.facts) {
        (Target::Kubernetes, facts) => Cluster::read(facts.as_deref()).map(Some),
        (Target::Local, None) => Ok(None),
        (Target::Local, Some(_)) => {
            Err(Invalid::error("--facts describes a Kubernetes cluster: add --for kubernetes"))
        }
    }
}
