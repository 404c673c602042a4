//! `cubeloom template check | install | list | show`

use std::path::{Path, PathBuf};

use cubeloom_domain::Problem;
use cubeloom_domain::template::{InstalledTemplate, TaskTemplate, TemplateSet};
use cubeloom_store::Stored;
use cubeloom_web::templates::{self, FolderError, TemplateFolder};
use serde_json::{Value, json};

use super::user::act;
use crate::cli;
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::platform::{Platform, known_templates, templates_root};
use crate::problems;
use crate::show::{self, Align, Cell, Output, Style, Styles, Table};
use crate::templates::read_all;

/// The document in a template's folder.
const DOCUMENT: &str = "template.yaml";

pub async fn template(command: cli::Template, config: Config, output: Output) -> anyhow::Result<Exit> {
    match command {
        cli::Template::Check { paths } => check(paths, &config, output),
        cli::Template::Install { files } => install_all(&files, config, output).await,
        cli::Template::List => list(&known_templates(&config).await?, output),
        cli::Template::Show { name } => show_one(&known_templates(&config).await?, &name, output),
    }
}

/// Installs documents and folders; stops at the first that fails.
async fn install_all(paths: &[PathBuf], config: Config, output: Output) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    for path in paths {
        let installed = match read(path, &platform)? {
            Ok(installed) => installed,
            Err((file, problems)) => {
                problems::print(&file, &problems, output)?;
                return Ok(Exit::Invalid);
            }
        };
        let stored = templates::install(&act(&platform), &installed).await;
        let stored = stored.map_err(|error| Invalid::error(format!("{}: {error}", path.display())))?;
        let word = if stored == Stored::New { "installed" } else { "was already installed:" };
        show::note(format!("{word} {}@{}", installed.template.name, installed.template.version));
    }
    Ok(Exit::Ok)
}

/// A template from its document, or from its folder, which is copied to where workers find it; otherwise its
/// document and the problems.
fn read(
    path: &Path,
    platform: &Platform,
) -> anyhow::Result<Result<InstalledTemplate, (PathBuf, Vec<Problem>)>> {
    if !path.is_dir() {
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        return Ok(templates::read(&text).map_err(|problems| (path.to_owned(), problems)));
    }
    let read = TemplateFolder::read(path).and_then(|folder| folder.keep(&platform.data.templates()));
    match read {
        Ok(installed) => Ok(Ok(installed)),
        Err(FolderError::Problems(problems)) => Ok(Err((path.join(DOCUMENT), problems))),
        Err(FolderError::Folder(error)) => Err(Invalid::error(error.to_string())),
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> anyhow::Error {
    Invalid::error(format!("{} cannot be read: {error}", path.display()))
}

/// Prints all problems. Silent for people if there are none.
fn check(paths: Vec<PathBuf>, config: &Config, output: Output) -> anyhow::Result<Exit> {
    let roots = if paths.is_empty() { vec![templates_root(config)?] } else { paths };
    let mut fine = true;
    let mut found = Vec::new();
    for read in
        roots.iter().map(|root| read_all(root)).collect::<anyhow::Result<Vec<_>>>()?.into_iter().flatten()
    {
        fine &= read.usable();
        let file = read.folder.join(DOCUMENT);
        match output {
            Output::Human => problems::print(&file, &read.problems, output)?,
            Output::Json => found.push(json!({"file": file, "problems": read.problems})),
        }
    }
    if output == Output::Json {
        show::json(&found)?;
    }
    Ok(if fine { Exit::Ok } else { Exit::Invalid })
}

fn list(set: &TemplateSet, output: Output) -> anyhow::Result<Exit> {
    let all: Vec<&InstalledTemplate> = set.values().flat_map(|versions| versions.values()).collect();
    if output == Output::Json {
        show::json(&all)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&[
        ("template", Align::Left),
        ("version", Align::Left),
        ("group", Align::Left),
        ("framework", Align::Left),
        ("description", Align::Left),
    ]);
    for InstalledTemplate { template, .. } in all {
        table.row([
            Cell::styled(template.name.clone(), Style::Bold),
            template.version.clone().into(),
            template.group.clone().into(),
            template.framework.clone().into(),
            format!("{} ({})", template.label.en, template.label.zh).into(),
        ]);
    }
    show::line(table.render(Styles::detect()));
    Ok(Exit::Ok)
}

fn show_one(set: &TemplateSet, name: &str, output: Output) -> anyhow::Result<Exit> {
    let (name, version) = name.split_once('@').map_or((name, None), |(name, version)| (name, Some(version)));
    let versions = set.get(name);
    let found = versions.and_then(|versions| match version {
        Some(version) => versions.get(version),
        None => versions.values().next_back(),
    });
    let Some(found) = found else {
        let names: Vec<&str> = set.keys().map(String::as_str).collect();
        return Err(Invalid::error(format!(
            "there is no template `{name}`; installed are: {}",
            names.join(", ")
        )));
    };
    match output {
        Output::Json => show::json(found)?,
        Output::Human => show::line(described(&found.template, Styles::detect())),
    }
    Ok(Exit::Ok)
}

fn described(template: &TaskTemplate, styles: Styles) -> String {
    let head = styles.paint(Style::Bold, &format!("{} {}", template.name, template.version));
    let roles: Vec<String> =
        template.roles.iter().map(|role| format!("{} x {}", role.name, text_of(&role.replicas))).collect();
    let mut parts = vec![
        format!("{head}  {} ({})", template.label.en, template.label.zh),
        template.help.en.trim().to_owned(),
        format!("framework: {}\nroles: {}", template.framework, roles.join(", ")),
    ];
    let arguments = arguments(template);
    if !arguments.is_empty() {
        parts.push(arguments.render(styles));
    }
    for output in &template.outputs {
        parts.push(format!("output {}: {}", output.name, output.description.as_deref().unwrap_or("-")));
    }
    parts.join("\n\n")
}

fn arguments(template: &TaskTemplate) -> Table {
    let mut table = Table::new(&[
        ("argument", Align::Left),
        ("type", Align::Left),
        ("default", Align::Left),
        ("meaning", Align::Left),
    ]);
    let required = template.parameters.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for (name, property) in
        template.parameters.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        let default = match property.get("default") {
            _ if required.contains(&json!(name)) => "required".into(),
            Some(Value::Null) | None => "-".into(),
            Some(value) => text_of(value),
        };
        let kind = match property.get("type") {
            Some(Value::Array(types)) => types.iter().map(text_of).collect::<Vec<_>>().join(" or "),
            Some(kind) => text_of(kind),
            None => "any".into(),
        };
        let meaning = property.get("description").or(property.get("title")).map(text_of).unwrap_or_default();
        table.row([Cell::styled(name.clone(), Style::Bold), kind.into(), default.into(), meaning.into()]);
    }
    table
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
