//! `cubeloom open` for a server on this machine.

use crate::cli::Open;
use crate::config::Config;
use crate::exit::Exit;
use crate::platform::{PROJECT, Platform};
use crate::remote::{self, Page};

/// Opens a page of this machine's server, at its configured address.
pub async fn open(args: &Open, config: Config) -> anyhow::Result<Exit> {
    let server = &config.settings.server;
    let url = server.url.clone().unwrap_or_else(|| format!("http://{}", server.listen));
    let page = match (&args.run, &args.pipeline) {
        (Some(text), _) => {
            let platform = Platform::open(config).await?;
            Page::Run(platform.find_run(text).await?.to_string(), args.task.clone())
        }
        (None, Some(pipeline)) => {
            let project = args.at.project.clone().unwrap_or_else(|| PROJECT.into());
            Page::Pipeline(project, pipeline.clone())
        }
        (None, None) => Page::Home,
    };
    remote::show(&url, &page, args.print);
    Ok(Exit::Ok)
}
