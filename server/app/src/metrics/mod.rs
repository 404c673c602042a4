//! The server's own metrics, as OpenMetrics: those [counted](counted) as events happen, and the
//! [gauges](standing) read at a scrape. docs/operating.md lists them all; a test compares the list with the
//! exposed metrics.

mod counted;
mod process;
mod standing;
#[cfg(test)]
mod tests;

use std::fmt::Error;
use std::sync::{Arc, Weak};
use std::time::Duration;

use cubeloom_domain::clusters::Clusters;
use cubeloom_domain::{Clock, measure};
use cubeloom_engine::Handle;
use cubeloom_store::Store;
use cubeloom_web::WebTally;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::registry::Registry;

use self::counted::COUNTED;
use self::process::Process;
use self::standing::Standing;

/// The timeout for the engine's statistics: afterwards they are omitted.
const PATIENCE: Duration = Duration::from_secs(2);

/// Labels and their values, in display order.
type Labels = Vec<(&'static str, String)>;

/// Starts counting.
pub fn install() {
    measure::install(|measure| COUNTED.count(measure));
}

/// The sources of the gauges.
#[derive(Clone)]
pub struct Sources {
    pub store: Store,
    pub clusters: Clusters,
    pub engine: Weak<Handle>,
    pub clock: Arc<dyn Clock>,
}

impl Sources {
    /// All metrics, as OpenMetrics text.
    pub async fn text(self, web: WebTally) -> String {
        let engine = self.engine.upgrade();
        let tally = match &engine {
            Some(engine) => tokio::time::timeout(PATIENCE, engine.tally()).await.ok().flatten(),
            None => None,
        };
        let standing = Standing {
            tally,
            last_pass: engine.map(|engine| engine.last_pass()),
            connections: self.store.connections(),
            clusters: self.clusters.all().into_iter().map(|(name, one)| (name, one.standing())).collect(),
            web,
            process: Process::read(),
            now: self.clock.now(),
        };
        // Writing to a string does not fail.
        text(&COUNTED.registry, &standing.registry()).unwrap_or_default()
    }
}

fn text(counted: &Registry, standing: &Registry) -> Result<String, Error> {
    let mut text = String::new();
    encode_registry(&mut text, counted)?;
    encode_registry(&mut text, standing)?;
    encode_eof(&mut text)?;
    Ok(text)
}
