//! `cubeloom runs` and `cubeloom runs show RUN` with a server.

use cubeloom_web::api::runs::view::RunView;

use super::follow::{json, latest};
use super::status::run_state;
use super::{Remote, now, report};
use crate::cli::Runs;
use crate::commands::{Listed, runs_table};
use crate::exit::Exit;
use crate::show::{self, Output, Styles};

/// Lists the runs of a project, newest first.
pub async fn list(remote: &Remote, args: &Runs) -> anyhow::Result<Exit> {
    let states: Vec<&str> = args.state.iter().map(|state| state.as_str()).collect();
    let states = states.join(",");
    let mut query = vec![("state", states.as_str())];
    query.extend(args.pipeline.as_deref().map(|name| ("pipeline", name)));
    let path = ["projects", remote.project.as_str(), "runs"];
    let runs: Vec<RunView> = remote.client.list(&path, &query, args.limit).await?;
    match remote.output {
        Output::Json => show::json(&runs)?,
        Output::Human if runs.is_empty() => show::line("no runs"),
        Output::Human => {
            let rows = runs.into_iter().map(Listed::from).collect();
            show::line(runs_table(rows, now()).render(Styles::detect()));
        }
    }
    Ok(Exit::Ok)
}

/// Shows a run with its tasks and results.
pub async fn show_one(remote: &Remote, text: &str) -> anyhow::Result<Exit> {
    let run = remote.find_run(text).await?;
    let (run, tasks) = latest(remote, &run.id).await?;
    match remote.output {
        Output::Json => show::json(&json(&run, &tasks))?,
        Output::Human => {
            let report = report::of(remote, &run, &tasks).await?;
            show::line(report.text(now(), Styles::detect()));
        }
    }
    Ok(Exit::Ok)
}

impl From<RunView> for Listed {
    fn from(run: RunView) -> Self {
        Self {
            state: run_state(&run),
            id: run.id,
            project: run.project,
            pipeline: run.pipeline,
            created_at: run.created_at.0,
            started_at: run.started_at.map(|at| at.0),
            ended_at: run.ended_at.map(|at| at.0),
            tasks: run.tasks.total,
            user: run.user,
        }
    }
}
