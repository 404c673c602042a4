//! `cubeloom runs` and `cubeloom runs show RUN`

use cubeloom_domain::Timestamp;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::state::RunState;
use cubeloom_store::RunFilter;

use crate::cli::{Runs, RunsCommand};
use crate::config::Config;
use crate::exit::Exit;
use crate::platform::Platform;
use crate::progress::{self, Report, View};
use crate::show::{self, Align, Cell, Output, Style, Styles, Table};

/// Lists runs, newest first, or shows one.
pub async fn runs(args: Runs, config: Config, output: Output) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    if let Some(RunsCommand::Show { run, .. }) = &args.show {
        return show_one(&platform, run, output).await;
    }
    let filter = RunFilter {
        projects: args.at.project.map(|project| vec![project]),
        pipeline: args.pipeline,
        states: args.state,
        limit: Some(args.limit),
        ..RunFilter::default()
    };
    let runs = platform.store.runs(&filter).await?;
    match output {
        Output::Json => show::json(&runs)?,
        Output::Human if runs.is_empty() => show::line("no runs"),
        Output::Human => {
            let rows = runs.into_iter().map(Listed::from).collect();
            show::line(runs_table(rows, platform.now()).render(Styles::detect()));
        }
    }
    Ok(Exit::Ok)
}

/// A run in a list.
pub struct Listed {
    pub id: String,
    pub project: String,
    pub pipeline: String,
    pub state: RunState,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    pub tasks: u64,
    pub user: String,
}

impl From<RunRecord> for Listed {
    fn from(run: RunRecord) -> Self {
        Self {
            id: run.id.to_string(),
            project: run.project,
            pipeline: run.pipeline,
            state: run.state,
            created_at: run.created_at,
            started_at: run.started_at,
            ended_at: run.ended_at,
            tasks: run.tasks.into(),
            user: run.user,
        }
    }
}

/// Runs as a table. The project is a column only if there are several.
pub fn runs_table(runs: Vec<Listed>, now: Timestamp) -> Table {
    let several = runs.windows(2).any(|pair| pair[0].project != pair[1].project);
    let mut columns = vec![
        ("run", Align::Left),
        ("pipeline", Align::Left),
        ("state", Align::Left),
        ("created (UTC)", Align::Left),
        ("time", Align::Right),
        ("tasks", Align::Right),
        ("user", Align::Left),
    ];
    if several {
        columns.insert(1, ("project", Align::Left));
    }
    let mut table = Table::new(&columns);
    for run in runs {
        let time = run.started_at.map(|began| show::duration(run.ended_at.unwrap_or(now).since(began)));
        let mut row: Vec<Cell> = vec![
            run.id.into(),
            run.pipeline.into(),
            Cell::styled(run.state.as_str(), style(run.state)),
            show::moment(run.created_at).into(),
            time.unwrap_or_else(|| "-".into()).into(),
            run.tasks.to_string().into(),
            run.user.into(),
        ];
        if several {
            row.insert(1, run.project.into());
        }
        table.row(row);
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
        Output::Json => show::json(&progress::records_json(&view, &dir, now))?,
        Output::Human => show::line(Report::of(&view, &dir, now).text(now, Styles::detect())),
    }
    Ok(Exit::Ok)
}
