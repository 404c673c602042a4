//! `cubeloom keys ...`: the encryption keys of secrets, for users with access to the data folder.

use anyhow::bail;
use cubeloom_web::secrets::{in_older_keys, rotate};
use serde_json::json;

use crate::cli::KeysCommand;
use crate::config::Config;
use crate::exit::Exit;
use crate::platform::Platform;
use crate::sealing;
use crate::show::{self, Output};

pub async fn keys(command: KeysCommand, config: Config, output: Output) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    match command {
        KeysCommand::Rotate => anew(&platform, output).await,
        KeysCommand::Forget => forget(&platform, output).await,
    }
}

async fn anew(platform: &Platform, output: Output) -> anyhow::Result<Exit> {
    // Creates the first key if there is none, so that the new one precedes it.
    platform.keyring()?;
    let file = sealing::add_key(&platform.config)?;
    let keys = platform.keyring()?;
    let rotated = rotate(&platform.store, &keys).await?;
    match output {
        Output::Json => {
            show::json(&json!({"key": keys.newest(), "anew": rotated.anew, "left": rotated.left}))?
        }
        Output::Human => {
            show::line(format!("{} values are encrypted with the key {} now", rotated.anew, keys.newest()));
            for left in &rotated.left {
                show::note(format!("not changed: {left}"));
            }
            if let Some(file) = file {
                show::note(format!("the older keys stay in {} until `cubeloom keys forget`", file.display()));
            }
        }
    }
    Ok(if rotated.left.is_empty() { Exit::Ok } else { Exit::Failed })
}

async fn forget(platform: &Platform, output: Output) -> anyhow::Result<Exit> {
    let keys = platform.keyring()?;
    let older = in_older_keys(&platform.store, &keys).await?;
    if older > 0 {
        bail!("{older} values are encrypted with older keys: run `cubeloom keys rotate` first");
    }
    let forgotten = sealing::forget_older(&platform.config)?;
    match output {
        Output::Json => show::json(&json!({"key": keys.newest(), "forgotten": forgotten}))?,
        Output::Human => show::line(format!("{forgotten} older keys are forgotten")),
    }
    Ok(Exit::Ok)
}
