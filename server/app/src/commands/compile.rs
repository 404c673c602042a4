//! `cubeloom compile FILE --for local|kubernetes|slurm`: the jobs that the tasks would submit.

mod kubernetes;
mod slurm;

use cubeloom_compiler::preview::{self, Tasks};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::plan::{RunContext, RunPlan};
use cubeloom_domain::{Problem, Severity};
use cubeloom_storage::snapshot::{self, Limits, Snapshot};
use serde::Serialize;

use crate::cli::{self, Target};
use crate::clock::MachineClock;
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::planning::{self, Inputs, Source};
use crate::platform::known_templates;
use crate::problems;
use crate::show::{self, Output};

/// The target.
enum For {
    Local,
    Kubernetes(kubernetes::Cluster),
    Slurm(slurm::Cluster),
}

/// Prints each task's jobs as submitted. Values known only at submission are placeholders: `<address of
/// worker-0>`, `<run folder>`. So are outputs of upstream tasks: `<output rows of pull>`.
pub async fn compile(args: &cli::Compile, config: &Config, output: Output) -> anyhow::Result<Exit> {
    let target = target(args)?;
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
        context: planning::context(now, Some(snapshot.digest.clone()))?,
        parameters: planning::parameters(&args.parameters)?,
        templates: set,
        facts: target.facts(),
    };
    let printed = inputs.plan(&document).and_then(|planned| {
        problems::warn(&args.file, &planned.warnings);
        // Missing files do not prevent the output.
        let missing = planning::missing(&document, &planned, &folder);
        let as_warning = |problem| Problem { severity: Severity::Warning, ..problem };
        problems::warn(&args.file, &missing.into_iter().map(as_warning).collect::<Vec<_>>());
        match &target {
            For::Kubernetes(cluster) => cluster.print(&planned.plan, output),
            For::Slurm(cluster) => cluster.print(&planned.plan, &snapshot, output),
            For::Local => Ok(print_json(&planned.plan, None, &preview::all(&planned.plan))),
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

/// Prints the plan's tasks, each as soon as it is lowered.
fn print_json<J: Serialize>(
    plan: &RunPlan,
    cluster: Option<&str>,
    tasks: &Tasks<'_, J>,
) -> anyhow::Result<()> {
    #[derive(Serialize)]
    struct Printed<'a, T> {
        run: &'a RunContext,
        #[serde(skip_serializing_if = "Option::is_none")]
        cluster: Option<&'a str>,
        tasks: T,
    }
    show::json(&Printed { run: &plan.context, cluster, tasks })
}

/// The first line for people: the pipeline, and the target cluster.
fn heading(plan: &RunPlan, cluster: &str) -> String {
    format!("# The pipeline {} as run {}; {cluster}.\n", plan.pipeline, plan.context.id)
}

fn target(args: &cli::Compile) -> anyhow::Result<For> {
    let facts = args.facts.as_deref();
    match args.target {
        Target::Slurm => slurm::Cluster::read(facts, args.write).map(For::Slurm),
        _ if args.write => {
            Err(Invalid::error("--write prepares scripts for a Slurm cluster: add --for slurm"))
        }
        Target::Kubernetes => kubernetes::Cluster::read(facts).map(For::Kubernetes),
        Target::Local if facts.is_none() => Ok(For::Local),
        Target::Local => Err(Invalid::error(
            "--facts describes a Kubernetes or a Slurm cluster: add --for kubernetes or --for slurm",
        )),
    }
}

impl For {
    /// The cluster's facts for planning.
    fn facts(&self) -> Facts {
        match self {
            Self::Local => Facts::default(),
            Self::Kubernetes(cluster) => cluster.facts.clone(),
            Self::Slurm(cluster) => cluster.facts.clone(),
        }
    }
}
