//! Waits for a run, and reports its outcome.

use cubeloom_domain::RunId;

use crate::exit::Exit;
use crate::follow::Follower;
use crate::platform::Platform;
use crate::progress;
use crate::show::{self, Output, Styles};

/// How to wait for a run.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    pub watch: bool,
    /// The format of the result.
    pub output: Output,
}

/// Follows a run to its end and prints the report.
pub async fn await_run(platform: &Platform, run: &RunId, wait: Wait) -> anyhow::Result<Exit> {
    let watch = wait.watch && wait.output == Output::Human;
    let (view, exit) = Follower::new(platform, run, watch).await?.run_out().await?;
    platform.store.close().await;
    let (dir, now) = (platform.run_dir(run), platform.now());
    if exit == Exit::Interrupted {
        show::note(format!(
            "detached from run {run}, which continues; `cubeloom serve` resumes it, `cubeloom runs show {run}` shows it"
        ));
        return Ok(exit);
    }
    match wait.output {
        Output::Json => show::json(&progress::report_json(&view, &dir, now))?,
        // Without --watch the exit code is the result; a failure also prints its reason.
        Output::Human if watch => {
            show::line(format!("\n{}", progress::report(&view, &dir, now, Styles::detect())))
        }
        Output::Human if exit == Exit::Failed => show::note(progress::failures(&view)),
        Output::Human => {}
    }
    Ok(exit)
}
