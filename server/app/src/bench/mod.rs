//! `cubeloom bench`: speed and size, each value next to its baseline in the same run.
//!
//! Each round of a case runs in its own process (this program again, with `--one`). So memory values belong
//! to that case alone, and no cache is warm that would not be in a user's server. Medians are over the
//! rounds.

mod admission;
mod cases;
mod fake;
mod figures;
mod history;
mod local;
mod rig;
mod web;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use clap::Args;

use self::cases::{CASES, Case, PARTS};
use self::figures::{Figure, machine, report};
use crate::show;

/// `cubeloom bench`
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Names of the cases to run [default: all]
    cases: Vec<String>,
    /// Number of rounds per case; the results are medians
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Number of finished tasks in the database, for the case `history`
    #[arg(long, default_value_t = 3_000_000)]
    history: usize,
    /// List the cases instead of running them
    #[arg(long)]
    list: bool,
    /// Run one round of one case in this process and print its figures as JSON
    #[arg(long, hide = true)]
    one: bool,
    /// Folder for scratch files
    #[arg(long, default_value = "/var/tmp")]
    scratch: PathBuf,
}

/// The input of a case.
pub struct Setting {
    /// An empty folder for this case only, which workers can reach.
    pub folder: PathBuf,
    /// Number of finished tasks that the case `history` writes.
    pub history: usize,
}

/// Runs the requested cases.
///
/// # Errors
/// When a case is unknown or fails.
pub async fn bench(args: BenchArgs) -> anyhow::Result<()> {
    let chosen = chosen(&args.cases)?;
    if args.list {
        for case in chosen {
            show::line(format!("{:<12} {}", case.name, case.about));
        }
        return Ok(());
    }
    if args.one {
        let [case] = chosen[..] else { bail!("--one takes one case") };
        return one(case, &args).await;
    }
    show::line(machine());
    for case in chosen {
        let mut rounds: BTreeMap<String, Vec<Figure>> = BTreeMap::new();
        for _ in 0..if case.once { 1 } else { args.rounds.max(1) } {
            for figure in child(case.name, args.history, &args.scratch)? {
                rounds.entry(figure.name.clone()).or_default().push(figure);
            }
        }
        show::line(report(case, rounds));
    }
    Ok(())
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Case>> {
    let find = |name: &String| {
        let known = || CASES.iter().map(|case| case.name).collect::<Vec<_>>().join(", ");
        CASES
            .iter()
            .chain(PARTS)
            .find(|case| case.name == name)
            .with_context(|| format!("no case `{name}`; known cases: {}", known()))
    };
    if names.is_empty() { Ok(CASES.iter().collect()) } else { names.iter().map(find).collect() }
}

async fn one(case: &Case, args: &BenchArgs) -> anyhow::Result<()> {
    let folder = args.scratch.join(format!("cubeloom-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    let folder = folder.canonicalize()?;
    let setting = Setting { folder: folder.clone(), history: args.history };
    let figures = (case.run)(setting).await;
    let removed = std::fs::remove_dir_all(&folder);
    show::line(serde_json::to_string(&figures?)?);
    removed.with_context(|| format!("{} cannot be removed", folder.display()))
}

/// One round, in its own process.
fn child(case: &str, history: usize, scratch: &Path) -> anyhow::Result<Vec<Figure>> {
    let output = Command::new(std::env::current_exe()?)
        .args(["bench", "--one", case, "--history", &history.to_string(), "--scratch"])
        .arg(scratch)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("the case `{case}` could not be started"))?;
    if !output.status.success() {
        bail!("the case `{case}` failed ({})", output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).with_context(|| format!("the case `{case}` printed `{line}`"))
}
