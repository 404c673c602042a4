//! Completion of names in shells: runs, tasks, pipelines, projects and contexts.
//!
//! A shell calls this program while a command is being typed. Whatever fails here completes nothing.

use std::ffi::OsStr;
use std::time::Duration;

use clap_complete::engine::CompletionCandidate;
use cubeloom_domain::record::RunRecord;
use cubeloom_store::RunFilter;
use cubeloom_web::api::runs::view::RunView;
use cubeloom_web::api::tasks::view::TaskView;
use serde::Deserialize;
use tokio::time::timeout;

use super::{Remote, contexts, remote};
use crate::cli::{At, Global};
use crate::config::{Config, Flags};
use crate::platform::Platform;

/// A user at a prompt does not wait longer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Maximum number of runs, and of other names.
const MOST: usize = 50;
const NAMES: usize = 1_000;

/// Something with a name.
#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Candidates, with a description.
type Found = anyhow::Result<Vec<(String, String)>>;

/// Runs, newest first.
pub fn runs(current: &OsStr) -> Vec<CompletionCandidate> {
    let latest = ("latest".to_owned(), "the newest run".to_owned());
    let mut all = vec![latest];
    let on_server = async |remote: &Remote| {
        let path = ["projects", remote.project.as_str(), "runs"];
        let runs: Vec<RunView> = remote.client.list(&path, &[], MOST).await?;
        Ok(runs.into_iter().map(|run| (run.id, format!("{} {}", run.pipeline, run.state))).collect())
    };
    let here = async |platform: &Platform| {
        let filter = RunFilter { limit: Some(MOST), ..RunFilter::default() };
        let runs = platform.store.runs(&filter).await?;
        let shown = |run: RunRecord| (run.id.to_string(), format!("{} {}", run.pipeline, run.state.as_str()));
        Ok(runs.into_iter().map(shown).collect())
    };
    all.extend(asked(on_server, here));
    candidates(all, current)
}

/// Tasks of the run that the command line names.
pub fn tasks(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(run) = words().into_iter().rev().find(|word| word == "latest" || is_run(word)) else {
        return Vec::new();
    };
    let on_server = async |remote: &Remote| {
        let run = remote.find_run(&run).await?;
        let tasks: Vec<TaskView> = remote.client.list(&["runs", &run.id, "tasks"], &[], NAMES).await?;
        Ok(tasks.into_iter().map(|task| (task.name, task.state)).collect())
    };
    let here = async |platform: &Platform| {
        let run = platform.find_run(&run).await?;
        let plan = platform.store.plan(&run).await?;
        let names =
            plan.into_iter().flat_map(|plan| plan.tasks).map(|task| (task.name.clone(), String::new()));
        Ok(names.take(NAMES).collect())
    };
    candidates(asked(on_server, here), current)
}

/// Pipelines of the project.
pub fn pipelines(current: &OsStr) -> Vec<CompletionCandidate> {
    let on_server = async |remote: &Remote| {
        let path = ["projects", remote.project.as_str(), "pipelines"];
        named(remote.client.list(&path, &[], NAMES).await?)
    };
    candidates(asked(on_server, async |_| Ok(Vec::new())), current)
}

/// The user's projects.
pub fn projects(current: &OsStr) -> Vec<CompletionCandidate> {
    let on_server = async |remote: &Remote| named(remote.client.list(&["projects"], &[], NAMES).await?);
    candidates(asked(on_server, async |_| Ok(Vec::new())), current)
}

/// Contexts.
pub fn names_of_contexts(current: &OsStr) -> Vec<CompletionCandidate> {
    let contexts = contexts().unwrap_or_default().contexts;
    candidates(contexts.into_iter().map(|(name, context)| (name, context.server)).collect(), current)
}

fn named(all: Vec<Named>) -> Found {
    Ok(all.into_iter().map(|one| (one.name, String::new())).collect())
}

fn candidates(all: Vec<(String, String)>, current: &OsStr) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    let fitting = all.into_iter().filter(|(name, _)| name.starts_with(&*typed));
    let candidate = |(name, help): (String, String)| {
        let help = (!help.is_empty()).then(|| help.into());
        CompletionCandidate::new(name).help(help)
    };
    fitting.map(candidate).collect()
}

/// Asks the server that the command line means, or this machine's database.
fn asked(
    on_server: impl AsyncFnOnce(&Remote) -> Found,
    here: impl AsyncFnOnce(&Platform) -> Found,
) -> Vec<(String, String)> {
    let found = remote(&typed_options(), &Global::default()).and_then(|remote| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            match &remote {
                Some(remote) => timeout(PATIENCE, on_server(remote)).await?,
                None => {
                    let config = Config::load(&Flags::default(), std::env::vars_os())?;
                    // Completion creates no data folder.
                    anyhow::ensure!(config.data.join("db").is_dir());
                    here(&Platform::open(config).await?).await
                }
            }
        })
    });
    found.unwrap_or_default()
}

/// The words of the command line that is being typed.
fn words() -> Vec<String> {
    std::env::args().skip_while(|word| word != "--").skip(2).collect()
}

/// The options in it that choose a server.
fn typed_options() -> At {
    let words = words();
    let value = |option: &str| {
        let at = words.iter().position(|word| word == option)?;
        words.get(at + 1).cloned()
    };
    At {
        server: value("--server"),
        context: value("--context"),
        project: value("--project"),
        local: words.iter().any(|word| word == "--local"),
    }
}

fn is_run(word: &str) -> bool {
    word.parse::<cubeloom_domain::RunId>().is_ok()
}
