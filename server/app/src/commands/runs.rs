//! `cubeloom runs` and `cubeloom runs show RUN`

use cubeloom_domain::record::RunRecord;
use cubeloom_domain::state::RunState;
use cubeloom_store::RunFilter;

use crate::cli::{Runs, RunsCommand};
use crate::config::Config;
use crate::exit::Exit;
use crate::platform::{PROJECT, Platform};
use crate::progress::{self, View};
use crate::show::{self, Align, Cell, Output, Style, Styles, Table};

/// Lists runs, newest first, or shows one.
pub async fn runs(args: Runs, config: Config, output: Output) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    if let Some(RunsCommand::Show { run }) = &args.show {
        return show_one(&platform, run, output).await;
    }
    let filter = RunFilter {
        projects: Some(vec![PROJECT.into()]),
        pipeline: args.pipeline,
        states: args.state,
        limit: Some(args.limit),
        ..RunFilter::default()
    };
    let runs = platform.store.runs(&filter).await?;
    match output {
        Output::Json => show::json(&runs)?,
        Output::Human if runs.is_empty() => show::line("no runs"),
        Output::Human => show::line(table(&platform, &runs).render(Styles::detect())),
    }
    Ok(Exit::Ok)
}

fn table(platform: &Platform, runs: &[RunRecord]) -> Table {
    let now = platform.now();
    let columns = [
        ("run", Align::Left),
        ("pipeline", Align::Left),
        ("state", Align::Left),
        ("created (UTC)", Align::Left),
        ("time", Align::Right),
        ("tasks", Align::Right),
        ("user", Align::Left),
    ];
    let mut table = Table::new(&columns);
    for run in runs {
        let time = run.started_at.map(|began| show::duration(run.ended_at.unwrap_or(now).since(began)));
        table.row([
            run.id.to_string().into(),
            run.pipeline.clone().into(),
            Cell::styled(run.state.as_str(), style(run.state)),
            show::moment(run.created_at).into(),
            time.unwrap_or_else(|| "-".into()).into(),
            run.tasks.to_string().into(),
            run.user.clone().into(),
        ]);
    }
    table
}

fn style(state: RunState) -> Style {
    match state {
        RunState::Succeeded => Style::Good,
        RunState::Failed => Style::Bad,
        RunState::Queued | RunState::Running => Style::Busy,
        RunState::Cancelling | RunState::Cancelled => Style::Warn,
    }
}

async fn show_one(platform: &Platform, text: &str, output: Output) -> anyhow::Result<Exit> {
    let run = platform.find_run(text).await?;
    let view = View::load(&platform.store, &run).await?;
    let view = view.ok_or_else(|| anyhow::anyhow!("run {run} has no plan"))?;
    let (dir, now) = (platform.run_dir(&run), platform.now());
    match output {
        Output::Json => show::json(&progress::report_json(&view, &dir, now))?,
        Output::Human => show::line(progress::report(&view, &dir, now, Styles::detect())),
    }
    Ok(Exit::Ok)
}
