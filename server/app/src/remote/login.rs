//! `cubeloom login`, `logout` and `context`.

use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::json;
use tokio::time::sleep;

use super::client::{Client, Refused, url};
use super::contexts::{Context, Contexts};
use super::{browser, contexts_file};
use crate::cli::{ContextCommand, Login, Logout};
use crate::exit::{Exit, Invalid};
use crate::machine;
use crate::show::{self, Align, Cell, Output, Style, Styles, Table};

/// A started sign-in (RFC 8628).
#[derive(Deserialize)]
struct Code {
    device_code: String,
    user_code: String,
    verification_uri: String,
    verification_uri_complete: String,
    expires_in: u64,
    interval: u64,
}

/// The token, once the user has allowed it.
#[derive(Deserialize)]
struct Granted {
    token: String,
}

/// The part of `GET /me` that a context needs.
#[derive(Deserialize)]
struct Me {
    user: Person,
    #[serde(default)]
    project: Option<String>,
}

#[derive(Deserialize)]
struct Person {
    name: String,
}

/// Maximum length of this program's description, in characters.
const CLIENT: usize = 100;

/// Signs in to a server and makes it the current context.
pub async fn login(args: &Login, output: Output) -> anyhow::Result<Exit> {
    let file = place()?;
    let mut contexts = Contexts::read(&file)?;
    let server = url(&args.server)?;
    let token = match args.token_stdin {
        true => read_token()?,
        false => allowed(&server, args.no_browser).await?,
    };
    let client = Client::new(&server, Some(token.clone()))?;
    let me: Me = client.get(&["me"], &[]).await?;
    let project = args.project.clone().or(me.project);
    if let Some(project) = &project {
        let _: serde_json::Value = client.get(&["projects", project], &[]).await?;
    }
    let name = args.context.clone().unwrap_or_else(|| host(&server));
    let user = me.user.name;
    let context = Context { server: server.clone(), token, user: user.clone(), project: project.clone() };
    contexts.contexts.insert(name.clone(), context);
    contexts.current = Some(name.clone());
    contexts.write(&file)?;
    match output {
        Output::Json => {
            show::json(&json!({"context": name, "server": server, "user": user, "project": project}))?
        }
        Output::Human => {
            show::line(format!("signed in to {server} as {user}; the context `{name}` is current"))
        }
    }
    Ok(Exit::Ok)
}

/// Revokes the token of a context, and forgets it.
pub async fn logout(args: &Logout) -> anyhow::Result<Exit> {
    let file = place()?;
    let mut contexts = Contexts::read(&file)?;
    let name = args.context.clone().or_else(|| contexts.current.clone());
    let name = name.ok_or_else(|| Invalid::error("there is no current context"))?;
    let context = contexts.get(&name)?.clone();
    let revoked = revoke(&context).await;
    contexts.contexts.remove(&name);
    if contexts.current.as_ref() == Some(&name) {
        contexts.current = None;
    }
    contexts.write(&file)?;
    match revoked {
        Ok(()) => show::line(format!("signed out of {}", context.server)),
        Err(error) => show::note(format!(
            "the context `{name}` is forgotten, but its token was not revoked: {error}\nRevoke it on the page \
             {}/me",
            context.server
        )),
    }
    Ok(Exit::Ok)
}

async fn revoke(context: &Context) -> anyhow::Result<()> {
    let client = Client::new(&context.server, None)?;
    client.post(&["device", "revoke"], &json!({"token": context.token})).await
}

/// Lists or changes the contexts.
pub fn context(command: &ContextCommand, output: Output) -> anyhow::Result<Exit> {
    let file = place()?;
    let mut contexts = Contexts::read(&file)?;
    match command {
        ContextCommand::List => list(&contexts, output)?,
        ContextCommand::Use { name, project } => {
            contexts.get(name)?;
            if let (Some(context), Some(project)) = (contexts.contexts.get_mut(name), project) {
                context.project = Some(project.clone());
            }
            contexts.current = Some(name.clone());
            contexts.write(&file)?;
        }
        ContextCommand::Unset => {
            contexts.current = None;
            contexts.write(&file)?;
        }
    }
    Ok(Exit::Ok)
}

/// Prints the contexts, without their tokens.
fn list(contexts: &Contexts, output: Output) -> anyhow::Result<()> {
    let is_current = |name: &str| contexts.current.as_deref() == Some(name);
    let all = contexts.contexts.iter();
    if output == Output::Json {
        let rows = all.map(|(name, context)| {
            json!({
                "name": name, "current": is_current(name), "server": context.server, "user": context.user,
                "project": context.project,
            })
        });
        return show::json(&rows.collect::<Vec<_>>());
    }
    if contexts.contexts.is_empty() {
        show::line("no contexts: sign in with `cubeloom login URL`");
        return Ok(());
    }
    let columns = ["", "name", "server", "user", "project"].map(|name| (name, Align::Left));
    let mut table = Table::new(&columns);
    for (name, context) in all {
        let sign = if is_current(name) { "*" } else { "" };
        table.row([
            Cell::styled(sign, Style::Good),
            name.clone().into(),
            context.server.clone().into(),
            context.user.clone().into(),
            context.project.clone().unwrap_or_else(|| "-".into()).into(),
        ]);
    }
    show::line(table.render(Styles::detect()));
    Ok(())
}

fn place() -> anyhow::Result<PathBuf> {
    contexts_file().ok_or_else(|| {
        Invalid::error(
            "contexts need a home folder: set HOME, or the variables CUBELOOM_URL and CUBELOOM_TOKEN",
        )
    })
}

fn read_token() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().take(1 << 10).read_to_string(&mut text).context("the token cannot be read")?;
    let token = text.trim().to_owned();
    if token.starts_with("clt_") {
        Ok(token)
    } else {
        Err(Invalid::error("standard input has no API token, which begins with clt_"))
    }
}

/// The host of a server, as the name of its context.
fn host(server: &str) -> String {
    let rest = server.split_once("://").map_or(server, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest).to_owned()
}

/// Asks the user on a page of the server, and waits for the answer (RFC 8628).
async fn allowed(server: &str, no_browser: bool) -> anyhow::Result<String> {
    let client = Client::new(server, None)?;
    let node = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let name: String = format!("cubeloom of {} on {node}", machine::user()).chars().take(CLIENT).collect();
    let body = json!({"client": name});
    let code: Code = client.post(&["device", "code"], &body).await?;
    let opened = !no_browser && browser::open(&code.verification_uri_complete);
    let head = if opened { "Allow the sign-in in your browser:" } else { "Open this page in a browser:" };
    show::note(format!("{head}\n  {}", code.verification_uri_complete));
    show::note(format!("or enter the code {} on {}", code.user_code, code.verification_uri));
    let deadline = Instant::now() + Duration::from_secs(code.expires_in);
    let mut pause = Duration::from_secs(code.interval.max(1));
    while Instant::now() < deadline {
        sleep(pause).await;
        let body = json!({"device_code": code.device_code});
        let error = match client.post::<Granted>(&["device", "token"], &body).await {
            Ok(granted) => return Ok(granted.token),
            Err(error) => error,
        };
        match error.downcast_ref::<Refused>().and_then(|refused| refused.code.as_deref()) {
            Some("authorization_pending") => {}
            Some("slow_down") => pause += Duration::from_secs(5),
            _ => return Err(error),
        }
    }
    Err(Invalid::error("the code has expired: run `cubeloom login` again"))
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn a_context_is_named_after_its_host() {
        assert_eq!(host("https://a.example:8443/base"), "a.example:8443");
        assert_eq!(host("http://127.0.0.1:8080"), "127.0.0.1:8080");
    }
}
