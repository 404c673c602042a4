//! Waits for a run, and reports its outcome.

use std::path::Path;

use anyhow::Context;
use cubeloom_domain::{RunId, Timestamp};
use serde_json::Value;

use crate::cli::Following;
use crate::exit::Exit;
use crate::follow::Follower;
use crate::platform::Platform;
use crate::progress::{Report, junit, records_json};
use crate::show::{self, Output, Styles};

/// Follows a run to its end and prints the report.
pub async fn await_run(
    platform: &Platform,
    run: &RunId,
    follow: &Following,
    output: Output,
) -> anyhow::Result<Exit> {
    let watch = follow.watch && output == Output::Human;
    let (view, exit) = Follower::new(platform, run, watch).await?.run_out().await?;
    platform.store.close().await;
    let (dir, now) = (platform.run_dir(run), platform.now());
    if exit == Exit::Interrupted {
        show::note(format!(
            "detached from run {run}, which continues; `cubeloom serve` resumes it, `cubeloom runs show {run}` shows it"
        ));
        return Ok(exit);
    }
    let report = Report::of(&view, &dir, now);
    conclude(&report, || records_json(&view, &dir, now), exit, follow, output, now)?;
    Ok(exit)
}

/// Prints the report of an ended run as requested.
pub fn conclude(
    report: &Report,
    json: impl FnOnce() -> Value,
    exit: Exit,
    follow: &Following,
    output: Output,
    now: Timestamp,
) -> anyhow::Result<()> {
    if let Some(file) = &follow.junit {
        write_junit(report, file, now)?;
    }
    match output {
        Output::Json => show::json(&json())?,
        Output::Human if follow.watch => {
            show::line(format!("\n{}", report.text(now, Styles::detect())));
        }
        Output::Human if follow.wait => show::line(report.text(now, Styles::detect())),
        // The exit code is the result; a failure also prints its reason.
        Output::Human if exit == Exit::Failed => show::note(report.failures()),
        Output::Human => {}
    }
    Ok(())
}

fn write_junit(report: &Report, file: &Path, now: Timestamp) -> anyhow::Result<()> {
    let written = junit(report, now).and_then(|text| std::fs::write(file, text));
    written.with_context(|| format!("the JUnit file {} cannot be written", file.display()))
}
