//! `cubeloom compile FILE --for local`: what the tasks submit, as data.

use cubeloom_compiler::{Outputs, expand, job, lower};
use cubeloom_domain::TaskIx;
use cubeloom_domain::executor::Facts;
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::plan::{Late, RunPlan};
use serde_json::{Map, Value, json};

use crate::cli;
use crate::clock::MachineClock;
use crate::config::Config;
use crate::exit::Exit;
use crate::planning::{self, Inputs, Source};
use crate::platform::templates_root;
use crate::show::{self, Output};
use crate::snapshot::{self, Limits, Snapshot};
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
            show::json(&json!({"run": planned.plan.context, "tasks": tasks(&planned.plan)}))?;
            Ok(Exit::Ok)
        }
        Err(found) => {
            problems::print(&args.file, &found, output)?;
            Ok(Exit::Invalid)
        }
    }
}

fn tasks(plan: &RunPlan) -> Vec<Value> {
    (0u32..).map(TaskIx).take(plan.tasks.len()).map(|ix| task(plan, ix)).collect()
}

fn task(plan: &RunPlan, ix: TaskIx) -> Value {
    let planned = plan.task(ix);
    let mut shown = Map::new();
    shown.insert("task".into(), json!(planned.name));
    shown.insert(
        "needs".into(),
        json!(planned.needs.iter().map(|need| &plan.task(*need).name).collect::<Vec<_>>()),
    );
    match jobs(plan, ix) {
        Ok(jobs) => {
            let jobs: Vec<Value> = jobs.iter().map(|job| json!(lower::preview(job))).collect();
            shown.insert("jobs".into(), json!(jobs));
        }
        Err(failure) => {
            let why = format!("known once the tasks before it have ended ({})", failure.message);
            shown.insert("jobs".into(), json!(why));
        }
    }
    Value::Object(shown)
}

/// The first attempts of a task's instances.
fn jobs(plan: &RunPlan, ix: TaskIx) -> Result<Vec<Job>, Failure> {
    // An argument may want a list where a placeholder is a text.
    let first = jobs_with(plan, ix, &placeholders(plan, ix, |text| json!(text)));
    first.or_else(|failure| {
        jobs_with(plan, ix, &placeholders(plan, ix, |text| json!([text]))).map_err(|_| failure)
    })
}

fn jobs_with(plan: &RunPlan, ix: TaskIx, outputs: &Outputs) -> Result<Vec<Job>, Failure> {
    let plain = plan.task(ix).for_each.is_none();
    let items = expand(plan, ix, outputs)?;
    let job = |(at, item): (u32, &Value)| job(plan, ix, at, (!plain).then_some(item), 1, None, outputs);
    (0u32..).zip(&items).map(job).collect()
}

/// Outputs of earlier tasks, by name, as far as this task's expressions name them.
fn placeholders(plan: &RunPlan, ix: TaskIx, form: impl Fn(String) -> Value) -> Outputs {
    let planned = plan.task(ix);
    let mut sources: Vec<String> = planned
        .arguments
        .values()
        .chain(planned.env.values())
        .filter_map(|value| if let Late::Source(source) = value { Some(source.to_string()) } else { None })
        .collect();
    sources.push(json!(planned.for_each).to_string());
    let read = |task: &TaskIx| {
        let name = &plan.task(*task).name;
        let object: Map<String, Value> = sources
            .iter()
            .flat_map(|source| output_names(source, name))
            .map(|output| (output.clone(), form(format!("<output {output} of {name}>"))))
            .collect();
        (name.clone(), Value::Object(object))
    };
    planned.reads.iter().map(read).collect()
}

/// The names after `.outputs.` where the text names the task before it, as `tasks.a.outputs.x` and
/// `tasks['a-b'].outputs.x` do.
fn output_names(source: &str, task: &str) -> Vec<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut names = Vec::new();
    for (at, found) in source.match_indices(".outputs.") {
        let before = source[..at].trim_end_matches(['\'', '"', ']', '\\']);
        if before.ends_with(task) {
            names.push(word(&source[at + found.len()..]));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_names_are_found_by_their_task() {
        let source = r#"{{ tasks.pull.outputs.rows }} {{ tasks["a-b"].outputs.n_1 + tasks.b.outputs.x }}"#;
        assert_eq!(output_names(source, "pull"), ["rows"]);
        assert_eq!(output_names(source, "a-b"), ["n_1"]);
        assert!(output_names(source, "c").is_empty());
    }
}
