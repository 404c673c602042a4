//! `cubeloom logs RUN [TASK]`: the workers' logs, read from the cluster that they ran on.

use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use cubeloom_domain::executor::Executor;
use cubeloom_domain::logs::{Log, LogName, LogStream, Logs as Reader, before_last};
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::{AttemptKey, RunId};
use tokio::time::sleep;

use crate::cli::Logs;
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::platform::Platform;
use crate::show::{self, Style, Styles, Tame};

/// Size of a read, in bytes.
const PIECE: usize = 256 << 10;
/// The poll interval of a followed log.
const LOOK: Duration = Duration::from_millis(200);

/// Prints the logs of a run, a task, or a worker.
pub async fn logs(args: Logs, config: Config) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    let run = platform.find_run(&args.run).await?;
    let plan = platform.store.plan(&run).await?.with_context(|| format!("run {run} has no plan"))?;
    check_task(&plan, &run, args.task.as_deref())?;
    let executor = executor(&platform, &run, &plan.cluster).await?;
    drop(plan);
    let reader = executor.logs().context("the logs of the run's cluster cannot be read")?;
    let mut printer = Printer::new(&args, reader);
    loop {
        // Checked before the read, so that the read includes everything up to the end.
        let over = platform.store.run(&run).await?.is_none_or(|record| record.state.is_final());
        let attempts = chosen(platform.store.attempts(&run).await?, &args);
        let mut found = Vec::new();
        for attempt in &attempts {
            found.extend(meant(reader, &attempt.key, &args).await?);
        }
        if found.is_empty() && (over || !args.follow) {
            show::note(none(&attempts, &args));
            return Ok(Exit::Ok);
        }
        for log in &found {
            printer.print(log).await?;
        }
        if over || !args.follow {
            return Ok(Exit::Ok);
        }
        sleep(LOOK).await;
    }
}

/// The executor of a run's cluster.
async fn executor(platform: &Platform, run: &RunId, cluster: &str) -> anyhow::Result<Arc<dyn Executor>> {
    let clusters = platform.clusters()?;
    if clusters.get(cluster).is_none() {
        platform.cluster_keeper()?.look().await?;
    }
    clusters.get(cluster).ok_or_else(|| {
        anyhow!("the cluster `{cluster}` that run {run} went to has been deleted, or cannot be used")
    })
}

/// The reason why there is nothing to print.
fn none(attempts: &[AttemptRecord], args: &Logs) -> &'static str {
    if attempts.is_empty() {
        "no logs: no attempt has started"
    } else if args.worker.is_some() {
        "no logs: no such worker has started"
    } else {
        "no logs: no worker has started, or the logs have been deleted"
    }
}

fn check_task(plan: &RunPlan, run: &RunId, task: Option<&str>) -> anyhow::Result<()> {
    let Some(task) = task else { return Ok(()) };
    if plan.find(task).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = plan.tasks.iter().take(20).map(|task| task.name.as_str()).collect();
    Err(Invalid::error(format!("run {run} has no task `{task}`; it has: {}", names.join(", "))))
}

/// The selected attempts: the latest of each instance, unless one is named.
fn chosen(attempts: Vec<AttemptRecord>, args: &Logs) -> Vec<AttemptRecord> {
    let mut chosen: Vec<AttemptRecord> = Vec::new();
    for attempt in attempts {
        let key = &attempt.key;
        let meant = args.task.as_ref().is_none_or(|task| *task == key.task)
            && args.instance.is_none_or(|instance| instance == key.instance)
            && args.attempt.is_none_or(|n| n == key.n);
        // They are in the order of their numbers.
        if meant {
            chosen.retain(|other| (&other.key.task, other.key.instance) != (&key.task, key.instance));
            chosen.push(attempt);
        }
    }
    chosen
}

/// A log stream of a worker.
struct Stream {
    /// Its origin: `task worker-0`.
    title: String,
    key: AttemptKey,
    log: Log,
}

/// The selected streams of an attempt.
async fn meant(reader: &dyn Reader, key: &AttemptKey, args: &Logs) -> anyhow::Result<Vec<Stream>> {
    let mut logs = reader.logs(key).await.with_context(|| format!("the logs of {key} cannot be read"))?;
    logs.retain(|log| args.worker.as_ref().is_none_or(|meant| *meant == log.name.worker.to_string()));
    let alone = logs.iter().all(|log| log.name.worker == logs[0].name.worker);
    logs.retain(|log| match log.name.stream {
        LogStream::Stdout => !args.stderr,
        LogStream::Stderr => !args.stdout,
    });
    let stream = |log: Log| Stream { title: title(key, &log.name, alone), key: key.clone(), log };
    Ok(logs.into_iter().map(stream).collect())
}

/// The heading of a log, without the worker if it is the only one.
fn title(key: &AttemptKey, log: &LogName, alone: bool) -> String {
    let mut name = key.task.clone();
    if key.instance > 0 {
        name.push_str(&format!("[{}]", key.instance));
    }
    if !alone {
        name.push_str(&format!(" {}", log.worker));
    }
    if log.stream == LogStream::Stderr {
        name.push_str(" stderr");
    }
    name
}

/// Prints parts of logs.
struct Printer<'r> {
    reader: &'r dyn Reader,
    tail: Option<usize>,
    offsets: HashMap<(AttemptKey, LogName), u64>,
    headings: Headings,
}

impl<'r> Printer<'r> {
    fn new(args: &Logs, reader: &'r dyn Reader) -> Self {
        Self { reader, tail: args.tail, offsets: HashMap::new(), headings: Headings::new(args) }
    }

    async fn print(&mut self, stream: &Stream) -> anyhow::Result<()> {
        self.read(stream).await.with_context(|| format!("the log of {} cannot be read", stream.title))
    }

    async fn read(&mut self, stream: &Stream) -> std::io::Result<()> {
        let (name, reader) = (&stream.log.name, self.reader);
        let id = (stream.key.clone(), name.clone());
        let mut offset = match (self.offsets.get(&id), self.tail) {
            (Some(offset), _) => *offset,
            (None, Some(lines)) => before_last(reader, &stream.key, &stream.log, lines, u64::MAX).await?,
            (None, None) => 0,
        };
        let source = format!("{} {} {}", stream.key, name.worker, name.stream.as_str());
        loop {
            let piece = reader.read(&stream.key, name, offset, PIECE).await?;
            if piece.bytes.is_empty() {
                break;
            }
            offset = piece.next;
            self.headings.print(&source, &stream.title, &piece.bytes);
        }
        self.offsets.insert(id, offset);
        Ok(())
    }
}

/// Prints the output of several workers, with a heading wherever another one begins.
pub struct Headings {
    styles: Styles,
    /// Whether all output is from one worker, which needs no heading.
    single: bool,
    /// The source of the last output.
    last: Option<String>,
    /// The state of the control sequence filter of each source, if the output is a terminal.
    tamed: Option<HashMap<String, Tame>>,
}

impl Headings {
    pub fn new(args: &Logs) -> Self {
        let tamed = std::io::stdout().is_terminal().then(HashMap::new);
        let single = args.worker.is_some() && args.task.is_some();
        Self { styles: Styles::detect(), single, last: None, tamed }
    }

    /// Whether nothing was printed yet.
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Prints output of a source: an attempt's worker and stream, with its title.
    pub fn print(&mut self, source: &str, title: &str, bytes: &[u8]) {
        if self.last.as_deref() != Some(source) {
            self.last = Some(source.to_owned());
            if !self.single {
                show::line(self.styles.paint(Style::Dim, &format!("==> {title} <==")));
            }
        }
        let text = match &mut self.tamed {
            Some(tamed) => tamed.entry(source.to_owned()).or_default().push(bytes),
            None => bytes.to_owned(),
        };
        if std::io::stdout().lock().write_all(&text).is_err() {
            // The reader has closed the pipe (`| head`).
            std::process::exit(0);
        }
    }
}
