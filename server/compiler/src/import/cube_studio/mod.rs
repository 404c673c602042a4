//! Converts Cube Studio's pipelines and job templates to our documents.
//!
//! It reads Cube Studio's exports and the files that it ships: files of job templates, and one pipeline, a
//! list of pipelines or a mapping by name, each with its tasks. JSON inside texts is parsed.

mod amounts;
mod canvas;
mod context;
mod field;
mod jinja;
mod launchers;
mod ledger;
mod names;
mod pipeline;
mod programs;
mod recipe;
mod task;
mod template;
mod volumes;

use cubeloom_domain::ids::is_label;
use serde_json::Value;

use self::launchers::Launcher;
use self::ledger::{At, Ledger, unfold};
use self::names::Names;
use self::pipeline::Source;
use super::{DocumentKind, Fate, Imported, ImportedDocument, ReportLine};
use crate::yaml;

/// Maximum size of a file, in bytes.
pub const MAX_BYTES: usize = 16 << 20;

/// Imports a file of pipelines or of job templates; with `templates`, also a file of the job templates that
/// the pipelines use. `name` is the pipeline's name if the file has one pipeline.
///
/// # Errors
/// A message, if the text is not a file that Cube Studio writes.
pub fn import(text: &str, templates: Option<&str>, name: Option<&str>) -> Result<Imported, String> {
    let main = read(text, "the file")?;
    let more = templates.map(|text| read(text, "the file of templates")).transpose()?;
    if is_templates(&main) {
        if more.is_some() {
            return Err("this file contains job templates: select a file of pipelines first".into());
        }
        let (documents, report) = import_templates(&main, "");
        return Ok(Imported { documents, report });
    }
    if more.as_ref().is_some_and(|more| !is_templates(more)) {
        return Err("the second file has no job templates (with `job_template_args`)".into());
    }
    let known = more.as_ref().map(entries).unwrap_or_default();
    let recipes = recipe::recipes(&known);
    let (mut documents, mut report) = import_pipelines(&main, &recipes, name)?;
    if let Some(more) = &more {
        let (templates, lines) = import_templates(more, "templates:");
        documents.extend(templates);
        report.extend(lines);
    }
    Ok(Imported { documents, report })
}

fn read(text: &str, what: &str) -> Result<Value, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("{what} has {} bytes; at most {MAX_BYTES} are read", text.len()));
    }
    let mut value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| format!("{what} is not JSON: {error}"))?;
    unfold(&mut value);
    Ok(value)
}

/// The entries of a mapping or list, or the value itself as the only entry.
fn entries(root: &Value) -> Vec<(String, &Value)> {
    match root {
        Value::Array(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        Value::Object(map) if !is_template(root) => {
            map.iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        one => vec![(String::new(), one)],
    }
}

fn is_template(value: &Value) -> bool {
    value.get("job_template_args").is_some() || value.get("job_template_name").is_some()
}

fn is_templates(root: &Value) -> bool {
    entries(root).iter().any(|(_, entry)| is_template(entry))
}

fn import_templates(root: &Value, prefix: &'static str) -> (Vec<ImportedDocument>, Vec<ReportLine>) {
    let ledger = Ledger::new(prefix);
    let top = ledger.root(root);
    let found = if is_template(root) { vec![(String::new(), top.clone())] } else { top.entries() };
    let mut names = Names::default();
    let mut made = Vec::new();
    for (at, (key, entry)) in found.iter().enumerate() {
        if !is_template(entry.value) {
            continue;
        }
        let own = entry.get("job_template_name").and_then(|own| own.text()).unwrap_or_else(|| key.clone());
        if let Some(launcher) = launchers::find(&own) {
            tell_of(entry, launcher);
            continue;
        }
        let name = names.label(&own, &format!("template-{}", at + 1));
        if name != own {
            entry.note(Fate::Changed, format!("the name `{own}` became `{name}`"));
        }
        let text = yaml::write(&template::template(entry, &name));
        check(entry, &template_problems(&text));
        made.push((DocumentKind::TaskTemplate, name, text, entry.path.clone()));
    }
    finish(ledger, root, made)
}

/// A launcher needs the cluster on which it creates its job: a template that ran it would only fail.
fn tell_of(entry: &At<'_>, launcher: &Launcher) {
    let name = launcher.name;
    match launcher.template {
        Some(ours) => {
            entry.tell(
                Fate::Changed,
                format!("`{name}` creates its own job, for which the template is `{ours}`"),
            );
        }
        None => entry
            .tell(Fate::Problem, format!("`{name}` creates its own job, for which there is no template yet")),
    }
}

fn import_pipelines(
    root: &Value,
    recipes: &std::collections::BTreeMap<String, recipe::Recipe>,
    name: Option<&str>,
) -> Result<(Vec<ImportedDocument>, Vec<ReportLine>), String> {
    let ledger = Ledger::new("");
    let sources = sources(&ledger.root(root));
    if sources.is_empty() {
        return Err("no pipeline was found (with `pipeline`, its `dag_json`, and `tasks`)".into());
    }
    if let Some(name) = name {
        if sources.len() > 1 {
            return Err(format!(
                "the file has {} pipelines, which cannot all be called `{name}`",
                sources.len()
            ));
        }
        if !is_label(name) {
            return Err(format!(
                "`{name}` is not a name: use lower-case letters, digits and `-`, at most 63"
            ));
        }
    }
    let mut names = Names::default();
    let mut made = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let own = source.head.get("name").and_then(|own| own.text()).unwrap_or_else(|| source.key.clone());
        let name = names.label(name.unwrap_or(&own), &format!("pipeline-{}", at + 1));
        let text = yaml::write(&pipeline::pipeline(source, &name, recipes));
        check(&source.whole, &crate::parse_pipeline(&text).err().unwrap_or_default());
        made.push((DocumentKind::Pipeline, name, text, source.whole.path.clone()));
    }
    drop(sources);
    Ok(finish(ledger, root, made))
}

fn sources<'v>(root: &At<'v>) -> Vec<Source<'v>> {
    let one = |key: String, at: &At<'v>| {
        let head = at.get("pipeline").unwrap_or_else(|| at.clone());
        let tasks = at.get("tasks").or_else(|| head.get("tasks"))?;
        (head.value.is_object()
            && (head.value.get("dag_json").is_some() || at.value.get("pipeline").is_some()))
        .then(|| Source {
            key,
            head,
            tasks: tasks
                .entries()
                .into_iter()
                .map(|(_, task)| task)
                .filter(|task| task.value.is_object())
                .collect(),
            whole: at.clone(),
        })
    };
    match one(String::new(), root) {
        Some(only) => vec![only],
        None => root.entries().into_iter().filter_map(|(key, at)| one(key, &at)).collect(),
    }
}

fn template_problems(text: &str) -> Vec<cubeloom_domain::Problem> {
    match crate::parse_template(text) {
        Ok(template) => crate::check_template(&template),
        Err(problems) => problems,
    }
}

/// Adds the problems of a generated document to the report.
fn check(at: &At<'_>, problems: &[cubeloom_domain::Problem]) {
    for problem in problems.iter().filter(|problem| problem.severity == cubeloom_domain::Severity::Error) {
        at.note(Fate::Problem, format!("in the document, {}: {}", problem.path, problem.message));
    }
}

type Made = (DocumentKind, String, String, String);

fn finish(ledger: Ledger, root: &Value, made: Vec<Made>) -> (Vec<ImportedDocument>, Vec<ReportLine>) {
    let prefix = ledger.prefix();
    let report = ledger.finish(root);
    let documents = made.into_iter().map(|(kind, name, document, path)| {
        let whole = format!("{prefix}{path}");
        let is_of = |line: &&ReportLine| {
            line.path.strip_prefix(&whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let notes = report.iter().filter(is_of).map(|line| line.message.clone()).collect();
        ImportedDocument { kind, name, document, notes }
    });
    (documents.collect(), report)
}
