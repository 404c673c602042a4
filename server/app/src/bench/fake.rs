//! Cases on a simulated cluster: the cost of engine, store and compiler alone.

use std::time::Instant;

use anyhow::Context;
use cubeloom_testkit::builders::{PipelineBuilder, pipeline};
use cubeloom_testkit::postgres;

use super::Setting;
use super::figures::{Figure, status_mib};
use super::rig::{Rig, document};

/// Tasks per round of the dispatch cases.
const DISPATCHES: usize = 10_000;
/// Tasks of the large document.
const LARGE: usize = 100_000;
/// Parallel tasks in the large document.
const WIDTH: usize = 1_000;

/// Durable dispatches on SQLite.
pub async fn sqlite(setting: Setting) -> anyhow::Result<Vec<Figure>> {
    let url = format!("sqlite:{}", setting.folder.join("bench.sqlite").display());
    dispatches(&url, &setting, 5000.0).await
}

/// Durable dispatches on Debian's PostgreSQL, started for this case.
pub async fn postgres(setting: Setting) -> anyhow::Result<Vec<Figure>> {
    let database = postgres::Database::create();
    dispatches(&database.url(), &setting, 3000.0).await
}

async fn dispatches(url: &str, setting: &Setting, least: f64) -> anyhow::Result<Vec<Figure>> {
    let mut rig = Rig::fake(url, &setting.folder).await?;
    rig.run_pipeline(&layers(100, 10)).await?;
    let plan = rig.plan(&document(&layers(DISPATCHES, 500))?)?;
    let took = rig.run(plan).await?;
    let rate = DISPATCHES as f64 / took.as_secs_f64();
    Ok(vec![Figure::new("dispatches", rate, "/s").at_least(least)])
}

/// Planning a large document.
pub async fn plan(setting: Setting) -> anyhow::Result<Vec<Figure>> {
    let url = format!("sqlite:{}", setting.folder.join("bench.sqlite").display());
    let mut rig = Rig::fake(&url, &setting.folder).await?;
    let text = layers(LARGE, WIDTH).text();
    let start = Instant::now();
    let value: serde_json::Value = serde_json::from_str(&text)?;
    let bare = start.elapsed().as_secs_f64();
    drop(value);
    let start = Instant::now();
    let document =
        cubeloom_compiler::parse_pipeline(&text).map_err(|problems| anyhow::anyhow!("{}", problems[0]))?;
    let parsed = start.elapsed().as_secs_f64();
    let planned = rig.plan(&document)?;
    let both = start.elapsed().as_secs_f64();
    anyhow::ensure!(planned.tasks.len() == LARGE, "the plan has lost tasks");
    Ok(vec![
        Figure::baseline("bare JSON", bare, "s"),
        Figure::new("reading", parsed, "s"),
        Figure::new("reading and planning", both, "s").at_most(1.0),
    ])
}

/// Writes a large run into the database of the folder's parent, for [`large`], and measures its planning.
pub async fn prepare(setting: Setting) -> anyhow::Result<Vec<Figure>> {
    let folder = setting.folder.parent().context("a scratch folder lies in a folder")?;
    let url = format!("sqlite:{}", folder.join("large.sqlite").display());
    let mut rig = Rig::fake(&url, &setting.folder).await?;
    let plan = rig.plan(&document(&layers(LARGE, WIDTH))?)?;
    rig.stop().await;
    rig.ask_for(&plan).await?;
    rig.store.close().await;
    Ok(vec![Figure::new("peak memory, planning", status_mib(std::process::id(), "VmHWM"), "MiB")])
}

/// A large run. Another process plans it, as a client would, and this one runs it, as a server would.
pub async fn large(setting: Setting) -> anyhow::Result<Vec<Figure>> {
    let mut figures = super::child("prepare", 0, &setting.folder)?;
    let url = format!("sqlite:{}", setting.folder.join("large.sqlite").display());
    let start = Instant::now();
    let rig = Rig::fake(&url, &setting.folder).await?;
    rig.wait_for_all().await?;
    figures.push(Figure::new("time", start.elapsed().as_secs_f64(), "s").at_most(3.5));
    let memory = status_mib(std::process::id(), "VmHWM");
    figures.push(Figure::new("peak memory, server", memory, "MiB").at_most(340.0));
    Ok(figures)
}

/// `count` tasks, `width` in parallel, each depending on the one above it.
pub fn layers(count: usize, width: usize) -> PipelineBuilder {
    (0..count).fold(pipeline("layers"), |doc, n| {
        doc.task(&format!("t{n}"), |task| match n.checked_sub(width) {
            Some(above) => task.needs(&format!("t{above}")),
            None => task,
        })
    })
}
