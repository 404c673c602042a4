//! `cubeloom open`

use super::{Remote, browser};
use crate::cli::Open;
use crate::exit::Exit;
use crate::show;

/// A page of a server.
pub enum Page {
    Home,
    /// A run, or one of its tasks.
    Run(String, Option<String>),
    /// A project's pipeline.
    Pipeline(String, String),
}

impl Page {
    /// Its URL on a server.
    pub fn url(&self, server: &str) -> String {
        let server = server.trim_end_matches('/');
        match self {
            Self::Home => server.to_owned(),
            Self::Run(run, None) => format!("{server}/runs/{run}"),
            Self::Run(run, Some(task)) => format!("{server}/runs/{run}/tasks/{task}"),
            Self::Pipeline(project, pipeline) => format!("{server}/projects/{project}/pipelines/{pipeline}"),
        }
    }
}

pub async fn open(remote: &Remote, args: &Open) -> anyhow::Result<Exit> {
    let page = match (&args.run, &args.pipeline) {
        (Some(run), _) => Page::Run(remote.find_run(run).await?.id, args.task.clone()),
        (None, Some(pipeline)) => Page::Pipeline(remote.project.clone(), pipeline.clone()),
        (None, None) => Page::Home,
    };
    show(&remote.client.server, &page, args.print);
    Ok(Exit::Ok)
}

/// Opens a page, and prints its URL.
pub fn show(server: &str, page: &Page, only_print: bool) {
    let url = page.url(server);
    if !only_print {
        browser::open(&url);
    }
    show::line(url);
}
