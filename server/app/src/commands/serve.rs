//! `cubeloom serve`: the engine and the web, until it is told to stop.

use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::template::TemplateSet;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::interval;

use crate::announce::Announcement;
use crate::config::Config;
use crate::exit::Exit;
use crate::lock::{EngineLock, Holder};
use crate::platform::Platform;
use crate::web::{self, RunningWeb};

/// Runs both. The first signal drains: the present pass ends, leases are given back, jobs go on under their
/// shims. The second ends the process at once, which costs nothing but the leases' time.
pub async fn serve(config: Config) -> anyhow::Result<Exit> {
    let mut signals = Signals::new()?;
    let platform = Platform::open(config).await?;
    let lock =
        EngineLock::take_soon(&platform.data.lock()).await?.map_err(|holder| taken(&platform, holder))?;
    let mut stamp = platform.templates_stamp();
    let (templates, templates_now) = watch::channel(Arc::new(platform.templates().await?));
    let engine = platform.start_engine(lock).await?;
    let web = web::start(&platform, &engine.handle, templates_now).await?;
    say_ready(&platform, &web)?;
    let announced = Announcement::write(platform.data.path(), &web)?;
    let mut look = interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            () = signals.next() => break,
            _ = look.tick() => {
                if engine.handle.is_finished() {
                    anyhow::bail!("the engine ended unexpectedly; jobs go on, and the next `cubeloom serve` takes them up");
                }
                if web.is_finished() {
                    anyhow::bail!("the web ended unexpectedly; jobs go on, and the next `cubeloom serve` takes them up");
                }
                if let Some(set) = read_again_if_changed(&platform, &mut stamp).await {
                    templates.send_replace(Arc::new(set));
                }
            }
        }
    }
    tracing::info!("stopping; jobs go on, and the next `cubeloom serve` takes them up");
    drop(announced);
    let drained = async {
        web.stop().await;
        engine.stop().await;
        platform.store.close().await;
    };
    tokio::select! {
        () = drained => Ok(Exit::Ok),
        () = signals.next() => Ok(Exit::Interrupted),
    }
}

/// Reads the templates again when their folder has changed. One that is being written may not be usable for a moment;
/// the others are used as before.
async fn read_again_if_changed(platform: &Platform, stamp: &mut u64) -> Option<TemplateSet> {
    let present = platform.templates_stamp();
    if std::mem::replace(stamp, present) == present {
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

/// TERM and INT.
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
        "another cubeloom{who} works with the data folder {}: stop it first, or choose another folder with --data",
        platform.data.path().display()
    )
}
