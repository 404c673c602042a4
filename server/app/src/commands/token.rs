//! `cubeloom token ...`: API tokens, for users with access to the data folder.

use cubeloom_domain::identity::{ApiToken, User};
use cubeloom_store::{PageOf, UserFilter};
use cubeloom_web::auth::tokens::{self, NewToken};
use serde_json::{Value, json};

use super::user::{act, find};
use crate::cli::{TokenCommand, TokenCreate};
use crate::config::Config;
use crate::exit::{self, Exit, Invalid};
use crate::platform::Platform;
use crate::show::{self, Align, Output, Styles, Table};

/// Page size of token reads.
const PAGE: usize = 200;

pub async fn token(command: TokenCommand, config: Config, output: Output) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    match command {
        TokenCommand::Create(args) => create(&platform, args, output).await?,
        TokenCommand::List => list(&platform, output).await?,
        TokenCommand::Revoke { id } => revoke(&platform, &id).await?,
    }
    Ok(Exit::Ok)
}

async fn create(platform: &Platform, args: TokenCreate, output: Output) -> anyhow::Result<()> {
    let user = match &args.user {
        Some(name) => find(platform, name).await?,
        None => the_administrator(platform).await?,
    };
    let act = act(platform);
    let wanted = NewToken {
        name: args.name,
        scope: args.scope.into(),
        project: args.project,
        expires_at: args.expires.map(|life| act.now.plus(life.0)),
    };
    let (token, text) = tokens::create(&act, &user, wanted).await.map_err(exit::refused)?;
    match output {
        Output::Json => {
            let mut shown = about(&token, &user);
            shown["token"] = text.into();
            show::json(&shown)
        }
        Output::Human => {
            show::line(text);
            show::note(format!("of {}, for `{}`; it is shown only once", user.name, token.scope.as_str()));
            Ok(())
        }
    }
}

/// The administrator, if there is only one.
async fn the_administrator(platform: &Platform) -> anyhow::Result<User> {
    let filter = UserFilter { limit: Some(PAGE), ..UserFilter::default() };
    let users = platform.store.users(&filter).await?;
    let mut administrators = users.into_iter().filter(|user| user.admin && !user.disabled);
    match (administrators.next(), administrators.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(Invalid::error("set the token's user with --user NAME (see `cubeloom user list`)")),
    }
}

async fn list(platform: &Platform, output: Output) -> anyhow::Result<()> {
    let mut shown = Vec::new();
    let mut after = None;
    loop {
        let found = platform.store.all_tokens(&PageOf { after, limit: PAGE }).await?;
        after = found.last().map(|token| token.id.clone());
        for token in &found {
            if let Some(user) = platform.store.user(&token.user_id).await? {
                shown.push((token.clone(), user));
            }
        }
        if found.len() < PAGE {
            break;
        }
    }
    if output == Output::Json {
        return show::json(&shown.iter().map(|(token, user)| about(token, user)).collect::<Vec<_>>());
    }
    let columns = ["id", "name", "user", "scope", "project", "expires (UTC)", "used (UTC)"];
    let mut table = Table::new(&columns.map(|name| (name, Align::Left)));
    for (token, user) in shown {
        table.row([
            token.id.into(),
            token.name.into(),
            user.name.into(),
            token.scope.as_str().into(),
            token.project.unwrap_or_else(|| "all".into()).into(),
            token.expires_at.map_or_else(|| "never".into(), show::moment).into(),
            token.used_at.map_or_else(|| "never".into(), show::moment).into(),
        ]);
    }
    show::line(if table.is_empty() { "no tokens".into() } else { table.render(Styles::detect()) });
    Ok(())
}

async fn revoke(platform: &Platform, id: &str) -> anyhow::Result<()> {
    let missing = || Invalid::error(format!("there is no token `{id}` (see `cubeloom token list`)"));
    let token = platform.store.token(id).await?.ok_or_else(missing)?;
    let user = platform.store.user(&token.user_id).await?.ok_or_else(missing)?;
    let done = tokens::revoke(&act(platform), &token, &user).await.map_err(exit::refused)?;
    show::line(if done { "revoked" } else { "it was revoked already" });
    Ok(())
}

fn about(token: &ApiToken, user: &User) -> Value {
    json!({
        "id": token.id,
        "name": token.name,
        "user": user.name,
        "scope": token.scope.as_str(),
        "project": token.project,
        "expires_at": token.expires_at.map(show::moment),
        "used_at": token.used_at.map(show::moment),
    })
}
