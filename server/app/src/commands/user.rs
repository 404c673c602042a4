//! `cubeloom user ...`: accounts and one-time links, for users with access to the data folder.

use std::io::Read;

use anyhow::Context;
use cubeloom_domain::identity::{Role, User};
use cubeloom_store::{Change, UserFilter, UserOrder};
use cubeloom_web::audit::{Act, Actor};
use cubeloom_web::auth::accounts::{self, NewAccount};
use cubeloom_web::auth::links;
use serde_json::json;

use crate::announce;
use crate::cli::{Place, UserAdd, UserCommand};
use crate::config::Config;
use crate::exit::{self, Exit, Invalid};
use crate::machine;
use crate::platform::Platform;
use crate::show::{self, Align, Output, Styles, Table};

/// Page size of account reads.
const PAGE: usize = 200;

pub async fn user(command: UserCommand, config: Config, output: Output) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    match command {
        UserCommand::Add(args) => add(&platform, args, output).await?,
        UserCommand::List => list(&platform, output).await?,
        UserCommand::Link { name } => {
            let person = find(&platform, &name).await?;
            let (link, secret) = links::reset(&act(&platform), &person).await.map_err(exit::refused)?;
            print_link(&links::url(&address(&platform), &link, &secret), output)?;
        }
        UserCommand::Invite { admin, place, note } => {
            let act = act(&platform);
            let made = links::invite(&act, pair(place), admin, note.as_deref().unwrap_or_default()).await;
            let (link, secret) = made.map_err(exit::refused)?;
            print_link(&links::url(&address(&platform), &link, &secret), output)?;
        }
    }
    Ok(Exit::Ok)
}

/// The acting context of this machine's command line.
pub fn act(platform: &Platform) -> Act<'_> {
    Act { store: &platform.store, now: platform.now(), actor: Actor::at_the_machine(machine::user()) }
}

/// The user with this name.
pub async fn find(platform: &Platform, name: &str) -> anyhow::Result<User> {
    let missing = || Invalid::error(format!("there is no user `{name}` (see `cubeloom user list`)"));
    platform.store.user_by_name(name).await?.ok_or_else(missing)
}

async fn add(platform: &Platform, args: UserAdd, output: Output) -> anyhow::Result<()> {
    let place = pair(args.place);
    if let Some((project, _)) = &place
        && platform.store.project(project).await?.is_none()
    {
        return Err(Invalid::error(format!("there is no project `{project}`")));
    }
    let password = if args.password_stdin { Some(password()?) } else { None };
    let wanted = NewAccount {
        name: args.name,
        display_name: args.display_name.unwrap_or_default(),
        email: args.email,
        admin: args.admin,
        password,
        federated: None,
    };
    let without = wanted.password.is_none();
    let act = act(platform);
    let user = accounts::create(&act, wanted).await.map_err(exit::refused)?;
    if let Some((project, role)) = place {
        let entry = act.entry("member.put", &user.name).project(&project).after(json!({ "role": role }));
        if platform.store.put_member(&project, &user.id, role, None, &entry).await? == Change::Missing {
            anyhow::bail!("the project `{project}` was deleted meanwhile; {} is a member of none", user.name);
        }
    }
    if without {
        let (link, secret) = links::reset(&act, &user).await.map_err(exit::refused)?;
        return print_link(&links::url(&address(platform), &link, &secret), output);
    }
    match output {
        Output::Json => show::json(&user),
        Output::Human => {
            show::line(format!("{} can sign in at {}/sign-in", user.name, address(platform)));
            Ok(())
        }
    }
}

async fn list(platform: &Platform, output: Output) -> anyhow::Result<()> {
    let mut users = Vec::new();
    loop {
        let order = UserOrder::Name(users.last().map(|user: &User| user.name.clone()));
        let filter = UserFilter { order, limit: Some(PAGE), ..UserFilter::default() };
        let found = platform.store.users(&filter).await?;
        let last = found.len() < PAGE;
        users.extend(found);
        if last {
            break;
        }
    }
    if output == Output::Json {
        return show::json(&users);
    }
    let mut table = Table::new(&[
        ("name", Align::Left),
        ("called", Align::Left),
        ("may", Align::Left),
        ("last seen (UTC)", Align::Left),
    ]);
    for user in users {
        let may = match (user.disabled, user.admin) {
            (true, _) => "nothing: disabled",
            (false, true) => "administer",
            (false, false) => "sign in",
        };
        let seen = user.seen_at.map_or_else(|| "-".into(), show::moment);
        table.row([user.name.into(), user.display_name.into(), may.into(), seen.into()]);
    }
    if table.is_empty() {
        show::line("no users yet: `cubeloom serve` prints a link for the first administrator");
    } else {
        show::line(table.render(Styles::detect()));
    }
    Ok(())
}

fn pair(place: Place) -> Option<(String, Role)> {
    place.project.map(|project| (project, place.role.map_or(Role::Editor, Into::into)))
}

/// One line of standard input.
fn password() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().take(1 << 16).read_to_string(&mut text).context("the password cannot be read")?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// The server's public URL: that of the running server, or the configured one.
fn address(platform: &Platform) -> String {
    let server = &platform.config.settings.server;
    let configured = || server.url.clone().unwrap_or_else(|| format!("http://{}", server.listen));
    let url = announce::url(platform.data.path()).unwrap_or_else(configured);
    url.trim_end_matches('/').to_owned()
}

fn print_link(url: &str, output: Output) -> anyhow::Result<()> {
    match output {
        Output::Json => show::json(&json!({ "url": url })),
        Output::Human => {
            show::line(url);
            show::note("anyone with this link can use it once: send it only to this user");
            Ok(())
        }
    }
}
