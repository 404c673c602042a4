//! Commands that work on a server through its REST API, from any machine.

mod acts;
mod browser;
mod client;
pub mod complete;
mod contexts;
mod events;
mod follow;
mod login;
mod logs;
mod open;
mod report;
mod run;
mod runs;
mod status;
mod validate;

use std::path::PathBuf;

use anyhow::Context as _;
use cubeloom_domain::Timestamp;
use cubeloom_web::api::runs::view::RunView;

use crate::cli::{At, Command, Global, RunsCommand};
use crate::exit::{Exit, Invalid};
use crate::platform::PROJECT;
use crate::show::Output;
use client::Client;
pub use client::status;
use contexts::{Context, Contexts};
pub use open::{Page, show};

/// The variables of programs that use a server; those of the Python client.
const URL: &str = "CUBELOOM_URL";
const TOKEN: &str = "CUBELOOM_TOKEN";
const CONTEXT: &str = "CUBELOOM_CONTEXT";
/// Workers have it as well.
const PROJECT_VARIABLE: &str = "CUBELOOM_PROJECT";

/// A server, as one user works with it.
struct Remote {
    client: Client,
    project: String,
    output: Output,
}

/// Runs a command that works on a server. `None` if it works on this machine.
pub fn dispatch(command: &Command, global: &Global) -> Option<anyhow::Result<Exit>> {
    let output = global.output;
    let on_server = match command {
        Command::Login(_) | Command::Logout(_) | Command::Context(_) => Ok(None),
        _ => {
            let at = at(command)?;
            match remote(at, global) {
                Ok(None) => return on_this_machine(command, at).err().map(Err),
                other => other,
            }
        }
    };
    Some(on_server.and_then(|remote| block_on(run_on(command, remote, output))))
}

/// Refuses a project where a command would ignore it.
fn on_this_machine(command: &Command, at: &At) -> anyhow::Result<()> {
    let takes_one =
        matches!(command, Command::Runs(args) if args.show.is_none()) || matches!(command, Command::Open(_));
    match &at.project {
        Some(project) if project != PROJECT && !takes_one => Err(Invalid::error(format!(
            "--project {project} needs a server: on this machine the command works in the project `{PROJECT}`"
        ))),
        _ => Ok(()),
    }
}

fn block_on(work: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(work);
    runtime.shutdown_background();
    exit
}

async fn run_on(command: &Command, remote: Option<Remote>, output: Output) -> anyhow::Result<Exit> {
    let remote = match (command, remote) {
        (Command::Login(args), _) => return login::login(args, output).await,
        (Command::Logout(args), _) => return login::logout(args).await,
        (Command::Context(command), _) => return login::context(command, output),
        (_, remote) => remote.context("the command needs a server")?,
    };
    match command {
        Command::Run(args) => run::run(&remote, args).await,
        Command::Validate { file, .. } => validate::validate(&remote, file).await,
        Command::Runs(args) => match &args.show {
            Some(RunsCommand::Show { run, .. }) => runs::show_one(&remote, run).await,
            None => runs::list(&remote, args).await,
        },
        Command::Logs(args) => logs::logs(&remote, args).await,
        Command::Watch(args) => acts::watch(&remote, args).await,
        Command::Cancel(args) => acts::cancel(&remote, args).await,
        Command::Resume(args) => acts::resume(&remote, args).await,
        Command::Rerun(args) => acts::rerun(&remote, args).await,
        Command::Decide(args) => acts::decide(&remote, args).await,
        Command::Mark(args) => acts::mark(&remote, args).await,
        Command::Open(args) => open::open(&remote, args).await,
        _ => Err(Invalid::error("this command works on the server's machine only")),
    }
}

/// The options of a command that choose a server. `None` if it works on this machine only.
fn at(command: &Command) -> Option<&At> {
    match command {
        Command::Run(args) => Some(&args.at),
        Command::Validate { at, .. } => Some(at),
        Command::Runs(args) => Some(match &args.show {
            Some(RunsCommand::Show { at, .. }) => at,
            None => &args.at,
        }),
        Command::Logs(args) => Some(&args.at),
        Command::Watch(args) => Some(&args.at),
        Command::Cancel(args) | Command::Resume(args) => Some(&args.at),
        Command::Rerun(args) => Some(&args.at),
        Command::Decide(args) => Some(&args.at),
        Command::Mark(args) => Some(&args.at),
        Command::Open(args) => Some(&args.at),
        _ => None,
    }
}

/// The chosen server. `None` if the command works on this machine.
///
/// Options come first, then variables, then the current context. A data folder or a configuration that is named means
/// this machine.
fn remote(at: &At, global: &Global) -> anyhow::Result<Option<Remote>> {
    let here = global.data.is_some() || global.config.is_some();
    if here && (at.server.is_some() || at.context.is_some()) {
        return Err(Invalid::error(
            "--data and --config are for this machine: remove them, or --server and --context",
        ));
    }
    if here || at.local {
        return Ok(None);
    }
    let Some(context) = chosen(at)? else { return Ok(None) };
    let project = at.project.clone().or_else(|| variable(PROJECT_VARIABLE)).or(context.project);
    Ok(Some(Remote {
        client: Client::new(&context.server, Some(context.token))?,
        project: project.unwrap_or_else(|| PROJECT.into()),
        output: global.output,
    }))
}

/// The server of the options, the variables or the current context.
fn chosen(at: &At) -> anyhow::Result<Option<Context>> {
    let contexts = contexts()?;
    let named = |name: &str| contexts.get(name).cloned().map(Some);
    if let Some(url) = &at.server {
        return at_url(url, &contexts).map(Some);
    }
    if let Some(name) = &at.context {
        return named(name);
    }
    if let Some(url) = variable(URL) {
        return at_url(&url, &contexts).map(Some);
    }
    if let Some(name) = variable(CONTEXT) {
        return named(&name);
    }
    if variable("CUBELOOM_DATA").is_some() || variable("CUBELOOM_CONFIG").is_some() {
        return Ok(None);
    }
    contexts.current.as_deref().map_or(Ok(None), named)
}

/// A server by its URL, with the token of the variable or of its context.
fn at_url(url: &str, contexts: &Contexts) -> anyhow::Result<Context> {
    let server = client::url(url)?;
    let known = contexts.of_server(&server);
    // The token beside the URL of one server must not be sent to another one.
    let is_its = variable(URL).is_none_or(|set| client::url(&set).is_ok_and(|set| set == server));
    let token = variable(TOKEN).filter(|_| is_its).or_else(|| known.map(|context| context.token.clone()));
    let token = token.ok_or_else(|| {
        Invalid::error(format!(
            "there is no token for {server}: sign in with `cubeloom login {server}`, or set {URL} and {TOKEN}"
        ))
    })?;
    let project = known.and_then(|context| context.project.clone());
    Ok(Context { server, token, user: String::new(), project })
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn contexts_file() -> Option<PathBuf> {
    contexts::file(variable)
}

fn contexts() -> anyhow::Result<Contexts> {
    contexts_file().map_or_else(|| Ok(Contexts::default()), |file| Contexts::read(&file))
}

fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_microsecond())
}

impl Remote {
    /// The run that a user refers to: an id, its beginning or end, or `latest`.
    async fn find_run(&self, text: &str) -> anyhow::Result<RunView> {
        let runs = ["projects", self.project.as_str(), "runs"];
        if text == "latest" {
            let newest: Vec<RunView> = self.client.list(&runs, &[("parent", "none")], 1).await?;
            let none = || Invalid::error(format!("the project `{}` has no runs yet", self.project));
            return newest.into_iter().next().ok_or_else(none);
        }
        if text.parse::<cubeloom_domain::RunId>().is_ok() {
            return self.client.get(&["runs", text], &[]).await;
        }
        // Of all projects: an id says which run is meant.
        let found: Vec<RunView> = self.client.list(&["runs"], &[("text", text)], 200).await?;
        let mut found = found.into_iter().filter(|run| run.id.starts_with(text) || run.id.ends_with(text));
        match (found.next(), found.count()) {
            (Some(run), 0) => Ok(run),
            (None, _) => Err(Invalid::error(format!(
                "there is no run `{text}` that you can see: enter an id, the beginning or end of one, or `latest` (see \
                 `cubeloom runs`)"
            ))),
            (Some(_), others) => Err(Invalid::error(format!(
                "`{text}` matches {} runs or more: enter more of the id (see `cubeloom runs`)",
                others + 1
            ))),
        }
    }

    /// The URL of a run's page.
    fn page(&self, run: &str) -> String {
        Page::Run(run.to_owned(), None).url(&self.client.server)
    }
}
