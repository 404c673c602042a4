//! `cubeloom serve`: the engine, until it is told to stop.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::interval;

use crate::config::Config;
use crate::exit::Exit;
use crate::lock::{EngineLock, Holder};
use crate::platform::Platform;

/// Runs the engine. The first signal drains: the present pass ends, leases are given back, jobs go on under their
/// shims. The second ends the process at once, which costs nothing but the leases' time.
pub async fn serve(config: Config) -> anyhow::Result<Exit> {
    let mut signals = Signals::new()?;
    let platform = Platform::open(config).await?;
    let lock =
        EngineLock::take_soon(&platform.data.lock()).await?.map_err(|holder| taken(&platform, holder))?;
    let mut templates = platform.templates_stamp();
    platform.templates().await?;
    let engine = platform.start_engine(lock).await?;
    say_ready(&platform)?;
    let mut look = interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            () = signals.next() => break,
            _ = look.tick() => {
                if engine.handle.is_finished() {
                    anyhow::bail!("the engine ended unexpectedly; jobs go on, and the next `cubeloom serve` takes them up");
                }
                read_again_if_changed(&platform, &mut templates).await;
            }
        }
    }
    tracing::info!("stopping; jobs go on, and the next `cubeloom serve` takes them up");
    let drained = async {
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
async fn read_again_if_changed(platform: &Platform, stamp: &mut u64) {
    let present = platform.templates_stamp();
    if std::mem::replace(stamp, present) == present {
        return;
    }
    match platform.templates().await {
        Ok(set) => {
            tracing::info!(templates = set.len(), "the task templates have changed and were read again")
        }
        Err(error) => tracing::warn!("the task templates have changed and cannot be read: {error:#}"),
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

fn say_ready(platform: &Platform) -> anyhow::Result<()> {
    let has = platform.facts()?.capacity();
    let data = platform.data.path().display();
    let database = platform.store.backend();
    tracing::info!(%data, ?database, cpu = %has.cpu, memory = %has.memory, gpus = has.gpus, "ready");
    Ok(())
}

fn taken(platform: &Platform, holder: Holder) -> anyhow::Error {
    let who = holder.pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
    anyhow::anyhow!(
        "another cubeloom{who} works with the data folder {}: stop it first, or choose another folder with --data",
        platform.data.path().display()
    )
}
