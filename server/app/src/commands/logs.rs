//! `cubeloom logs RUN [TASK]`: what workers wrote, as it lies in their folders.

use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::{AttemptKey, RunId};
use cubeloom_workers::logs::{range, tail};
use tokio::time::sleep;

use crate::cli::Logs;
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::platform::Platform;
use crate::show::{self, Style, Styles, Tame};

/// How much of a log is read at once.
const PIECE: usize = 256 << 10;
/// How often a followed log is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Prints the logs of a run, a task, or a worker.
pub async fn logs(args: Logs, config: Config) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    let run = platform.find_run(&args.run).await?;
    check_task(&platform, &run, args.task.as_deref()).await?;
    let mut printer = Printer::new(&args);
    loop {
        let over = platform.store.run(&run).await?.is_none_or(|record| record.state.is_final());
        let attempts = chosen(platform.store.attempts(&run).await?, &args);
        let files: Vec<LogFile> = attempts.iter().flat_map(|attempt| files(attempt, &args)).collect();
        if files.is_empty() && (over || !args.follow) {
            show::note("no logs: no worker that is meant has started");
            return Ok(Exit::Ok);
        }
        printer.print(&files)?;
        if over || !args.follow {
            return Ok(Exit::Ok);
        }
        sleep(LOOK).await;
    }
}

async fn check_task(platform: &Platform, run: &RunId, task: Option<&str>) -> anyhow::Result<()> {
    let (Some(task), Some(plan)) = (task, platform.store.plan(run).await?) else { return Ok(()) };
    if plan.find(task).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = plan.tasks.iter().take(20).map(|task| task.name.as_str()).collect();
    Err(Invalid::error(format!("run {run} has no task `{task}`; it has: {}", names.join(", "))))
}

/// The attempts that are meant: of each instance the latest, unless one is named.
fn chosen(attempts: Vec<AttemptRecord>, args: &Logs) -> Vec<AttemptRecord> {
    let mut chosen: Vec<AttemptRecord> = Vec::new();
    for attempt in attempts {
        let key = &attempt.key;
        let meant = args.task.as_ref().is_none_or(|task| *task == key.task)
            && args.instance.is_none_or(|instance| instance == key.instance)
            && args.attempt.is_none_or(|n| n == key.n);
        // They come in the order of their numbers.
        if meant {
            chosen.retain(|other| (&other.key.task, other.key.instance) != (&key.task, key.instance));
            chosen.push(attempt);
        }
    }
    chosen
}

/// A log stream of a worker.
#[derive(Debug, PartialEq, Eq)]
struct LogFile {
    /// Who wrote it: `task worker-0`.
    name: String,
    path: PathBuf,
}

fn files(attempt: &AttemptRecord, args: &Logs) -> Vec<LogFile> {
    let Bindings::Local(local) = &attempt.bindings else { return Vec::new() };
    let dir = Path::new(&local.paths.attempt_dir);
    let mut workers: Vec<String> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().join("stdout").exists())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|worker| args.worker.as_ref().is_none_or(|meant| meant == worker))
        .collect();
    workers.sort_by_key(|name| {
        name.rsplit_once('-').map(|(role, n)| (role.to_owned(), n.parse::<u32>().unwrap_or(0)))
    });
    let streams = [("stdout", !args.stderr), ("stderr", !args.stdout)];
    let alone = workers.len() == 1;
    workers
        .iter()
        .flat_map(|worker| {
            streams.iter().filter(|(_, meant)| *meant).map(move |(stream, _)| (worker, *stream))
        })
        .map(|(worker, stream)| LogFile {
            name: name_of(&attempt.key, worker, stream, alone),
            path: dir.join(worker).join(stream),
        })
        .collect()
}

fn name_of(key: &AttemptKey, worker: &str, stream: &str, alone: bool) -> String {
    let mut name = key.task.clone();
    if key.instance > 0 {
        name.push_str(&format!("[{}]", key.instance));
    }
    if !alone {
        name.push_str(&format!(" {worker}"));
    }
    if stream == "stderr" {
        name.push_str(" stderr");
    }
    name
}

/// Prints pieces of logs; a heading says whose, where there are several.
struct Printer {
    styles: Styles,
    tail: Option<usize>,
    /// Whether all that is printed is of one worker.
    single: bool,
    offsets: HashMap<PathBuf, u64>,
    /// How far each was read for what steers a terminal, where one shows it.
    tamed: Option<HashMap<PathBuf, Tame>>,
    last: Option<PathBuf>,
}

impl Printer {
    fn new(args: &Logs) -> Self {
        let single = args.worker.is_some() && args.task.is_some();
        let tamed = std::io::stdout().is_terminal().then(HashMap::new);
        Self { styles: Styles::detect(), tail: args.tail, single, offsets: HashMap::new(), tamed, last: None }
    }

    fn print(&mut self, files: &[LogFile]) -> anyhow::Result<()> {
        for file in files {
            self.file(file).with_context(|| format!("the log {} cannot be read", file.path.display()))?;
        }
        Ok(())
    }

    fn file(&mut self, file: &LogFile) -> std::io::Result<()> {
        let mut offset = match self.offsets.get(&file.path) {
            Some(offset) => *offset,
            None => self.begin(file)?,
        };
        loop {
            let piece = range(&file.path, offset, PIECE)?;
            if piece.bytes.is_empty() {
                break;
            }
            self.heading(file);
            offset = piece.next;
            let text = match &mut self.tamed {
                Some(tamed) => tamed.entry(file.path.clone()).or_default().push(&piece.bytes),
                None => piece.bytes,
            };
            if std::io::stdout().lock().write_all(&text).is_err() {
                // The reader has gone away (`| head`).
                std::process::exit(0);
            }
        }
        self.offsets.insert(file.path.clone(), offset);
        Ok(())
    }

    /// Prints the last lines, if only they are wanted; where to go on.
    fn begin(&mut self, file: &LogFile) -> std::io::Result<u64> {
        let Some(count) = self.tail else { return Ok(0) };
        let end = cubeloom_workers::logs::len(&file.path)?;
        for line in tail(&file.path, count)? {
            self.heading(file);
            show::line(line);
        }
        Ok(end)
    }

    fn heading(&mut self, file: &LogFile) {
        if self.single || self.last.as_ref() == Some(&file.path) {
            return;
        }
        self.last = Some(file.path.clone());
        show::line(self.styles.paint(Style::Dim, &format!("==> {} <==", file.name)));
    }
}
