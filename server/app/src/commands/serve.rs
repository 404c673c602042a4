//! `cubeloom serve`: the engine and the web server, until a signal stops it.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::event::RunEvent;
use cubeloom_domain::template::TemplateSet;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{broadcast, watch};
use tokio::time::interval;

use crate::announce::Announcement;
use crate::cli;
use crate::clusters::Keeper;
use crate::config::Config;
use crate::exit::Exit;
use crate::follow::{self, exit_of};
use crate::lock::{EngineLock, Holder};
use crate::planning::Source;
use crate::platform::{Platform, RunningEngine};
use crate::show::{self, Output, Styles};
use crate::submit::{Request, submit};
use crate::web::{self, RunningWeb};
use crate::{counting, memory, problems, progress};

/// Runs both. The first signal drains the server: the current pass ends, leases are released, jobs continue
/// under their shims. The second ends the process immediately, which only leaves leases to expire.
pub async fn serve(args: cli::Serve, config: Config, output: Output) -> anyhow::Result<Exit> {
    let mut signals = Signals::new()?;
    crate::metrics::install();
    let source = args.run.as_deref().map(Source::read).transpose()?;
    let platform = Platform::open(config).await?;
    let lock =
        EngineLock::take_soon(&platform.data.lock()).await?.map_err(|holder| taken(&platform, holder))?;
    let mut seen = Seen::now(&platform).await?;
    let set = platform.templates().await?;
    seen.count(&set);
    let (templates, templates_now) = watch::channel(Arc::new(set));
    let mut clusters = platform.cluster_keeper()?;
    clusters.look().await?;
    let engine = platform.start_engine(lock, templates_now.clone()).await?;
    let web = web::start(&platform, &engine.handle, templates.clone()).await?;
    memory::release();
    say_ready(&platform, &web)?;
    let counting = tokio::spawn(counting::earlier(platform.store.clone()));
    let announced = Announcement::write(platform.data.path(), &web)?;
    if args.run.is_some() {
        show::line(format!("Cubeloom is at {}", web.url));
    }
    if let Some(link) = &web.first_link {
        show::line(format!("sign in: {link}"));
    }
    let first = async {
        if let Some(source) = &source {
            let set = TemplateSet::clone(&templates_now.borrow());
            let exit = run_first(&platform, source, set, engine.handle.events(), output).await?;
            if args.once {
                return anyhow::Ok(exit);
            }
            show::line(format!("The server continues at {}; Ctrl-C stops it.", web.url));
        }
        pending().await
    };
    let exit = tokio::select! {
        () = signals.next() => Exit::Ok,
        ended = look_after(&platform, &engine, &web, &templates, seen, &mut clusters) => return Err(ended),
        exit = first => exit?,
    };
    tracing::info!("stopping; jobs continue, and the next `cubeloom serve` resumes them");
    counting.abort();
    drop(announced);
    let drained = async {
        web.stop().await;
        engine.stop().await;
        platform.store.close().await;
    };
    tokio::select! {
        () = drained => Ok(exit),
        () = signals.next() => Ok(Exit::Interrupted),
    }
}

/// Starts the pipeline from the command line, and shows its progress.
async fn run_first(
    platform: &Platform,
    source: &Source,
    templates: TemplateSet,
    events: broadcast::Receiver<RunEvent>,
    output: Output,
) -> anyhow::Result<Exit> {
    let refused = |problems: Vec<_>| problems::print(&source.file, &problems, output).map(|()| Exit::Invalid);
    let document = match source.parse() {
        Ok(document) => document,
        Err(problems) => return refused(problems),
    };
    let request = Request { source, document: &document, parameters: Default::default(), part: None };
    let facts = platform.facts_for(&crate::machine::user()).await?;
    let submitted = match submit(platform, request, templates, facts).await? {
        Ok(submitted) => submitted,
        Err(problems) => return refused(problems),
    };
    problems::warn(&source.file, &submitted.warnings);
    crate::wake::send(&platform.data.wake());
    let view = follow::see_out(platform, &submitted.run, events).await?;
    let (dir, now) = (platform.run_dir(&submitted.run), platform.now());
    match output {
        Output::Json => show::json(&progress::records_json(&view, &dir, now))?,
        Output::Human => {
            let report = progress::Report::of(&view, &dir, now);
            show::line(format!("\n{}\n", report.text(now, Styles::detect())));
        }
    }
    Ok(exit_of(view.run.state))
}

/// Watches the parts that must not end, reloads templates when their folder has changed, and adds clusters
/// from other servers. Returns only when a part has ended.
async fn look_after(
    platform: &Platform,
    engine: &RunningEngine,
    web: &RunningWeb,
    templates: &watch::Sender<Arc<TemplateSet>>,
    mut seen: Seen,
    clusters: &mut Keeper,
) -> anyhow::Error {
    let mut look = interval(Duration::from_secs(1));
    loop {
        look.tick().await;
        for (what, ended) in [("engine", engine.handle.is_finished()), ("web", web.is_finished())] {
            if ended {
                return anyhow::anyhow!(
                    "the {what} ended unexpectedly; jobs continue, and the next `cubeloom serve` resumes them"
                );
            }
        }
        // If the database is unreachable, the known clusters stay in use.
        let _ = clusters.look().await;
        if let Some(set) = read_again_if_changed(platform, &mut seen).await {
            templates.send_modify(|present| *present = Arc::new(with_installed(set, present)));
        }
    }
}

/// The state that the templates were read from.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    /// The stamp of their folder.
    stamp: u64,
    /// Number of stored versions: another server, or the command line, may install some.
    stored: i64,
}

impl Seen {
    async fn now(platform: &Platform) -> anyhow::Result<Self> {
        Ok(Self { stamp: platform.templates_stamp(), stored: platform.store.count_templates().await? })
    }

    /// A new database has none before the first read: storing those is no change.
    fn count(&mut self, set: &TemplateSet) {
        let read = set.values().map(|versions| versions.len() as i64).sum();
        self.stored = self.stored.max(read);
    }
}

/// A set that was read, with templates installed meanwhile.
fn with_installed(mut set: TemplateSet, present: &TemplateSet) -> TemplateSet {
    // Stored versions stay. A trial version is from the folder, which may no longer have it.
    let stays = |version: &str| !version.contains('+');
    for (name, versions) in present {
        let here = set.entry(name.clone()).or_default();
        for (key, installed) in versions.iter().filter(|(_, found)| stays(&found.template.version)) {
            here.entry(key.clone()).or_insert_with(|| installed.clone());
        }
        if here.is_empty() {
            set.remove(name);
        }
    }
    set
}

/// Reloads the templates when their folder has changed, or when one was installed. A template being written
/// may be unusable for a moment; the others stay in use.
async fn read_again_if_changed(platform: &Platform, seen: &mut Seen) -> Option<TemplateSet> {
    // If the database is unreachable, the known templates stay in use.
    let present = Seen::now(platform).await.ok()?;
    if std::mem::replace(seen, present) == present {
        return None;
    }
    match platform.templates().await {
        Ok(set) => {
            tracing::info!(templates = set.len(), "the task templates have changed and were read again");
            Some(set)
        }
        Err(error) => {
            tracing::warn!("the task templates have changed and cannot be read: {error:#}");
            None
        }
    }
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Announces the URL, on the terminal and in the log.
fn say_ready(platform: &Platform, web: &RunningWeb) -> anyhow::Result<()> {
    let has = platform.facts()?.capacity();
    let data = platform.data.path().display();
    let database = platform.store.backend();
    tracing::info!(%data, ?database, cpu = %has.cpu, memory = %has.memory, gpus = has.gpus, listen = %web.address, url = web.url, "ready");
    Ok(())
}

fn taken(platform: &Platform, holder: Holder) -> anyhow::Error {
    let who = holder.pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
    anyhow::anyhow!(
        "another cubeloom{who} uses the data folder {}: stop it first, or choose another folder with --data",
        platform.data.path().display()
    )
}
